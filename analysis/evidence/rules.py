"""What a rule is: data that says when a record is no evidence, and how to say so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from analysis.model import Standing


class Family(StrEnum):
    """Where a rule looks."""

    COUNTS = "counts"
    RUN_LOG = "run log"
    RESPONSE = "response"
    CACHE = "cache"
    EVIDENCE = "stored evidence"
    LEASE = "lease"
    RECEIPT = "receipt"
    GRANT = "grant"
    ORACLE = "oracle"
    WORKSPACE = "workspace"
    STREAM = "stream"


class Told(NamedTuple):
    """For people who set up a gate: what fooled one, and the fields to record against it."""

    fooled: str
    fields: str


@dataclass(frozen=True)
class Rule:
    """The name of a rule, where it looks, and what its findings weigh.

    Several rules may share a name where one way to be fooled has several signs; they have one
    `told`, too.
    """

    name: str
    family: Family
    standing: Standing
    told: Told


@dataclass(frozen=True)
class RunRule(Rule):
    """A rule on one run.

    condition and sentence are SQL over a row `r` of `run_facts`; the sentence is text.
    """

    condition: str
    sentence: str


@dataclass(frozen=True)
class ProofRule(Rule):
    """A rule on one block of a run's proof.

    condition and sentence are SQL over a row `r` of the table `proved` (see proofs.sql) and the
    JSON `b` of its block named `block`. It is asked of runs that have the block only. first_only:
    of the block's rules only the first one that holds is found.
    """

    block: str
    condition: str
    sentence: str
    first_only: bool = False


@dataclass(frozen=True)
class RecordRule(Rule):
    """A rule whose findings come from a query of their own.

    query is SQL that returns experiment, run_id (may be null), sentence, source_id, line. block:
    the block of a proof that it compares from run to run; "" where it needs none.
    """

    query: str
    block: str = ""


@dataclass(frozen=True)
class FileRule(Rule):
    """A rule on a file that a record names: `analysis.evidence.files` looks, with --root."""
