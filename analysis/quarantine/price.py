"""What a list costs: what could hide behind its entries, and whether it only grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

import duckdb

from analysis.attribution.statistics import Count, upper
from analysis.quarantine.events import Kind
from analysis.quarantine.evidence import signature
from analysis.quarantine.replay import Entry, QuarantineList
from analysis.store import query

WEEKS = 6
GROWING_WEEKS = 4

_SINCE = """
SELECT run_id, patch_id, failed, outcome, exc, left(message, 8000)
FROM results
WHERE test_id = $test_id AND variant IS NOT DISTINCT FROM $variant AND role = 'subject'
    AND failed IS NOT NULL AND usable AND started >= $since
"""


@dataclass(frozen=True)
class Price:
    """What an entry has excused since it was opened. excused: failures with its signatures, of all
    executions. upper: the largest rate of such failures, one-sided 95 %, that could hide behind it
    as a regression of a patch; 1.0 where nothing ran."""

    excused: Count
    runs: int
    patches: int

    @property
    def upper(self) -> float:
        """U(k, n)."""
        return upper(self.excused)


@dataclass(frozen=True)
class Week:
    """A week of the list, from its Monday: entries that came and went, and stayed at its end."""

    start: datetime
    inflow: int
    outflow: int
    listed: int


def price_of(connection: duckdb.DuckDBPyConnection, entry: Entry) -> Price:
    """The price of an entry, from the runs in the index."""
    since = entry.opened.at.astimezone(UTC).replace(tzinfo=None)
    rows = query.rows(
        connection,
        _SINCE,
        {"test_id": entry.test_id, "variant": entry.variant, "since": since},
    )
    excused = sum(
        1
        for _, _, failed, outcome, exc, message in rows
        if failed and signature(outcome, exc, message) in entry.signatures
    )
    return Price(
        Count(excused, len(rows)),
        len({run for run, *_ in rows}),
        len({patch for _, patch, *_ in rows}),
    )


def weeks(found: QuarantineList, now: datetime, count: int = WEEKS) -> tuple[Week, ...]:
    """The last weeks of the list, oldest first."""
    monday = (now - timedelta(days=now.weekday())).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    starts = [monday - timedelta(weeks=back) for back in reversed(range(count))]
    spans = [span for entry in found.entries.values() for span in _spans(entry)]
    return tuple(
        Week(
            start,
            sum(1 for begin, _ in spans if start <= begin < start + timedelta(weeks=1)),
            sum(
                1
                for _, end in spans
                if end is not None and start <= end < start + timedelta(weeks=1)
            ),
            sum(
                1
                for begin, end in spans
                if begin < min(start + timedelta(weeks=1), now)
                and (end is None or end >= min(start + timedelta(weeks=1), now))
            ),
        )
        for start in starts
    )


def _spans(entry: Entry) -> list[tuple[datetime, datetime | None]]:
    """When it was on the list: (from, to), None for still."""
    found: list[tuple[datetime, datetime | None]] = []
    since: datetime | None = None
    for event in entry.events:
        if event.kind is Kind.QUARANTINED and since is None:
            since = event.at
        elif event.kind in (Kind.RELEASED, Kind.REVOKED) and since is not None:
            found.append((since, event.at))
            since = None
    return [*found, (since, None)] if since is not None else found


def only_grows(last: Sequence[Week]) -> bool:
    """Whether more came than went, week after week."""
    some = last[-GROWING_WEEKS:]
    return len(some) == GROWING_WEEKS and all(week.inflow > week.outflow for week in some)


def median_age(found: QuarantineList, now: datetime) -> timedelta | None:
    """Of the entries on the list; None for an empty one."""
    ages = [one.held(now).total_seconds() for one in found.listed()]
    return timedelta(seconds=median(ages)) if ages else None
