"""How far the reading of logs is, on one line of a terminal that the next words replace."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from tui.text import cut_middle, safe, width

if TYPE_CHECKING:
    from analysis.store.reading import Progress, Watch

_FIRST_AFTER_S = 0.5
_EVERY_S = 0.2
_NARROWEST_NAME = 12
_UNITS = ("B", "kB", "MB", "GB", "TB")
_CLEAR = "\r\x1b[K"


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Watch | None]:
    """Somebody to watch an ingest, who writes to standard error if that is a terminal.

    Nothing is written to a pipe or a file, and nothing of what takes less than half a second.
    """
    stream = sys.stderr
    if quiet or stream is None or not stream.isatty():
        yield None
        return
    line = _Line(stream)
    try:
        yield line.show
    finally:
        line.clear()


class Meter:
    """Tells where a source is, now and then, in words.

    tell: gets the words. cells: how many they may take, asked each time.
    """

    def __init__(self, tell: Callable[[str], None], cells: Callable[[], int]) -> None:
        self._tell, self._cells = tell, cells
        self._name: object = None
        self._next = time.monotonic() + _FIRST_AFTER_S
        self._began = (time.monotonic(), 0, 0)

    def show(self, progress: Progress) -> None:
        """Tell where a source is; rates are since the first time that it was told of."""
        now = time.monotonic()
        if progress.path != self._name:
            self._name, self._began = progress.path, (now, progress.done, progress.lines)
        if now < self._next:
            return
        self._next = now + _EVERY_S
        self._tell(words(progress, self._began, now, self._cells()))


class _Line:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = False
        self.show = Meter(self._replace, lambda: shutil.get_terminal_size().columns - 1).show

    def clear(self) -> None:
        """Leave the line to what comes next."""
        if self._shown:
            self._write(_CLEAR)

    def _replace(self, said: str) -> None:
        self._shown = True
        self._write(_CLEAR + said)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def words(progress: Progress, began: tuple[float, int, int], now: float, cells: int) -> str:
    """`soak.jsonl  45 %  1.2 of 2.6 GB  850,000 lines/s  3 s left`, in at most `cells` cells.

    began: the time in seconds, the bytes and the lines when the source was first told of.
    """
    seconds, done = now - began[0], progress.done - began[1]
    total = max(progress.total, progress.done)
    parts = [f"{100 * progress.done // max(total, 1)} %", _bytes(progress.done, total)]
    if seconds > 0 and done > 0:
        parts.append(f"{(progress.lines - began[2]) / seconds:,.0f} lines/s")
        parts.append(f"{_left((total - progress.done) * seconds / done)} left")
    while len(parts) > 1 and width("  ".join(parts)) + 2 + _NARROWEST_NAME > cells:
        parts.pop()
    said = "  ".join(parts)
    return f"{cut_middle(safe(progress.path.name), cells - width(said) - 2)}  {said}"


def _bytes(done: int, total: int) -> str:
    """`1.2 of 2.6 GB`: both in the unit of the second."""
    power = 0
    while total >= 1000 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    digits = 1 if power else 0
    size = 1000**power
    return f"{done / size:.{digits}f} of {total / size:.{digits}f} {_UNITS[power]}"


def _left(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min"
