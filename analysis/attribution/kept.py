"""Judgements in the index: one a profile, and the units that it holds for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from analysis.attribution.cause import cause_of
from analysis.attribution.facts import SUBJECT_AND_GREEN, Canary, Experiment, Unit
from analysis.attribution.gather import arms_of
from analysis.attribution.rollup import BLOCKING
from analysis.attribution.statistics import Count, lower, upper
from analysis.attribution.table import Decision
from analysis.model import ALONE, COMPANY, Phase, Role, UnitClass
from analysis.store import query

BATCH = 5_000

_RANK = {unit_class: rank for rank, unit_class in enumerate(UnitClass)}

_JUDGEMENTS = """
INSERT INTO judgements
SELECT unnest($experiment::VARCHAR[]), unnest($judgement::INTEGER[]), unnest($class::VARCHAR[]),
    unnest($row::VARCHAR[]), unnest($blocks::BOOLEAN[]), unnest($locus::VARCHAR[]),
    unnest($why::VARCHAR[]), unnest($action::VARCHAR[]), unnest($seed_row::INTEGER[]),
    unnest($p::DOUBLE[]), unnest($class_rank::INTEGER[]), unnest($cause::VARCHAR[]),
    unnest($failures::BIGINT[]), unnest($company_k::BIGINT[]), unnest($company_n::BIGINT[]),
    unnest($alone_k::BIGINT[]), unnest($alone_n::BIGINT[]), unnest($detail::VARCHAR[])
"""

_UNITS = """
INSERT INTO units
SELECT u.experiment, u.patch_id, u.test_id, u.variant, p.judgement
FROM judged_units u JOIN profiles p USING (experiment, patch_id, profile)
"""

_FORGET = "DELETE FROM {table} WHERE experiment IN (SELECT experiment FROM asked)"


@dataclass
class Writer:
    """Collects judgements and writes them in batches."""

    connection: duckdb.DuckDBPyConnection
    rows: list[dict[str, Any]] = field(default_factory=list)

    def judgement(self, number: int, unit: Unit, decision: Decision) -> None:
        """Keep the decision on the units of a profile."""
        self.rows.append(_judgement_row(number, unit, decision))
        if len(self.rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self.rows:
            columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
            query.write(self.connection, _JUDGEMENTS, columns)
            self.rows.clear()

    def experiment(
        self,
        experiment: Experiment,
        unit_class: UnitClass,
        newest: datetime | None,
        detail: dict[str, Any],
    ) -> None:
        """Keep what holds for an experiment. newest: when its last run ended."""
        canaries = {
            "red": _canary(experiment.red, Role.RED),
            "green": _canary(experiment.green, Role.GREEN),
        }
        query.write(
            self.connection,
            "INSERT INTO experiment_facts VALUES ($experiment, $class, $newest, $detail)",
            {
                "experiment": experiment.name,
                "class": unit_class,
                "newest": newest,
                "detail": json.dumps({"canaries": canaries, **detail}, ensure_ascii=False),
            },
        )


def forget(connection: duckdb.DuckDBPyConnection) -> None:
    """Delete what is kept of the experiments asked for."""
    for table in ("judgements", "units", "experiment_facts"):
        query.write(connection, _FORGET.format(table=table))


def keep_units(connection: duckdb.DuckDBPyConnection) -> None:
    """Write the units of the experiments asked for."""
    query.write(connection, _UNITS)


def _judgement_row(number: int, unit: Unit, decision: Decision) -> dict[str, Any]:
    judgement, company, alone = decision.judgement, unit.company, unit.alone
    return {
        "experiment": unit.experiment.name,
        "judgement": number,
        "class": decision.row.unit_class.value,
        "row": decision.row.name,
        "blocks": decision.row.unit_class in BLOCKING,
        "locus": judgement.locus and judgement.locus.value,
        "why": judgement.why,
        "action": judgement.action,
        "seed_row": seed_row(unit),
        "p": judgement.p,
        "class_rank": _RANK[decision.row.unit_class],
        "cause": cause_of(unit, decision),
        "failures": unit.failures,
        "company_k": company.k,
        "company_n": company.n,
        "alone_k": alone.k,
        "alone_n": alone.n,
        "detail": json.dumps(_detail(unit, decision), ensure_ascii=False),
    }


def _detail(unit: Unit, decision: Decision) -> dict[str, Any]:
    judgement, address = decision.judgement, decision.judgement.address
    return {
        "counts": {
            phase: {role: [count.k, count.n] for role, count in roles.items()}
            for phase, roles in arms_of(unit, list(Role)).items()
        },
        "counted": "runs" if unit.by_run else "executions",
        "bounds": {
            name: _bound(unit.count(SUBJECT_AND_GREEN, phases))
            for name, phases in (("company", COMPANY), ("alone", ALONE))
        },
        "elsewhere": unit.elsewhere,
        "address": None
        if address is None
        else {
            "kind": address.kind,
            "id": address.id,
            "peer_patch": address.peer_patch,
            "peer_test": address.peer_test,
        },
        "need": None if judgement.need is None else dict(judgement.need),
        "form": unit.detail.form,
        "tried": [
            {
                "row": row.name,
                "condition": row.condition,
                "class": row.unit_class,
                "matches": found.matches,
                "numbers": found.numbers,
            }
            for row, found in decision.tried
        ],
    }


def _bound(count: Count) -> dict[str, float | int]:
    """k, n and the one-sided 95 % bounds of the rate."""
    return {"k": count.k, "n": count.n, "lower": lower(count), "upper": upper(count)}


def seed_row(unit: Unit) -> int | None:
    """Which row of the four-row table the unit matches literally, or None.

    1 verdicts vary across the soak and the canaries behave, 2 the red canary passed, 3 stable in
    the soak and unstable only at high concurrency, 4 stable and flaky on serial runs. The first
    that matches of 2, 1, 3, 4.
    """
    experiment = unit.experiment
    if experiment.red.deviations:
        return 2
    soak, many, serial = (
        unit.subject(phase) for phase in (Phase.SOAK, Phase.CONCURRENT, Phase.SERIAL)
    )
    behave = experiment.red.present and experiment.green.present and not experiment.green.deviations
    if soak.mixed:
        return 1 if behave else None
    if not soak.n:
        return None
    if many.mixed and not serial.mixed:
        return 3
    return 4 if serial.mixed else None


def _canary(canary: Canary, role: Role) -> dict[str, Any]:
    good = canary.failed.k if role is Role.RED else canary.failed.n - canary.failed.k
    return {
        "patch_id": canary.patch_id,
        "judged_on": canary.pinned or "run verdict",
        "as_expected": [good, canary.failed.n],
        "deviations": list(canary.deviations),
        "other_failures": canary.other_failures,
    }
