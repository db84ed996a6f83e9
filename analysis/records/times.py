"""Times as records give them, as microseconds since the epoch in UTC."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from analysis.records.refusal import bad_type, bad_value

MICROS_PER_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_LATEST_MICROS = 9_223_372_022_400_000_000
"""What a timestamp of microseconds can hold on either side of the epoch."""

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_LEAP_SECOND = re.compile(r"(?<=[0-9]{2}:[0-9]{2}:)60")


class Moment(NamedTuple):
    """A point in time. zoned is false where the record named no zone and UTC was assumed."""

    micros: int
    zoned: bool


def parse_moment(value: object, name: str) -> Moment:
    """Seconds since the epoch (int, float or numeric text) or RFC 3339 text.

    Floats are rounded half to even. A date alone is its midnight. Refused with the field's
    name: what is neither, and what a timestamp of microseconds cannot hold.
    """
    if isinstance(value, float) or type(value) is int:
        return Moment(_from_seconds(value, name), True)
    if not isinstance(value, str):
        raise bad_type(name)
    text = value.strip()
    if _NUMBER.fullmatch(text):
        # An integer goes through float only if it has to: 17 digits would lose microseconds.
        seconds = int(text) if text.lstrip("+-").isdigit() and len(text) < 20 else float(text)
        return Moment(_from_seconds(seconds, name), True)
    return _from_text(text, name)


def micros_of(moment: datetime) -> int:
    """Microseconds since the epoch; a moment without a zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICRO


def _from_seconds(seconds: float, name: str) -> int:
    if isinstance(seconds, int):
        micros = seconds * MICROS_PER_SECOND
    elif math.isfinite(seconds):
        fraction, whole = math.modf(seconds)
        micros = int(whole) * MICROS_PER_SECOND + round(fraction * MICROS_PER_SECOND)
    else:
        raise bad_value(name)
    if abs(micros) > _LATEST_MICROS:
        raise bad_value(name)
    return micros


def _from_text(text: str, name: str) -> Moment:
    # RFC 3339 allows a leap second, which the standard library does not read.
    plain, leaps = _LEAP_SECOND.subn("59", text.upper(), count=1)
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        raise bad_value(name) from None
    return Moment(micros_of(moment) + leaps * MICROS_PER_SECOND, moment.tzinfo is not None)
