"""The run view: how a run ended, what is wrong with it, what failed, and where its record is."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from dashboard import CLOCK, NARROW, WIDE, index_of, opened, press, run, text_of, until
from hell import HELL
from hypothesis import given
from hypothesis import strategies as st
from logs import Log, fails, passes

from analysis.queries.run_record import FailedTest, RunFinding, RunRecord
from tui.app import Soakboard
from tui.glyphs import ASCII
from tui.lines import cells, plain
from tui.look import Look
from tui.screens.run import RunScreen, answer, sections
from tui.screens.stability import StabilityScreen
from tui.state import Start
from tui.widgets.frame import ToastLine

LOOK = Look(now=CLOCK)
WIDTHS = (72, 80, 119, 120, 200)
VOID = RunFinding("no-tests-collected", "void", "says pass, but collected 0 tests", "a.jsonl", 13)
UNPROVEN = RunFinding("counts-missing", "unproven", "does not say how many tests", None, None)
FAILURE = FailedTest(
    "tests/test_order.py::test_total",
    None,
    3,
    "failed",
    "AssertionError",
    "assert 3 == 4",
    "tests/test_order.py:9",
    0.0123,
    "logs/soak.jsonl",
    61,
)
FAILED = RunRecord(
    experiment="soak",
    run_id="run-15",
    patch_id="patch-7",
    role="subject",
    phase="concurrent",
    verdict="fail",
    logged_verdict="fail",
    standing="proven",
    in_outage=False,
    started=datetime(2026, 12, 1, 7, 12),
    path="logs/soak.jsonl",
    line=62,
    facts=(("patch_id", "patch-7"), ("round", "4"), ("exit_code", "1")),
    disagreeing=(),
    findings=(),
    failures=(FAILURE,),
    failures_total=1,
)


def body(record: RunRecord, width: int, look: Look = LOOK) -> list[str]:
    """Everything that stands under the answer."""
    return [plain(one) for part in sections(record, width, look) for one in part.lines]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (FAILED, "✗ FAILED  1 failed execution on record."),
        (
            replace(FAILED, failures=(), failures_total=0),
            "✗ FAILED  No failed test is on record that would explain it.",
        ),
        (
            replace(FAILED, in_outage=True),
            "✗ FAILED  1 failed execution on record. It lies in an outage.",
        ),
        (replace(FAILED, verdict="pass"), "✓ PASSED  Nothing is against it."),
        (
            replace(FAILED, verdict="pass", standing="unproven", findings=(UNPROVEN,)),
            "✓ PASSED  Does not say how many tests.",
        ),
        (
            replace(FAILED, verdict="none", standing="void", findings=(VOID, UNPROVEN)),
            "⊘ VOID  Says pass, but collected 0 tests.",
        ),
        (
            replace(FAILED, verdict="none", logged_verdict="none"),
            "– NO VERDICT  The log says none, and the run is not complete.",
        ),
    ],
)
def test_the_answer_says_how_the_run_ended_and_why(record: RunRecord, said: str) -> None:
    assert plain(answer(record, LOOK)[0]) == said


def test_the_record_comes_first_then_what_is_wrong_then_what_failed() -> None:
    wrong = replace(FAILED, findings=(VOID,), disagreeing=("base_sha", "ns"))
    names = [part.name for part in sections(wrong, 80, LOOK)]
    text = "\n".join(body(wrong, 80))

    assert names == ["RECORD", "FINDINGS", "FAILED TESTS", "FACTS"]
    for said in (
        "run-15",
        "subject patch-7, concurrent in soak, started 2h ago",
        "logs/soak.jsonl:62",
        "⊘ void no-tests-collected",
        "a.jsonl:13",
        "Its lines contradict in: base_sha, ns.",
        "✗ tests/test_order.py::test_total  iteration 3  0.0123 s",
        "AssertionError: assert 3 == 4",
        "tests/test_order.py:9",
        "logs/soak.jsonl:61",
        "exit_code            1",
    ):
        assert said in text, said


def test_a_run_without_findings_has_no_heading_for_them() -> None:
    assert [part.name for part in sections(FAILED, 80, LOOK)] == ["RECORD", "FAILED TESTS", "FACTS"]


def test_failures_that_are_not_shown_are_counted() -> None:
    many = replace(FAILED, failures=(FAILURE,) * 200, failures_total=1234)

    assert any("first 200 of 1,234" in one for one in body(many, 80))


@pytest.mark.parametrize("columns", [(80, 1), (120, 2), (200, 3)])
def test_facts_stand_in_as_many_columns_as_fit_and_none_is_lost(columns: tuple[int, int]) -> None:
    width, number = columns
    many = replace(FAILED, facts=tuple((f"fact_{n}", f"value_{n}") for n in range(10)))
    text = body(many, width)

    assert sum("value_" in one for one in text) == -(-10 // number)
    assert all(any(f"value_{n} " in f"{one} " for one in text) for n in range(10))


@pytest.mark.parametrize("look", [LOOK, Look(ASCII, CLOCK)], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_makes_a_line_longer_or_leaves_a_control_sign_in_it(width: int, look: Look) -> None:
    for text in HELL:
        failure = FailedTest(text, text, 1, text, text, text * 3, text, 1.0, text, 1)
        record = replace(
            FAILED,
            experiment=text,
            run_id=text,
            patch_id=text,
            path=text,
            facts=((text, text),),
            disagreeing=(text,),
            findings=(RunFinding(text, "void", text, text, 1),),
            failures=(failure,),
        )
        lines = [*body(record, width, look), *(plain(one) for one in answer(record, look))]
        for one in lines:
            assert not any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in one), one
            assert not {"\u202e", "\u2066"} & set(one), one
            assert not look.glyphs.ascii_only or one.isascii(), one
        for one in body(record, width, look):
            assert cells(one) <= width, one


@given(st.integers(20, 200), st.text(max_size=300), st.integers(0, 30))
def test_lines_fit_at_any_width(width: int, text: str, facts: int) -> None:
    record = replace(
        FAILED,
        facts=(("name", text),) * facts,
        failures=(replace(FAILURE, message=text, test_id=f"a.py::{text}"),),
    )

    assert all(cells(one) <= max(width, 48) for one in body(record, width))


# The app


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A soak of three rounds: the second one fails, and then a run that collected nothing."""
    folder = tmp_path_factory.mktemp("soak")
    log = Log("ports").header().soak(3, failing=(1,))
    log = log.run("subject", "soak", [], end={"verdict": "pass", "exit_code": 5})
    return index_of(folder, log.write(folder))


