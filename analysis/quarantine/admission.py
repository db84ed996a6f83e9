"""Who may enter, stay, or leave: each condition with its figures, and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from analysis.attribution.statistics import Count, need, total
from analysis.config import Policy
from analysis.model import STRESS, Phase, UnitClass
from analysis.quarantine.evidence import Evidence
from analysis.quarantine.patterns import Pattern
from analysis.quarantine.replay import LISTED, Entry, State

FLAKE_ROWS = ("4a", "4b")


@dataclass(frozen=True)
class Condition:
    """One rule. figures: what it was decided by; remedy: what would change it."""

    rule: str
    holds: bool
    figures: str
    remedy: str = ""


def failing(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The conditions that do not hold."""
    return tuple(one for one in conditions if not one.holds)


def admission(
    found: Evidence,
    policy: Policy,
    patterns: Sequence[Pattern],
    *,
    owner: str,
    reason: str,
    life: timedelta,
    entry: Entry | None,
) -> list[Condition]:
    """The conditions for entering the list, in the order in which they are read."""
    return [
        *evidence_conditions(found, policy, patterns),
        Condition(
            "an owner and a reason",
            bool(owner.strip() and reason.strip()),
            f"owner {owner.strip() or 'missing'}, "
            f"reason {'given' if reason.strip() else 'missing'}",
            "Give --owner and --reason.",
        ),
        Condition(
            f"at most {policy.quarantine_max_days} days",
            timedelta(0) < life <= timedelta(days=policy.quarantine_max_days),
            f"{life.total_seconds() / 3600:g} h",
            "Give a shorter --for.",
        ),
        _not_listed(entry, found),
    ]


def evidence_conditions(
    found: Evidence, policy: Policy, patterns: Sequence[Pattern]
) -> list[Condition]:
    """What is asked of evidence, whenever it is given."""
    unit = found.unit
    stress = {phase: found.phases.get(phase, Count(0, 0)).n for phase in STRESS}
    runs, tightened, loaded = (
        sum(stress.values()),
        stress[Phase.TIGHTENED],
        stress[Phase.LOADED],
    )
    worse = [one for one in found.later if one.row[:1] in ("1", "2", "3")]
    matching = [one for one in patterns if one.matches(unit.test_id, found.signatures)]
    at_head = found.at_head
    own = total(found.phases.values()).k
    return [
        Condition(
            "class is test flake (4a, 4b)",
            unit.unit_class is UnitClass.FLAKE and unit.row in FLAKE_ROWS,
            f"{unit.unit_class}, row {unit.row}: {unit.why}",
            unit.action,
        ),
        Condition(
            "no newer experiment has it in a row 1, 2 or 3",
            not worse,
            f"{worse[0].key.experiment}: {worse[0].unit_class}, row {worse[0].row}"
            if worse
            else "none has",
            "Fix what that experiment found.",
        ),
        Condition(
            f"at least {policy.min_failures} failures",
            own >= policy.min_failures,
            f"{own} on record, {found.alone} alone",
            f"Run it until it failed {policy.min_failures} times.",
        ),
        Condition(
            f"stress runs at least {policy.stress_runs}, tightened {policy.min_tightened}, "
            f"loaded {policy.min_loaded}",
            runs >= policy.stress_runs
            and tightened >= policy.min_tightened
            and loaded >= policy.min_loaded,
            f"{runs}; tightened {tightened}, loaded {loaded}",
            "Run the stress arms to their end.",
        ),
        _canaries(found),
        Condition(
            "id exact, known and stable",
            not found.unstable_id,
            "it holds an address, a UUID or a cut text" if found.unstable_id else "yes",
            "Give the test an id that is the same in every run.",
        ),
        Condition(
            "passes somewhere at head",
            not (len(at_head) == 2 and all(at_head)),
            "the newest two gate runs failed" if at_head == (True, True) else "yes",
            "A test that fails every time is a regression: fix or revert.",
        ),
        Condition(
            "no known race pattern",
            not matching,
            f"{matching[0].cause} ({matching[0].date})" if matching else f"0 of {len(patterns)}",
            matching[0].fix if matching else "",
        ),
    ]


