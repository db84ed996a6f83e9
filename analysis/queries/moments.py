"""Times of the index as Python has them."""

from __future__ import annotations

from datetime import datetime


def moment(value: datetime | str | None) -> datetime | None:
    """A time as DuckDB gives it, in UTC; None for one that Python cannot hold.

    A clock can be off by millennia: years beyond 1 to 9999 come as text.
    """
    return value if isinstance(value, datetime) else None
