"""Result files of ordinary runners: what they hold, as executions and a run."""

from analysis.records.results.formats import FORMATS, Foreign, Format, recognise
from analysis.records.results.reading import Execution, Note, Reading, Summary, summary

__all__ = [
    "FORMATS",
    "Execution",
    "Foreign",
    "Format",
    "Note",
    "Reading",
    "Summary",
    "recognise",
    "summary",
]
