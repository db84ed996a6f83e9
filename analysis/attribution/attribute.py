"""Attribution: a class for every unit of every experiment, kept in the index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from analysis.attribution.contrasts import Contrasts, compare, promoted
from analysis.attribution.facts import SUBJECT_AND_GREEN, Experiment, Unit
from analysis.attribution.gather import Gathered, arms_of, gather
from analysis.attribution.judgement import Case
from analysis.attribution.rollup import BLOCKING, roll_up
from analysis.attribution.statistics import Count, lower, upper
from analysis.attribution.table import Decision, decide
from analysis.config import Config, Policy
from analysis.model import ALONE, COMPANY, RUN_TEST_ID, Phase, Role, UnitClass
from analysis.store import query

UNIT_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("patch_id", pa.string()),
        ("test_id", pa.string()),
        ("variant", pa.string()),
        ("class", pa.string()),
        ("row", pa.string()),
        ("blocks", pa.bool_()),
        ("locus", pa.string()),
        ("why", pa.string()),
        ("action", pa.string()),
        ("seed_row", pa.int32()),
        ("p", pa.float64()),
        ("detail", pa.string()),
    ]
)


def classify(gathered: Gathered, policy: Policy) -> list[tuple[Unit, Decision]]:
    """The decision for every unit. A corrected p promotes, so all units are judged together."""
    contrasts: dict[int, Contrasts] = {
        index: compare(unit) for index, unit in enumerate(gathered.units) if unit.failures
    }
    may = promoted(list(contrasts.values()), policy.alpha)
    for index, allowed in zip(list(contrasts), may, strict=True):
        contrasts[index] = replace(contrasts[index], promoted=allowed)
    return [
        (unit, decide(Case(unit, contrasts.get(index) or compare(unit), policy)))
        for index, unit in enumerate(gathered.units)
    ]


def attribute(
    connection: duckdb.DuckDBPyConnection,
    configs: Mapping[str, Config],
    overridden: Mapping[str, tuple[str, ...]],
    digests: Mapping[str, str],
) -> None:
    """Rebuild `attributions` and `experiment_facts` for every experiment of the index.

    configs: the effective configuration of each. overridden: the keys in which its header
    differs from the configuration file. digests: see `gather`.
    """
    # The views put every line together; the questions below are many and small.
    query.write(connection, "CREATE OR REPLACE TEMP TABLE results_now AS SELECT * FROM results")
    query.write(connection, "CREATE OR REPLACE TEMP TABLE runs_now AS SELECT * FROM runs")
    query.write(connection, "DELETE FROM attributions")
    query.write(connection, "DELETE FROM experiment_facts")
    units: list[dict[str, Any]] = []
    for name, config in configs.items():
        gathered = gather(connection, name, config, digests)
        decisions = classify(gathered, config.policy)
        units.extend(_unit_row(unit, decision) for unit, decision in decisions)
        _write_experiment(
            connection,
            gathered,
            config.policy,
            overridden.get(name, ()),
            [decision.row.unit_class for _, decision in decisions],
        )
    if units:
        connection.register("units", pa.Table.from_pylist(units, schema=UNIT_SCHEMA))
        query.write(connection, "INSERT INTO attributions BY NAME SELECT * FROM units")
        connection.unregister("units")
    for table in ("results_now", "runs_now"):
        query.write(connection, f"DROP TABLE {table}")


def _unit_row(unit: Unit, decision: Decision) -> dict[str, Any]:
    judgement = decision.judgement
    return {
        "experiment": unit.experiment.name,
        "patch_id": unit.patch_id,
        "test_id": unit.test_id,
        "variant": unit.variant,
        "class": decision.row.unit_class,
        "row": decision.row.name,
        "blocks": decision.row.unit_class in BLOCKING,
        "locus": judgement.locus,
        "why": judgement.why,
        "action": judgement.action,
        "seed_row": seed_row(unit),
        "p": judgement.p,
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


def _write_experiment(
    connection: duckdb.DuckDBPyConnection,
    gathered: Gathered,
    policy: Policy,
    overridden: tuple[str, ...],
    classes: list[UnitClass],
) -> None:
    experiment = gathered.experiment
    if not classes:
        # Nothing under test: the canaries alone say what the experiment is worth.
        bare = Unit(experiment, "", RUN_TEST_ID, None, {}, 0)
        classes = [decide(Case(bare, compare(bare), policy)).row.unit_class]
    newest = query.first(
        connection,
        "SELECT max(coalesce(finished, started)) FROM run_facts WHERE experiment = $experiment",
        {"experiment": experiment.name},
    )
    query.write(
        connection,
        "INSERT INTO experiment_facts VALUES ($experiment, $class, $newest, $detail)",
        {
            "experiment": experiment.name,
            "class": roll_up(classes),
            "newest": newest[0] if newest else None,
            "detail": json.dumps(_experiment_detail(gathered, overridden), ensure_ascii=False),
        },
    )


def _experiment_detail(gathered: Gathered, overridden: tuple[str, ...]) -> dict[str, Any]:
    experiment = gathered.experiment
    return {
        "canaries": {
            "red": _canary(experiment, Role.RED),
            "green": _canary(experiment, Role.GREEN),
        },
        "not_executed": [list(pair) for pair in gathered.not_executed],
        "overridden": list(overridden),
    }


def _canary(experiment: Experiment, role: Role) -> dict[str, Any]:
    canary = experiment.red if role is Role.RED else experiment.green
    good = canary.failed.k if role is Role.RED else canary.failed.n - canary.failed.k
    return {
        "patch_id": canary.patch_id,
        "judged_on": canary.pinned or "run verdict",
        "as_expected": [good, canary.failed.n],
        "deviations": list(canary.deviations),
        "other_failures": canary.other_failures,
    }
