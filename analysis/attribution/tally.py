"""Counting the executions of experiments, in temporary tables that live for one attribution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources

import duckdb

from analysis.config import Canary, Config
from analysis.records.identity import normal_form
from analysis.store import query

TABLES = (
    "asked",
    "inventories",
    "asked_runs",
    "pinned_executions",
    "missing_pinned",
    "tally",
    "touches",
    "unfresh",
    "arms",
    "known_tests",
    "judged_units",
    "profiles",
    "judged_cells",
    "failing_tests",
    "failing_executions",
    "meetings",
)

_ASKED = """
CREATE OR REPLACE TEMP TABLE asked AS
SELECT unnest($experiment::VARCHAR[]) AS experiment, unnest($inventory::INTEGER[]) AS inventory,
    unnest($red_pin::VARCHAR[]) AS red_pin, unnest($red_expect::VARCHAR[]) AS red_expect,
    unnest($green_pin::VARCHAR[]) AS green_pin
"""

_INVENTORIES = """
CREATE OR REPLACE TEMP TABLE inventories AS
SELECT unnest($inventory::INTEGER[]) AS inventory, unnest($test_norm::VARCHAR[]) AS test_norm,
    unnest($test_id::VARCHAR[]) AS test_id
"""


@contextmanager
def tallied(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> Iterator[None]:
    """The temporary tables of `tally.sql` for the experiments named in `configs`."""
    _ask(connection, configs)
    query.script(connection, resources.files(__package__).joinpath("tally.sql").read_text("utf-8"))
    yield
    for table in TABLES:
        query.write(connection, f"DROP TABLE {table}")


def pin_of(canary: Canary | None) -> str | None:
    """The normal form of the test that a canary is judged on; None: its run verdicts."""
    return normal_form(canary.test_id) if canary and canary.test_id else None


def _ask(connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config]) -> None:
    # Experiments mostly share their inventory: the file's.
    inventories: dict[tuple[str, ...], int] = {}
    for config in configs.values():
        inventories.setdefault(tuple(config.inventory or ()), len(inventories))
    canaries = [config.canaries for config in configs.values()]
    query.write(
        connection,
        _ASKED,
        {
            "experiment": list(configs),
            "inventory": [inventories[tuple(c.inventory or ())] for c in configs.values()],
            "red_pin": [pin_of(pair.red) for pair in canaries],
            "red_expect": [pair.red.expect if pair.red else None for pair in canaries],
            "green_pin": [pin_of(pair.green) for pair in canaries],
        },
    )
    pinned = [
        (number, test_norm, test_id)
        for inventory, number in inventories.items()
        for test_norm, test_id in {normal_form(test): test for test in inventory}.items()
    ]
    numbers, norms, ids = zip(*pinned, strict=True) if pinned else ((), (), ())
    query.write(
        connection,
        _INVENTORIES,
        {"inventory": list(numbers), "test_norm": list(norms), "test_id": list(ids)},
    )
