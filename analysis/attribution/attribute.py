"""Attribution: a class for every unit of every experiment, kept in the index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from analysis.attribution.contrasts import Contrasts, compare, promoted
from analysis.attribution.experiment_facts import experiment_facts
from analysis.attribution.facts import Experiment, Unit
from analysis.attribution.gather import gather
from analysis.attribution.judgement import Case
from analysis.attribution.kept import Writer, forget, keep_units
from analysis.attribution.rollup import roll_up
from analysis.attribution.table import Decision, decide
from analysis.attribution.tally import tallied
from analysis.config import Config, Policy
from analysis.model import RUN_TEST_ID
from analysis.store import query

_NOT_EXECUTED = """
SELECT experiment, patch_id, test_id FROM known_tests WHERE NOT executed
ORDER BY experiment, patch_id, test_id
"""


def classify(units: Sequence[Unit], policy: Policy) -> list[Decision]:
    """The decision for each unit. A corrected p promotes, so all units that failed are judged
    together; of those without a failure one may stand for many."""
    contrasts: dict[int, Contrasts] = {
        index: compare(unit) for index, unit in enumerate(units) if unit.failures
    }
    may = promoted(list(contrasts.values()), policy.alpha)
    for index, allowed in zip(list(contrasts), may, strict=True):
        contrasts[index] = replace(contrasts[index], promoted=allowed)
    return [
        decide(Case(unit, contrasts.get(index) or compare(unit), policy))
        for index, unit in enumerate(units)
    ]


def attribute(
    connection: duckdb.DuckDBPyConnection,
    configs: Mapping[str, Config],
    overridden: Mapping[str, tuple[str, ...]],
    digests: Mapping[str, str],
) -> None:
    """Rebuild what is kept of the experiments in `configs`; others stay as they are.

    configs: the effective configuration of each. overridden: the keys in which its header
    differs from the configuration file. digests: the digest that a patch must have
    (`--digest`), "" for every subject.
    """
    with tallied(connection, configs):
        forget(connection)
        not_executed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for name, patch, test in query.rows(connection, _NOT_EXECUTED):
            not_executed[name].append((patch, test))
        writer = Writer(connection)
        for name, (experiment, newest) in experiment_facts(connection, configs, digests).items():
            judged = gather(connection, experiment, configs[name])
            decisions = classify([one.unit for one in judged], configs[name].policy)
            for one, decision in zip(judged, decisions, strict=True):
                writer.judgement(one.number, one.unit, decision)
            if not decisions:
                decisions = [_of_canaries(experiment, configs[name].policy)]
            writer.experiment(
                experiment,
                roll_up([decision.row.unit_class for decision in decisions]),
                newest,
                {"not_executed": not_executed[name], "overridden": overridden.get(name, ())},
            )
        writer.flush()
        keep_units(connection)


def _of_canaries(experiment: Experiment, policy: Policy) -> Decision:
    """Where nothing is under test the canaries alone say what the experiment is worth."""
    bare = Unit(experiment, "", RUN_TEST_ID, None, {}, 0)
    return decide(Case(bare, compare(bare), policy))
