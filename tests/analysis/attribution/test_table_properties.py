"""Properties of the decision table over generated facts: what holds for every input."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.attribution.contrasts import GREY, compare
from analysis.attribution.facts import (
    Address,
    Canary,
    Cell,
    Complaint,
    Contrast,
    Detail,
    Experiment,
    Exposure,
    Unit,
)
from analysis.attribution.judgement import Case
from analysis.attribution.statistics import Count, Stratum
from analysis.attribution.table import TABLE, decide
from analysis.config import Policy
from analysis.model import ALONE, ARMS, COMPANY, STRESS, Phase, Role, UnitClass

MANY = settings(max_examples=300, deadline=None, derandomize=True)

sizes = st.sampled_from([0, 0, 1, 2, 3, 5, 20, 40, 100, 240])


@st.composite
def counts(draw: st.DrawFn) -> Count:
    n = draw(sizes)
    k = draw(st.sampled_from([0, 0, 0, 1, 2, 3, 4, 9, n // 2, n]))
    return Count(min(k, n), n)


any_cells = st.dictionaries(
    st.builds(Cell, st.sampled_from(Role), st.sampled_from(ARMS), st.sampled_from([None, 2, 8])),
    counts().filter(lambda count: count.n),
    max_size=10,
)
COMPLETE = {
    Phase.SOAK: 40,
    Phase.CONCURRENT: 20,
    Phase.SERIAL: 60,
    Phase.REPEAT: 80,
    Phase.TIGHTENED: 100,
    Phase.LOADED: 40,
}


@st.composite
def complete_cells(draw: st.DrawFn) -> dict[Cell, Count]:
    """Subject and green in every arm, at one rate but for some arms."""
    rate = draw(st.sampled_from([0.0, 0.01, 0.02, 0.1, 0.3, 1.0]))
    other = draw(st.sampled_from([0.0, rate, 2 * rate, 0.05, 0.5]))
    apart = draw(st.sets(st.tuples(st.sampled_from(list(COMPLETE)), st.booleans()), max_size=3))
    left_out = draw(st.sets(st.sampled_from(list(COMPLETE)), max_size=1))
    cells = {}
    for phase, n in COMPLETE.items():
        for role, is_green in ((Role.SUBJECT, False), (Role.GREEN, True)):
            if phase not in left_out:
                at = other if (phase, is_green) in apart else rate
                cells[Cell(role, phase, None)] = Count(min(n, round(at * n)), n)
    return cells


cells = st.one_of(any_cells, complete_cells(), complete_cells())
strata = st.lists(st.builds(Stratum, counts(), counts()), max_size=2).map(tuple)
exposures = st.builds(
    Exposure, st.just(Address("file", "/shared", "p", "t")), strata, counts(), counts()
)
contrasts = st.builds(Contrast, st.sampled_from(["TZ=UTC", "LANG=C"]), strata, counts(), counts())
no_details = st.just(Detail())
any_details = st.builds(
    Detail,
    st.lists(exposures, max_size=2).map(tuple),
    st.lists(contrasts, max_size=2).map(tuple),
    st.lists(contrasts, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(["port", "file"]), st.integers(1, 4), max_size=2),
)
details = st.one_of(no_details, no_details, any_details)
complaints = st.sampled_from([*[None] * 15, Complaint(1, "run r is torn")])


@st.composite
def canaries(draw: st.DrawFn, role: Role) -> Canary:
    """As the facts make them: red's count is of failures as expected, green's of failures."""
    rounds = draw(st.sampled_from([0, 1, 5, 5, 5, 5, 5, 5]))
    deviating = draw(st.sampled_from([*[0] * 9, 1, rounds]).filter(lambda number: number <= rounds))
    other = draw(st.sampled_from([0, 0, 1])) if role is Role.RED else 0
    other = min(other, rounds - deviating)
    expected = rounds - deviating - other
    return Canary(
        patch_id=str(role),
        pinned=draw(st.sampled_from([None, "pin"])),
        present=rounds > 0,
        rounds=rounds,
        failed=Count(expected if role is Role.RED else deviating, rounds),
        failed_rounds=expected if role is Role.RED else deviating,
        other_failures=other,
        deviations=tuple(f"r{number}" for number in range(deviating)),
    )


behaving = {
    Role.RED: Canary("red", "pin", True, 5, Count(5, 5), 5, 0),
    Role.GREEN: Canary("green", "pin", True, 5, Count(0, 5), 0, 0),
}
sound = st.just(
    Experiment(
        "x", 9, 5, None, None, None, 0, None, None, frozenset(Role),
        frozenset({"p"}), behaving[Role.RED], behaving[Role.GREEN], {}, 0,
    )
)  # fmt: skip
any_experiment = st.builds(
    Experiment,
    name=st.just("x"),
    runs=st.integers(0, 9),
    soak_rounds=st.integers(0, 6),
    impossible_passes=complaints,
    torn=complaints,
    duplicates=complaints,
    unusable_rounds=st.integers(0, 2),
    digests=complaints,
    generations=complaints,
    soak_roles=st.one_of(st.just(frozenset(Role)), st.frozensets(st.sampled_from(Role))),
    soak_patches=st.one_of(st.just(frozenset({"p"})), st.just(frozenset())),
    red=canaries(Role.RED),
    green=canaries(Role.GREEN),
    missing_pinned=st.sampled_from([*[{}] * 7, {"p": ("gone",)}]),
    pinned=st.integers(0, 2),
)


@st.composite
def units(draw: st.DrawFn, experiments: st.SearchStrategy[Experiment] = sound) -> Unit:
    mine = draw(cells)
    unfresh = draw(st.sampled_from([*[None] * 7, Address("file", "/shared")]))
    if unfresh:
        mine = {cell: count for cell, count in mine.items() if cell.phase in COMPANY}
    return Unit(
        experiment=draw(experiments),
        patch_id="p",
        test_id="t",
        variant=None,
        cells=mine,
        elsewhere=draw(st.sampled_from([0, 0, 0, 1, 3])),
        unfresh=unfresh,
        unfresh_runs=2 if unfresh else 0,
        unfresh_failures=draw(st.sampled_from([0, 2])) if unfresh else 0,
        detail=draw(details),
    )


policies = st.one_of(
    st.just(Policy()),
    st.builds(
        Policy,
        alpha=st.sampled_from([0.001, 0.01, 0.2]),
        min_failures=st.integers(1, 5),
        stress_runs=st.sampled_from([1, 50, 200]),
        min_tightened=st.sampled_from([1, 40, 100]),
        min_loaded=st.sampled_from([1, 40]),
    ),
)


def case_of(unit: Unit, policy: Policy, *, promoted: bool = True) -> Case:
    return Case(unit, replace(compare(unit), promoted=promoted), policy)


@MANY
@given(units(any_experiment), policies, st.booleans())
def test_exactly_one_row_decides_whatever_the_facts(unit, policy, promoted):
    decision = decide(case_of(unit, policy, promoted=promoted))
    matching = [row for row, judgement in decision.tried if judgement.matches]
    assert matching == [decision.row]
    assert tuple(row for row, _ in decision.tried) == TABLE[: len(decision.tried)]
    assert decision.judgement.why
    assert decision.judgement.action


@MANY
@given(units(any_experiment), policies, st.booleans())
def test_a_flake_needs_canaries_that_behave_a_soak_failures_and_complete_arms(
    unit, policy, promoted
):
    if decide(case_of(unit, policy, promoted=promoted)).row.unit_class is not UnitClass.FLAKE:
        return
    experiment = unit.experiment
    assert experiment.soak_rounds > 0
    assert {Role.RED, Role.GREEN} <= experiment.soak_roles
    assert experiment.red.deviations == experiment.green.deviations == ()
    assert experiment.red.failed_rounds >= min(3, experiment.red.rounds)
    assert experiment.impossible_passes is experiment.torn is experiment.digests is None
    assert unit.failures >= policy.min_failures
    assert unit.alone.k > 0
    assert unit.unfresh is None
    assert unit.ran(Phase.TIGHTENED) >= policy.min_tightened
    assert unit.ran(Phase.LOADED) >= policy.min_loaded
    assert unit.ran(*STRESS) >= policy.stress_runs


@MANY
@given(units(), policies)
def test_stable_means_no_failure_anywhere_and_enough_runs_of_both_kinds(unit, policy):
    if decide(case_of(unit, policy)).row.unit_class is UnitClass.STABLE:
        assert unit.failures == 0
        assert unit.elsewhere == 0
        assert (1 - policy.rate_alone) ** unit.alone.n <= 0.05
        assert (1 - policy.rate_company) ** unit.company.n <= 0.05


@MANY
@given(units(any_experiment), policies)
def test_every_insufficient_says_how_many_runs_of_which_phase_would_decide(unit, policy):
    decision = decide(case_of(unit, policy))
    # No number of runs tells a load-sensitive test from a load-sensitive race.
    if decision.row.unit_class is UnitClass.INSUFFICIENT and decision.row.name != "I3":
        assert decision.judgement.need
        assert all(runs > 0 for runs in decision.judgement.need.values())


@MANY
@given(units(), policies)
def test_a_correction_for_many_tests_never_makes_a_flake_of_a_bug(unit, policy):
    promoted = decide(case_of(unit, policy)).row.unit_class
    corrected = decide(case_of(unit, policy, promoted=False)).row.unit_class
    if promoted in (UnitClass.HARNESS, UnitClass.CONSISTENT, UnitClass.RACE):
        assert corrected is not UnitClass.FLAKE
    assert (corrected is UnitClass.STABLE) == (promoted is UnitClass.STABLE)


@MANY
@given(units(), policies)
def test_a_unit_that_never_failed_alone_is_no_flake(unit, policy):
    if unit.alone.k == 0:
        assert decide(case_of(unit, policy)).row.unit_class is not UnitClass.FLAKE


@MANY
@given(units(), policies)
def test_what_is_flat_by_raw_p_only_is_called_a_flake(unit, policy):
    decision = decide(case_of(unit, policy))
    if decision.row.name == "4b":
        raw = compare(unit)
        assert raw.patch.p >= GREY
        assert raw.tightened_pooled.p >= GREY
        assert min(raw.loaded_pooled.p, raw.smaller_machine.p) >= GREY


@MANY
@given(units(), policies, st.sampled_from(ARMS), st.sampled_from([Role.SUBJECT, Role.GREEN]), sizes)
def test_more_passing_runs_make_nothing_stable_that_has_failed(unit, policy, phase, role, runs):
    more = dict(unit.cells)
    cell = Cell(role, phase, None)
    before = more.get(cell, Count(0, 0))
    more[cell] = before + Count(0, runs)
    later = replace(unit, cells=more)
    decision = decide(case_of(later, policy))
    if unit.failures:
        assert decision.row.unit_class is not UnitClass.STABLE
    if unit.alone.k == 0 and phase in (*COMPANY, *ALONE):
        assert decision.row.unit_class is not UnitClass.FLAKE


@MANY
@given(units(any_experiment), policies)
def test_canaries_and_records_decide_before_any_test_does(unit, policy):
    experiment = unit.experiment
    row = decide(case_of(unit, policy)).row
    if experiment.impossible_passes:
        assert row.name == "V1"
    elif experiment.torn or experiment.duplicates or experiment.digests or experiment.generations:
        assert row.name == "V2"
    elif experiment.red.deviations and {Role.RED, Role.GREEN} <= experiment.soak_roles:
        assert row.unit_class in (
            UnitClass.INVALID,
            UnitClass.BROKEN,
            UnitClass.INSUFFICIENT,
        )
        assert row.name in ("V2", "V3", "V4", "V6", "2a")
