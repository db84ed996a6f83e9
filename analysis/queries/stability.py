"""How steady verdicts are: patches down, runs across.

A flip is a change from one verdict to the next one of the same phase, in start order; what lies
between them and is no verdict is skipped. k/n is failed verdicts / verdicts, over all phases.
Verdicts within an outage count like others: what a row shows can be counted in its cells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from analysis.attribution.flips import find_flips
from analysis.attribution.statistics import Count, lower, upper
from analysis.attribution.tell import Tell, tells_of
from analysis.queries.cells import CELLS, in_order
from analysis.queries.paging import Column, Listing, Page, PageRequest, page
from analysis.store import query

STABILITY_ROWS = f"""
SELECT experiment, patch_id,
    count(*) FILTER (verdict <> before) AS flips,
    count(*) FILTER (verdict = 'fail') AS k,
    count(verdict) AS n,
    count(*) FILTER (verdict = 'fail') / nullif(count(verdict), 0) AS share,
    count(*) AS runs,
    count(*) FILTER (in_outage) AS outage_runs,
    max(started) AS newest
FROM (
    SELECT *, lag(verdict IGNORE NULLS) OVER (
        PARTITION BY experiment, patch_id, phase ORDER BY place
    ) AS before
    FROM ({CELLS}) WHERE role = 'subject'
)
GROUP BY experiment, patch_id
"""
"""One row a subject patch of the experiments $experiments; (experiment, patch_id) is unique.

Columns: experiment, patch_id, flips, k, n, share (k/n; NULL without a verdict), runs,
outage_runs, newest (start of its last run).
"""

LISTING = Listing(
    sql=STABILITY_ROWS,
    columns={
        "flips": Column("flips", descending=True),
        "rate": Column("share", descending=True),
        "patch": Column("patch_id"),
        "soak": Column("experiment"),
        "runs": Column("runs", descending=True),
        "newest": Column("newest", descending=True),
    },
    key=("experiment", "patch_id"),
    order=("flips", "rate", "patch", "soak"),
    fields={"patch": "patch_id", "soak": "experiment"},
    text=("patch_id", "experiment"),
)

_ROWS = f"""
FROM ({STABILITY_ROWS})
ORDER BY flips DESC, share DESC NULLS LAST, patch_id, experiment LIMIT $limit
"""

_TOTALS = f"""
SELECT count(*) FILTER (k > 0 AND k < n), count(*) FILTER (n > 0 AND (k = 0 OR k = n)),
    count(*) FILTER (n = 0), coalesce(sum(runs), 0)::BIGINT
