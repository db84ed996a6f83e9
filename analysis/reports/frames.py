"""The answers as pandas frames, for exports and notebooks.

    from pathlib import Path
    from analysis.board import Ingest, Inputs, now, open_board
    from analysis.config import Config
    from analysis.reports.frames import attribution_frame, verdict_matrix

    with open_board(None, Config()) as board:
        board.take(Inputs((Path("sample_data/soak"),)), Ingest(now(), final=True))
        board.derive()
        frame = attribution_frame(board.connection, ["gateway"])
        verdict_matrix(board.connection, ["gateway"])

Every frame has a plain index. Texts are as recorded: make them harmless before writing them
somewhere, as the exports do. A value that is not known is missing (NaN), never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import pandas as pd

from analysis.model import Phase
from analysis.quarantine.forms import entry_json
from analysis.quarantine.view import QuarantineView
from analysis.queries.attributions import UnitRow, units
from analysis.queries.audited import AuditFinding, audit_findings
from analysis.queries.canary_cells import CanaryRow, canaries_of
from analysis.queries.cells import CELLS
from analysis.queries.stability import PatchRow, patch_rows
from analysis.reports.forms import finding_json
from analysis.store import query

_ATTRIBUTION = (
    "experiment", "patch_id", "test_id", "variant", "class", "row", "blocks", "locus", "failures",
    "company_k", "company_n", "company_lower", "company_upper", "alone_k", "alone_n",
    "alone_lower", "alone_upper", "counted", "elsewhere", "p", "seed_row", "resource_kind",
    "resource_id", "peer_patch", "peer_test", "need", "form", "cause", "why", "action",
)  # fmt: skip

_STABILITY = (
    "experiment", "role", "patch_id", "judged_on", "flips", "k", "n", "lower", "upper", "runs",
    "outage_runs", "tell", *(phase.value for phase in Phase),
)  # fmt: skip

_ENTRIES = (
    "entry", "test_id", "variant", "state", "owner", "reason", "entered", "expires_at", "due",
    "held_hours", "renewals", "row", "experiment", "signatures", "excused", "executed", "runs",
    "patches", "upper",
)  # fmt: skip
_EVIDENCE = (
    "standing", "rule", "family", "experiment", "run_id", "patch_id", "logged", "verdict",
    "sentence", "path", "line",
)  # fmt: skip

_VERDICTS = f"""
SELECT experiment, patch_id, phase,
    row_number() OVER (PARTITION BY experiment, patch_id, role, phase ORDER BY place) AS number,
    cell
FROM ({CELLS}) WHERE role = 'subject'
"""


def attribution_frame(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> pd.DataFrame:
    """One row a unit (experiment, patch, test, variant), worst class first.

    company, alone: k failures of n executed and the one-sided 95 % bounds of the rate, over
    subject and green; as they are printed. need: runs that would decide, as "12 serial, 3 soak".
    """
    return frame_of_units(units(connection, experiments))


def stability_frame(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> pd.DataFrame:
    """One row a patch: canaries first, judged on their pinned test, then most flips first.

    k of n verdicts failed, with one-sided 95 % bounds; a column a phase holds one character a
    run in start order: p pass, f fail, n no verdict, v void.
    """
    canaries = canaries_of(connection, experiments)
    return frame_of_patches(
        [row for name in experiments for row in canaries.get(name, ())],
        patch_rows(connection, experiments),
    )


def verdict_matrix(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> pd.DataFrame:
    """Patches down, runs across: the cells p, f, n, v of the subject patches.

    Index (experiment, patch_id), columns (phase, number of the run in start order from 1), phases
    in their order; missing where a patch has no such run.
    """
    rows = query.rows(connection, _VERDICTS, {"experiments": list(experiments)})
    frame = pd.DataFrame(rows, columns=["experiment", "patch_id", "phase", "number", "cell"])
    frame["phase"] = pd.Categorical(frame["phase"], [phase.value for phase in Phase])
    matrix = frame.pivot(
        index=["experiment", "patch_id"], columns=["phase", "number"], values="cell"
    )
    return matrix.sort_index(axis="columns")


def frame_of_units(found: Iterable[UnitRow]) -> pd.DataFrame:
    """Units as a frame, in their order."""
    return pd.DataFrame.from_records([_unit(unit) for unit in found], columns=_ATTRIBUTION)


def frame_of_patches(canaries: Iterable[CanaryRow], patches: Iterable[PatchRow]) -> pd.DataFrame:
    """Canaries and patches as a frame, in their order."""
    records = [*map(_canary, canaries), *map(_patch, patches)]
    return pd.DataFrame.from_records(records, columns=_STABILITY)


def evidence_frame(
    connection: duckdb.DuckDBPyConnection, experiments: Sequence[str]
) -> pd.DataFrame:
    """One row a finding, void first: its rule, its record, the verdict before and after."""
    return frame_of_findings(audit_findings(connection, experiments))


def frame_of_entries(found: QuarantineView) -> pd.DataFrame:
    """One row an entry of the quarantine list, lapsed first, then what left it."""
    rows = []
    for one in (*found.listed, *found.closed):
        made = entry_json(one, found.now, found.prices.get(one.name))
        price = made.pop("price", {})
        forms = [" ".join(part for part in form if part) for form in sorted(one.signatures)]
        rows.append({**made, "signatures": "; ".join(forms), **price})
    return pd.DataFrame.from_records(rows, columns=_ENTRIES)


def frame_of_findings(found: Iterable[AuditFinding]) -> pd.DataFrame:
    """Findings as a frame, in their order."""
    return pd.DataFrame.from_records(list(map(finding_json, found)), columns=_EVIDENCE)


def _unit(unit: UnitRow) -> dict[str, Any]:
    address = unit.address or {}
    sides = {
        f"{side}_{name}": value
        for side in ("company", "alone")
        for name, value in unit.bounds[side].items()
    }
    return {
        "experiment": unit.experiment,
        "patch_id": unit.patch_id,
        "test_id": unit.test_id,
        "variant": unit.variant,
        "class": unit.unit_class.value,
        "row": unit.row,
        "blocks": unit.blocks,
        "locus": unit.locus,
        "failures": unit.failures,
        **sides,
        "counted": unit.counted,
        "elsewhere": unit.elsewhere,
        "p": unit.p,
        "seed_row": unit.seed_row,
        "resource_kind": address.get("kind"),
        "resource_id": address.get("id"),
        "peer_patch": address.get("peer_patch"),
        "peer_test": address.get("peer_test"),
        "need": ", ".join(f"{runs} {phase}" for phase, runs in (unit.need or {}).items()) or None,
        "form": unit.form,
        "cause": unit.cause,
        "why": unit.why,
        "action": unit.action,
    }


def _patch(row: PatchRow) -> dict[str, Any]:
    counts = row.counts
    return {
        "experiment": counts.experiment,
        "role": "subject",
        "patch_id": counts.patch_id,
        "judged_on": "run verdict",
        "flips": counts.flips,
        "k": counts.k,
        "n": counts.n,
        "lower": counts.lower,
        "upper": counts.upper,
        "runs": counts.runs,
        "outage_runs": counts.outage_runs,
        "tell": bool(row.tells),
        **row.strips,
    }


def _canary(row: CanaryRow) -> dict[str, Any]:
    return {
        "experiment": row.experiment,
        "role": row.role.value,
        "patch_id": row.patch_id,
        "judged_on": row.judged_on,
        "flips": row.flips,
        "k": row.k,
        "n": row.n,
        "lower": row.lower,
        "upper": row.upper,
        "runs": sum(map(len, row.strips.values())),
        **row.strips,
    }
