"""The record-only audit against a plain scan.

    python tests/bench/audit.py [--results 10000000] [--times 3]

ours: what `analysis.evidence.audit` derives from an index that has been filled: runs put together,
every rule asked of every record. scan: one aggregate a run over a flat table of the same test
lines. Every tenth run carries a proof of every family. Each is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from soaks import COLUMNS, write

PROOF = {
    "response": {"kind": "verdict", "status": 200, "content_type": "application/json", "bytes": 9},
    "cache": {"hit": False, "key": "0" * 64, "inputs": {"model": "m"}},
    "manifest": {"path": "m.json", "bytes": 9, "sha256": "0" * 64, "body": "b"},
    "lease": {"key": "0" * 16, "token": 1, "repo": "r", "commit": "c", "config_hash": "h"},
    "receipt": {"diff_sha256": "0" * 64, "model_id": "m", "verdict": "pass", "reasons": ["x"]},
    "grant": {"task_id": "t", "tool": "read", "arg_hash": "0" * 64},
    "oracle": {"changed": ["a.golden"], "label_commits": []},
    "workspace": {"generation": "g", "attempt": 0, "locks": {"uv.lock": "0" * 64}},
}


def prepare(log: Path, flat: Path, index: Path) -> None:
    """Both databases, before any time is taken."""
    import duckdb

    from analysis.board import Ingest, Inputs, now, open_board
    from analysis.config import Config

    columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"
    with duckdb.connect(str(flat)) as connection:
        connection.execute(
            f"""CREATE TABLE flat AS SELECT run_id, test_id, outcome FROM read_ndjson(
                '{log}', columns = {columns}, ignore_errors = true) WHERE kind = 'test'"""
        )
    with open_board(index, Config()) as board:
        board.take(Inputs((log,)), Ingest(now(), final=True))
        board.connection.execute(
            """UPDATE run_lines SET proof = $proof
            WHERE kind = 'run_end' AND hash(run_id) % 10 = 0""",
            {"proof": json.dumps(PROOF)},
        )


def scan(flat: Path) -> tuple[float, str]:
    """Seconds of one aggregate a run."""
    import duckdb

    with duckdb.connect(str(flat), read_only=True) as connection:
        began = time.perf_counter()
        connection.execute(
            """CREATE TEMP TABLE counts AS
            SELECT run_id, count(*) AS n, count(DISTINCT test_id) AS tests,
                count(*) FILTER (outcome = 'failed') AS k
            FROM flat GROUP BY run_id"""
        )
        return time.perf_counter() - began, ""


def ours(index: Path) -> tuple[float, str]:
    """Seconds of the audit."""
    from analysis.board import open_board
    from analysis.config import Config
    from analysis.evidence.audit import assign_experiments, audit, headers
    from analysis.store import query

    with open_board(index, Config()) as board:
        began = time.perf_counter()
        assign_experiments(board.connection)
        audit(board.connection, dict.fromkeys(headers(board.connection), Config()))
        taken = time.perf_counter() - began
        (found,) = query.rows(
            board.connection, "SELECT count(*), count(DISTINCT rule), count(run_id) FROM findings"
        )
        return taken, f"{found[0]}_findings_of_{found[1]}_rules"


WAYS = {"scan": scan, "ours": ours}


def measure(way: str, database: Path) -> tuple[float, float, str]:
    """Seconds, gigabytes at the peak of the process, and what was found."""
    command = [sys.executable, __file__, "--run", way, str(database)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1]), " ".join(said[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare(*map(Path, options.prepare))
        return
    if options.run:
        way, database = options.run
        seconds, found = WAYS[way](Path(database))
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, found)
        return
    with tempfile.TemporaryDirectory() as room:
        log, flat, index = (Path(room) / name for name in ("soak.jsonl", "flat", "index"))
        write(log, options.results)
        command = [sys.executable, __file__, "--prepare", str(log), str(flat), str(index)]
        subprocess.run(command, check=True)
        print(f"{options.results:,} results, {options.times} times")
        medians = {}
        for way, database in (("scan", flat), ("ours", index)):
            runs = [measure(way, database) for _ in range(options.times)]
            medians[way] = statistics.median(seconds for seconds, _, _ in runs)
            times = "  ".join(f"{seconds:.2f} s" for seconds, _, _ in runs)
            print(f"  {way} {times}  {max(memory for _, memory, _ in runs):.2f} GB  {runs[0][2]}")
        print(f"  ours / scan {medians['ours'] / medians['scan']:.2f}")


if __name__ == "__main__":
    main()
