"""The list as the screen of it, the overview and the reports need it: one reading, one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import duckdb

from analysis.attribution.statistics import Count, total, upper
from analysis.quarantine.admission import runs_needed
from analysis.quarantine.desk import Desk
from analysis.quarantine.gate import hidden_races
from analysis.quarantine.price import Price, Week, median_age, only_grows, price_of, weeks
from analysis.quarantine.replay import Entry, QuarantineList, State
from analysis.store import query


@dataclass(frozen=True)
class QuarantineView:
    """The list and what it costs. inert: what a later attribution says against entries, by name.
    clean: failures of executed since the code of an unlocked entry moved; needed: clean runs that
    a release takes. orphans: entries of whose test there is no record."""

    listed: tuple[Entry, ...]
    closed: tuple[Entry, ...]
    found: QuarantineList
    prices: Mapping[str, Price]
    inert: Mapping[str, str]
    clean: Mapping[str, Count]
    needed: Mapping[str, int]
    weeks: tuple[Week, ...]
    grows: bool
    median_age: timedelta | None
    orphans: frozenset[str]

    @property
    def now(self) -> datetime:
        """As of when."""
        return self.found.at

    @property
    def lapsed(self) -> tuple[Entry, ...]:
        """What makes `tui quarantine check` fail by time."""
        return tuple(one for one in self.listed if one.state is State.LAPSED)

    @property
    def excused(self) -> Count:
        """Failures excused of executions since their entries were opened, over the whole list."""
        return total(price.excused for price in self.prices.values())

    @property
    def upper(self) -> float:
        """What could hide behind the list: see `price.Price`."""
        return upper(self.excused)


def view(connection: duckdb.DuckDBPyConnection, desk: Desk) -> QuarantineView:
    """The list of a desk, with what the index knows of it."""
    found = desk.list_now()
    listed = found.listed()
    closed = found.listed(State.REVOKED, State.RELEASED)
    unlocked = [one for one in listed if one.state is State.UNLOCKED]
    known = (
        {test for (test,) in query.rows(connection, "SELECT test_id FROM tests")}
        if listed
        else set()
    )
    recent = weeks(found, found.at)
    return QuarantineView(
        listed=listed,
        closed=tuple(sorted(closed, key=lambda one: (one.state, -one.events[-1].at.timestamp()))),
        found=found,
        prices={one.name: price_of(connection, one) for one in listed},
        inert=hidden_races(connection, found),
        clean={one.name: desk.clean(connection, one) for one in unlocked},
        needed={one.name: runs_needed(one) for one in listed},
        weeks=recent,
        grows=only_grows(recent),
        median_age=median_age(found, found.at),
        orphans=frozenset(one.name for one in listed if known and one.test_id not in known),
    )