def _canaries(found: Evidence) -> Condition:
    (red_k, red_n), (green_k, green_n) = found.canaries["red"], found.canaries["green"]
    return Condition(
        "canaries behaved",
        red_n > 0 and red_k == red_n and green_n > 0 and green_k == green_n,
        f"red failed {red_k}/{red_n}, green passed {green_k}/{green_n}",
        "Repair the isolation, then soak with both canaries.",
    )


def _not_listed(entry: Entry | None, found: Evidence) -> Condition:
    rule = "not on the list, and evidence from after it left"
    if entry is None:
        return Condition(rule, True, "never listed")
    if entry.state in LISTED and entry.state is not State.UNLOCKED:
        return Condition(rule, False, f"it is {entry.state}", "Renew it instead.")
    left = entry.events[-1].at
    fresh = found.newest is not None and found.newest > left
    return Condition(
        rule,
        fresh,
        f"{entry.state} on {left:%Y-%m-%d %H:%MZ}; the evidence is of "
        f"{found.newest:%Y-%m-%d %H:%MZ}"
        if found.newest
        else f"{entry.state}; the evidence has no time",
        "Only failures after that count: soak again.",
    )


def renewal(
    entry: Entry | None,
    found: Evidence,
    policy: Policy,
    patterns: Sequence[Pattern],
    *,
    by: str,
    approved_by: str,
    life: timedelta,
) -> list[Condition]:
    """The conditions for staying longer."""
    if entry is None or entry.state not in (State.ACTIVE, State.LAPSED):
        state = "not on the list" if entry is None else str(entry.state)
        return [Condition("active or lapsed", False, f"it is {state}", "Use `quarantine add`.")]
    before = entry.last_evidence
    kept = before.fields["evidence"]
    old_n = int(kept.get("alone", {}).get("n", 0))
    old_time = str(kept.get("newest") or "")
    new_time = "" if found.newest is None else f"{found.newest:%Y-%m-%dT%H:%M:%SZ}"
    second = entry.renewals >= 1
    other = approved_by.strip() not in ("", by, entry.owner)
    return [
        *evidence_conditions(found, policy, patterns),
        Condition(
            "evidence newer than the last",
            new_time > old_time,
            f"{new_time or 'no time'}, before {old_time or 'no time'}",
            "Run the stress arms again.",
        ),
        Condition(
            "at the same or a larger n",
            found.alone.n >= old_n,
            f"{found.alone.n} alone, before {old_n}",
            f"Run it {old_n} times alone.",
        ),
        Condition(
            "approved by someone else" if second else "first renewal",
            other or not second,
            f"approved by {approved_by.strip() or 'nobody'}" if second else "needs no approval",
            "Give --approved-by someone who is neither the owner nor you.",
        ),
        Condition(
            f"at most {policy.quarantine_max_days} days",
            timedelta(0) < life <= timedelta(days=policy.quarantine_max_days),
            f"{life.total_seconds() / 3600:g} h",
            "Give a shorter --for.",
        ),
    ]


def release(entry: Entry | None, clean: Count) -> list[Condition]:
    """The conditions for leaving, proven clean. clean: failures of executed since it was unlocked,
    the alone phases pooled."""
    if entry is None or entry.state is not State.UNLOCKED:
        state = "not on the list" if entry is None else str(entry.state)
        remedy = "A diff that touches the test or its fixtures unlocks it: `quarantine touch`."
        return [Condition("unlocked by a change of the code", False, f"it is {state}", remedy)]
    asked = runs_needed(entry)
    return [
        Condition(
            "unlocked by a change of the code", True, f"{unlocked_at(entry):%Y-%m-%d %H:%MZ}"
        ),
        Condition(
            f"zero failures in {asked} runs alone",
            clean.k == 0 and clean.n >= asked,
            f"{clean.k} failures in {clean.n} runs",
            f"Run it {max(0, asked - clean.n)} times more, alone and fresh."
            if not clean.k
            else "It still fails: fix it.",
        ),
    ]


def unlocked_at(entry: Entry) -> datetime:
    """When the code moved."""
    return entry.events[-1].at if entry.state is State.UNLOCKED else entry.opened.at


def runs_needed(entry: Entry) -> int:
    """Clean runs that exclude the failure rate on record, by its lower bound."""
    alone = entry.last_evidence.fields["evidence"].get("alone", {})
    from analysis.attribution.statistics import lower

    least = lower(Count(int(alone.get("k", 0)), max(1, int(alone.get("n", 1)))))
    return need(least) if least > 0 else need(0.001)
