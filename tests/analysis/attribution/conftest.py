"""From a log to its answers, the way every command goes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from logs import PATCH, TEST, Log

from analysis.attribution.flips import Flip, find_flips
from analysis.attribution.tell import Tell, find_tells
from analysis.board import Board, Ingest, Inputs, open_board, usable
from analysis.config import Config
from analysis.queries.attributions import UnitRow, units
from analysis.queries.experiments import Choice, chosen
from analysis.store import query

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Answers:
    """Everything that attribution says of some logs."""

    units: tuple[UnitRow, ...]
    classes: Mapping[str, str]  # by experiment
    findings: tuple[tuple[str, str | None, str, str], ...]  # experiment, run, rule, sentence
    flips: tuple[Flip, ...]

    def unit(
        self, test_id: str = TEST, patch_id: str = PATCH, experiment: str | None = None
    ) -> UnitRow:
        """The one unit of that test and patch."""
        (found,) = (
            unit
            for unit in self.units
            if unit.test_id == test_id
            and unit.patch_id == patch_id
            and experiment in (None, unit.experiment)
        )
        return found

    def sentences(self, rule: str) -> list[str]:
        """What the findings of a rule say."""
        return [sentence for _, _, name, sentence in self.findings if name == rule]


@contextmanager
def board_of(folder: Path, config: Config, digests: Mapping[str, str]) -> Iterator[Board]:
    """A board of all logs of a folder, derived."""
    with open_board(None, config) as board:
        board.digests = digests
        usable(board.take(Inputs((folder,)), Ingest(NOW, final=True)))
        board.derive()
        yield board


def answer(
    folder: Path, config: Config | None = None, digests: Mapping[str, str] | None = None
) -> Answers:
    with board_of(folder, config or Config(), digests or {}) as board:
        names = chosen(board.connection, Choice(everything=True))
        return Answers(
            units=tuple(units(board.connection, names)),
            classes=dict(
                query.rows(board.connection, "SELECT experiment, class FROM experiment_facts")
            ),
            findings=tuple(
                query.rows(
                    board.connection,
                    "SELECT experiment, run_id, rule, sentence FROM findings ORDER BY ALL",
                )
            ),
            flips=find_flips(board.connection),
        )


def _answer_to(
    *logs: Log, config: Config | None = None, digests: Mapping[str, str] | None = None
) -> Answers:
    with tempfile.TemporaryDirectory() as folder:
        for log in logs:
            log.write(Path(folder))
        return answer(Path(folder), config, digests)


def _tells_of(log: Log) -> tuple[Tell, ...]:
    with tempfile.TemporaryDirectory() as folder:
        log.write(Path(folder))
        with board_of(Path(folder), Config(), {}) as board:
            return find_tells(board.connection, log.name)


@pytest.fixture(scope="session")
def answer_to() -> Callable[..., Answers]:
    """The answers to logs, all in one board."""
    return _answer_to


@pytest.fixture(scope="session")
def answer_of() -> Callable[..., Answers]:
    """The answers to all logs of a folder."""
    return answer


@pytest.fixture(scope="session")
def tells_of() -> Callable[[Log], tuple[Tell, ...]]:
    """The pairs of a stably red and a varying patch in a log."""
    return _tells_of


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> dict[str, UnitRow]:
    """The unit of TEST in the log of each of a module's CASES, all in one board."""
    cases = request.module.CASES
    logs = {name: build(Log(f"case-{at}")) for at, (name, (_, build)) in enumerate(cases.items())}
    answers = _answer_to(*logs.values())
    return {name: answers.unit(experiment=log.name) for name, log in logs.items()}
