"""Reads for commands, screens and reports: plain functions that return frozen rows."""

from analysis.queries.attributions import Tried, UnitRow, units, worst_first
from analysis.queries.experiments import Choice, chosen
from analysis.queries.free import VIEWS, Answer, ask
from analysis.queries.rejected import RejectRow, rejects
from analysis.queries.reports import CanaryReport, ExperimentReport, PatchReport, reports

__all__ = [
    "VIEWS",
    "Answer",
    "CanaryReport",
    "Choice",
    "ExperimentReport",
    "PatchReport",
    "RejectRow",
    "Tried",
    "UnitRow",
    "ask",
    "chosen",
    "rejects",
    "reports",
    "units",
    "worst_first",
]
