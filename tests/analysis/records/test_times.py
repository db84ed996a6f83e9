"""Times as records give them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.times import micros_of, parse_moment

MIDDAY = micros_of(datetime(2026, 1, 2, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("value", "micros", "zoned"),
    [
        (1767355200, MIDDAY, True),
        (1767355200.0, MIDDAY, True),
        ("1767355200", MIDDAY, True),
        (" 1767355200.5 ", MIDDAY + 500_000, True),
        ("2026-01-02T12:00:00Z", MIDDAY, True),
        ("2026-01-02t12:00:00z", MIDDAY, True),
        ("2026-01-02T12:00:00+00:00", MIDDAY, True),
        ("2026-01-02T13:30:00+01:30", MIDDAY, True),
        ("2026-01-02T07:00:00-05:00", MIDDAY, True),
        ("2026-01-02 12:00:00.25Z", MIDDAY + 250_000, True),
        ("2026-01-02T12:00:00.123456789Z", MIDDAY + 123_456, True),
        ("2026-01-02T11:59:60Z", MIDDAY, True),
        ("2026-01-02T12:00:00", MIDDAY, False),
        ("2026-01-02 12:00", MIDDAY, False),
        ("2026-01-02", MIDDAY - 12 * 3600 * 1_000_000, False),
        (0.0000005, 0, True),
        (0.0000015, 2, True),
        (-1.25, -1_250_000, True),
    ],
)
def test_forms_of_a_time(value, micros, zoned):
    assert parse_moment(value, "at") == (micros, zoned)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-1439, 1439))
def test_text_keeps_every_microsecond_in_every_zone(moment, minutes):
    try:
        local = moment.astimezone(timezone(timedelta(minutes=minutes)))
    except OverflowError:
        local = moment
    assert parse_moment(local.isoformat(), "at") == (micros_of(moment), True)


@given(st.integers(-(2**40), 2**40))
def test_epoch_floats_keep_their_microseconds_as_far_as_a_float_does(micros):
    assert parse_moment(micros / 1_000_000, "at").micros == micros


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/St_Johns", "UTC"])
def test_the_machines_zone_changes_nothing(read_items, monkeypatch, zone):
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        (run,) = read_items({"rc": 0, "at": "2026-03-29T02:30:00"}).runs
    finally:
        monkeypatch.undo()
        time.tzset()
    assert run["finished"] == micros_of(datetime(2026, 3, 29, 2, 30, tzinfo=UTC))


def test_a_time_without_zone_is_noted(read_items):
    reading = read_items({"run": "r", "rc": 0, "at": "2026-01-01T00:00:00"})
    assert reading.rules == ["unlabelled-zone"]
    assert reading.notes[0]["run_id"] == "r"
    assert "finished" in reading.notes[0]["detail"]
    assert read_items({"rc": 0, "at": "2026-01-01T00:00:00Z"}).notes == []


@pytest.mark.parametrize(
    ("suspect", "fine"),
    [
        ({"started": "1999-12-31T23:59:59Z"}, {"started": "2000-01-01T00:00:00Z"}),
        ({"started": "2026-06-02T12:00:01Z"}, {"started": "2026-06-02T12:00:00Z"}),
        ({"started": 1700000000000}, {"started": 1700000000}),
        (
            {"started": "2026-01-01T00:00:01Z", "finished": "2026-01-01T00:00:00Z"},
            {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:00Z"},
        ),
    ],
)
def test_a_suspect_clock_is_kept_and_noted(read_items, suspect, fine):
    reading = read_items({"rc": 0} | suspect)
    assert reading.rules == ["clock-suspect"]
    assert reading.runs[0]["started"] is not None
    assert read_items({"rc": 0} | fine).notes == []
