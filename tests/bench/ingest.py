"""Ingest against the plain read that loses what it does not understand.

    python tests/bench/ingest.py [--lines 1000000] [--kind clean|rare|often|gz] [--disk] [--times 3]

clean: every line is a record. rare: one in 100,000 is none. often: one in 10. gz: clean, packed.
The reference is DuckDB's `read_ndjson` with the columns of the log, into a table, in memory or on
disk. Both run in turn, each in a process of its own; printed are seconds, the medians' ratio, and
with --disk the size of the index.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from soaks import COLUMNS, write

BAD_EVERY = {"clean": 0, "rare": 100_000, "often": 10, "gz": 0}


def plain(log: Path, index: str) -> float:
    """Seconds of the reference."""
    import duckdb

    with duckdb.connect(index) as connection:
        columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"
        began = time.perf_counter()
        connection.execute(
            f"""CREATE TABLE plain AS SELECT * FROM read_ndjson(
                '{log}', columns = {columns}, ignore_errors = true)"""
        )
        connection.execute("CHECKPOINT")
        return time.perf_counter() - began


def ours(log: Path, index: str) -> float:
    """Seconds of an ingest."""
    from analysis.board import Ingest, Inputs, now, open_board
    from analysis.config import Config

    with open_board(None if index == ":memory:" else Path(index), Config()) as board:
        began = time.perf_counter()
        board.take(Inputs((log,)), Ingest(now(), final=True))
        board.connection.execute("CHECKPOINT")
        return time.perf_counter() - began


def measure(what: str, log: Path, index: Path | None) -> float:
    """The seconds that a process of its own takes; interpreter and imports are not counted."""
    if index is not None:
        index.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--run", what, str(log), str(index or ":memory:")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=list(BAD_EVERY), default="clean")
    parser.add_argument("--disk", action="store_true")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        what, log, index = options.run
        print({"plain": plain, "ours": ours}[what](Path(log), index))
        return
    with tempfile.TemporaryDirectory() as room:
        log = write(Path(room) / "soak.jsonl", options.lines, bad_every=BAD_EVERY[options.kind])
        if options.kind == "gz":
            packed = log.with_suffix(".jsonl.gz")
            with log.open("rb") as source, gzip.open(packed, "wb", compresslevel=6) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            log = packed
        index = Path(room) / "index.duckdb" if options.disk else None
        seconds: dict[str, list[float]] = {"plain": [], "ours": []}
        for _ in range(options.times):
            for what, taken in seconds.items():
                taken.append(measure(what, log, index))
        medians = {what: statistics.median(taken) for what, taken in seconds.items()}
        where = "disk" if options.disk else "memory"
        print(f"{options.lines:,} test lines, {options.kind}, to {where}, {options.times} times")
        for what, taken in seconds.items():
            print(f"  {what:6}", "  ".join(f"{second:.2f} s" for second in taken))
        print(f"  ratio  {medians['ours'] / medians['plain']:.2f}")
        if index is not None:
            megabytes = index.stat().st_size / 1e6
            print(f"  index  {megabytes / (options.lines / 1e6):.1f} MB per million results")


if __name__ == "__main__":
    main()
