"""What the index knows of a test that is to be quarantined, renewed or released."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb

from analysis.attribution.statistics import Count, interval, lower, need
from analysis.errors import BadInput
from analysis.evidence.signatures import normal_form
from analysis.model import ALONE, Role, UnitClass
from analysis.quarantine.events import Signature
from analysis.queries.attributions import UnitKey, UnitRow, unit
from analysis.queries.moments import moment
from analysis.store import query

_UNITS = """
SELECT u.experiment, u.patch_id, u.test_id, u.variant, j.class, j.row, f.newest
FROM units u JOIN judgements j USING (experiment, judgement)
JOIN experiment_facts f USING (experiment)
WHERE u.test_id = $test_id
    AND ($variant IS NULL OR u.variant = $variant)
    AND ($experiment IS NULL OR u.experiment = $experiment)
    AND ($patch IS NULL OR u.patch_id = $patch)
ORDER BY f.newest DESC NULLS LAST, u.experiment DESC, j.failures DESC, u.patch_id, u.variant
"""

_FAILURES = """
SELECT outcome, coalesce(exc, ''), coalesce(left(message, 8000), ''), count(*)
FROM results
WHERE experiment = $experiment AND patch_id = $patch AND test_id = $test_id
    AND variant IS NOT DISTINCT FROM $variant AND failed
GROUP BY ALL
"""

_SOURCES = """
SELECT s.path, s.content_sha256, min(t.line), max(t.line)
FROM results t JOIN sources s USING (source_id)
WHERE t.experiment = $experiment AND t.patch_id = $patch AND t.test_id = $test_id
    AND t.variant IS NOT DISTINCT FROM $variant
GROUP BY ALL ORDER BY s.path
"""

_FACTS = """
SELECT any_value(r.patch_digest), any_value(r.base_sha)
FROM runs r
WHERE r.experiment = $experiment AND r.patch_id = $patch
"""

_FIXTURES = """
SELECT DISTINCT touched.id FROM (
    SELECT unnest(resources) AS touched FROM results
    WHERE experiment = $experiment AND test_id = $test_id AND resources IS NOT NULL
) WHERE touched.kind = 'file' AND touched.op = 'r' AND NOT starts_with(touched.id, '/')
ORDER BY 1 LIMIT 50
"""

_AT_HEAD = """
SELECT failed FROM results
WHERE test_id = $test_id AND variant IS NOT DISTINCT FROM $variant AND role = 'subject'
    AND phase = 'gate' AND failed IS NOT NULL AND usable
ORDER BY started DESC NULLS LAST, run_id DESC LIMIT 2
"""

_CLEAN = """
SELECT count(*) FILTER (failed), count(*) FROM results
WHERE test_id = $test_id AND variant IS NOT DISTINCT FROM $variant AND role <> 'red'
    AND list_contains($phases, phase) AND failed IS NOT NULL AND usable AND NOT in_outage
    AND started > $since
