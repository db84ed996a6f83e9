"""The forms in which units, experiments and patches are written: one, whoever writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.attribution.flips import Flip
    from analysis.attribution.tell import Tell
    from analysis.queries.attributions import UnitRow
    from analysis.queries.audited import AuditFinding, AuditTotals
    from analysis.queries.canary_cells import CanaryRow
    from analysis.queries.overturned import OverturnedRow
    from analysis.queries.reports import CanaryReport, ExperimentReport, PatchReport
    from analysis.queries.stability import PatchRow


def unit_json(unit: UnitRow, *, tried: bool) -> dict[str, Any]:
    """One (patch, test, variant) with its class; `tried` adds every row of the table."""
    body: dict[str, Any] = {
        "experiment": unit.experiment,
        "patch_id": unit.patch_id,
        "test_id": unit.test_id,
        "variant": unit.variant,
        "class": unit.unit_class,
        "row": unit.row,
        "blocks": unit.blocks,
        "locus": unit.locus,
        "why": unit.why,
        "action": unit.action,
        "seed_row": unit.seed_row,
        "counts": {
            phase: {role: list(count) for role, count in roles.items()}
            for phase, roles in unit.counts.items()
        },
        "counted": unit.counted,
        "elsewhere": unit.elsewhere,
        "bounds": {side: dict(bound) for side, bound in unit.bounds.items()},
        "p": unit.p,
        "form": unit.form,
        "address": None if unit.address is None else dict(unit.address),
        "need": None if unit.need is None else dict(unit.need),
    }
    if tried:
        body["tried"] = [
            {
                "row": one.row,
                "condition": one.condition,
                "class": one.unit_class,
                "matches": one.matches,
                "numbers": one.numbers,
            }
            for one in unit.tried
        ]
    return body


def experiment_json(report: ExperimentReport) -> dict[str, Any]:
    """An experiment as a whole. canaries: red [failed, n] and green [passed, n]."""
    return {
        "experiment": report.experiment,
        "class": report.unit_class,
        "canaries": {
            "red": [report.red.good, report.red.judged],
            "green": [report.green.good, report.green.judged],
        },
        "outages": list(report.outages),
        "flips": [flip_json(flip) for flip in report.flips],
    }


def check_json(report: ExperimentReport) -> dict[str, Any]:
    """An experiment with everything that `check` judges."""
    return {
        **experiment_json(report),
        "false_accept": rate_json(report.red),
        "false_reject": rate_json(report.green),
        "patches": [_patch(patch) for patch in report.patches],
        "classes": {str(one): count for one, count in report.classes().items()},
        "tells": [_tell(tell) for tell in report.tells],
        "runs": report.runs,
        "void": dict(report.void),
        "unproven": report.unproven,
        "rejects": report.rejects,
        "overridden": list(report.overridden),
        "not_executed": [list(pair) for pair in report.not_executed],
        "notes": list(report.notes),
    }


def rate_json(canary: CanaryReport) -> dict[str, Any]:
    """The share of deviating runs of a canary, with its two-sided 95 % interval."""
    k, n = canary.deviating
    low, high = canary.interval
    return {
        "k": k,
        "n": n,
        "lower": low,
        "upper": high,
        "judged_on": canary.judged_on,
        "runs": list(canary.runs),
    }


def flip_json(flip: Flip) -> dict[str, Any]:
    """A patch with both verdicts, and where the first of each stands (file:line)."""
    return {
        "patch_id": flip.patch_id,
        "patch_digest": flip.digest,
        "base_sha": flip.base_sha,
        "passes": flip.passes,
        "fails": flip.fails,
        "pass_run": flip.pass_run,
        "pass_at": flip.pass_at,
        "fail_run": flip.fail_run,
        "fail_at": flip.fail_at,
    }


def stability_json(row: PatchRow) -> dict[str, Any]:
    """A patch with its verdicts. phases: {phase: a character a run in start order: p pass, f fail,
    n no verdict, v void}. lower, upper: one-sided 95 % bounds of k/n."""
    counts = row.counts
    return {
        "experiment": counts.experiment,
        "patch_id": counts.patch_id,
        "flips": counts.flips,
        "k": counts.k,
        "n": counts.n,
        "lower": counts.lower,
        "upper": counts.upper,
        "runs": counts.runs,
        "outage_runs": counts.outage_runs,
        "phases": dict(row.strips),
        "tells": [_tell(tell) for tell in row.tells],
    }


def canary_json(row: CanaryRow) -> dict[str, Any]:
    """A canary, judged on its pinned test: f where that failed, as red's must. phases: as
    `stability_json`; deviations: ids of the runs that did what they must not."""
    return {
        "experiment": row.experiment,
        "role": row.role,
        "patch_id": row.patch_id,
        "judged_on": row.judged_on,
        "flips": row.flips,
        "k": row.k,
        "n": row.n,
        "phases": dict(row.strips),
        "deviations": list(row.deviations),
        "other_failures": row.other_failures,
    }


def _patch(patch: PatchReport) -> dict[str, Any]:
    return {
        "patch_id": patch.patch_id,
        "role": patch.role,
        "phase": patch.phase,
        "verdicts": list(patch.verdicts),
        "unique": patch.unique,
        "passes": patch.passes,
        "fails": patch.fails,
        "sight": patch.sight,
        "class": patch.unit_class,
    }


def _tell(tell: Tell) -> dict[str, Any]:
    resource = None if tell.kind is None else {"kind": tell.kind, "id": tell.id}
    return {
        "stable": tell.stable,
        "stable_fails": [tell.stable_fails, tell.stable_runs],
        "varying": tell.varying,
        "varying_fails": [tell.varying_fails, tell.varying_runs],
        "resource": resource,
    }


def finding_json(found: AuditFinding) -> dict[str, Any]:
    """A finding of the audit: logged is the verdict of the log, verdict what counts today."""
    return {
        "rule": found.rule,
        "family": found.family,
        "experiment": found.experiment,
        "run_id": found.run_id,
        "patch_id": found.patch_id,
        "path": found.path,
        "line": found.line,
        "sentence": found.sentence,
        "logged": found.logged,
        "verdict": found.verdict,
        "standing": found.standing,
    }


def overturned_json(row: OverturnedRow) -> dict[str, Any]:
    """A logged pass that is none. merged: null where the log does not say."""
    return {
        "experiment": row.experiment,
        "run_id": row.run_id,
        "patch_id": row.patch_id,
        "phase": row.phase,
        "rules": list(row.rules),
        "sentence": row.sentence,
        "at": row.at,
        "merged": row.merged,
        "path": row.path,
        "line": row.line,
    }


def audit_totals_json(found: AuditTotals) -> dict[str, Any]:
    """How many runs, passes, and passes that prove nothing."""
    return {
        "runs": found.runs,
        "passes": found.passes,
        "overturned": found.overturned,
        "void": found.void,
        "unproven": found.unproven,
    }
