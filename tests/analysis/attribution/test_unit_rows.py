"""Rows 1a to I5: the smallest log that trips each row, and the nearest that must not.

The name of a nearest log says what differs; beside it stands the row that it falls to instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from logs import STRESS_RUNS, TEST, Log, fails, passes, touches

Build = Callable[[Log], Log]
SHARED = "/shared/bookings.json"
POLLUTER = "tests/test_first.py::test_leaves_things_behind"
STREET = "tests/test_second.py::test_in_between"


def together(rounds: int, failing: Callable[[int], Mapping[str, object] | None]) -> Build:
    """A soak in which subject and green do the same: `failing(round)` gives the failure's
    fields, or None for a pass."""

    def build(log: Log) -> Log:
        log = log.header()
        for number in range(rounds):
            said = failing(number)
            test = [passes() if said is None else fails(**said)]
            log = log.round(number, test, green=test)
        return log

    return build


def first(failures: int, **fields: object) -> Callable[[int], Mapping[str, object] | None]:
    return lambda number: fields if number < failures else None


def alone(build: Build, **failures: Mapping[str, int]) -> Build:
    """With complete stress arms of subject and green."""
    return lambda log: (
        build(log).stress(failures.get("subject")).stress(failures.get("green"), "green")
    )


def meeting(op: str = "w", later: int = 0, other: str = SHARED) -> Build:
    """20 soak rounds. In the first 10 subject and green touch one file and both fail; in the
    others each has its own and passes. later: slots by which green comes after the subject."""

    def build(log: Log) -> Log:
        log = log.header()
        for number in range(20):
            met = number < 10
            for role, name in (("subject", SHARED), ("green", other if met else "/own.json")):
                outcome = fails if met else passes
                log = log.beside(role, "soak", [outcome(**touches(name, op))], round=number).later(
                    later
                )
            log = log.round(number, subject=None, green=None)
        return log

    return build


def always_meeting(failing: int, meeting: Callable[[int], bool] = lambda number: True) -> Build:
    """20 soak rounds of subject and green, failing in the first ones, on one file in some."""

    def build(log: Log) -> Log:
        log = log.header()
        for number in range(20):
            outcome = fails if number < failing else passes
            for role in ("subject", "green"):
                name = SHARED if meeting(number) else f"/{role}.json"
                log = log.beside(role, "soak", [outcome(**touches(name))], round=number)
            log = log.round(number, subject=None, green=None)
        return log

    return build


def inherited(context: Callable[[int], Mapping[str, object]], failing: range) -> Build:
    def build(log: Log) -> Log:
        log = log.header()
        for number in range(20):
            test = [fails() if number in failing else passes()]
            log = log.round(number, test, green=test, **context(number))
        return log

    return build


def zone(number: int) -> Mapping[str, object]:
    return {"env": {"TZ": "UTC" if number < 10 else "Asia/Tokyo"}}


def saying(count: int, of: int, **fields: object) -> Build:
    """Five soak rounds: `of` failures of the subject, of which `count` say something."""

    def build(log: Log) -> Log:
        log = log.header()
        for number in range(5):
            said = fields if number < count else {}
            log = log.round(number, [fails(**said) if number < of else passes()])
        return log

    return build


def serial(log: Log, failures: int, runs: int, role: str = "subject", **fields: object) -> Log:
    return log.arm(
        "serial", failures, runs, role,
        failing=lambda: fails(**fields), passing=lambda: passes(**fields), each=1,
    )  # fmt: skip


def then_serial(build: Build, failures: int, runs: int, **fields: object) -> Build:
    return lambda log: serial(build(log), failures, runs, **fields)


def sound(rounds: int = 5, **context: object) -> Build:
    return lambda log: log.header().soak(rounds, **context)


def arms(
    subject: Mapping[str, tuple[int, int]], green: Mapping[str, tuple[int, int]] | None = None
) -> Build:
    """A soak of 15 rounds and arms as {phase: (failures, executions)}."""

    def build(log: Log) -> Log:
        log = log.header().soak(15)
        for role, phases in (("subject", subject), ("green", green or {})):
            for phase, (failures, runs) in phases.items():
                log = log.arm(phase, failures, runs, role)
        return log

    return build


def complete(**changed: tuple[int, int]) -> dict[str, tuple[int, int]]:
    return {**{phase: (0, runs) for phase, runs in STRESS_RUNS.items()}, **changed}


def ordered(after: tuple[int, int], without: tuple[int, int]) -> Build:
    """Repeat runs on subject and green, after the polluter and without it."""

    def build(log: Log) -> Log:
        log = log.header().soak(15)
        for role in ("subject", "green"):
            log = log.stress(role=role)
            for before, (failures, runs) in (
                ([STREET, POLLUTER], after),
                ([STREET], without),
            ):
                log = log.arm(
                    "repeat", failures, runs, role, each=1,
                    failing=lambda before=before: fails(before=before),
                    passing=lambda before=before: passes(before=before),
                )  # fmt: skip
        return log

    return build


FLAKY = {"serial": (2, 20), "repeat": (8, 80), "tightened": (10, 100), "loaded": (4, 40)}
PORT_TAKEN = {"exc": "OSError", "message": "[Errno 98] Address already in use"}

CASES: dict[str, tuple[str, Build]] = {
    # 1a, first clause
    "fails where a peer writes the same file at that time": ("1a", meeting()),
    "the peer only reads, and so does the test": ("1f", meeting(op="r")),
    "the peer writes the same file at another time": ("1f", meeting(later=1)),
    "the peer writes another file at that time": ("1f", meeting(other="/other.json")),
    # 1a, second clause
    "all company failures beside a peer, none alone, where nothing ran without one": (
        "1a",
        alone(always_meeting(8)),
    ),
    "a peer at 3 of 8 failures only": (
        "1e",
        alone(always_meeting(8, lambda number: number < 3 or number > 16)),
    ),
    "a peer at all failures, but no alone run": ("1f", always_meeting(8)),
    # 1b
    "fails under one of two zones": ("1b", inherited(zone, range(10, 20))),
    "fails under one of two images": (
        "1b",
        inherited(lambda number: {"image_digest": f"sha256:{number // 10}"}, range(10, 20)),
    ),
    "fails under both zones": ("1f", inherited(zone, range(5, 15))),
    "another zone in a single run": (
        "1f",
        lambda log: inherited(lambda _: {"env": {"TZ": "UTC"}}, range(10, 20))(log).beside(
            "subject", "soak", [passes()], round=19, env={"TZ": "Asia/Tokyo"}
        ),
    ),
    "fails under one of two hash seeds, which is no inherited value": (
        "1f",
        inherited(lambda number: {"env": {"PYTHONHASHSEED": str(number // 10)}}, range(10, 20)),
    ),
    # 1d
    "2 of 4 company failures say that the port is taken": (
        "1d",
        then_serial(saying(2, 4, **PORT_TAKEN), 0, 1),
    ),
    "a locked database": (
        "1d",
        then_serial(saying(2, 2, exc="OperationalError", message="database is locked"), 0, 1),
    ),
    "a half-written file": (
        "1d",
        then_serial(
            saying(2, 2, exc="JSONDecodeError", message="Expecting value: line 1 column 1"), 0, 1
        ),
    ),
    "a single failure says that the port is taken": (
        "I4",
        then_serial(saying(1, 1, **PORT_TAKEN), 0, 1),
    ),
    "2 of 6 company failures say that the port is taken": (
        "I4",
        then_serial(together(10, lambda number: (PORT_TAKEN, {}, {}, *[None] * 7)[number]), 0, 1),
    ),
    "the port is taken, but no alone run": ("1f", saying(2, 4, **PORT_TAKEN)),
    "the port is taken, and it fails alone": (
        "I2",
        then_serial(saying(2, 4, **PORT_TAKEN), 1, 1),
    ),
    "the failures say that a file is missing": (
        "I4",
        then_serial(saying(2, 4, exc="FileNotFoundError", message="No such file: a"), 0, 1),
    ),
    # 1e
    "fails in company on patch and green, never alone": ("1e", alone(together(20, first(8)))),
    "fails in company on the patch only": (
        "3a",
        alone(lambda log: log.header().soak(20, failing=range(8))),
    ),
    "fails in company on patch and green, with too few runs alone": (
        "I4",
        then_serial(together(20, first(8)), 0, 1),
    ),
    # 1g
    "fails in serial on patch and green, not in company": (
        "1g",
        lambda log: serial(serial(together(20, first(0))(log), 6, 10), 6, 10, "green"),
    ),
    "fails in serial on the patch only": (
        "3a",
        lambda log: serial(serial(together(20, first(0))(log), 8, 10), 0, 10, "green"),
    ),
    "fails in serial as often as in company": (
        "I2",
        lambda log: serial(serial(together(20, first(12))(log), 6, 10), 6, 10, "green"),
    ),
    # 1c
    "two serial runs wrote the same file, and it fails": (
        "1c",
        then_serial(sound(), 1, 2, **touches(SHARED)),
    ),
    "two serial runs wrote the same file, and it failed in the soak": (
        "1c",
        then_serial(together(5, first(1)), 0, 2, **touches(SHARED)),
    ),
    "two serial runs read the same file": ("I1", then_serial(sound(), 1, 2, **touches("/a", "r"))),
    "two serial runs leased the same port": (
        "I1",
        then_serial(sound(), 1, 2, **touches("8080", kind="port")),
    ),
    "two serial runs wrote the same interpreter cache": (
        "I1",
        then_serial(sound(), 1, 2, **touches("/src/__pycache__/a.pyc")),
    ),
    "two serial runs wrote the same test-runner cache": (
        "I1",
        then_serial(sound(), 1, 2, **touches("/src/.pytest_cache/v/lastfailed")),
    ),
    "two serial runs wrote to the null device": (
        "I1",
        then_serial(sound(), 1, 2, **touches("/dev/null")),
    ),
    "one serial run wrote a file twice": (
        "I1",
        lambda log: sound()(log).arm(
            "serial",
            1,
            2,
            failing=lambda: fails(**touches(SHARED)),
            passing=lambda: passes(**touches(SHARED)),
        ),
    ),
    "two serial runs wrote the same file, and nothing failed": (
        "I5",
        then_serial(sound(), 0, 2, **touches(SHARED)),
    ),
    "a serial run read what another test wrote in another serial run": (
        "1c",
        lambda log: (
            sound()(log)
            .run("subject", "serial", [passes("tests/test_w.py::test_w", **touches(SHARED))])
            .run("subject", "serial", [fails(**touches(SHARED, "r"))])
        ),
    ),
    # 1f
    "the soak varies and nothing ran alone": ("1f", together(5, first(2))),
    "the soak varies and one run was alone": ("I4", then_serial(together(5, first(2)), 0, 1)),
    "the soak does not vary": ("I5", together(5, first(0))),
    # C
    "failed in all of 3 runs, one of them serial": (
        "C",
        then_serial(lambda log: log.header().soak(2, failing=range(2)), 1, 1),
    ),
    "failed in both of 2 runs": (
        "I1",
        then_serial(lambda log: log.header().soak(1, failing=range(1)), 1, 1),
    ),
    "failed in all of 3 runs, none of them serial": (
        "I4",
        lambda log: log.header().soak(3, failing=range(3)),
    ),
    "failed in 3 of 4 runs": (
        "I2",
        then_serial(lambda log: log.header().soak(2, failing=range(2)), 1, 2),
    ),
    # 3a
    "fails on the patch, not on green, over the same arm": (
        "3a",
        arms(complete(repeat=(8, 80)), complete()),
    ),
    "fails on the patch as on green": (
        "4b",
        arms(complete(repeat=(8, 80)), complete(repeat=(8, 80))),
    ),
    "fails on the patch a little more than on green": (
        "I2",
        arms(complete(repeat=(5, 80)), complete(repeat=(0, 80))),
    ),
    # 3b
    "climbs when timing is tightened, on green too": (
        "3b",
        arms(complete(tightened=(15, 100)), complete(tightened=(15, 100))),
    ),
    "climbs when timing is tightened, and green was not tightened": (
        "3b",
        arms(complete(tightened=(15, 100)), {"serial": (0, 60)}),
    ),
    "fails as often when timing is not tightened": (
        "4b",
        arms(
            complete(tightened=(15, 100), repeat=(15, 80)),
            complete(tightened=(15, 100), repeat=(15, 80)),
        ),
    ),
    # 3c
    "unstable at high concurrency only": (
        "3c",
        arms({"concurrent": (1, 5), "serial": (0, 3)}),
    ),
    "unstable at high concurrency only, and one tightened run": (
        "I4",
        arms({"concurrent": (1, 5), "serial": (0, 3), "tightened": (0, 1)}),
    ),
    "unstable at high concurrency only, and one loaded run": (
        "I4",
        arms({"concurrent": (1, 5), "serial": (0, 3), "loaded": (0, 1)}),
    ),
    "unstable at high concurrency, and no serial run": (
        "I4",
        arms({"concurrent": (1, 5), "repeat": (0, 3)}),
    ),
    "unstable at high concurrency and in the soak": (
        "I4",
        lambda log: log.header().soak(5, failing=[0]).arm("concurrent", 1, 5).arm("serial", 0, 3),
    ),
    "unstable at high concurrency and in serial": (
        "I1",
        arms({"concurrent": (1, 5), "serial": (1, 3)}),
    ),
    # I1
    "fails alone 2 times": ("I1", arms(complete(repeat=(2, 80)), complete())),
    "fails alone 2 times, and once in company": (
        "4b",
        lambda log: (
            log.header().soak(15, failing=[0]).stress({"repeat": 2}).stress({"repeat": 2}, "green")
        ),
    ),
    "fails alone 2 times and once in a gate run": (
        "4b",
        lambda log: arms(complete(repeat=(1, 80)), complete(repeat=(1, 80)))(log).run(
            "subject", "gate", [fails()]
        ),
    ),
    # I2
    "fails alone, 99 tightened runs": ("I2", arms({**FLAKY, "tightened": (10, 99)}, FLAKY)),
    "fails alone, 39 loaded runs": ("I2", arms({**FLAKY, "loaded": (4, 39)}, FLAKY)),
    "fails alone, 199 stress runs": (
        "I2",
        arms({**FLAKY, "repeat": (6, 59)}, {**FLAKY, "repeat": (6, 59)}),
    ),
    "fails alone, 200 stress runs": (
        "4b",
        arms({**FLAKY, "repeat": (6, 60)}, {**FLAKY, "repeat": (6, 60)}),
    ),
    "fails alone, a climb under load that is not clear": (
        "I2",
        arms({**FLAKY, "loaded": (8, 40)}, {**FLAKY, "loaded": (8, 40)}),
    ),
    # I3
    "climbs under load on patch and green": (
        "I3",
        arms({**FLAKY, "loaded": (14, 40)}, {**FLAKY, "loaded": (14, 40)}),
    ),
    # 4a
    "fails only after one other test": ("4a", ordered((6, 10), (0, 60))),
    "fails only after one other test, on the patch only": (
        "4a",
        lambda log: _on_the_patch_only(log),
    ),
    "fails after that other test, and once without it": ("4b", ordered((6, 10), (1, 10))),
    # 4b
    "fails alone, flat under stress, equal on green": ("4b", arms(FLAKY, FLAKY)),
    # I4
    "failed once in company": ("I4", then_serial(together(15, first(1)), 0, 20)),
    "failed in a gate run only": (
        "I4",
        lambda log: alone(sound(15))(log).run("subject", "gate", [fails()]),
    ),
    # S and I5
    "29 runs in company and 59 alone without a failure": (
        "S",
        lambda log: log.header().soak(14).round(14, green=None).arm("serial", 0, 59),
    ),
    "28 runs in company": ("I5", lambda log: log.header().soak(14).arm("serial", 0, 59)),
    "58 runs alone": ("I5", lambda log: log.header().soak(15).arm("serial", 0, 58)),
    "59 runs alone, none of them serial": (
        "I5",
        lambda log: log.header().soak(15).arm("repeat", 0, 59),
    ),
    "59 runs alone, one of them serial": (
        "S",
        lambda log: log.header().soak(15).arm("repeat", 0, 58).arm("serial", 0, 1),
    ),
    "59 runs alone that shared a file that one of them wrote": (
        "I5",
        lambda log: (
            log.header().soak(15).arm("serial", 0, 59, passing=lambda: passes(**touches(SHARED)))
        ),
    ),
    "only skipped and expected failures beside the passes": (
        "S",
        lambda log: (
            log.header()
            .soak(15)
            .arm("serial", 0, 59)
            .run("subject", "serial", [{"test_id": TEST, "outcome": "xfailed"}])
        ),
    ),
}


def _on_the_patch_only(log: Log) -> Log:
    log = log.header().soak(15).stress().stress(role="green")
    for number in range(20):
        after = {"before": [STREET, POLLUTER]}
        log = log.run("subject", "repeat", [fails(**after) if number < 12 else passes(**after)])
        log = log.run("subject", "repeat", [passes(before=[STREET])])
        log = log.run("green", "repeat", [passes(before=[STREET])])
    return log


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, (row, _) in CASES.items()])
def test_the_unit_is_decided_by_its_row(rows, name, row):
    unit = rows[name]
    assert unit.row == row, unit.why
    assert [one.row for one in unit.tried if one.matches] == [row]
    assert unit.why
    assert unit.action
    assert unit.blocks == (row != "S")
