"""The process beside the dashboard that reads logs into the index.

The dashboard only reads: what writes is a process of its own, so that the screen never waits for
it, and can be killed at any moment, since nothing of an ingest is lost by that. It gets words on
standard input, a line each: `read` (take what is new now), `follow on`, `follow off`; it ends with
its input. It answers with a JSON object a line on standard output (see `tui.feed.Event`).
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.board import Board, Ingest, Inputs, SourceReport, Status, now, open_board
from analysis.config import load_config
from analysis.errors import AnalysisError
from analysis.records import find_logs
from analysis.store import ledger
from tui.progress import Meter

_EVERY_S = 0.5
_WORDS_CELLS = 60

_Facts = tuple[int, int, int] | None


class Feeder:
    """Keeps an index up to date with its logs.

    paths: logs to read; none for the sources that the index knows.
    """

    def __init__(
        self, db: Path, paths: Sequence[Path], *, experiment: str | None, final: bool
    ) -> None:
        self._db, self._paths = db, tuple(paths)
        self._experiment, self._final = experiment, final
        self._following = False
        self._index: _Facts = None
        self._logs: dict[Path, _Facts] = {}

    def run(self) -> None:
        """Do what is asked until nobody asks any more."""
        for word in _words():
            if word.startswith("follow"):
                self._following = word == "follow on"
            if word == "read" or self._log_changed():
                self._guarded(read=True)
            elif self._index is not None and _facts(self._db) not in (self._index, None):
                # Another process wrote: what follows from its lines may still be to be derived.
                self._guarded(read=False)

    def _log_changed(self) -> bool:
        if not self._following:
            return False
        return any(_facts(path) != facts for path, facts in self._logs.items()) or bool(
            set(self._named()) - set(self._logs)
        )

    def _named(self) -> list[Path]:
        found: list[Path] = []
        for path in self._paths:
            try:
                found += [log.resolve() for log in find_logs(path)]
            except AnalysisError:
                found.append(path)
        return found

    def _guarded(self, *, read: bool) -> None:
        # What it cannot do now it will not try again until the index has changed.
        self._index = _facts(self._db)
        try:
            self._feed(read=read)
        except AnalysisError as error:
            _say("refused", sentence=f"{error.message} {error.hint}".strip())
        except (OSError, MemoryError) as error:
            _say("refused", sentence=f"The logs were not read: {error}")

    def _feed(self, *, read: bool) -> None:
        self._logs = {path: _facts(path) for path in self._named()}
        reports: list[SourceReport] = []
        with open_board(self._db, load_config(Path.cwd()), _waiting) as board:
            if read:
                reports = self._take(board)
            derived = board.derive()
            taken = any(report.rows for report in reports if _is_new(report))
            changed = not read or derived or taken
            known = ledger.known_paths(board.connection)
            notices = list(board.notices)
        self._logs |= {path: self._logs.get(path, _facts(path)) for path in known}
        self._index = _facts(self._db)
        refused = [report.note for report in reports if report.status is Status.REFUSED]
        _say("done", changed=changed, notices=notices, refused=refused)

    def _take(self, board: Board) -> list[SourceReport]:
        meter = Meter(lambda said: _say("progress", words=said), lambda: _WORDS_CELLS)
        how = Ingest(now(), self._final, self._experiment, meter.show)
        if self._paths:
            return board.take(Inputs(self._paths), how)
        for path in ledger.known_paths(board.connection):
            self._logs[path] = _facts(path)
        return board.catch_up(how)


def _is_new(report: SourceReport) -> bool:
    return report.status not in (Status.KNOWN, Status.REFUSED)


def _facts(path: Path) -> _Facts:
    """What changes when a file does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _words() -> Iterator[str]:
    """The words as they come; an empty one whenever a while has passed without."""
    waiting = b""
    while True:
        if not select.select([0], [], [], _EVERY_S)[0]:
            yield ""
            continue
        got = os.read(0, 4096)
        if not got:
            return
        *whole, waiting = (waiting + got).split(b"\n")
        yield from (word.decode("ascii", "replace") for word in whole)


def _waiting(sentence: str) -> None:
    _say("waiting", words=sentence)


def _say(event: str, **body: Any) -> None:
    print(json.dumps({"event": event, **body}), flush=True)


def main() -> None:
    """Run the process."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--experiment")
    parser.add_argument("--final", action="store_true")
    parser.add_argument("paths", nargs="*", type=Path)
    given = parser.parse_args()
    try:
        Feeder(given.db, given.paths, experiment=given.experiment, final=given.final).run()
    except BrokenPipeError:
        # The dashboard is gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
