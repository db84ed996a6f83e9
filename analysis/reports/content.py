"""What is exported, read once: every format writes the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import duckdb

from analysis.attribution.flips import Flip, find_flips
from analysis.quarantine.desk import Desk
from analysis.quarantine.view import QuarantineView, view
from analysis.queries.attributions import UnitKey, UnitRow, worst_first
from analysis.queries.audited import (
    AuditFinding,
    AuditTotals,
    audit_findings,
    audit_totals,
)
from analysis.queries.canary_cells import CanaryRow, canaries_of
from analysis.queries.causes import unit_page
from analysis.queries.overturned import OverturnedRow, overturned_page
from analysis.queries.overview import Overview, overview
from analysis.queries.paging import PageRequest
from analysis.queries.rates import PhaseRate, rates_by_phase
from analysis.queries.reports import ExperimentReport, reports
from analysis.queries.stability import PatchRow, Totals, filled, stability_page, totals

CHARTED = 8
"""Patches whose rate is drawn phase by phase: those with most flips."""

_WHOLE = 1 << 40


class What(StrEnum):
    """The part of the answers that is exported."""

    ATTRIBUTION = "attribution"
    STABILITY = "stability"
    EVIDENCE = "evidence"
    QUARANTINE = "quarantine"
    ALL = "all"


@dataclass(frozen=True)
class Scope:
    """What to export: of which experiments, as of when (UTC), and of which rows.

    filter: as in the dashboard's lists; it leaves out units, patches and overturned passes, and ""
    leaves out none. desk: where the quarantine list lies; None leaves it out.
    """

    what: What
    experiments: tuple[str, ...]
    made: datetime
    filter: str = ""
    desk: Desk | None = None


@dataclass(frozen=True)
class Classes:
    """Which test is what: the units, worst first, and the experiments they are of."""

    units: tuple[UnitRow, ...]
    experiments: tuple[ExperimentReport, ...]


@dataclass(frozen=True)
class Verdicts:
    """How steady the verdicts are. patches: most flips first; rates: of the first CHARTED."""

    patches: tuple[PatchRow, ...]
    rates: tuple[tuple[PatchRow, tuple[PhaseRate, ...]], ...]
    canaries: tuple[CanaryRow, ...]
    flips: tuple[Flip, ...]
    totals: Totals


@dataclass(frozen=True)
class Evidence:
    """Which verdicts prove nothing. overturned: logged passes that are none, newest first."""

    findings: tuple[AuditFinding, ...]
    overturned: tuple[OverturnedRow, ...]
    totals: AuditTotals


@dataclass(frozen=True)
class Content:
    """The rows of an export. A part that was not asked for is None."""

    scope: Scope
    overview: Overview
    classes: Classes | None
    verdicts: Verdicts | None
    evidence: Evidence | None
    quarantine: QuarantineView | None = None


def read(connection: duckdb.DuckDBPyConnection, scope: Scope) -> Content:
    """Read what is to be exported."""
    return Content(
        scope,
        overview(connection, scope.experiments),
        read_classes(connection, scope) if asks(scope, What.ATTRIBUTION) else None,
        read_verdicts(connection, scope) if asks(scope, What.STABILITY) else None,
        read_evidence(connection, scope) if asks(scope, What.EVIDENCE) else None,
        view(connection, scope.desk) if scope.desk and asks(scope, What.QUARANTINE) else None,
    )


def asks(scope: Scope, part: What) -> bool:
    """Whether a part is to be exported."""
    return scope.what in (part, What.ALL)


def read_evidence(connection: duckdb.DuckDBPyConnection, scope: Scope) -> Evidence:
    """The findings, and the overturned passes that the filter leaves."""
    request = PageRequest(scope.filter, size=_WHOLE)
    return Evidence(
        tuple(audit_findings(connection, scope.experiments)),
        tuple(overturned_page(connection, scope.experiments, request).rows),
        audit_totals(connection, scope.experiments),
    )


def read_classes(connection: duckdb.DuckDBPyConnection, scope: Scope) -> Classes:
    """The classes of the tests that the filter leaves."""
    found = reports(connection, scope.experiments)
    units = worst_first([unit for one in found for unit in one.units])
    if scope.filter:
        request = PageRequest(scope.filter, size=_WHOLE)
        page = unit_page(connection, scope.experiments, request, None)
        left = {line.key for line in page.rows}
        units = [unit for unit in units if _key(unit) in left]
    return Classes(tuple(units), tuple(found))


def read_verdicts(connection: duckdb.DuckDBPyConnection, scope: Scope) -> Verdicts:
    """The verdicts of the patches that the filter leaves, and of all canaries."""
    patches = read_patches(connection, scope)
    chosen = set(scope.experiments)
    canaries = canaries_of(connection, scope.experiments)
    return Verdicts(
        patches=tuple(patches),
        rates=tuple(
            (row, rates_by_phase(connection, row.counts.experiment, row.counts.patch_id))
            for row in patches[:CHARTED]
        ),
        canaries=tuple(row for name in scope.experiments for row in canaries.get(name, ())),
        flips=tuple(one for one in find_flips(connection) if chosen & set(one.experiments)),
        totals=totals(connection, scope.experiments),
    )


def read_patches(connection: duckdb.DuckDBPyConnection, scope: Scope) -> Sequence[PatchRow]:
    """The patches that the filter leaves, most flips first."""
    request = PageRequest(scope.filter, size=_WHOLE)
    return filled(connection, stability_page(connection, scope.experiments, request).rows)


def _key(unit: UnitRow) -> UnitKey:
    return UnitKey(unit.experiment, unit.patch_id, unit.test_id, unit.variant)
