"""The dashboard's side of the process that reads logs into the index."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_END_S = 0.5


@dataclass(frozen=True)
class Reading:
    """Logs are being read, or waited for. words: how far."""

    words: str


@dataclass(frozen=True)
class Taken:
    """The logs are read. changed: the answers are others now. notices, refused: sentences."""

    changed: bool
    notices: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """The logs could not be read."""

    sentence: str


@dataclass(frozen=True)
class Ended:
    """The process is no more; it begins again with the next `read`."""


Event = Reading | Taken | Refused | Ended


class Feed:
    """A process that reads logs into the index at `db`.

    `deliver` gets its events in a thread. It is killed with `stop`, which loses nothing, and ends
    by itself when this process is gone.
    """

    def __init__(
        self,
        db: Path,
        paths: Sequence[Path],
        deliver: Callable[[Event], None],
        *,
        experiment: str | None = None,
        final: bool = False,
    ) -> None:
        options = [] if experiment is None else ["--experiment", experiment]
        options += ["--final"] if final else []
        self._command = [
            *(sys.executable, "-P", "-m", "tui.feeding", "--db", str(db), *options, "--"),
            *map(str, paths),
        ]
        self._deliver = deliver
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._following = False

    def read(self) -> None:
        """Take what is new of the logs."""
        self._send("read")

    def follow(self, following: bool) -> None:
        """Take new lines as they come, or no more."""
        self._following = following
        self._send(_follow(following))

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return None if self._process is None else self._process.pid

    def stop(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._listener is not None:
            self._listener.join(_END_S)

    def _send(self, word: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._write(word)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            # Ctrl-C in the terminal is the dashboard's to answer.
            start_new_session=True,
        )
        self._listener = threading.Thread(
            target=self._listen, args=(self._process,), name="soakboard-feed", daemon=True
        )
        self._listener.start()
        if self._following:
            self._write(_follow(True))

    def _write(self, word: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        # A process that died meanwhile has said so.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        # At the end its pipes are closed and it is waited for.
        with process:
            assert process.stdout is not None
            for said in process.stdout:
                self._deliver(_event(json.loads(said)))
        if self._process is process:
            self._deliver(Ended())


def _follow(following: bool) -> str:
    return f"follow {'on' if following else 'off'}"


def _event(said: dict[str, Any]) -> Event:
    if said["event"] == "done":
        return Taken(said["changed"], tuple(said["notices"]), tuple(said["refused"]))
    if said["event"] == "refused":
        return Refused(said["sentence"])
    return Reading(said["words"])
