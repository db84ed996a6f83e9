"""Which experiments an answer is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analysis.errors import BadInput
from analysis.model import UnitClass
from analysis.queries.moments import moment
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.store import query


@dataclass(frozen=True)
class Choice:
    """What was asked for: names, the newest since a time, everything, or given log files.

    logs: absolute paths; only experiments with a run in one of them. With nothing set: the
    newest experiment.
    """

    experiment: str | None = None
    since: datetime | None = None
    everything: bool = False
    logs: tuple[str, ...] | None = None


def chosen(connection: duckdb.DuckDBPyConnection, choice: Choice) -> list[str]:
    """The names of the chosen experiments, oldest first.

    Raises BadInput when the one asked for does not exist, or when there is none at all.
    """
    newest_last = [
        name
        for (name,) in query.rows(
            connection,
            "SELECT experiment FROM experiment_facts ORDER BY newest NULLS FIRST, experiment",
        )
    ]
    if choice.logs is not None:
        within = set(_of_logs(connection, choice.logs))
        newest_last = [name for name in newest_last if name in within]
    if choice.experiment is not None:
        if choice.experiment not in newest_last:
            known = ", ".join(newest_last[-5:]) or "none"
            raise BadInput(
                f"There is no experiment {choice.experiment!r}.", f"The newest are: {known}."
            )
        return [choice.experiment]
    if not newest_last:
        raise BadInput("The logs hold no run yet.", "Give them time, or other logs.")
    if choice.since is not None:
        recent = _since(connection, choice.since, newest_last)
        if not recent:
            raise BadInput(
                f"No experiment has a run since {choice.since:%Y-%m-%dT%H:%M:%SZ}.",
                f"The newest is {newest_last[-1]}.",
            )
        return recent
    return newest_last if choice.everything or choice.logs is not None else newest_last[-1:]


def _of_logs(connection: duckdb.DuckDBPyConnection, logs: Sequence[str]) -> list[str]:
    # A path whose content stands under another name has its rows there.
    rows = query.rows(
        connection,
        """SELECT DISTINCT m.experiment
        FROM sources s JOIN source_runs m ON m.source_id IN (s.source_id, s.same_as)
        WHERE list_contains($logs, s.path)
            OR (list_contains($logs, '-') AND starts_with(s.path, '-'))""",
        {"logs": list(logs)},
    )
    return [name for (name,) in rows]


def _since(
    connection: duckdb.DuckDBPyConnection, since: datetime, names: Sequence[str]
) -> list[str]:
    rows = query.rows(
        connection,
        """SELECT experiment FROM experiment_facts
        WHERE newest >= $since ORDER BY newest, experiment""",
        {"since": since.replace(tzinfo=None)},
    )
    return [name for (name,) in rows if name in names]


@dataclass(frozen=True)
class ExperimentLine:
    """An experiment of a list. newest: when its last run ended, UTC without a zone."""

    experiment: str
    unit_class: UnitClass
    newest: datetime | None
    runs: int
    patches: int


_LISTING = Listing(
    sql="""
    SELECT f.experiment, f.class, f.newest, count(r.run_id) AS runs,
        count(DISTINCT r.patch_id) AS patches,
        list_position($classes, f.class) AS class_rank
    FROM experiment_facts f LEFT JOIN run_facts r USING (experiment)
    GROUP BY ALL
    """,
    columns={
        "experiment": Column("experiment"),
        "class": Column("class_rank"),
        "newest": Column("newest", descending=True),
        "runs": Column("runs", descending=True),
        "patches": Column("patches", descending=True),
    },
    key=("experiment",),
    order=("newest",),
    fields={"soak": "experiment", "class": "class"},
    text=("experiment", "class"),
    shown="SELECT experiment, class, newest, runs, patches, class_rank FROM matching",
)

COLUMNS = tuple(_LISTING.columns)


def summaries(connection: duckdb.DuckDBPyConnection, request: PageRequest) -> Page[ExperimentLine]:
    """A window of all experiments; in its own order the newest first."""
    classes = {"classes": [one.value for one in UnitClass]}
    return page(connection, _LISTING, classes, request, _line)


def _line(
    experiment: str,
    unit_class: str,
    newest: datetime | None,
    runs: int,
    patches: int,
    class_rank: int,
) -> ExperimentLine:
    return ExperimentLine(experiment, UnitClass(unit_class), moment(newest), runs, patches)