async def press_to_run(app: Soakboard, pilot: object, cells_right: int) -> RunScreen:
    """Step so many cells into the runs of the first row and open the run there."""
    await press(app, pilot, *["right"] * cells_right, "enter")  # type: ignore[arg-type]
    assert isinstance(app.screen, RunScreen)
    return app.screen


def toast(app: Soakboard) -> str:
    """What is said at the bottom."""
    return app.screen.query_one(ToastLine).text.strip()


START = Start(screen="stability")


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60), (72, 20)])
def test_a_run_is_shown_with_its_failure_and_its_record(index: Path, size: tuple[int, int]) -> None:
    async def shown() -> None:
        async with opened(index, size, start=START) as (app, pilot):
            await press_to_run(app, pilot, 2)
            text = text_of(app)
            assert "Stability › patch-7 › soak › ports-00005" in text
            assert "[2 Stability]" in text
            assert "✗ FAILED  1 failed execution on record." in text
            assert "tests/test_order.py::test_total" in text
            assert "assert 3 == 4" in text
            assert "ports.jsonl:" in text
            assert all(len(one) <= size[0] for one in text.split("\n"))

    run(shown())


def test_arrows_go_to_the_neighbours_and_say_where_they_end(index: Path) -> None:
    async def walked() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press_to_run(app, pilot, 2)
            assert "run 2 of 4" in text_of(app)
            await press(app, pilot, "left")
            assert "run 1 of 4" in text_of(app)
            assert "✓ PASSED" in text_of(app)
            await press(app, pilot, "left")
            assert toast(app) == "This is the first run here."
            await press(app, pilot, *["right"] * 3)
            assert "⊘ VOID" in text_of(app)
            await press(app, pilot, "right")
            assert toast(app) == "This is the last run here."

    run(walked())


