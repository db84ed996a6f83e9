"""What the table decides on: the counts and contrasts of one unit within one experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from analysis.attribution.statistics import ZERO, Count, Stratum, total
from analysis.model import ALONE, ARMS, COMPANY, Phase, Role

SUBJECT_AND_GREEN = (Role.SUBJECT, Role.GREEN)

TestKey = tuple[str, str | None]
"""A test's normal form and variant."""


@dataclass(frozen=True)
class Cell:
    """Where executions were counted. cpus is None where the log does not say."""

    role: Role
    phase: Phase
    cpus: int | None


@dataclass(frozen=True)
class Address:
    """Where a bug lives: a resource, variable or test, and who was on the other side."""

    kind: str
    id: str | None
    peer_patch: str | None = None
    peer_test: str | None = None


@dataclass(frozen=True)
class Exposure:
    """Executions in company of one test, with and without a peer that held one resource.

    strata: one a (phase, cpus); `high` is exposed. covered: failures that were exposed.
    """

    address: Address
    strata: tuple[Stratum, ...]
    exposed: Count
    unexposed: Count

    @property
    def covered(self) -> int:
        return self.exposed.k


@dataclass(frozen=True)
class Contrast:
    """Executions with and without one inherited value or one test run before."""

    name: str
    strata: tuple[Stratum, ...]
    having: Count
    lacking: Count


@dataclass(frozen=True)
class Detail:
    """What is known of the executions of a unit that failed.

    signs: company failures that name a shared resource, by kind; sign_address: the recorded one.
    blamed: failures anywhere whose message names a shared resource or an exhausted machine, of
    all failures. machines: like `variables`, for runner, worker and HOME. form: normal form of
    most failures.
    """

    exposures: tuple[Exposure, ...] = ()
    variables: tuple[Contrast, ...] = ()
    polluters: tuple[Contrast, ...] = ()
    signs: Mapping[str, int] = field(default_factory=dict)
    sign_address: Mapping[str, str] = field(default_factory=dict)
    blamed: Count = ZERO
    machines: tuple[Contrast, ...] = ()
    resources_recorded: bool = False
    form: str | None = None


@dataclass(frozen=True)
class Canary:
    """How a canary behaved, judged on its pinned test where one is configured.

    failed: runs in which it failed (for red: with its message) of runs it was judged in.
    deviations: run ids in which it did what it must not. rounds: soak rounds it ran in;
    judged_rounds: those in which it was judged.
    """

    patch_id: str | None
    pinned: str | None
    present: bool
    rounds: int
    failed: Count
    failed_rounds: int
    other_failures: int
    deviations: tuple[str, ...] = ()
    address: Address | None = None
    judged_rounds: int = 0


@dataclass(frozen=True)
class Complaint:
    """A fact that spoils an experiment's records: how often, and one example in words."""

    count: int
    example: str


@dataclass(frozen=True)
class Experiment:
    """What holds for every unit of an experiment."""

    name: str
    runs: int
    soak_rounds: int
    impossible_passes: Complaint | None
    torn: Complaint | None
    duplicates: Complaint | None
    unusable_rounds: int
    digests: Complaint | None
    generations: Complaint | None
    soak_roles: frozenset[Role]
    soak_patches: frozenset[str]
    red: Canary
    green: Canary
    missing_pinned: Mapping[str, tuple[str, ...]]
    pinned: int


@dataclass(frozen=True)
class Unit:
    """One (patch, test, variant) within one experiment.

    cells: failures / executed of this patch as subject, of green and of red; by runs instead of
    executions where `by_run`; `executions` then has them by execution.
    elsewhere: failures of subject and green in gate runs and in runs that were cut.
    isolated: no alone run says of itself that isolation was off or that others ran beside it.
    unfresh: a written resource that runs of the alone phases shared, whose cells are left out.
    """

    experiment: Experiment
    patch_id: str
    test_id: str
    variant: str | None
    cells: Mapping[Cell, Count]
    elsewhere: int
    by_run: bool = False
    executions: Mapping[Cell, Count] | None = None
    isolated: bool = True
    unfresh: Address | None = None
    unfresh_runs: int = 0
    unfresh_failures: int = 0
    detail: Detail = field(default_factory=Detail)

    def count(self, roles: Iterable[Role], phases: Iterable[Phase]) -> Count:
        """Failures / executed of some roles in some phases, machine sizes pooled."""
        wanted_roles, wanted_phases = set(roles), set(phases)
        return total(
            count
            for cell, count in self.cells.items()
            if cell.role in wanted_roles and cell.phase in wanted_phases
        )

    @property
    def by_execution(self) -> Unit:
        """This unit with executions counted, where runs are: what the minima of I2 mean."""
        return self if self.executions is None else replace(self, cells=self.executions)

    def ran(self, *phases: Phase) -> int:
        """How often the subject was executed in some phases, also where runs are counted."""
        return self.by_execution.subject(*phases).n

    @property
    def company(self) -> Count:
        return self.count(SUBJECT_AND_GREEN, COMPANY)

    @property
    def alone(self) -> Count:
        return self.count(SUBJECT_AND_GREEN, ALONE)

    @property
    def failures(self) -> int:
        """All failures on record of subject and green, wherever they happened."""
        return self.count(SUBJECT_AND_GREEN, ARMS).k + self.elsewhere + self.unfresh_failures

    def subject(self, *phases: Phase) -> Count:
        return self.count((Role.SUBJECT,), phases)

    def green(self, *phases: Phase) -> Count:
        return self.count((Role.GREEN,), phases)

    def strata(
        self,
        roles: Iterable[Role],
        high: Iterable[Phase],
        low: Iterable[Phase],
    ) -> list[Stratum]:
        """One phase group against another, a stratum a (role, machine size)."""
        highs, lows = set(high), set(low)
        return self._strata(
            (cell for cell in self.cells if cell.role in set(roles)),
            lambda cell: (cell.role, cell.cpus),
            lambda cell: cell.phase in highs,
            lambda cell: cell.phase in lows,
        )

    def patch_strata(self, phases: Iterable[Phase]) -> list[Stratum]:
        """The subject against green, a stratum a (phase, machine size)."""
        wanted = set(phases)
        return self._strata(
            (cell for cell in self.cells if cell.phase in wanted),
            lambda cell: (cell.phase, cell.cpus),
            lambda cell: cell.role is Role.SUBJECT,
            lambda cell: cell.role is Role.GREEN,
        )

    def machine_strata(self) -> list[Stratum]:
        """The smallest machine against larger ones, a stratum a (role, phase)."""
        sizes = [
            cell.cpus
            for cell in self.cells
            if cell.cpus is not None and cell.role in SUBJECT_AND_GREEN
        ]
        smallest = min(sizes, default=None)
        return self._strata(
            (c for c in self.cells if c.role in SUBJECT_AND_GREEN and c.cpus is not None),
            lambda cell: (cell.role, cell.phase),
            lambda cell: cell.cpus == smallest,
            lambda cell: cell.cpus != smallest,
        )

    def _strata(
        self,
        cells: Iterable[Cell],
        key: Callable[[Cell], object],
        high: Callable[[Cell], bool],
        low: Callable[[Cell], bool],
    ) -> list[Stratum]:
        groups: dict[object, list[Count]] = {}
        for cell in cells:
            pair = groups.setdefault(key(cell), [ZERO, ZERO])
            if high(cell):
                pair[0] = pair[0] + self.cells[cell]
            elif low(cell):
                pair[1] = pair[1] + self.cells[cell]
        return [Stratum(first, second) for first, second in groups.values()]
