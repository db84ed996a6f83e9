"""What a failure message gives away, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.signatures import Sign, most_common, normal_form, sign


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ("assert 3 == 4", "assert # == #"),
        ("took 12.5 ms, allowed 10ms", "took <duration>, allowed <duration>"),
        ("object at 0x7f3a09bc", "object at <hex>"),
        ("commit 9fceb02d0ae598e9 not found", "commit <hex> not found"),
        ("key 123e4567-e89b-12d3-a456-426614174000 is gone", "key <uuid> is gone"),
        ("expired at 2026-05-04T10:11:12Z", "expired at <date>"),
        ("born on 2026-05-04", "born on <date>"),
        ("cannot open /tmp/pytest-of-ci/pytest-3/db.sqlite: gone", "cannot open <tmp>: gone"),
        ("cannot open /var/folders/x1/abc/T/db", "cannot open <tmp>"),
        ("connect to 127.0.0.1:54321 failed", "connect to <address> failed"),
        ("connect to localhost:54321 failed", "connect to localhost:# failed"),
        ("two\n  lines\tand tabs", "two lines and tabs"),
    ],
)
def test_what_differs_from_run_to_run_is_blanked(message, form):
    assert normal_form(message) == form


@pytest.mark.parametrize("message", ["assert defaced", "no such fixture: feedback", "", "beef"])
def test_words_stay_as_they_are(message):
    assert normal_form(message) == message


@given(st.text(max_size=400))
def test_a_normal_form_is_one_short_line_without_digits(message):
    form = normal_form(message)
    assert len(form) <= 200
    assert "\n" not in form
    assert not any(character in "0123456789" for character in form)


@given(st.integers(1024, 65535), st.integers(1024, 65535))
def test_two_messages_that_differ_in_a_port_have_one_form(one, other):
    text = "bind: 0.0.0.0:{} in use (port {})"
    assert normal_form(text.format(one, one)) == normal_form(text.format(other, other))


@pytest.mark.parametrize(
    ("exc", "errno", "message", "kind"),
    [
        ("OSError", None, "[Errno 98] Address already in use", Sign.PORT),
        ("OSError", "EADDRINUSE", None, Sign.PORT),
        ("OSError", None, "error while attempting to bind: address already in use", Sign.PORT),
        ("sqlite3.OperationalError", None, "database is locked", Sign.DATABASE),
        ("sqlite3.OperationalError", None, "no such table: bookings", Sign.DATABASE),
        ("OperationalError", None, "table bookings already exists", Sign.DATABASE),
        ("DuplicateDatabase", None, 'database "gate" already exists', Sign.DATABASE),
        ("JSONDecodeError", None, "Expecting value: line 1 column 1 (char 0)", Sign.HALF_WRITTEN),
        ("UnpicklingError", None, "pickle data was truncated", Sign.HALF_WRITTEN),
        ("BadZipFile", None, "File is not a zip file", Sign.HALF_WRITTEN),
        ("EOFError", None, "Ran out of input", Sign.HALF_WRITTEN),
    ],
)
def test_ports_databases_and_half_written_files_are_recognised(exc, errno, message, kind):
    assert sign(exc, errno, message) is kind


@pytest.mark.parametrize(
    ("exc", "errno", "message"),
    [
        ("FileNotFoundError", "ENOENT", "No such file or directory: 'bookings.json'"),
        ("FileExistsError", "EEXIST", "File exists: 'bookings.json'"),
        ("OSError", "ENOSPC", "No space left on device"),
        ("OSError", "EMFILE", "Too many open files"),
        ("MemoryError", "ENOMEM", None),
        ("OSError", "EDQUOT", "Disk quota exceeded"),
        (None, None, "Killed"),
        ("ConnectionRefusedError", "ECONNREFUSED", "Connection refused"),
        ("AssertionError", None, "assert 'Europe/Berlin' == 'UTC'"),
        ("AssertionError", None, "the user already exists"),
        ("TimeoutError", None, "timed out after 5 s"),
        (None, None, None),
    ],
)
def test_what_is_a_hint_at_most_weighs_nothing(exc, errno, message):
    assert sign(exc, errno, message) is None


def test_the_most_common_text_and_of_equals_the_first_in_the_alphabet():
    assert most_common(["b", "a", "b"]) == "b"
    assert most_common(["b", "a"]) == "a"
    assert most_common([]) is None
