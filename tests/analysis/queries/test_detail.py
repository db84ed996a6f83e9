"""The detail of a test: every number on it is one that attribution counted, and can be traced."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import PATCH, TEST, Log, fails, passes, touches

from analysis.attribution.statistics import Count, interval
from analysis.board import Board, Ingest, Inputs, now, open_board, usable
from analysis.config import Config
from analysis.evidence.signatures import normal_form
from analysis.model import ALONE, COMPANY, Outcome, Phase, Role
from analysis.queries.attributions import UnitKey, UnitRow, unit, units
from analysis.queries.detail import CELLS, TestDetail, detail_of, explaining
from analysis.queries.experiments import Choice, chosen
from analysis.queries.exposure import BARS, Held
from analysis.queries.failures import EXAMPLES, FORMS, excerpt
from analysis.store import query

TOP = Path(__file__).parents[3]
SAMPLES = TOP / "sample_data" / "soak"
GROUND_TRUTH = TOP / "tests" / "data" / "ground-truth"
PORT = Held("port", "26411")


@contextmanager
def board_of(*paths: Path) -> Iterator[Board]:
    with open_board(None, Config()) as board:
        usable(board.take(Inputs(paths), Ingest(now(), final=True)))
        board.derive()
        yield board


def detail(*logs: Log, key: UnitKey | None = None, failure: int = 0) -> TestDetail:
    """The detail of TEST on PATCH in the first of the logs, unless another unit is asked for."""
    asked = key or UnitKey(logs[0].name, PATCH, TEST)
    with tempfile.TemporaryDirectory() as folder:
        paths = [log.write(Path(folder)) for log in logs]
        with board_of(*paths) as board:
            found = detail_of(board.connection, asked, failure)
    assert found is not None
    return found


def key_of(row: UnitRow) -> UnitKey:
    return UnitKey(row.experiment, row.patch_id, row.test_id, row.variant)


def of(found: TestDetail) -> Mapping[tuple[Phase, Role], str]:
    return {(strip.phase, strip.role): strip.signs for strip in found.strips}


@pytest.fixture(scope="module")
def real() -> Iterator[Board]:
    with board_of(SAMPLES, GROUND_TRUTH) as board:
        yield board


@pytest.fixture(scope="module")
def details(real: Board) -> list[TestDetail]:
    names = chosen(real.connection, Choice(everything=True))
    found = [detail_of(real.connection, key_of(row)) for row in units(real.connection, names)]
    return [one for one in found if one is not None]


@pytest.fixture(scope="module")
def gateway(real: Board) -> UnitKey:
    return UnitKey("gateway", "patch-417", "test_server.py::test_echo_roundtrip")


# --- one unit -----------------------------------------------------------------------------


def test_a_unit_read_alone_is_the_unit_among_all(real: Board) -> None:
    names = chosen(real.connection, Choice(everything=True))
    for row in units(real.connection, names):
        assert unit(real.connection, key_of(row)) == row


def test_of_a_unit_that_is_gone_there_is_nothing_to_say(real: Board, gateway: UnitKey) -> None:
    assert detail_of(real.connection, replace(gateway, patch_id="patch-0")) is None
    assert detail_of(real.connection, replace(gateway, variant="arm64")) is None


def test_nothing_is_left_behind_in_the_connection(real: Board, gateway: UnitKey) -> None:
    tables = "SELECT table_name FROM duckdb_tables() WHERE temporary ORDER BY ALL"
    before = query.rows(real.connection, tables)
    detail_of(real.connection, gateway)
    assert query.rows(real.connection, tables) == before


# --- numbers that agree with attribution, on every real unit ---------------------------------


def test_the_failures_on_record_are_those_of_the_class(details: list[TestDetail]) -> None:
    for one in details:
        if one.unit.counted == "executions":
            assert one.failures_total == one.unit.failures
        own = sum(
            count
            for form in one.forms.forms
            for role, count in form.by_role.items()
            if role is not Role.RED
        )
        assert own == one.failures_total
        assert one.forms.unread == 0


def test_the_strips_hold_what_was_counted_in_the_arms(details: list[TestDetail]) -> None:
    compared = 0
    for one in details:
        strips = {(strip.phase, strip.role): (strip.k, strip.n) for strip in one.strips}
        for phase, roles in one.unit.counts.items():
            for role, count in roles.items():
                if one.unit.counted == "executions" and count[1]:
                    assert strips[Phase(phase), Role(role)] == count
                    compared += 1
    assert compared > 300


def test_arms_have_the_interval_of_the_patch(details: list[TestDetail]) -> None:
    for one in details:
        for arm in one.arms:
            assert one.unit.counts[arm.phase].get("subject", (0, 0)) == arm.subject
            assert one.unit.counts[arm.phase].get("green", (0, 0)) == arm.green
            assert arm.interval == interval(Count(*arm.subject))


def test_the_row_that_matched_stands_first_and_the_others_in_their_order(
    details: list[TestDetail],
) -> None:
    for one in details:
        first, *others = one.tried
        assert first.matches
        assert first.row == one.unit.row
        assert tuple(others) == one.unit.tried[:-1]


def test_a_resource_that_a_class_names_is_listed_with_its_peer(details: list[TestDetail]) -> None:
    named = [one for one in details if one.unit.row == "1a"]
    assert len(named) > 3
    for one in named:
        address = one.unit.address
        assert address is not None
        (shared,) = [r for r in one.resources.shared if r.held.id == address["id"]]
        assert shared.held.kind == address["kind"]
        assert (shared.peer_patch, shared.peer_test) == (
            address["peer_patch"],
            address["peer_test"],
        )
        if one.unit.counted == "executions":
            assert f"Fails {shared.covered}/" in one.unit.why


def test_what_the_port_of_the_gateway_covers_is_counted(real: Board, gateway: UnitKey) -> None:
    found = detail_of(real.connection, gateway)
    assert found is not None
    (port,) = found.resources.shared
    assert port.held == PORT
    assert (port.uses, port.writes, port.alone) == (46, 46, 0)
    assert (port.covered, port.failures) == (16, 16)
    (form,) = found.forms.forms
    assert (form.form, form.exc, form.errno) == (
        "[Errno #] Address already in use",
        "OSError",
        "EADDRINUSE",
    )
    assert form.by_role == {Role.SUBJECT: 7, Role.GREEN: 5, Role.RED: 4}
    assert form.example.at == f"{SAMPLES / 'gateway.jsonl'}:31"


def test_each_failure_of_the_gateway_shows_who_held_its_port(real: Board, gateway: UnitKey) -> None:
    roles = []
    for number in range(12):
        found = detail_of(real.connection, gateway, number)
        assert found is not None
        timeline = found.timeline
        assert timeline is not None
        failure = timeline.failure
        assert (failure.number, timeline.failures) == (number, 12)
        assert timeline.peers
        assert timeline.peers_total == len(timeline.peers)
        for bar in timeline.peers:
            assert bar.resources == (PORT,)
            assert bar.run_id != failure.run_id
            assert failure.started is not None
            assert failure.finished is not None
            assert bar.started is not None
            assert bar.finished is not None
            assert bar.started <= failure.finished
            assert failure.started <= bar.finished
        roles.append(failure.role)
    assert roles == [Role.SUBJECT] * 7 + [Role.GREEN] * 5


def test_a_record_is_found_at_the_line_that_is_named(real: Board, gateway: UnitKey) -> None:
    found = detail_of(real.connection, gateway)
    assert found is not None
    for failure in found.failing:
        path, line = failure.at.rsplit(":", 1)
        text = Path(path).read_text("utf-8").splitlines()[int(line) - 1]
        assert failure.run_id in text
        assert '"failed"' in text


def test_a_number_that_there_is_no_failure_of_gives_the_nearest(
    real: Board, gateway: UnitKey
) -> None:
    for asked, given_ in ((-3, 0), (99, 11)):
        found = detail_of(real.connection, gateway, asked)
        assert found is not None
        assert found.timeline is not None
        assert found.timeline.failure.number == given_


# --- what is on record ------------------------------------------------------------------------


def test_a_test_that_never_failed_has_no_timeline_and_no_form() -> None:
    found = detail(Log().header().soak(3).stress())
    assert found.timeline is None
    assert (found.failing, found.failures_total, found.forms.forms) == ((), 0, ())
    assert of(found)[Phase.SOAK, Role.SUBJECT] == "ppp"


def test_failures_of_gate_runs_and_of_runs_that_were_cut_are_on_record() -> None:
    log = Log().header().soak(3).run("subject", "gate", [fails()])
    found = detail(log.cut("subject", "soak", [fails()], round=3).later())
    assert found.unit.failures == found.failures_total == 2
    assert [failure.phase for failure in found.failing] == [Phase.GATE, Phase.SOAK]
    assert of(found)[Phase.SOAK, Role.SUBJECT] == "ppp"
    assert of(found)[Phase.GATE, Role.SUBJECT] == "f"


def test_a_further_attempt_is_not_counted_again() -> None:
    log = Log().header().soak(3)
    log = log.run("subject", "serial", [fails(attempt=0), passes(attempt=1)])
    found = detail(log)
    serial = [strip for strip in found.strips if strip.phase is Phase.SERIAL]
    assert [(strip.k, strip.n) for strip in serial] == [
        tuple(found.unit.counts["serial"]["subject"])
    ]


def test_a_test_on_another_lane_is_another_unit() -> None:
    log = Log().header().soak(4, [1])
    log = log.run("subject", "serial", [fails(variant="arm64"), passes(variant="x64")])
    arm = detail(log, key=UnitKey(log.name, PATCH, TEST, "arm64"))
    assert of(arm) == {(Phase.SERIAL, Role.SUBJECT): "f"}
    assert of(detail(log))[Phase.SOAK, Role.SUBJECT] == "pfpp"


def test_another_patch_is_not_mixed_in_and_another_spelling_is() -> None:
    log = Log().header().soak(3).run("subject", "serial", [fails()], patch_id="patch-8")
    log = log.run("subject", "serial", [fails(f"./{TEST}")])
    with tempfile.TemporaryDirectory() as folder, board_of(log.write(Path(folder))) as board:
        (mine,) = (
            row
            for row in units(board.connection, [log.name])
            if row.patch_id == PATCH and row.test_id.endswith(TEST)
        )
        found = detail_of(board.connection, key_of(mine))
    assert found is not None
    assert of(found)[Phase.SERIAL, Role.SUBJECT] == "f"


def test_bare_verdicts_have_a_detail_too() -> None:
    log = Log("bare")
    for number in range(4):
        for role, verdict in (("red", "fail"), ("green", "pass"), ("subject", "pass")):
            said = "fail" if role == "subject" and number == 2 else verdict
            log = log.verdict(
                experiment="bare",
                patch_id=role,
                role=role,
                phase="soak",
                round=number,
                verdict=said,
                started=1_780_000_000 + number,
                finished=1_780_000_001 + number,
            )
    found = detail(log, key=UnitKey("bare", "subject", "(run)"))
    assert found.failures_total == found.unit.failures == 1
    assert of(found)[Phase.SOAK, Role.SUBJECT] == "ppfp"
    assert found.failing[0].outcome is Outcome.FAILED
    assert found.failing[0].at.endswith(":9")


def test_runs_without_a_name_are_found_by_their_line() -> None:
    log = Log("nameless")
    for number in range(3):
        log = log.verdict(
            experiment="nameless",
            patch_id=PATCH,
            phase="serial",
            verdict="fail",
            tests=[fails() if number == 1 else passes()],
            at=1_780_000_000 + number,
        )
    found = detail(log)
    assert of(found) == {(Phase.SERIAL, Role.SUBJECT): "pfp"}
    assert found.failing[0].at.endswith(":2")


# --- messages ---------------------------------------------------------------------------------

MESSAGES = (
    "port 26411 in use",
    "port 8080 in use",
    "at 0x12ab",
    "at 1x12ab",
    "at 0X9f",
    "took 12 ms",
    "took 12 ns",
    "on 2026-11-30",
    "on 2026-1-30",
    "in /tmp/abc-1/x",
    "deadbee1 is gone",
    "deadbee is gone",
    "eight\n\nlines",
)


def test_failures_are_grouped_by_normal_form_and_by_nothing_else() -> None:
    log = Log().header().soak(3)
    for message in MESSAGES:
        log = log.run("subject", "serial", [fails(message=message)])
    found = detail(log)
    counts: dict[str, int] = {}
    for message in MESSAGES:
        counts[normal_form(message)] = counts.get(normal_form(message), 0) + 1
    assert {form.form: form.count for form in found.forms.forms} == counts
    assert found.forms.failures == len(MESSAGES)


def test_failures_without_a_message_are_grouped_by_exception() -> None:
    log = Log().header().soak(3)
    for exc in ("OSError", "KeyError", "OSError"):
        log = log.run("subject", "serial", [fails(message=None, exc=exc)])
    found = detail(log).forms.forms
    assert [(form.form, form.exc, form.count) for form in found] == [
        (None, "OSError", 2),
        (None, "KeyError", 1),
    ]


def test_more_forms_and_failures_than_are_shown_are_counted() -> None:
    log = Log().header().soak(3)
    words = [f"{a}{b}" for a in "ghjkm" for b in "ghjkm"]
    for word in words:
        log = log.run("subject", "serial", [fails(message=word)])
    found = detail(log)
    assert len(found.forms.forms) == FORMS < found.forms.distinct == len(words)
    assert len(found.failing) == EXAMPLES < found.failures_total == len(words)


def test_the_own_failure_stands_for_a_form_before_an_earlier_one_of_green() -> None:
    log = Log().header().soak(3).run("green", "serial", [fails()])
    log = log.run("subject", "serial", [fails()])
    (form,) = detail(log).forms.forms
    assert form.count == 2
    assert form.example.role is Role.SUBJECT


def test_credentials_are_shown_nowhere() -> None:
    secret = "hunter2hunter2"
    said = {
        "message": f"assert login(password={secret})",
        "log": {"path": f"s3://u:{secret}@host/out.txt", "sha256": "ab"},
    }
    found = detail(Log().header().soak(3).run("subject", "serial", [fails(**said)]))
    assert "[redacted]" in str(found)
    assert secret not in str(found)


def test_a_kept_log_is_named_and_nothing_is_opened(tmp_path: Path) -> None:
    never = tmp_path / "never"
    log = Log().header().soak(3)
    for number, kept in enumerate(
        ({"path": str(never), "sha256": "ab" * 32}, {"path": "../../etc/passwd"}, "text", None)
    ):
        log = log.run("subject", "serial", [fails(log=kept, iteration=number)])
    named = [failure.log for failure in detail(log).failing]
    assert [one and (one.path, one.sha256) for one in named] == [
        (str(never), "ab" * 32),
        ("../../etc/passwd", None),
        None,
        None,
    ]
    assert not never.exists()


def test_an_excerpt_has_the_beginning_the_assertion_and_the_end() -> None:
    lines = [f"line {number}" for number in range(100)]
    lines[50] = "E   assert 3 == 4"
    found = excerpt("\n".join(lines))
    assert found.lines == 100
    assert found.passages == (
        tuple(lines[:10]),
        tuple(lines[45:55]),
        tuple(lines[95:]),
    )


def test_a_key_of_several_lines_is_redacted_though_its_end_is_not_shown() -> None:
    body = "\n".join(f"MIIEpAIBAAKCAQEA{number}" for number in range(40))
    found = excerpt(
        f"assert x\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    )
    assert "MIIE" not in str(found)


@given(st.text(st.sampled_from("aE \n\r\x1b‮é0.>"), max_size=400), st.integers(1, 200))
def test_an_excerpt_is_small_and_holds_lines_of_the_message(text: str, times: int) -> None:
    found = excerpt(text * times)
    shown = [line for passage in found.passages for line in passage]
    assert 1 <= len(shown) <= 25
    assert found.lines == (text * times).count("\n") + 1
    assert max(map(len, shown)) <= 2_000
    if found.lines <= 15:
        assert len(found.passages) <= 2


# --- who was beside it -----------------------------------------------------------------------


def crowd(peers: int, op: str = "w", **own: Any) -> Log:
    """One failing run that wrote a file, and so many runs beside it that touched it."""
    failing = fails(**{**touches("f"), **own})
    log = Log().header().soak(3).beside("subject", "concurrent", [failing])
    for number in range(peers):
        log = log.beside("green", "concurrent", [passes(**touches("f", op))], worker=f"w{number}")
    return log.later()


def test_a_timeline_is_bounded_and_says_how_many_there_are() -> None:
    timeline = detail(crowd(40)).timeline
    assert timeline is not None
    assert len(timeline.peers) == BARS - 1
    assert timeline.peers_total == 40


def test_readers_beside_a_reader_are_no_peers_and_beside_a_writer_they_are() -> None:
    writer, reader = crowd(1, "r"), crowd(1, "r", **touches("f", "r"))
    for log, peers in ((writer, 1), (reader, 0)):
        timeline = detail(log).timeline
        assert timeline is not None
        assert timeline.peers_total == peers


def test_who_came_later_or_touched_something_else_is_no_peer() -> None:
    log = crowd(0).run("green", "concurrent", [passes(**touches("f"))])
    other = Log().header().soak(3).beside("subject", "concurrent", [fails(**touches("f"))])
    other = other.run("green", "concurrent", [passes(**touches("g"))])
    for one in (log, other):
        timeline = detail(one).timeline
        assert timeline is not None
        assert timeline.peers == ()


@pytest.mark.parametrize("name", ["/dev/null", "src/__pycache__/x.pyc", ".pytest_cache/v"])
def test_caches_and_devices_are_no_shared_resource(name: str) -> None:
    log = Log().header().soak(3).beside("subject", "concurrent", [fails(**touches(name))])
    found = detail(log.run("green", "concurrent", [passes(**touches(name))]))
    assert found.timeline is not None
    assert found.timeline.peers == ()
    assert found.resources.recorded
    assert found.resources.shared == ()


def test_an_execution_without_times_has_no_peer_and_no_crash() -> None:
    untimed = {"started": None, "finished": None}
    log = Log().header().soak(3)
    log = log.beside("subject", "serial", [fails(**touches("f"), **untimed)], started=1_790_000_000)
    found = detail(log.run("green", "serial", [passes(**touches("f"), **untimed)]))
    assert found.timeline is not None
    assert found.resources.recorded


def test_a_clock_that_is_off_by_millennia_is_no_crash() -> None:
    far = {"started": 400_000_000_000, "finished": 400_000_000_001}
    log = Log().header().soak(3).beside("subject", "concurrent", [fails(**touches("f"), **far)])
    timeline = detail(log.run("green", "concurrent", [passes(**touches("f"), **far)])).timeline
    assert timeline is not None
    assert timeline.failure.started is None
    (bar,) = timeline.peers
    assert (bar.started, bar.finished) == (None, None)


def test_a_log_without_resources_says_so() -> None:
    found = detail(Log().header().soak(3, [1]))
    assert not found.resources.recorded
    assert found.timeline is not None
    assert found.timeline.peers == ()


def test_times_say_that_they_are_utc() -> None:
    timeline = detail(crowd(1)).timeline
    assert timeline is not None
    for one in (timeline.failure, *timeline.peers):
        assert one.started is not None
        assert one.started.utcoffset() == timedelta(0)


# --- strips, command -------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [CELLS, CELLS + 1, 3 * CELLS - 5])
def test_a_long_history_is_bucketed_and_a_failure_in_it_stays_visible(runs: int) -> None:
    log = Log().header().soak(3)
    for number in range(runs):
        log = log.run("subject", "repeat", [fails() if number == runs // 2 else passes()])
    (strip,) = (one for one in detail(log).strips if one.phase is Phase.REPEAT)
    assert len(strip.signs) <= CELLS
    assert strip.size == -(-runs // CELLS)
    assert (strip.k, strip.n) == (1, runs)
    assert strip.signs.index("f") == runs // 2 // strip.size


HELL = (
    "t.py::test_a[red]",
    "t.py::test_path[/]",
    "t.py::x[$accent]",
    "t.py::it's; rm -rf $(HOME) `x`",
    "-x.py::test",
    "t.py::test_\u202egnp",
    "t.py::test_👩\u200d👩\u200d👧_e\u0301",
    "t.py::" + "long" * 500,
)
OBEYED = (
    "t.py::a\x1b[2J",
    "t.py::a\x1b]52;c;eA==\x07",
    "t.py::a\nb",
    "t.py::a\x00b",
    "t.py::\x9b2J",
)


@pytest.mark.parametrize("test", HELL)
def test_the_command_is_one_that_a_shell_reads_as_it_was_meant(test: str) -> None:
    command = explaining(UnitKey("it's", PATCH, test))
    assert command is not None
    assert shlex.split(command) == ["tui", "attribute", "--experiment", "it's", "--explain", test]


def test_the_command_that_is_shown_explains_the_test(
    run_tui: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    test = "-x.py::it's [red] $HOME"
    log = Log("it's").header().soak(3).run("subject", "serial", [fails(test)])
    assert run_tui("ingest", log.write(tmp_path), "--db", tmp_path / "i").returncode == 0
    command = explaining(UnitKey("it's", PATCH, test))
    assert command is not None
    result = run_tui(*shlex.split(command)[1:], SOAKBOARD_DB=str(tmp_path / "i"))
    assert result.returncode == 0, result.stderr
    assert f"{test} on {PATCH}" in result.stdout


@pytest.mark.parametrize("test", OBEYED)
def test_there_is_no_command_to_paste_for_a_name_that_a_terminal_obeys(test: str) -> None:
    assert explaining(UnitKey("soak", PATCH, test)) is None
    assert explaining(UnitKey(test, PATCH, TEST)) is None


def test_names_from_hell_have_a_detail() -> None:
    log = Log("hell").header().soak(3)
    for test in (*HELL, *OBEYED):
        log = log.run("subject", "serial", [fails(test, message=test, **touches(test))])
    with tempfile.TemporaryDirectory() as folder, board_of(log.write(Path(folder))) as board:
        seen = 0
        for row in units(board.connection, ["hell"]):
            found = detail_of(board.connection, key_of(row))
            assert found is not None
            assert found.unit.test_id == row.test_id
            seen += found.failures_total
    assert seen == len(HELL) + len(OBEYED)


def test_company_and_alone_are_all_the_arms_that_are_shown(details: list[TestDetail]) -> None:
    shown = {arm.phase for one in details for arm in one.arms}
    assert shown <= {*COMPANY, *ALONE}
