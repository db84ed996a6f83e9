"""From rows to a document: what a report says, in which order, in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.attribution.tell import Tell
from analysis.model import Phase, UnitClass
from analysis.quarantine.forms import span
from analysis.quarantine.view import QuarantineView
from analysis.queries.attributions import UnitRow
from analysis.queries.canary_cells import CanaryRow
from analysis.queries.overview import Overview
from analysis.queries.reports import CanaryReport
from analysis.queries.stability import PatchRow
from analysis.reports.content import Classes, Content, Evidence, Scope, Verdicts, What
from analysis.reports.document import Bar, Bars, Column, Document, Kind, Rates, Section, Table
from analysis.reports.wording import (
    LEGEND,
    MARKS,
    bound,
    evidence_sentence,
    flips_sentence,
    quarantine_sentence,
    strip,
    trust_sentence,
)

MOST_ROWS = 5_000
"""Rows of a table that a writer gets to choose from."""

_NAMED = 3

_NUMBER, _NAME, _RUNS = Kind.NUMBER, Kind.NAME, Kind.RUNS


def document(content: Content) -> Document:
    """The report on what was read."""
    sections = []
    if content.classes is not None:
        sections += [_tests(content.classes), _experiments(content.classes)]
    if content.verdicts is not None:
        sections.append(_stability(content.verdicts))
    if content.evidence is not None:
        sections.append(_evidence(content.evidence))
    if content.quarantine is not None:
        sections.append(_quarantine(content.quarantine))
    answer = trust_sentence(content.overview)
    if content.scope.what is not What.ALL:
        # A report on one question has its answer on top, and once.
        answer = sections[0].answer
        sections[0] = replace(sections[0], answer="")
    return Document(
        title=f"soakboard: {_named(content.scope.experiments)}",
        answer=answer,
        about=_about(content.scope, content.overview),
        sections=tuple(sections),
    )


def _named(experiments: Sequence[str]) -> str:
    named = ", ".join(experiments[:_NAMED])
    rest = len(experiments) - _NAMED
    return f"{named} and {rest:,} more" if rest > 0 else named


def _about(scope: Scope, found: Overview) -> str:
    newest = "" if found.newest is None else f", the newest of {found.newest:%Y-%m-%d %H:%MZ}"
    filtered = f' Only rows that match "{scope.filter}".' if scope.filter else ""
    return (
        f"{_counted(found.experiments, 'experiment')}, {_counted(found.runs, 'run')}{newest}. "
        f"Written {scope.made:%Y-%m-%d %H:%MZ}. k/n is failed / executed; bounds hold with 95 % "
        f"(Clopper-Pearson): ≤ and ≥ one-sided, [ , ] two-sided.{filtered}"
    )


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _tests(found: Classes) -> Section:
    return Section(
        title="What is each test?",
        answer=quarantine_sentence(found.units),
        bars=(_bars(found.units),),
        tables=(_causes(found.units), _units(found.units)),
    )


def _bars(units: Sequence[UnitRow]) -> Bars:
    counts = Counter(unit.unit_class for unit in units)
    quiet = sum(not unit.failures for unit in units if unit.unit_class is UnitClass.INSUFFICIENT)
    return Bars(
        "Tests by class",
        tuple(
            Bar(one, mark, counts[one], quiet if one is UnitClass.INSUFFICIENT else 0)
            for one, mark in MARKS.items()
        ),
    )


def _causes(units: Sequence[UnitRow]) -> Table:
    """One row a cause; the first of its units, which has most failures, speaks for all."""
    causes: dict[tuple[UnitClass, str], list[UnitRow]] = {}
    for unit in units:
        causes.setdefault((unit.unit_class, unit.cause), []).append(unit)
    rows = [
        (
            _class(unit_class),
            members[0].row,
            f"{len(members):,}",
            f"{sum(unit.failures for unit in members):,}",
            members[0].action,
            members[0].why,
            _unit_name(members[0]),
        )
        for (unit_class, _), members in list(causes.items())[:MOST_ROWS]
    ]
    columns = (
        *(Column("class"), Column("row"), Column("tests", _NUMBER), Column("failures", _NUMBER)),
        *(Column("do"), Column("why"), Column("for example", _NAME)),
    )
    return Table("Causes", columns, tuple(rows), len(causes))


def _units(units: Sequence[UnitRow]) -> Table:
    columns = (
        *(Column("class"), Column("row"), Column("soak", _NAME), Column("patch", _NAME)),
        *(Column("test", _NAME), Column("company k/n", _NUMBER), Column("bound", _NUMBER)),
        *(Column("alone k/n", _NUMBER), Column("bound", _NUMBER), Column("why")),
    )
    rows = tuple(
        (
            _class(unit.unit_class),
            unit.row,
            unit.experiment,
            unit.patch_id,
            _unit_name(unit),
            *_side(unit.bounds["company"]),
            *_side(unit.bounds["alone"]),
            unit.why,
        )
        for unit in units[:MOST_ROWS]
    )
    return Table("Tests", columns, rows, len(units))


def _class(unit_class: UnitClass) -> str:
    return f"{MARKS[unit_class]} {unit_class}"


def _unit_name(unit: UnitRow) -> str:
    return unit.test_id if unit.variant is None else f"{unit.test_id} [{unit.variant}]"


def _side(side: Mapping[str, float]) -> tuple[str, str]:
    k, n = int(side["k"]), int(side["n"])
    return f"{k}/{n}", bound(k, n, side["lower"], side["upper"])


def _experiments(found: Classes) -> Section:
    objections = {one.experiment: one.objections([]) for one in found.experiments}
    against = sum(map(bool, objections.values()))
    columns = (
        *(Column("soak", _NAME), Column("class"), Column("runs", _NUMBER)),
        *(Column("red failed", _NUMBER), Column("bad accepted", _NUMBER)),
        *(Column("green passed", _NUMBER), Column("good refused", _NUMBER), Column("against it")),
    )
    rows = tuple(
        (
            one.experiment,
            _class(one.unit_class),
            f"{one.runs:,}",
            *_canary(one.red),
            *_canary(one.green),
            "; ".join(objections[one.experiment]),
        )
        for one in found.experiments[:MOST_ROWS]
    )
    return Section(
        title="What speaks against each soak?",
        answer=f"{against:,} OF {len(found.experiments):,} SOAKS  have something against them.",
        tables=(Table("Soaks", columns, rows, len(found.experiments)),),
    )


def _canary(canary: CanaryReport) -> tuple[str, str]:
    low, high = canary.interval
    share = f"[{low:.1%}, {high:.1%}]" if canary.judged else ""
    return f"{canary.good}/{canary.judged}", share


def _stability(found: Verdicts) -> Section:
    rates = tuple(
        Rates(row.counts.experiment, row.counts.patch_id, phases)
        for row, phases in found.rates
        if phases
    )
    return Section(
        title="How steady are the verdicts?",
        answer=flips_sentence(found.totals),
        notes=(LEGEND,),
        rates=rates,
        total_rates=len(found.patches),
        tables=(_patches(found.patches), _canaries(found.canaries), _flips(found), _tells(found)),
    )


def _patches(patches: Sequence[PatchRow]) -> Table:
    phases = [phase for phase in Phase if any(phase in row.strips for row in patches)]
    columns = (
        *(Column("patch", _NAME), Column("soak", _NAME), Column("flips", _NUMBER)),
        *(Column("k/n", _NUMBER), Column("bound", _NUMBER)),
        *(Column(phase, _RUNS) for phase in phases),
    )
    rows = tuple(
        (
            row.counts.patch_id,
            row.counts.experiment,
            f"{row.counts.flips}",
            f"{row.counts.k}/{row.counts.n}",
            bound(row.counts.k, row.counts.n, row.counts.lower, row.counts.upper),
            *(strip(row.strips.get(phase, "")) for phase in phases),
        )
        for row in patches[:MOST_ROWS]
    )
    return Table("Patches, most flips first", columns, rows, len(patches))


def _canaries(canaries: Sequence[CanaryRow]) -> Table:
    phases = [phase for phase in Phase if any(phase in row.strips for row in canaries)]
    columns = (
        *(Column("canary"), Column("soak", _NAME), Column("judged on", _NAME)),
        *(Column("k/n", _NUMBER), Column("bound", _NUMBER)),
        *(Column(phase, _RUNS) for phase in phases),
    )
    rows = tuple(
        (
            row.role.value,
            row.experiment,
            row.judged_on,
            f"{row.k}/{row.n}",
            bound(row.k, row.n, row.lower, row.upper),
            *(strip(row.strips.get(phase, "")) for phase in phases),
        )
        for row in canaries[:MOST_ROWS]
    )
    return Table("Canaries: red must fail, green must pass", columns, rows, len(canaries))


def _flips(found: Verdicts) -> Table:
    columns = (
        *(Column("patch", _NAME), Column("digest", _NAME), Column("soaks", _NAME)),
        *(Column("passes", _NUMBER), Column("fails", _NUMBER)),
        *(Column("first pass", _NAME), Column("first fail", _NAME)),
    )
    rows = tuple(
        (
            one.patch_id,
            one.digest or "unknown",
            _named(one.experiments),
            f"{one.passes:,}",
            f"{one.fails:,}",
            one.pass_at,
            one.fail_at,
        )
        for one in found.flips[:MOST_ROWS]
    )
    return Table("Flips: one patch, both verdicts", columns, rows, len(found.flips))


def _tells(found: Verdicts) -> Table:
    """Each pair once, in the order of the patches."""
    pairs: dict[tuple[str, Tell], None] = {}
    for row in found.patches:
        pairs.update(dict.fromkeys((row.counts.experiment, tell) for tell in row.tells))
    columns = (
        *(Column("soak", _NAME), Column("stably red", _NAME), Column("k/n", _NUMBER)),
        *(Column("beside", _NAME), Column("k/n", _NUMBER), Column("both hold", _NAME)),
    )
    rows = tuple(
        (
            experiment,
            tell.stable,
            f"{tell.stable_fails}/{tell.stable_runs}",
            tell.varying,
            f"{tell.varying_fails}/{tell.varying_runs}",
            f"{tell.kind} {tell.id}" if tell.kind else "record resources for these two",
        )
        for experiment, tell in list(pairs)[:MOST_ROWS]
    )
    return Table("The tell: what a stable and a varying patch share", columns, rows, len(pairs))


def _evidence(found: Evidence) -> Section:
    return Section(
        title="Which verdicts prove nothing?",
        answer=evidence_sentence(found.totals),
        tables=(_overturned(found), _findings(found)),
    )


def _overturned(found: Evidence) -> Table:
    columns = (
        *(Column("run", _NAME), Column("patch", _NAME), Column("soak", _NAME), Column("merged")),
        *(Column("rules"), Column("why"), Column("record", _NAME)),
    )
    rows = tuple(
        (
            one.run_id,
            one.patch_id,
            one.experiment,
            {None: "", True: "merged", False: "not merged"}[one.merged],
            ", ".join(one.rules),
            one.sentence,
            f"{one.path}:{one.line}",
        )
        for one in found.overturned[:MOST_ROWS]
    )
    return Table("Overturned: logged passes that are none", columns, rows, len(found.overturned))


def _findings(found: Evidence) -> Table:
    columns = (
        *(Column("weight"), Column("rule"), Column("soak", _NAME), Column("run", _NAME)),
        *(Column("logged"), Column("today"), Column("why"), Column("record", _NAME)),
    )
    rows = tuple(
        (
            one.standing.value,
            one.rule,
            one.experiment,
            one.run_id or "",
            one.logged or "",
            one.verdict or "",
            one.sentence,
            f"{one.path}:{one.line}" if one.path else "",
        )
        for one in found.findings[:MOST_ROWS]
    )
    return Table("Findings, void first", columns, rows, len(found.findings))


def _quarantine(found: QuarantineView) -> Section:
    lapsed = found.lapsed
    owners = ", ".join(sorted({one.owner for one in lapsed}))
    answer = f"{len(lapsed)} lapsed; owners: {owners}." if lapsed else "Nothing has lapsed."
    notes = [one.sentence for one in found.found.complaints]
    by_name = {one.name: one.test_id for one in found.listed}
    notes += [f"{by_name[name]} {words}." for name, words in found.inert.items()]
    if found.grows:
        notes.append("The list only grows: more came than went in each of the last four weeks.")
    if found.listed:
        excused = found.excused
        notes.append(
            f"In all {excused.k} of {excused.n} executions were excused; a regression up to "
            f"{found.upper:.1%} could hide behind the list."
        )
    return Section(
        title="What is quarantined?",
        answer=answer,
        notes=tuple(notes),
        tables=(_listed(found), _closed(found), _weeks(found)),
    )


def _listed(found: QuarantineView) -> Table:
    columns = (
        *(Column("state"), Column("test", _NAME), Column("expires"), Column("owner", _NAME)),
        *(Column("held"), Column("renewed", _NUMBER), Column("excused", _NUMBER)),
        *(Column("hides up to", _NUMBER), Column("reason")),
    )
    rows = []
    for one in found.listed[:MOST_ROWS]:
        price = found.prices[one.name]
        rows.append(
            (
                one.state.value,
                one.test_id if one.variant is None else f"{one.test_id} [{one.variant}]",
                f"{one.expires_at:%Y-%m-%d %H:%MZ}",
                one.owner,
                span(one.held(found.now)),
                str(one.renewals),
                str(price.excused),
                f"{price.upper:.1%}",
                str(one.opened.fields["reason"]),
            )
        )
    return Table("On the list, lapsed first", columns, tuple(rows), len(found.listed))


def _closed(found: QuarantineView) -> Table:
    columns = (Column("state"), Column("test", _NAME), Column("since"), Column("why"))
    rows = tuple(
        (
            one.state.value,
            one.test_id,
            f"{one.events[-1].at:%Y-%m-%d %H:%MZ}",
            str(one.events[-1].fields.get("reason") or "proven clean"),
        )
        for one in found.closed[:MOST_ROWS]
    )
    return Table("Left the list", columns, rows, len(found.closed))


def _weeks(found: QuarantineView) -> Table:
    columns = (
        *(Column("week of"), Column("in", _NUMBER), Column("out", _NUMBER)),
        Column("on the list", _NUMBER),
    )
    rows = tuple(
        (f"{one.start:%Y-%m-%d}", str(one.inflow), str(one.outflow), str(one.listed))
        for one in found.weeks
    )
    return Table("Week by week", columns, rows, len(rows))