def test_y_copies_the_place_of_the_record(index: Path) -> None:
    async def copied() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press_to_run(app, pilot, 2)
            await press(app, pilot, "y")
            path, _, line = app.clipboard.rpartition(":")
            record = Path(path).read_text("utf-8").splitlines()[int(line) - 1]
            assert '"run_end"' in record
            assert '"ports-00005"' in record

    run(copied())


def test_escape_goes_back_to_the_cell(index: Path) -> None:
    async def returned() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press_to_run(app, pilot, 2)
            await press(app, pilot, "escape")
            assert isinstance(app.screen, StabilityScreen)
            assert "soak 2 of 4" in text_of(app)

    run(returned())


def test_a_step_of_the_crumb_goes_back_too(index: Path) -> None:
    async def clicked() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press_to_run(app, pilot, 1)
            await pilot.click("#crumb", offset=(3, 0))
            await until(pilot, lambda: isinstance(app.screen, StabilityScreen))

    run(clicked())


def test_tab_jumps_from_heading_to_heading(index: Path) -> None:
    async def jumped() -> None:
        async with opened(index, (80, 20), start=START) as (app, pilot):
            await press_to_run(app, pilot, 4)
            assert "─ RECORD" in text_of(app).split("\n")[3]
            await press(app, pilot, "tab")
            assert "─ FINDINGS" in text_of(app).split("\n")[3]
            await press(app, pilot, "shift+tab")
            assert "─ RECORD" in text_of(app).split("\n")[3]

    run(jumped())


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("x", "Esc goes back to the screen first."),
        ("c", "Esc goes back to the screen first."),
        ("a", "Esc goes back to the screen first."),
        ("e", "Esc goes back to the screen first."),
        ("slash", "There is no list here."),
        ("s", "There is no list here."),
        ("Q", "Freeze means nothing on this screen."),
    ],
)
def test_a_key_that_does_not_apply_says_why(index: Path, key: str, reason: str) -> None:
    async def pressed() -> None:
        async with opened(index, start=START) as (app, pilot):
            await press_to_run(app, pilot, 1)
            await press(app, pilot, key)
            assert isinstance(app.screen, RunScreen)
            assert toast(app) == reason

    run(pressed())


def test_a_run_that_is_gone_says_so_and_esc_goes_back(index: Path) -> None:
    async def gone() -> None:
        async with opened(index, start=START) as (app, pilot):
            app.push_screen(RunScreen("stability", ("patch-7",), "ports", ("nowhere",), 0))
            await until(pilot, lambda: "not in the index any more" in text_of(app))
            await press(app, pilot, "escape")
            assert isinstance(app.screen, StabilityScreen)

    run(gone())


def test_with_ascii_signs_the_run_has_no_other(index: Path) -> None:
    async def ascii_only() -> None:
        async with opened(index, WIDE, start=START, glyphs=ASCII) as (app, pilot):
            await press_to_run(app, pilot, 4)
            assert [one for one in text_of(app).split("\n") if not one.isascii()] == []

    run(ascii_only())


def test_another_form_of_times_is_used_at_once(tmp_path: Path) -> None:
    log = Log("soak").header().run("subject", "soak", [passes(), fails()])

    async def switched() -> None:
        async with opened(index_of(tmp_path, log.write(tmp_path)), start=START) as (app, pilot):
            await press_to_run(app, pilot, 1)
            assert "started 2026-" not in text_of(app)
            await press(app, pilot, "t")
            assert "started 2026-" in text_of(app)

    run(switched())
