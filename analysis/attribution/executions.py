"""The executions of a test that failed: who was beside them, what they inherited and said."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from analysis.attribution.facts import Address, Contrast, Detail, Exposure
from analysis.attribution.statistics import Count, Stratum
from analysis.evidence.signatures import (
    blames_infrastructure,
    most_common,
    normal_form,
    sign,
)
from analysis.model import COMPANY, Role
from analysis.records.identity import normal_form as test_form

VARIABLES = ("TZ", "LC_ALL", "LANG", "umask")
EXECUTION = ["source_id", "byte_offset", "item"]


def describe(rows: pd.DataFrame, overlaps: pd.DataFrame, *, red_counts: bool) -> Detail:
    """What is known of a unit's executions.

    rows: executions of subject, green and red in the arms, one a row. overlaps: which of them
    (by source_id, byte_offset, item) a peer overlapped on which resource, a row a peer.
    red_counts: red's executions are pooled for exposure; not so on the test it must fail.
    """
    own = rows[rows["role"] != Role.RED]
    company = own[own["phase"].isin(COMPANY)]
    failures = company[company["failed"].astype(bool)]
    beside = rows if red_counts else own
    signs, places = _signs(failures)
    return Detail(
        exposures=_exposures(beside[beside["phase"].isin(COMPANY)], overlaps),
        variables=_contrasts(own, VARIABLES, ("image_digest",)),
        machines=_contrasts(own, ("HOME",), ("runner", "worker")),
        blamed=_blamed(own[own["failed"].astype(bool)]),
        resources_recorded=bool(rows["resources"].map(_any).any()),
        polluters=_polluters(own),
        signs=signs,
        sign_address=places,
        form=most_common(
            normal_form(message)
            for message in own.loc[own["failed"].astype(bool), "message"].dropna()
        ),
    )


def _exposures(company: pd.DataFrame, overlaps: pd.DataFrame) -> tuple[Exposure, ...]:
    """One exposure a resource that a peer held during some execution, widest cover first."""
    mine = overlaps.merge(company[[*EXECUTION, "role", "failed"]], on=EXECUTION)
    found = []
    for (kind, name), touched in mine.groupby(["kind", "id"]):
        keys = pd.MultiIndex.from_frame(touched[EXECUTION])
        held = pd.MultiIndex.from_frame(company[EXECUTION]).isin(keys)
        address = Address(str(kind), str(name), *_peer(touched))
        exposed = _count(company[held])
        unexposed = _count(company[~held])
        strata = _strata(company, held, ["phase", "cpus"])
        found.append(Exposure(address, strata, exposed, unexposed))
    return tuple(
        sorted(found, key=lambda e: (-e.covered, -e.exposed.n, e.address.kind, e.address.id or ""))
    )


def _peer(touched: pd.DataFrame) -> tuple[str, str]:
    """The patch and test most often on the other side, of the subject's failures if it has any."""
    failed = touched[touched["failed"].astype(bool)]
    of_subject = failed[failed["role"] == Role.SUBJECT]
    chosen = next(rows for rows in (of_subject, failed, touched) if len(rows))
    met = chosen.groupby(["peer_patch", "peer_test"])["meetings"].sum().reset_index()
    met = met.sort_values(["meetings", "peer_patch", "peer_test"], ascending=[False, True, True])
    return str(met.iloc[0]["peer_patch"]), str(met.iloc[0]["peer_test"])


def _count(rows: pd.DataFrame) -> Count:
    return Count(int(rows["failed"].astype(bool).sum()), len(rows))


def _strata(rows: pd.DataFrame, high: Any, keys: list[str]) -> tuple[Stratum, ...]:
    strata = []
    for _, group in rows.assign(high=high).groupby(keys, dropna=False):
        marked = group["high"].astype(bool)
        strata.append(Stratum(_count(group[marked]), _count(group[~marked])))
    return tuple(strata)


def _contrasts(
    own: pd.DataFrame, names: tuple[str, ...], columns: tuple[str, ...]
) -> tuple[Contrast, ...]:
    """One contrast a value of a variable of `env` or of a column, each value on two runs or
    more."""
    environments = {text: json.loads(text) for text in own["env"].dropna().unique()}
    contrasts = []
    for variable in (*names, *columns):
        if variable in columns:
            values = own[variable]
        else:
            values = own["env"].map(
                lambda text, v=variable: _value(environments, text, v), na_action="ignore"
            )
        known = own.assign(value=values)[values.notna()]
        runs = known.groupby("value")["run_id"].nunique()
        if len(runs) < 2 or int(runs.min()) < 2:
            continue
        for value in sorted(runs.index):
            having = known["value"] == value
            contrasts.append(
                Contrast(
                    f"{variable}={value}",
                    _strata(known, having, ["role", "phase"]),
                    _count(known[having]),
                    _count(known[~having]),
                )
            )
    return tuple(contrasts)


def _any(resources: object) -> bool:
    return isinstance(resources, Iterable) and any(True for _ in resources)


def _blamed(failures: pd.DataFrame) -> Count:
    said = zip(failures["exc"], failures["errno"], failures["message"], strict=True)
    blamed = [blames_infrastructure(*(_text(part) for part in parts)) for parts in said]
    return Count(sum(blamed), len(blamed))


def _value(environments: Mapping[str, Mapping[str, object]], text: str, name: str) -> str | None:
    value = environments[text].get(name)
    return None if value is None else str(value)


def _polluters(own: pd.DataFrame) -> tuple[Contrast, ...]:
    """One contrast a test that ran earlier in the same process, in some executions and not in
    all. Only those after which the test fails and without which it never does are kept apart
    by the table; the number of candidates is what a p-value pays for."""
    known = own[own["before"].notna()]
    if known.empty:
        return ()
    before = [frozenset(tests) for tests in known["before"]]
    itself = set(known["test_norm"].unique())
    ran = frozenset().union(*before)
    candidates = sorted(name for name in ran if test_form(name) not in itself)
    contrasts = []
    for name in candidates:
        after = pd.Series([name in tests for tests in before], index=known.index)
        if after.all():
            continue
        contrasts.append(
            Contrast(
                name,
                _strata(known, after, ["role", "phase"]),
                _count(known[after]),
                _count(known[~after]),
            )
        )
    return tuple(sorted(contrasts, key=lambda c: (c.lacking.k, -c.having.k, c.having.n, c.name)))


def _signs(failures: pd.DataFrame) -> tuple[dict[str, int], dict[str, str]]:
    """How many failures name which kind of resource, and the recorded one of that kind."""
    counts: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    columns: Iterable[tuple[Hashable, ...]] = zip(
        failures["exc"], failures["errno"], failures["message"], failures["resources"], strict=True
    )
    for exc, errno, message, resources in columns:
        found = sign(_text(exc), _text(errno), _text(message))
        if found is None:
            continue
        counts[found.value] = counts.get(found.value, 0) + 1
        if isinstance(resources, Iterable):
            touched = {r["id"] for r in resources if r["kind"] == found.value}
            names.setdefault(found.value, []).extend(sorted(touched))
    places = {kind: most_common(ids) for kind, ids in names.items()}
    return counts, {kind: name for kind, name in places.items() if name}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
