"""The classes of units, worst first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import duckdb

from analysis.model import UnitClass
from analysis.queries.redaction import redacted
from analysis.store import query

_RANK = {unit_class.value: rank for rank, unit_class in enumerate(UnitClass)}

_JUDGEMENTS = """
SELECT experiment, judgement, class, row, blocks, locus, why, action, seed_row, p, cause, failures,
    detail
FROM judgements WHERE list_contains($experiments, experiment)
"""

_ONE = """
SELECT u.experiment, j.class, j.row, j.blocks, j.locus, j.why, j.action, j.seed_row, j.p, j.cause,
    j.failures, j.detail
FROM units u JOIN judgements j USING (experiment, judgement)
WHERE u.experiment = $experiment AND u.patch_id = $patch_id AND u.test_id = $test_id
    AND u.variant IS NOT DISTINCT FROM $variant
"""

_UNITS = """
SELECT experiment, judgement, patch_id, test_id, variant
FROM units WHERE list_contains($experiments, experiment)
"""


@dataclass(frozen=True)
class UnitKey:
    """What names a unit. variant: None where the log names none."""

    experiment: str
    patch_id: str
    test_id: str
    variant: str | None = None


@dataclass(frozen=True)
class Tried:
    """A row of the decision table as it was tried on a unit."""

    row: str
    condition: str
    unit_class: UnitClass
    matches: bool
    numbers: str


@dataclass(frozen=True)
class UnitRow:
    """One (patch, test, variant) of an experiment with its class.

    counts: {phase: {role: (failures, executed)}}, in executions or runs (`counted`). bounds:
    {company, alone: {k, n, lower, upper}}, one-sided 95 %. elsewhere: failures in gate or
    cut runs. cause: units of one class and cause are one problem. failures: all on record.
    address: {kind, id, peer_patch, peer_test} or None. need: {phase: runs that would decide} or
    None. form: normal form of most failures.
    """

    experiment: str
    patch_id: str
    test_id: str
    variant: str | None
    unit_class: UnitClass
    row: str
    blocks: bool
    locus: str | None
    why: str
    action: str
    seed_row: int | None
    p: float | None
    cause: str
    failures: int
    counts: Mapping[str, Mapping[str, tuple[int, int]]]
    counted: str
    bounds: Mapping[str, Mapping[str, float]]
    elsewhere: int
    address: Mapping[str, str | None] | None
    need: Mapping[str, int] | None
    form: str | None
    tried: tuple[Tried, ...]


def units(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> list[UnitRow]:
    """Every unit of the experiments: by class in the order of the roll-up, then most failures.

    Units without a failure and with equal counts share what was judged of them.
    """
    of = {"experiments": list(experiments)}
    judged = {
        (experiment, number): _judged(experiment, *rest)
        for experiment, number, *rest in query.rows(connection, _JUDGEMENTS, of)
    }
    return worst_first(
        [
            replace(judged[experiment, number], patch_id=patch, test_id=test, variant=variant)
            for experiment, number, patch, test, variant in query.rows(connection, _UNITS, of)
        ]
    )


def unit(connection: duckdb.DuckDBPyConnection, key: UnitKey) -> UnitRow | None:
    """One unit, or None where there is no such unit (any more)."""
    found = query.first(connection, _ONE, asdict(key))
    if found is None:
        return None
    return replace(_judged(*found), patch_id=key.patch_id, test_id=key.test_id, variant=key.variant)


def worst_first(found: Sequence[UnitRow]) -> list[UnitRow]:
    """Units by class in the order of the roll-up, then most failures, then by name."""
    return sorted(
        found,
        key=lambda unit: (
            _RANK[unit.unit_class],
            -unit.failures,
            unit.experiment,
            unit.patch_id,
            unit.test_id,
            unit.variant or "",
        ),
    )


def _judged(
    experiment: str,
    unit_class: str,
    name: str,
    blocks: bool,
    locus: str | None,
    why: str,
    action: str,
    seed: int | None,
    p: float | None,
    cause: str,
    failures: int,
    text: str,
) -> UnitRow:
    """What a judgement says of each unit that it holds for, without the unit's names."""
    detail = json.loads(text)
    return UnitRow(
        experiment=experiment,
        patch_id="",
        test_id="",
        variant=None,
        unit_class=UnitClass(unit_class),
        row=name,
        blocks=blocks,
        locus=locus,
        why=why,
        action=action,
        seed_row=seed,
        p=p,
        cause=redacted(cause),
        failures=failures,
        counts={
            phase: {role: (k, n) for role, (k, n) in roles.items()}
            for phase, roles in detail["counts"].items()
        },
        counted=detail["counted"],
        bounds=detail["bounds"],
        elsewhere=detail["elsewhere"],
        address=detail["address"],
        need=detail["need"],
        form=None if detail["form"] is None else redacted(detail["form"]),
        tried=tuple(
            Tried(
                one["row"],
                one["condition"],
                UnitClass(one["class"]),
                one["matches"],
                one["numbers"],
            )
            for one in detail["tried"]
        ),
    )