FROM ({STABILITY_ROWS})
"""

_PATCHES = """
SELECT count(DISTINCT patch_id) FROM runs
WHERE list_contains($experiments, experiment) AND verdict <> 'none'
"""

_STRIPS = f"""
SELECT experiment, patch_id, phase, string_agg(cell, '' ORDER BY place)
FROM ({CELLS}) SEMI JOIN (
    SELECT unnest($of::VARCHAR[]) AS experiment, unnest($patches::VARCHAR[]) AS patch_id
) USING (experiment, patch_id)
WHERE role = 'subject' GROUP BY ALL
"""

_RUNS_OF = f"""
SELECT run_id, cell, started, round, in_outage, log, line
FROM ({CELLS})
WHERE role = 'subject' AND patch_id = $patch_id AND phase = $phase ORDER BY place
"""


@dataclass(frozen=True)
class Stability:
    """A subject patch of an experiment: a row of STABILITY_ROWS.

    k of n verdicts failed; runs: all of them, void and unfinished ones too; outage_runs: those
    within an outage. newest: when its last run started, UTC without a zone.
    """

    experiment: str
    patch_id: str
    flips: int
    k: int
    n: int
    runs: int
    outage_runs: int
    newest: datetime | None

    @property
    def upper(self) -> float:
        """One-sided 95 % upper bound of the failure rate; 1.0 without a verdict."""
        return upper(Count(self.k, self.n))

    @property
    def lower(self) -> float:
        """One-sided 95 % lower bound of the failure rate: what to show of one that never passed."""
        return lower(Count(self.k, self.n))

    @property
    def never_passed(self) -> bool:
        """Every verdict is a fail, and there is one."""
        return self.k == self.n > 0


@dataclass(frozen=True)
class PatchRow:
    """A patch with its cells. strips: {phase: a character a run}, phases in their order.

    tells: the pairs of a stably red and a varying patch that it is one of.
    """

    counts: Stability
    strips: Mapping[str, str]
    tells: tuple[Tell, ...]


@dataclass(frozen=True)
class Totals:
    """Rows of subject patches: flipped have a pass and a fail, held one verdict, void none.

    patches_flipped of patches: of those with a verdict, canaries among them, the patches that
    flipped on one digest and base, each counted once however many experiments it is in.
    """

    flipped: int
    held: int
    void: int
    runs: int
    patches_flipped: int
    patches: int

    @property
    def rows(self) -> int:
        """All of them: (experiment, patch) pairs."""
        return self.flipped + self.held + self.void


@dataclass(frozen=True)
class RunCell:
    """A run behind a cell, and where its record stands."""

    run_id: str
    cell: str
    started: datetime | None
    round: int | None
    in_outage: bool
    log: str
    line: int


def patch_rows(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], limit: int | None = None
) -> list[PatchRow]:
    """The patches of the experiments, most flips first, then the highest rate, then by name.

    limit: no more than so many; None is all of them.
    """
    asked = {"experiments": list(experiments), "limit": limit}
    return filled(connection, [_stability(*row) for row in query.rows(connection, _ROWS, asked)])


def filled(connection: duckdb.DuckDBPyConnection, listed: Sequence[Stability]) -> list[PatchRow]:
    """Rows of STABILITY_ROWS, such as those of a page, with cells and tells."""
    experiments = list(dict.fromkeys(one.experiment for one in listed))
    of = {
        "experiments": experiments,
        "of": [one.experiment for one in listed],
        "patches": [one.patch_id for one in listed],
    }
    strips: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for experiment, patch, phase, strip in query.rows(connection, _STRIPS, of):
        strips[experiment, patch][phase] = strip
    tells = tells_of(connection, experiments)
    return [
        PatchRow(
            counts=one,
            strips=in_order(strips[one.experiment, one.patch_id]),
            tells=tuple(
                tell
                for tell in tells.get(one.experiment, ())
                if one.patch_id in (tell.stable, tell.varying)
            ),
        )
        for one in listed
    ]


def stability_page(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str], request: PageRequest
) -> Page[Stability]:
    """A window of the list of patches; `filled` adds the cells to the rows that are drawn."""
    return page(connection, LISTING, {"experiments": list(experiments)}, request, _stability)


def totals(connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]) -> Totals:
    """How many patches of the experiments flipped."""
    of = {"experiments": list(experiments)}
    ((flips, held, void, runs),) = query.rows(connection, _TOTALS, of)
    ((patches,),) = query.rows(connection, _PATCHES, of)
    chosen = set(experiments)
    flipped = {one.patch_id for one in find_flips(connection) if chosen & set(one.experiments)}
    return Totals(flips, held, void, runs, len(flipped), patches)


def runs_of(
    connection: duckdb.DuckDBPyConnection, experiment: str, patch_id: str, phase: str
) -> tuple[RunCell, ...]:
    """The runs behind a strip: one a character."""
    asked = {"experiments": [experiment], "patch_id": patch_id, "phase": phase}
    return tuple(RunCell(*row) for row in query.rows(connection, _RUNS_OF, asked))


def _stability(
    experiment: str,
    patch_id: str,
    flips: int,
    k: int,
    n: int,
    share: float | None,
    runs: int,
    outage_runs: int,
    newest: datetime | None,
) -> Stability:
    return Stability(experiment, patch_id, flips, k, n, runs, outage_runs, newest)
