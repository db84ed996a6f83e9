"""Real processes of the command, cheap enough to start, stop and kill by the dozen.

They are forked from a server that has imported the packages already, so that a process is at
work some milliseconds after its start.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import FunctionType
from typing import Any

import duckdb
from shelf import Snapshot, assert_accounted_for, snapshot

from analysis.store.index import open_index

PATIENCE_S = 120.0
"""How long to wait for what must happen; only a fault takes so long."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "shelf",
        "analysis.attribution.attribute",
        "analysis.board",
        "analysis.queries.reports",
        "tui.cli",
        "tui.commands.attribute",
        "tui.commands.check",
        "tui.commands.ingest",
        "tui.commands.rejects",
        "tui.commands.sql",
    ]
)


@dataclass(frozen=True)
class Ended:
    """A process that is no more: its exit code (negative: the signal) and what it wrote."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Running:
    """A process at work."""

    process: ForkServerProcess
    out: Path
    err: Path

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    @property
    def said(self) -> str:
        """What it wrote to standard error so far."""
        return self.err.read_text("utf-8")

    def send(self, number: signal.Signals) -> None:
        """A signal, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def over_after(self, seconds: float) -> bool:
        """Wait for the end, but no longer than that."""
        self.process.join(seconds)
        return self.process.exitcode is not None

    def end(self) -> Ended:
        """Wait for the end."""
        assert self.over_after(PATIENCE_S), "the process does not end"
        assert self.process.exitcode is not None
        return Ended(self.process.exitcode, self.out.read_text("utf-8"), self.said)


class Processes:
    """Starts processes in one directory, and leaves none behind."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root, self._scratch = root, scratch
        self._started: list[Running] = []

    def start(self, *arguments: str | Path, **environment: str) -> Running:
        """`tui ARGUMENTS`, at work."""
        return self.call(_tui, [str(argument) for argument in arguments], environment)

    def tui(self, *arguments: str | Path, **environment: str) -> Ended:
        """`tui ARGUMENTS`, to its end."""
        return self.start(*arguments, **environment).end()

    def powerless(self, *arguments: str | Path) -> Ended:
        """`tui ARGUMENTS` where permissions bind, whoever runs the tests."""
        return self.call(_powerless, [str(argument) for argument in arguments]).end()

    def call(self, function: FunctionType, *arguments: Any) -> Running:
        """A function of a module, in a process of its own.

        The process finds it in its file: the modules of tests are in no package.
        """
        number = len(self._started)
        out, err = self._scratch / f"{number}.out", self._scratch / f"{number}.err"
        for file in (out, err):
            file.touch()
        target = _CONTEXT.Process(
            target=_in_child,
            args=(
                str(self.root),
                str(out),
                str(err),
                function.__code__.co_filename,
                function.__name__,
                arguments,
            ),
        )
        target.start()
        running = Running(target, out, err)
        self._started.append(running)
        return running

    def close(self) -> None:
        """End what is still running."""
        for running in self._started:
            if running.process.exitcode is None:
                running.process.kill()
            running.process.join()
            running.process.close()


@contextlib.contextmanager
def processes_in(root: Path, scratch: Path) -> Iterator[Processes]:
    """Processes whose working directory is `root`."""
    made = Processes(root, scratch)
    try:
        yield made
    finally:
        made.close()


def eventually(true: Callable[[], object], what: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.005)


def is_held(db: Path) -> bool:
    """Whether another process has the index open."""
    if not db.exists():
        return False
    try:
        duckdb.connect(str(db), read_only=True).close()
    except duckdb.IOException as error:
        return "could not set lock" in str(error).lower()
    return False


@dataclass(frozen=True)
class Answers:
    """All that an index knows: its recorded rows, and what follows from them."""

    rows: Snapshot
    classes: str


def recorded(db: Path) -> Snapshot:
    """The recorded rows of an index, which opens and accounts for its lines."""
    with open_index(db, PATIENCE_S) as index:
        assert_accounted_for(index.connection)
        return snapshot(index.connection)


def answers(processes: Processes, db: Path) -> Answers:
    """What an index says."""
    rows = recorded(db)
    ended = processes.tui("attribute", "--json", "--all", "--db", db)
    assert (ended.code, ended.err) == (0, "")
    return Answers(rows, ended.out)


def clean_answers(processes: Processes, *logs: str | Path) -> Answers:
    """What an index that never saw a fault says of the logs as they are now."""
    return answers(processes, _clean_index(processes, logs))


def clean_rows(processes: Processes, *logs: str | Path) -> Snapshot:
    """The recorded rows of an index that never saw a fault."""
    return recorded(_clean_index(processes, logs))


def _clean_index(processes: Processes, logs: Sequence[str | Path]) -> Path:
    number = len(list(processes.root.glob("clean-*.duckdb")))
    db = processes.root / f"clean-{number}.duckdb"
    ended = processes.tui("ingest", "--db", db, *logs)
    assert ended.code == 0, ended.err
    return db


def one_sentence(ended: Ended, *words: str) -> None:
    """Standard error is one line that has these words in it, and no traceback."""
    assert ended.err.startswith("tui: ")
    assert ended.err.count("\n") == 1, ended.err
    assert "internal error" not in ended.err
    for word in words:
        assert word in ended.err, ended.err


def _in_child(
    root: str, out: str, err: str, file: str, function: str, arguments: tuple[Any, ...]
) -> None:
    os.chdir(root)
    for number, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    if Path(file).samefile(__file__):
        globals()[function](*arguments)
        return
    found = spec_from_file_location("in_child", file)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    getattr(module, function)(*arguments)


def _tui(arguments: list[str], environment: dict[str, str]) -> None:
    from tui.cli import main

    os.environ.update(environment)
    sys.argv = ["tui", *arguments]
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _powerless(arguments: list[str]) -> None:
    if os.geteuid() == 0:
        # Root without its capabilities is an owner like every other.
        version, this_process, none = 0x20080522, 0, (0,) * 6
        header, sets = (ctypes.c_uint32 * 2)(version, this_process), (ctypes.c_uint32 * 6)(*none)
        assert ctypes.CDLL(None).capset(header, sets) == 0
    _tui(arguments, {})
