"""Result files against other readers of JUnit XML, in the same run.

    python tests/bench/results.py [--files 200] [--cases 1000]

Writes files of cases, installs the others into an environment of their own, and prints the CPU
seconds of each from the files to its classes, and how many times ours that is.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PEERS = ("flakeguard", "flakemap", "flakewall", "unflake")


def write(folder: Path, files: int, cases: int) -> None:
    """Reports of pytest: one case in fifty fails, one in a hundred is skipped."""
    chance = random.Random(7)
    for number in range(files):
        parts = [
            '<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" '
            f'tests="{cases}" timestamp="2026-11-30T{number // 60:02}:{number % 60:02}:00">'
        ]
        for case in range(cases):
            head = (
                f'<testcase classname="tests.test_mod{case // 50}" '
                f'name="test_case_{case}[p-{case % 7}]" time="{chance.random():.4f}"'
            )
            if chance.random() < 0.02:
                said = "def test():\n&gt; assert 1 == 2\nE AssertionError"
                parts.append(f'{head}><failure message="assert 1 == 2">{said}</failure></testcase>')
            elif case % 100 == 3:
                parts.append(f'{head}><skipped message="no"/></testcase>')
            else:
                parts.append(f"{head} />")
        parts.append("</testsuite></testsuites>")
        (folder / f"r{number:03}.xml").write_text("".join(parts), encoding="utf-8")


def cpu(command: list[str], folder: Path) -> float:
    """CPU seconds of a command and its children. Any exit code but a crash is an answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 2) or (done.returncode and not done.stdout):
        raise SystemExit(f"{command[0]}: {done.stderr.decode()[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line a reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--cases", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reports, room = folder / "reports", folder / "peers"
        reports.mkdir()
        write(reports, given.files, given.cases)
        venv.create(room, with_pip=True)
        python = room / "bin" / "python"
        install = [python, "-m", "pip", "install", "-q", *PEERS]
        subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
        bin_ = room / "bin"
        files = sorted(map(str, reports.glob("*.xml")))
        commands = {
            "soakboard": [sys.executable, "-m", "tui", "attribute", "--json", str(reports)],
            "flakeguard": [str(bin_ / "flakeguard"), "scan", str(reports)],
            "flakemap": [str(bin_ / "flakemap"), "--json", str(reports)],
            "flakewall": [str(bin_ / "flakewall"), "score", "--junit", str(reports / "*.xml")],
            "unflake": [str(bin_ / "unflake"), "analyze", *files],
        }
        ours = None
        print(f"{given.files:,} files of {given.cases:,} cases, CPU seconds")
        for reader, command in commands.items():
            took = cpu(command, folder)
            ours = took if ours is None else ours
            print(f"{reader:>12}  {took:7.2f} s  {took / ours:6.2f} x", flush=True)


if __name__ == "__main__":
    main()
