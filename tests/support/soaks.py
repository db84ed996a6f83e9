"""A soak in several logs, with what real ones have besides: junk, blank lines, bare verdicts."""

from __future__ import annotations

import json
from pathlib import Path

from logs import EPOCH, TEST, Log, fails, passes

OTHER = "tests/test_order.py::test_other"


def soak_text(part: int, rounds: int, seed: int = 0) -> str:
    """One log of the soak, some 12 lines a round; another seed gives other outcomes."""
    log = Log("soak", runs=10_000 * part, slot=10_000 * part).header()
    for number in range(rounds):
        outcome = fails if (number * 7 + seed) % 5 == 0 else passes
        log = log.round(number, [outcome(TEST), passes(OTHER)])
    lines = log.text.splitlines()
    for number in range(0, len(lines), 37):
        bare = {"experiment": "soak", "patch_id": "bare", "verdict": "pass", "seed": str(seed)}
        lines[number] += f"\n{{torn {seed}\n\n{json.dumps({**bare, 'at': EPOCH + number})}"
    return "\n".join(lines) + "\n"


def write_soak(folder: Path, parts: int, rounds: int, seed: int = 0) -> list[Path]:
    """The soak in that many logs."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"part-{part}.jsonl" for part in range(parts)]
    for part, path in enumerate(paths):
        path.write_text(soak_text(part, rounds, seed + part), "utf-8")
    return paths
