"""The vocabulary: closed sets and frozen rows that cross borders.

Imports the standard library only.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a line says it is."""

    EXPERIMENT = "experiment"
    RUN_START = "run_start"
    TEST = "test"
    RUN_END = "run_end"
    VERDICT = "verdict"


class Role(StrEnum):
    """Which part a patch plays in a soak."""

    SUBJECT = "subject"
    RED = "red"
    GREEN = "green"


class Phase(StrEnum):
    """Which arm of the experiment a run belongs to, in the order they are shown."""

    SOAK = "soak"
    CONCURRENT = "concurrent"
    SERIAL = "serial"
    REPEAT = "repeat"
    TIGHTENED = "tightened"
    LOADED = "loaded"
    GATE = "gate"


COMPANY = (Phase.SOAK, Phase.CONCURRENT)
ALONE = (Phase.SERIAL, Phase.REPEAT, Phase.TIGHTENED, Phase.LOADED)
STRESS = (Phase.REPEAT, Phase.TIGHTENED, Phase.LOADED)
ARMS = COMPANY + ALONE


class Verdict(StrEnum):
    """What a gate said of a run. NONE is never a pass."""

    PASS = "pass"
    FAIL = "fail"
    NONE = "none"


class Outcome(StrEnum):
    """How one execution of one test ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASH = "crash"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


FAILING = (Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASH)
NOT_EXECUTED = (Outcome.SKIPPED, Outcome.XFAILED)


class Standing(StrEnum):
    """Whether a verdict counts as evidence. NOTE marks a finding that weighs nothing."""

    VOID = "void"
    UNPROVEN = "unproven"
    PROVEN = "proven"
    NOTE = "note"


class UnitClass(StrEnum):
    """What an unstable test is, in the order in which units roll up to a patch."""

    INVALID = "invalid evidence"
    BROKEN = "broken isolation"
    HARNESS = "harness bug"
    CONSISTENT = "consistent failure"
    RACE = "patch race"
    INSUFFICIENT = "insufficient evidence"
    FLAKE = "test flake"
    STABLE = "stable"


class Locus(StrEnum):
    """Where a race lives."""

    PATCH = "patch"
    BASE = "base"
    UNVERIFIED = "unverified"


RUN_TEST_ID = "(run)"
"""The pseudo-test that stands for a run as a whole."""
