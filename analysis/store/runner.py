"""Reads for screens: beside each other, the newest of a slot wins, the index held for a turn only.

A slot is a place on a screen that shows one answer. A newer request for it interrupts the older
one. While anything is read the index is open to read; between reads it is not, so that another
process can write to it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import duckdb

from analysis.errors import AnalysisError, EnvironmentFault
from analysis.store.connect import Held, connect_to_read
from analysis.store.index import SCHEMA_VERSION, version_of

T = TypeVar("T")

Read = Callable[[duckdb.DuckDBPyConnection], T]
"""A question: gets a cursor of its own, returns frozen rows."""

_PAUSE_S = 0.05
_NUDGE_S = 0.01
_QUIT_S = 0.9


class NoIndex(AnalysisError):
    """There is no index yet, or not any more."""


class OtherVersion(EnvironmentFault):
    """The index has another schema version: whoever writes to it next rebuilds it."""


@dataclass(frozen=True)
class Result(Generic[T]):
    """What was asked for."""

    value: T


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. An AnalysisError has its sentence; anything else is a defect."""

    error: Exception


@dataclass(frozen=True)
class Waiting:
    """Another process writes to the index; the answer comes when it is done."""

    holder: str


Outcome = Result[T] | Failure | Waiting
Deliver = Callable[[Outcome[T]], None]


class Runner:
    """Answers questions about the index at `path` in threads of its own, one a slot.

    `deliver` is called in that thread: with Waiting at most once, then with Result or Failure;
    not at all when a newer request for the slot came, or `close`.
    """

    def __init__(self, path: Path) -> None:
        self._turns = _Turns(path)
        self._changed = threading.Condition()
        self._slots: dict[str, _Slot] = {}
        self._closed = False
        self._start(self._interrupt_the_old, "soakboard-interrupts")

    def ask(self, slot: str, read: Read[T], deliver: Deliver[T]) -> None:
        """Answer `read`, instead of whatever the slot asked for before."""
        with self._changed:
            if self._closed:
                return
            if slot not in self._slots:
                self._slots[slot] = _Slot()
                self._start(lambda: self._work(self._slots[slot]), f"soakboard-{slot}")
            self._slots[slot].wanted = _Job(read, deliver)
            self._changed.notify_all()

    def forget(self, slot: str) -> None:
        """Nobody waits for the slot any more: interrupt what it reads."""
        with self._changed:
            if slot in self._slots:
                self._slots[slot].wanted = None
                self._changed.notify_all()

    @property
    def busy(self) -> bool:
        """Whether anything is being read or waited for."""
        with self._changed:
            return any(slot.running is not None for slot in self._slots.values())

    def close(self) -> None:
        """Interrupt everything and wait for it, at most a second."""
        with self._changed:
            self._closed = True
            for slot in self._slots.values():
                slot.wanted = None
            self._changed.notify_all()
            self._changed.wait_for(self._idle, _QUIT_S)

    def _idle(self) -> bool:
        return all(slot.running is None for slot in self._slots.values())

    @staticmethod
    def _start(work: Callable[[], None], name: str) -> None:
        threading.Thread(target=work, name=name, daemon=True).start()

    def _work(self, slot: _Slot) -> None:
        while (job := self._next(slot)) is not None:
            outcome: Outcome[Any] | None = None
            try:
                with self._turns.cursor(lambda: slot.wanted is not job, job.waiting) as cursor:
                    job.cursor = cursor
                    outcome = Result(job.read(cursor))
            except KeyboardInterrupt:
                pass
            # The screen that asked says what went wrong; nobody else is there to hear it.
            except Exception as error:
                outcome = Failure(error)
            self._done(slot, job, outcome)

    def _next(self, slot: _Slot) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or slot.wanted is not None)
            if self._closed:
                return None
            slot.running = slot.wanted
            return slot.running

    def _done(self, slot: _Slot, job: _Job, outcome: Outcome[Any] | None) -> None:
        with self._changed:
            newest = slot.wanted is job
            slot.running = None
            if newest:
                slot.wanted = None
            self._changed.notify_all()
        if newest and outcome is not None:
            job.deliver(outcome)

    def _interrupt_the_old(self) -> None:
        # An interrupt between two statements is lost: it is repeated until the read has ended.
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._old() or (self._closed and self._idle()))
                old = self._old()
                if not old:
                    return
            for job in old:
                if job.cursor is not None:
                    with suppress(duckdb.Error):
                        job.cursor.interrupt()
            with self._changed:
                self._changed.wait(_NUDGE_S)

    def _old(self) -> list[_Job]:
        return [
            slot.running
            for slot in self._slots.values()
            if slot.running is not None and slot.running is not slot.wanted
        ]


@dataclass(eq=False)
class _Job:
    read: Read[Any]
    deliver: Deliver[Any]
    cursor: duckdb.DuckDBPyConnection | None = None

    def waiting(self, holder: str) -> None:
        self.deliver(Waiting(holder))


@dataclass
class _Slot:
    wanted: _Job | None = None
    running: _Job | None = None


@dataclass
class _Turns:
    """The index, open while somebody reads."""

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: duckdb.DuckDBPyConnection | None = None
    readers: int = 0

    @contextmanager
    def cursor(
        self, cancelled: Callable[[], bool], waiting: Callable[[str], None]
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of one's own. KeyboardInterrupt: nobody wants it any more."""
        cursor = self._enter(cancelled, waiting)
        try:
            yield cursor
        finally:
            self._leave(cursor)

    def _enter(
        self, cancelled: Callable[[], bool], waiting: Callable[[str], None]
    ) -> duckdb.DuckDBPyConnection:
        told = False
        while not cancelled():
            try:
                return self._cursor()
            except Held as held:
                if not told:
                    told = True
                    waiting(held.holder)
            threading.Event().wait(_PAUSE_S)
        raise KeyboardInterrupt

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self.lock:
            if self.connection is None:
                self.connection = _open(self.path)
            self.readers += 1
            return self.connection.cursor()

    def _leave(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self.lock:
            cursor.close()
            self.readers -= 1
            if not self.readers and self.connection is not None:
                self.connection.close()
                self.connection = None


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    # One processor is left to whoever draws the screen.
    threads = max(1, (os.cpu_count() or 2) - 1)
    try:
        connection = connect_to_read(path, threads)
    except FileNotFoundError as error:
        raise NoIndex("There is no index yet.", "Read logs with `tui ingest PATH`.") from error
    try:
        found = version_of(connection, path)
        if found is None:
            raise NoIndex("The index is empty.", "Read logs with `tui ingest PATH`.")
        if found != SCHEMA_VERSION:
            raise OtherVersion(
                f"{path}: this index has another schema version.", "It is rebuilt from its logs."
            )
    except BaseException:
        connection.close()
        raise
    return connection
