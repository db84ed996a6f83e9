"""What `tui check` costs on the sample, against the interpreter with duckdb alone.

    python tests/bench/startup.py [--times 10]

Printed are seconds of CPU (user and system) of whole processes, their median and its ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "sample_data" / "soak" / "gateway.jsonl"
COMMANDS = {
    "duckdb": [sys.executable, "-c", "import duckdb; duckdb.sql('SELECT 1').fetchall()"],
    "help": [sys.executable, "-m", "tui", "--help"],
    "check": [sys.executable, "-m", "tui", "check", str(SAMPLE)],
}


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a process."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    times = parser.parse_args().times
    medians = {}
    for name, command in COMMANDS.items():
        cpu_seconds(command)
        taken = sorted(cpu_seconds(command) for _ in range(times))
        medians[name] = statistics.median(taken)
        print(f"  {name:6} {medians[name]:.2f} s  ({taken[0]:.2f} to {taken[-1]:.2f})")
    print(f"  check / duckdb {medians['check'] / medians['duckdb']:.2f}")


if __name__ == "__main__":
    main()
