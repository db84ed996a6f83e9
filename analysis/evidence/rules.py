"""What a rule is: data that says when a record is no evidence, and how to say so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from analysis.model import Standing


class Family(StrEnum):
    """Where a rule looks."""

    COUNTS = "counts"
    RUN_LOG = "run log"
    STREAM = "stream"


@dataclass(frozen=True)
class RunRule:
    """A rule on one run.

    condition and sentence are SQL over a row `r` of `run_facts`; the sentence is text.
    Several rules may share a name where one way to be fooled has several signs.
    """

    name: str
    family: Family
    standing: Standing
    condition: str
    sentence: str


@dataclass(frozen=True)
class RecordRule:
    """A rule whose findings come from a query of their own.

    query is SQL that returns experiment, run_id (may be null), sentence, source_id, line.
    """

    name: str
    family: Family
    standing: Standing
    query: str
