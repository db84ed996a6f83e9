"""Documents that are cut, flipped or made to hurt: bounded, and nothing is invented."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.model import Outcome
from analysis.records.results import Format, Reading, recognise, summary

CASES = "".join(
    f"<testcase classname='pkg.test_mod' name='test_{number}' time='0.1'>{inner}</testcase>\n"
    for number, inner in enumerate(
        ["", "<failure message='assert 1 == 2'>long\ntext</failure>", "<skipped/>", "", "<error/>"]
        * 3
    )
)
JUNIT = (
    "<?xml version='1.0' encoding='utf-8'?>\n<testsuites><testsuite name='pytest' tests='15'>"
    f"{CASES}</testsuite></testsuites>\n"
).encode()
GO = b"".join(
    json.dumps({"Action": action, "Package": "p", **({"Test": test} if test else {})}).encode()
    + b"\n"
    for action, test in [
        ("start", ""),
        ("run", "TestA"),
        ("pass", "TestA"),
        ("run", "TestB"),
        ("fail", "TestB"),
        ("fail", ""),
    ]
)
LOG = b"".join(
    json.dumps({"$report_type": kind, **more}).encode() + b"\n"
    for kind, more in [
        ("SessionStart", {}),
        *(
            ("TestReport", {"nodeid": f"t.py::{name}", "when": when, "outcome": "passed"})
            for name in "ab"
            for when in ("setup", "call", "teardown")
        ),
        ("SessionFinish", {"exitstatus": 0}),
    ]
)
CTRF = json.dumps(
    {
        "results": {
            "tool": {"name": "x"},
            "summary": {"tests": 2, "passed": 1, "failed": 1},
            "tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}],
        }
    }
).encode()
WHOLE = {"junit": JUNIT, "go": GO, "log": LOG, "ctrf": CTRF}


def read(raw: bytes) -> Reading | None:
    form = recognise(raw[: 64 * 1024])
    return form.read(io.BytesIO(raw)).settled() if isinstance(form, Format) else None


def names(reading: Reading | None) -> set[str]:
    return set() if reading is None else {one.test_id for one in reading.executions}


def passes(reading: Reading | None) -> set[str]:
    found = [] if reading is None else reading.executions
    return {one.test_id for one in found if one.outcome in (Outcome.PASSED, Outcome.XPASSED)}


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_files_are_complete(kind: str) -> None:
    found = read(WHOLE[kind])
    assert found is not None
    assert found.complete
    assert names(found)


@pytest.mark.parametrize("kind", WHOLE)
def test_a_cut_file_invents_nothing_and_is_never_complete(kind: str) -> None:
    whole = WHOLE[kind]
    reference = read(whole)
    for end in range(len(whole.rstrip())):
        cut = read(whole[:end])
        assert names(cut) <= names(reference), end
        assert passes(cut) <= passes(reference), end
        # Only what is cut after the last thing that was said is whole.
        if cut is not None and cut.complete:
            assert names(cut) == names(reference), end
            assert kind in ("go", "log"), end


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_a_flipped_byte_makes_no_traceback(kind: str, data: st.DataObject) -> None:
    raw = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    found = read(bytes(raw))
    if found is not None:
        made = summary(found)
        assert made.tests >= made.passed + made.failed + made.errors
        assert len(found.executions) <= 20


@given(st.binary(max_size=300))
def test_any_bytes_behind_a_beginning_are_read_without_a_traceback(rest: bytes) -> None:
    for start in (
        b"<testsuite>",
        b'{"Action": "run", "Package": "p"}\n',
        b'{"results": {"tool": {}, ',
        b'{"$report_type": "X"}\n',
    ):
        read(start + rest)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20)


@given(
    st.lists(
        st.tuples(TEXT, TEXT, st.sampled_from(["", "failure", "error", "skipped"])), max_size=8
    )
)
def test_cases_come_back_as_they_were_written(cases: list[tuple[str, str, str]]) -> None:
    from xml.sax.saxutils import quoteattr

    from analysis.records.results.xml import _ILLEGAL

    inner = "".join(
        f"<testcase classname={quoteattr(_ILLEGAL.sub('', group))}"
        f" name={quoteattr(_ILLEGAL.sub('', name))}>{f'<{end}/>' if end else ''}</testcase>"
        for group, name, end in cases
    )
    found = read(f"<testsuite>{inner}</testsuite>".encode())
    assert found is not None
    ends = {
        "": Outcome.PASSED,
        "failure": Outcome.FAILED,
        "error": Outcome.ERROR,
        "skipped": Outcome.SKIPPED,
    }
    assert [one.outcome for one in found.executions] == [ends[end] for _, _, end in cases]
    assert found.complete == bool(cases)


BOMB = (
    b"<?xml version='1.0'?><!DOCTYPE t [<!ENTITY a 'aaaaaaaaaa'>"
    + b"".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>".encode() for i in range(9))
    + b"]><testsuite><testcase name='x'>&j;</testcase></testsuite>"
)
OUTSIDE = (
    b"<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
    b"<testsuite><testcase name='&x;'/></testsuite>"
)


@pytest.mark.parametrize("raw", [BOMB, OUTSIDE])
def test_entities_are_never_resolved(raw: bytes) -> None:
    from analysis.records.results import junit

    found = junit.read(io.BytesIO(raw))
    assert not found.complete
    assert not found.executions
    assert "entities" in found.notes[-1].detail


def test_deep_nesting_is_refused() -> None:
    found = read(b"<testsuite>" * 10_000 + b"<testcase name='a'/>")
    assert found is not None
    assert not found.complete
    assert not found.executions


def test_a_gigantic_attribute_is_refused_within_bounded_memory() -> None:
    size = 100 * 1024 * 1024

    class Endless(io.RawIOBase):
        sent = 0

        def read(self, count: int = -1, /) -> bytes:
            if not self.sent:
                self.sent = 1
                return b"<testsuite><testcase name='"
            if self.sent > size:
                return b""
            self.sent += count
            return b"x" * count

    from analysis.records.results import junit

    tracemalloc.start()
    found = junit.read(Endless())  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found.complete
    assert not found.executions
    assert peak < size / 2


def test_captured_output_is_not_held() -> None:
    chunk = b"y" * 65_536

    class Long(io.RawIOBase):
        left = 3000

        def read(self, count: int = -1, /) -> bytes:
            self.left -= 1
            if self.left == 2999:
                return b"<testsuite><testcase name='a'><system-out>"
            if self.left > 0:
                return chunk
            return b"</system-out></testcase></testsuite>" if self.left == 0 else b""

    from analysis.records.results import junit

    tracemalloc.start()
    found = junit.read(Long())  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.outcome for one in found.executions] == [Outcome.PASSED]
    assert peak < 16 * 1024 * 1024
