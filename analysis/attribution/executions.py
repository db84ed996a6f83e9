"""The executions of a test that failed: who was beside them, what they inherited and said."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from analysis.attribution.facts import Address, Contrast, Detail, Exposure
from analysis.attribution.statistics import Count, Stratum
from analysis.evidence.signatures import (
    Sign,
    blames_infrastructure,
    most_common,
    normal_form,
    sign,
)
from analysis.model import COMPANY, Role
from analysis.records.identity import normal_form as test_form

VARIABLES = ("TZ", "LC_ALL", "LANG", "umask")

Place = tuple[int, int, int]
"""Where an execution stands: source id, byte offset of its line, item within the line."""


class Execution(NamedTuple):
    """One execution of a test. env is JSON text; before: the tests earlier in the process;
    resources: what it touched, as {kind, id, op}. None: the log does not say."""

    place: Place
    patch_id: str
    role: str
    test_norm: str
    phase: str
    cpus: int | None
    run_id: str
    failed: bool
    started: datetime | None
    exc: str | None
    errno: str | None
    message: str | None
    env: str | None
    image_digest: str | None
    runner: str | None
    worker: str | None
    before: Sequence[str] | None
    resources: Sequence[Mapping[str, str | None]] | None


class Meeting(NamedTuple):
    """A peer held a resource while an execution did, so many times."""

    kind: str
    id: str
    peer_patch: str
    peer_test: str
    times: int


Meetings = Mapping[Place, Sequence[Meeting]]
_Key = Callable[[Execution], object]


def describe(rows: Sequence[Execution], meetings: Meetings, *, red_counts: bool) -> Detail:
    """What is known of a unit's executions.

    rows: executions of subject, green and red in the arms. meetings: the peers of each of them.
    red_counts: red's executions are pooled for exposure; not so on the test it must fail.
    """
    own = [row for row in rows if row.role != Role.RED]
    failures = [row for row in own if row.failed]
    beside = rows if red_counts else own
    signs, places = _signs(row for row in failures if row.phase in COMPANY)
    return Detail(
        exposures=_exposures([row for row in beside if row.phase in COMPANY], meetings),
        variables=(
            *_contrasts_of(own, VARIABLES),
            *_contrasts(own, "image_digest", lambda row: row.image_digest),
        ),
        machines=(
            *_contrasts_of(own, ("HOME",)),
            *_contrasts(own, "runner", lambda row: row.runner),
            *_contrasts(own, "worker", lambda row: row.worker),
        ),
        blamed=_blamed(failures),
        resources_recorded=any(row.resources for row in rows),
        polluters=_polluters(own),
        signs=signs,
        sign_address=places,
        form=_form(failures),
    )


def _exposures(company: Sequence[Execution], meetings: Meetings) -> tuple[Exposure, ...]:
    """One exposure a resource that a peer held during some execution, widest cover first."""
    met: dict[tuple[str, str], list[tuple[Execution, Meeting]]] = defaultdict(list)
    for row in company:
        for meeting in meetings.get(row.place, ()):
            met[meeting.kind, meeting.id].append((row, meeting))
    found = []
    for (kind, name), pairs in met.items():
        places = {row.place for row, _ in pairs}
        held = [row.place in places for row in company]
        strata = _strata(company, held, lambda row: (row.phase, row.cpus))
        exposed, unexposed = _sides(company, held)
        found.append(Exposure(Address(kind, name, *_peer(pairs)), strata, exposed, unexposed))
    return tuple(
        sorted(found, key=lambda e: (-e.covered, -e.exposed.n, e.address.kind, e.address.id or ""))
    )


def _peer(pairs: Sequence[tuple[Execution, Meeting]]) -> tuple[str, str]:
    """The patch and test most often on the other side, of the subject's failures if it has any."""
    failed = [(row, meeting) for row, meeting in pairs if row.failed]
    of_subject = [(row, meeting) for row, meeting in failed if row.role == Role.SUBJECT]
    times: dict[tuple[str, str], int] = defaultdict(int)
    for _, meeting in of_subject or failed or pairs:
        times[meeting.peer_patch, meeting.peer_test] += meeting.times
    return min(times, key=lambda peer: (-times[peer], peer))


def _sides(rows: Sequence[Execution], high: Sequence[bool]) -> Stratum:
    """Failures / executed of the marked rows and of the others."""
    marked = [row.failed for row, is_high in zip(rows, high, strict=True) if is_high]
    failed, n = sum(row.failed for row in rows), len(rows)
    k = sum(marked)
    return Stratum(Count(k, len(marked)), Count(failed - k, n - len(marked)))


