"""Classification against the plain aggregate, and against pandas.

    python tests/bench/classify.py [--results 1000000] [--rounds 33] [--times 3] [--no-pandas]

ours: everything that `tui check` derives from the recorded lines: runs, findings, outages, classes
and reasons of every unit. plain: one aggregate over a flat table with the columns of the log, which
counts executions and failures a unit and phase. pandas: the same aggregate over a data frame. Each
runs in a process of its own. With 33 rounds there are some 30,000 units and phases to a million
results, with 3 rounds ten times as many. Printed are seconds, the medians' ratios, and the memory
at its peak.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from soaks import COLUMNS, ROUNDS, write

KEYS = ("experiment", "patch_id", "role", "test_id", "phase", "cpus")


def prepare(log: Path, flat: Path, index: Path) -> None:
    """Both databases, before any time is taken."""
    import duckdb

    from analysis.board import Ingest, Inputs, now, open_board
    from analysis.config import Config

    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"
    with duckdb.connect(str(flat)) as connection:
        connection.execute(
            f"""CREATE TABLE flat AS SELECT * FROM read_ndjson(
                '{log}', columns = {columns}, ignore_errors = true) WHERE kind = 'test'"""
        )
    with open_board(index, Config()) as board:
        board.take(Inputs((log,)), Ingest(now(), final=True))


def plain(flat: Path) -> float:
    """Seconds of the plain aggregate."""
    import duckdb

    with duckdb.connect(str(flat), read_only=True) as connection:
        began = time.perf_counter()
        connection.execute(
            f"""CREATE TEMP TABLE counts AS
            SELECT {", ".join(KEYS)}, count(*) AS n, count(*) FILTER (outcome = 'failed') AS k
            FROM flat GROUP BY ALL"""
        )
        return time.perf_counter() - began


def pandas(flat: Path) -> float:
    """Seconds of the aggregate in pandas; filling the frame is not counted."""
    import duckdb

    with duckdb.connect(str(flat), read_only=True) as connection:
        frame = connection.sql(f"SELECT {', '.join(KEYS)}, outcome = 'failed' AS k FROM flat").df()
    began = time.perf_counter()
    frame.groupby(list(KEYS))["k"].agg(["size", "sum"])
    return time.perf_counter() - began


def ours(index: Path) -> float:
    """Seconds of deriving everything from an index that has only been filled."""
    from analysis.board import open_board
    from analysis.config import Config

    with open_board(index, Config()) as board:
        board.connection.execute("DELETE FROM derived_key; DELETE FROM derived_experiments")
        began = time.perf_counter()
        board.derive()
        return time.perf_counter() - began


WAYS = {"plain": plain, "ours": ours, "pandas": pandas}


def measure(way: str, database: Path) -> tuple[float, float]:
    """Seconds, and gigabytes at the peak of the process."""
    command = [sys.executable, __file__, "--run", way, str(database)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--no-pandas", action="store_true")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare(*map(Path, options.prepare))
        return
    if options.run:
        way, database = options.run
        seconds = WAYS[way](Path(database))
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
        return
    with tempfile.TemporaryDirectory() as room:
        log, flat, index = (Path(room) / name for name in ("soak.jsonl", "flat", "index"))
        write(log, options.results, rounds=options.rounds)
        # In a process of its own: its memory would be counted as that of those it starts.
        command = [sys.executable, __file__, "--prepare", str(log), str(flat), str(index)]
        subprocess.run(command, check=True)
        databases = {"plain": flat, "ours": index}
        if not options.no_pandas:
            databases["pandas"] = flat
        taken = {
            way: [measure(way, database) for _ in range(options.times)]
            for way, database in databases.items()
        }
        print(f"{options.results:,} results, {options.rounds} rounds, {options.times} times")
        medians = {}
        for way, runs in taken.items():
            medians[way] = statistics.median(seconds for seconds, _ in runs)
            times = "  ".join(f"{seconds:.2f} s" for seconds, _ in runs)
            print(f"  {way:6} {times}  {max(memory for _, memory in runs):.2f} GB")
        for way in ("plain", "pandas"):
            if way in medians:
                print(f"  ours / {way} {medians['ours'] / medians[way]:.2f}")
        megabytes = index.stat().st_size / 1e6
        print(f"  index {megabytes / (options.results / 1e6):.1f} MB per million results, derived")


if __name__ == "__main__":
    main()
