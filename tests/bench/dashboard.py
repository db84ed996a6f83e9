"""The dashboard on large indexes, in a terminal of its own.

    python tests/bench/dashboard.py [--results 100000 1000000 10000000] [--keys 200]

For each index: first paint, from the end of the imports to the first numbers on the screen; key to
paint, from a key to the first byte that the terminal gets for it, while a query runs that would
take for ever; the same for keys that page through the list of tests; the end, from `q` to the end
of the process, while that query runs; memory at its peak. The reference in the same run is an app
of the same framework that draws one line of text a key.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NoReturn

from soaks import write

ROWS, COLUMNS = 40, 120
PATIENCE_S = 120.0
PACE_S = 0.03

DASHBOARD = """
import resource, sys, time
from pathlib import Path
from analysis.queries.experiments import Choice
from analysis.store import query
from tui.app import Soakboard, Source
from tui.state import Start

class Measured(Soakboard):
    def on_mount(self):
        # That of the app itself is called as well.
        if sys.argv[3] == "busy":
            self.runner.ask("endless", lambda connection: query.rows(
                connection, "SELECT count(*) FROM range(1000000000000) a WHERE a.range % 7 = 8"),
                lambda outcome: None)

with open(sys.argv[2], "w") as report:
    print(time.monotonic(), file=report, flush=True)
    app = Measured(Source(Path(sys.argv[1])), Choice(everything=True), Start("tests"))
    app.run()
    if app.defect is not None:
        raise app.defect
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=report)
"""

PLAIN = """
import sys, time
from textual.app import App
from textual.widget import Widget

class Line(Widget):
    shown = 0
    def render(self):
        return f"tests {self.shown} \\u2014 sorted by"

class Plain(App):
    def compose(self):
        yield Line()
    def on_key(self, event):
        if event.key == "q":
            self.exit()
        line = self.query_one(Line)
        line.shown += 1
        line.refresh()

with open(sys.argv[2], "w") as report:
    print(time.monotonic(), file=report, flush=True)
    Plain().run()
    print(0, file=report)
"""


class Terminal:
    """A program in a terminal."""

    def __init__(self, script: str, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._folder = tempfile.TemporaryDirectory(prefix="bench-")
        self._report = Path(self._folder.name) / "report"
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, arguments[0], str(self._report), *arguments[1:]],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(theirs)

    def first_paint(self, sign: bytes) -> float:
        """Seconds from the end of the imports until the sign stands on the screen."""
        seen = b""
        deadline = time.monotonic() + PATIENCE_S
        while sign not in seen:
            if time.monotonic() > deadline or self.process.poll() is not None:
                self._give_up(f"{sign!r} never came: {seen[-2000:]!r}")
            seen = seen[-4096:] + self._read(1.0)
        return time.monotonic() - self._said(0)

    def list_all(self) -> None:
        """Turn the groups into rows: there are enough of them to page through."""
        self.drain(1.0)
        for _ in range(4):
            self.key(b"b")
            self.drain(1.0)

    def key(self, key: bytes) -> float | None:
        """Seconds from a key until the terminal gets the first byte for it; None where the key
        changes nothing, at an end of the list."""
        self.drain(PACE_S)
        began = time.monotonic()
        os.write(self._ours, key)
        return time.monotonic() - began if self._read(1.0) else None

    def end(self) -> tuple[float, float]:
        """Seconds from `q` to the end of the process, and megabytes at the peak."""
        began = time.monotonic()
        os.write(self._ours, b"q")
        while self.process.poll() is None:
            if time.monotonic() - began > PATIENCE_S:
                self._give_up("it does not end")
            self._read(0.005)
        took = time.monotonic() - began
        os.close(self._ours)
        return took, self._said(1) / 1000

    def _give_up(self, words: str) -> NoReturn:
        self.process.kill()
        raise SystemExit(words)

    def _said(self, line: int) -> float:
        """What the program wrote into its report."""
        return float(self._report.read_text().splitlines()[line])

    def drain(self, quiet_s: float) -> None:
        """Read until nothing has come for a while."""
        while self._read(quiet_s):
            pass

    def _read(self, wait_s: float) -> bytes:
        if not select.select([self._ours], [], [], wait_s)[0]:
            return b""
        try:
            return os.read(self._ours, 65536)
        except OSError:
            return b""


def prepare(folder: Path, results: int) -> Path:
    """An index of so many results, everything derived."""
    from analysis.board import Ingest, Inputs, now, open_board
    from analysis.config import Config

    log, db = folder / f"soak-{results}.jsonl", folder / f"index-{results}.duckdb"
    write(log, results)
    with open_board(db, Config()) as board:
        board.take(Inputs((log,)), Ingest(now(), final=True))
        board.derive()
    return db


def measure(name: str, script: str, db: Path, keys: int, sign: bytes) -> None:
    """One line of figures."""
    still = Terminal(script, str(db), "still")
    paint = still.first_paint(sign)
    still.list_all()
    pages = [still.key(b"\x1b[6~" if i % 6 < 3 else b"\x1b[5~") for i in range(keys)]
    still.end()
    busy = Terminal(script, str(db), "busy")
    busy.first_paint(sign)
    busy.list_all()
    steps = [busy.key(b"j" if i % 20 < 12 else b"k") for i in range(keys)]
    ended, memory = busy.end()
    print(
        f"{name:>12}  first paint {paint:6.3f} s   key to paint {of(steps)}   "
        f"page {of(pages)}   end {ended:5.2f} s   {memory:5.0f} MB",
        flush=True,
    )


def of(taken: list[float | None]) -> str:
    """p50 and p95 in milliseconds."""
    seconds = [one for one in taken if one is not None]
    if len(seconds) < len(taken) / 2:
        raise SystemExit("most keys drew nothing")
    parts = statistics.quantiles(seconds, n=20)
    return f"p50 {1000 * parts[9]:5.1f} p95 {1000 * parts[18]:5.1f} ms"


def main() -> None:
    """Print a line of figures an index, and one of the reference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--db", type=Path, help="measure on this index instead")
    given = parser.parse_args()
    sign = b"sorted by"
    with tempfile.TemporaryDirectory() as folder:
        measure("plain", PLAIN, Path(folder), given.keys, sign)
        if given.db is not None:
            measure(given.db.name, DASHBOARD, given.db, given.keys, sign)
            return
        for results in given.results:
            measure(f"{results:,}", DASHBOARD, prepare(Path(folder), results), given.keys, sign)


if __name__ == "__main__":
    main()