def _strata(rows: Sequence[Execution], high: Sequence[bool], key: _Key) -> tuple[Stratum, ...]:
    counts: dict[object, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row, is_high in zip(rows, high, strict=True):
        side = counts[key(row)]
        at = 0 if is_high else 2
        side[at] += row.failed
        side[at + 1] += 1
    # Sorted, so that the order of the rows decides nothing.
    return tuple(sorted(Stratum(Count(*side[:2]), Count(*side[2:])) for side in counts.values()))


def _role_and_phase(row: Execution) -> object:
    return row.role, row.phase


def _contrasts_of(own: Sequence[Execution], variables: Iterable[str]) -> list[Contrast]:
    """The contrasts of variables of `env`."""
    texts = {row.env for row in own if row.env is not None}
    environments = {text: json.loads(text) for text in texts}
    return [
        contrast
        for name in variables
        for contrast in _contrasts(own, name, partial(_value, environments, name))
    ]


def _value(
    environments: Mapping[str, Mapping[str, object]], name: str, row: Execution
) -> str | None:
    found = None if row.env is None else environments[row.env].get(name)
    return None if found is None else str(found)


def _contrasts(
    own: Sequence[Execution], name: str, value: Callable[[Execution], str | None]
) -> list[Contrast]:
    """One contrast a value, each value on two runs or more."""
    known = [(row, found) for row in own if (found := value(row)) is not None]
    runs: dict[str, set[str]] = defaultdict(set)
    for row, found in known:
        runs[found].add(row.run_id)
    if len(runs) < 2 or min(map(len, runs.values())) < 2:
        return []
    rows = [row for row, _ in known]
    return [
        _contrast(f"{name}={one}", rows, [found == one for _, found in known])
        for one in sorted(runs)
    ]


def _contrast(name: str, rows: Sequence[Execution], having: Sequence[bool]) -> Contrast:
    return Contrast(name, _strata(rows, having, _role_and_phase), *_sides(rows, having))


def _polluters(own: Sequence[Execution]) -> tuple[Contrast, ...]:
    """One contrast a test that ran earlier in the same process, in some executions and not in
    all. Only those after which the test fails and without which it never does are kept apart
    by the table; the number of candidates is what a p-value pays for."""
    known = [row for row in own if row.before is not None]
    itself = {row.test_norm for row in known}
    after: dict[str, int] = defaultdict(int)
    for at, row in enumerate(known):
        for name in set(row.before or ()):
            after[name] |= 1 << at
    # Most tests of a suite ran before the same executions: those are counted once.
    everywhere = (1 << len(known)) - 1
    contrasts: dict[int, Contrast] = {}
    found = []
    for name, pattern in after.items():
        if pattern == everywhere or test_form(name) in itself:
            continue
        if pattern not in contrasts:
            marks = [bool(pattern >> at & 1) for at in range(len(known))]
            contrasts[pattern] = _contrast(name, known, marks)
        found.append(replace(contrasts[pattern], name=name))
    return tuple(sorted(found, key=lambda c: (c.lacking.k, -c.having.k, c.having.n, c.name)))


def _blamed(failures: Sequence[Execution]) -> Count:
    said = [(row.exc, row.errno, row.message) for row in failures]
    blaming = {words: blames_infrastructure(*words) for words in set(said)}
    return Count(sum(blaming[words] for words in said), len(said))


def _form(failures: Sequence[Execution]) -> str | None:
    """The normal form of most messages."""
    said = [row.message for row in failures if row.message is not None]
    forms = {message: normal_form(message) for message in set(said)}
    return most_common(forms[message] for message in said)


def _signs(failures: Iterable[Execution]) -> tuple[dict[str, int], dict[str, str]]:
    """How many failures name which kind of resource, and the recorded one of that kind."""
    signs: dict[tuple[str | None, str | None, str | None], Sign | None] = {}
    counts: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    for row in failures:
        words = (row.exc, row.errno, row.message)
        if words not in signs:
            signs[words] = sign(*words)
        found = signs[words]
        if found is None:
            continue
        kind = found.value
        counts[kind] = counts.get(kind, 0) + 1
        touched = {one["id"] for one in row.resources or () if one["kind"] == kind}
        names.setdefault(kind, []).extend(name for name in touched if name)
    places = {kind: most_common(ids) for kind, ids in names.items()}
    return counts, {kind: name for kind, name in places.items() if name}