"""


@dataclass(frozen=True)
class Standing:
    """How an experiment judges a test. newest: of its runs, UTC."""

    key: UnitKey
    unit_class: UnitClass
    row: str
    newest: datetime | None


@dataclass(frozen=True)
class Evidence:
    """A unit and what there is to say for it, or against it.

    later: how newer experiments judge the test. alone: executions of the alone phases, pooled.
    at_head: whether the newest gate executions failed, newest first, at most two.
    """

    unit: UnitRow
    newest: datetime | None
    later: tuple[Standing, ...]
    signatures: frozenset[Signature]
    failures_by_signature: Mapping[Signature, int]
    sources: tuple[Mapping[str, Any], ...]
    patch_digest: str | None
    base_sha: str | None
    fixtures: tuple[str, ...]
    unstable_id: bool
    at_head: tuple[bool, ...]
    canaries: Mapping[str, Sequence[int]]

    @property
    def phases(self) -> dict[str, Count]:
        """Failures of executed of the patch, by phase."""
        return {
            phase: Count(*roles[Role.SUBJECT])
            for phase, roles in self.unit.counts.items()
            if Role.SUBJECT in roles
        }

    @property
    def alone(self) -> Count:
        """The alone phases, pooled, as the class rests on them: green's executions count where they
        are the same."""
        bound = self.unit.bounds["alone"]
        return Count(int(bound["k"]), int(bound["n"]))

    @property
    def runs_to_leave(self) -> int | None:
        """Clean runs that a release will need; None where no rate is known to be above 0."""
        least = lower(self.alone)
        return need(least) if least > 0 else None

    def as_json(self) -> dict[str, Any]:
        """What an event keeps of it."""
        phases = {}
        for phase, count in self.phases.items():
            low, high = interval(count)
            phases[phase] = {"k": count.k, "n": count.n, "lower": low, "upper": high}
        return {
            "phases": phases,
            "alone": {"k": self.alone.k, "n": self.alone.n},
            "stress": "not reproducible as a race: flat when tightened and under load, "
            "equal on green"
            if self.unit.row == "4b"
            else self.unit.why,
            "newest": None if self.newest is None else f"{self.newest:%Y-%m-%dT%H:%M:%SZ}",
            "sources": list(self.sources),
        }


def standings(
    connection: duckdb.DuckDBPyConnection,
    test_id: str,
    variant: str | None = None,
    experiment: str | None = None,
    patch: str | None = None,
) -> list[Standing]:
    """How experiments judge a test, newest first. variant, experiment, patch: None for any."""
    given = {"test_id": test_id, "variant": variant, "experiment": experiment, "patch": patch}
    return [
        Standing(UnitKey(name, patch_id, test, lane), UnitClass(word), row, _utc(newest))
        for name, patch_id, test, lane, word, row, newest in query.rows(connection, _UNITS, given)
    ]


def _utc(value: datetime | str | None) -> datetime | None:
    found = moment(value)
    return None if found is None else found.replace(tzinfo=UTC)


def evidence_for(
    connection: duckdb.DuckDBPyConnection,
    test_id: str,
    *,
    variant: str | None = None,
    experiment: str | None = None,
    patch: str | None = None,
) -> Evidence:
    """What is known of a test in an experiment, by default the newest that has it.

    BadInput: no experiment has this very id, or several variants do.
    """
    found = standings(connection, test_id, variant, experiment, patch)
    if not found:
        where = f" in {experiment}" if experiment else ""
        raise BadInput(
            f"No experiment has a test {test_id!r}{where}.",
            "One test, one entry: give the exact id, as `tui attribute` prints it.",
        )
    newest = [one for one in found if one.key.experiment == found[0].key.experiment]
    variants = {one.key.variant for one in newest}
    if len(variants) > 1:
        names = ", ".join(sorted(str(name) for name in variants))
        raise BadInput(f"{test_id} has several variants: {names}.", "Choose one with --variant.")
    return _evidence(connection, newest[0])


def _evidence(connection: duckdb.DuckDBPyConnection, at: Standing) -> Evidence:
    key = at.key
    row = unit(connection, key)
    assert row is not None
    of = {
        "experiment": key.experiment,
        "patch": key.patch_id,
        "test_id": key.test_id,
        "variant": key.variant,
    }
    named = {"experiment": key.experiment, "patch": key.patch_id}
    ((digest, base),) = query.rows(connection, _FACTS, named)
    ((detail,),) = query.rows(
        connection,
        "SELECT detail FROM experiment_facts WHERE experiment = $experiment",
        {"experiment": key.experiment},
    )
    unstable = query.first(
        connection, "SELECT unstable_id FROM tests WHERE test_id = $id", {"id": key.test_id}
    )
    by_signature = failures_of(connection, of)
    later = [
        one
        for one in standings(connection, key.test_id, key.variant)
        if at.newest is not None and one.newest is not None and one.newest > at.newest
    ]
    return Evidence(
        unit=row,
        newest=at.newest,
        later=tuple(later),
        signatures=frozenset(by_signature),
        failures_by_signature=by_signature,
        sources=tuple(
            {"path": path, "sha256": sha, "first": first, "last": last}
            for path, sha, first, last in query.rows(connection, _SOURCES, of)
        ),
        patch_digest=digest,
        base_sha=base,
        fixtures=tuple(
            name
            for (name,) in query.rows(
                connection,
                _FIXTURES,
                {"experiment": key.experiment, "test_id": key.test_id},
            )
        ),
        unstable_id=bool(unstable and unstable[0]),
        at_head=tuple(
            bool(failed)
            for (failed,) in query.rows(
                connection, _AT_HEAD, {"test_id": key.test_id, "variant": key.variant}
            )
        ),
        canaries={
            role: json.loads(detail)["canaries"][role]["as_expected"] for role in ("red", "green")
        },
    )


def failures_of(
    connection: duckdb.DuckDBPyConnection, of: Mapping[str, Any]
) -> dict[Signature, int]:
    """How often a unit failed in each way."""
    found: dict[Signature, int] = {}
    for outcome, exc, message, count in query.rows(connection, _FAILURES, of):
        one = signature(outcome, exc, message)
        found[one] = found.get(one, 0) + count
    return found


def signature(outcome: str, exc: str | None, message: str | None) -> Signature:
    """How one execution failed."""
    return Signature(outcome, exc or "", normal_form(message or ""))


def clean_runs(
    connection: duckdb.DuckDBPyConnection, test_id: str, variant: str | None, since: datetime
) -> Count:
    """Failures of executed since a moment, the alone phases pooled. No run is no clean run, and
    neither is a skipped one."""
    ((k, n),) = query.rows(
        connection,
        _CLEAN,
        {
            "test_id": test_id,
            "variant": variant,
            "since": since.astimezone(UTC).replace(tzinfo=None),
            "phases": [phase.value for phase in ALONE],
        },
    )
    return Count(k, n)
