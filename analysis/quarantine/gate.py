"""A gate that consumes the list: which failures are excused, and whether what is left is a pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from analysis.model import RUN_TEST_ID
from analysis.quarantine.events import Signature
from analysis.quarantine.evidence import signature
from analysis.quarantine.replay import EXCUSING, Entry, QuarantineList, State
from analysis.records.identity import normal_form
from analysis.store import query

# The last attempt at an execution is how it ended.
_ENDS = """
SELECT experiment, run_id, test_id, lane, outcome, failed, exc, said
FROM (
    SELECT t.*, left(t.message, 8000) AS said, coalesce(t.variant, r.variant) AS lane
    FROM recorded_tests t JOIN runs r USING (experiment, run_id)
    WHERE t.failed IS NOT NULL AND r.role = 'subject'
    QUALIFY row_number() OVER (
        PARTITION BY experiment, run_id, test_id, lane, t.iteration,
            CASE WHEN t.attempt IS NULL THEN t.line_hash ELSE 0 END,
            CASE WHEN t.attempt IS NULL THEN t.byte_offset ELSE 0 END
        ORDER BY t.attempt DESC, t.source_id, t.byte_offset DESC
    ) = 1
)
"""

_RUNS = """
SELECT r.experiment, r.run_id, r.complete, r.standing = 'void', r.logged_verdict,
    r.tests_failed, r.test_records
FROM runs r WHERE r.role = 'subject' ORDER BY r.experiment, r.run_id
"""


@dataclass(frozen=True)
class Failure:
    """A test that failed in a run, and what the list says of it. entry: the one that excuses it;
    why: in words, either way."""

    run_id: str
    test_id: str
    variant: str | None
    signature: Signature
    entry: Entry | None
    why: str

    @property
    def excused(self) -> bool:
        """Whether it does not block."""
        return self.entry is not None


@dataclass(frozen=True)
class Ruling:
    """What a gate is to say. objections: why it is no pass; empty for a pass. warnings: what it
    should be told all the same."""

    failures: tuple[Failure, ...]
    passed: int
    runs: int
    objections: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Nothing stands against it."""
        return not self.objections


@dataclass(frozen=True)
class Rules:
    """What the list is applied with. inert: entries that a later attribution says hide a race or an
    infrastructure bug, and its words. on_lapse: hold or block. inventory: tests that must have
    run; None for none."""

    inert: Mapping[str, str]
    on_lapse: str
    inventory: tuple[str, ...] | None


def rule(connection: duckdb.DuckDBPyConnection, found: QuarantineList, rules: Rules) -> Ruling:
    """Apply the list to everything that the index holds of subjects: canaries are no patches."""
    ends = query.rows(connection, _ENDS)
    of_test: dict[tuple[str, str | None], list[bool]] = {}
    for _, _, test_id, variant, _, failed, _, _ in ends:
        of_test.setdefault((test_id, variant), []).append(failed)
    failures = [_failure(row, found, rules, of_test) for row in ends if row[5]]
    runs = query.rows(connection, _RUNS)
    passed = sum(1 for row in ends if not row[5])
    passed += sum(1 for *_, verdict, _, records in runs if verdict == "pass" and not records)
    executed = {normal_form(test) for test, _ in of_test}
    objections = [
        *_of_runs(runs),
        *_of_failures(failures),
        *([] if passed else ["nothing passed"]),
        *_of_inventory(executed, rules.inventory),
        *(complaint.sentence for complaint in found.complaints),
    ]
    return Ruling(
        tuple(failures), passed, len(runs), tuple(objections), _warnings(found, of_test, failures)
    )


def _failure(
    row: Sequence[object],
    found: QuarantineList,
    rules: Rules,
    of_test: Mapping[tuple[str, str | None], Collection[bool]],
) -> Failure:
    _, run_id, test_id, variant, outcome, _, exc, message = row
    how = signature(str(outcome), exc and str(exc), message and str(message))  # type: ignore[arg-type]
    lane = None if variant is None else str(variant)
    entry = found.of(str(test_id), lane)
    why = _why_not(entry, how, rules, of_test[str(test_id), lane])
    if entry is not None and not why:
        days = (entry.expires_at - found.at).total_seconds() / 86_400
        left = f"{days:.1f} days left" if days >= 0 else f"LAPSED {-days:.1f} days ago"
        why = f"{entry.name}, owner {entry.owner}, {left}"
        return Failure(str(run_id), str(test_id), lane, how, entry, why)
    return Failure(str(run_id), str(test_id), lane, how, None, why)


def _why_not(entry: Entry | None, how: Signature, rules: Rules, ends: Collection[bool]) -> str:
    """Why a failure is not excused; empty for one that is."""
    if entry is None:
        return "not on the list"
    if entry.state not in EXCUSING:
        return f"its entry is {entry.state}"
    if entry.name in rules.inert:
        return rules.inert[entry.name]
    if entry.state is State.LAPSED and rules.on_lapse == "block":
        return f"its entry lapsed at {entry.expires_at:%Y-%m-%d %H:%MZ}"
    if how not in entry.signatures:
        return "it fails in another way than it was quarantined for"
    if len(ends) > 1 and all(ends):
        return "no longer a flake: it failed in every run"
    return ""


def _of_runs(runs: Sequence[Sequence[object]]) -> list[str]:
    if not runs:
        return ["there is no run"]
    found = []
    for _, run_id, complete, void, verdict, failed, _ in runs:
        if not complete:
            found.append(f"run {run_id} is incomplete, which is never excused")
        elif void:
            found.append(f"run {run_id} proves nothing")
        elif verdict == "fail" and not failed:
            found.append(f"run {run_id} failed, and no test on record explains it ({RUN_TEST_ID})")
    return found


def _of_failures(failures: Sequence[Failure]) -> list[str]:
    return [f"{one.test_id} failed: {one.why}" for one in failures if not one.excused]


def _of_inventory(executed: Collection[str], inventory: Sequence[str] | None) -> list[str]:
    missing = [one for one in inventory or () if normal_form(one) not in executed]
    if not missing:
        return []
    return [
        f"{len(missing)} of {len(inventory or ())} pinned tests are absent, such as {missing[0]}"
    ]


def _warnings(
    found: QuarantineList,
    of_test: Mapping[tuple[str, str | None], object],
    failures: Sequence[Failure],
) -> tuple[str, ...]:
    said = []
    for entry in found.listed():
        if entry.state is State.LAPSED:
            age = found.at - entry.expires_at
            hours = age.total_seconds() / 3600
            said.append(f"LAPSED: {entry.test_id}, owner {entry.owner}, {hours:.1f} h ago")
        if (entry.test_id, entry.variant) not in of_test:
            said.append(f"{entry.test_id} is quarantined and has no result here")
    return tuple(said)


def hidden_races(connection: duckdb.DuckDBPyConnection, found: QuarantineList) -> dict[str, str]:
    """Entries that a later attribution calls a race or a harness bug, with the words for it."""
    from analysis.quarantine.evidence import standings

    inert = {}
    for entry in found.listed():
        for one in standings(connection, entry.test_id, entry.variant):
            later = one.newest is not None and one.newest > entry.opened.at
            if later and one.row[:1] in ("1", "3"):
                until = f"{one.newest:%Y-%m-%d %H:%MZ}"
                inert[entry.name] = (
                    f"hid a {'race' if one.row.startswith('3') else 'harness bug'} from "
                    f"{entry.opened.at:%Y-%m-%d %H:%MZ} to {until}: {one.key.experiment} has it in "
                    f"row {one.row}"
                )
                break
    return inert
