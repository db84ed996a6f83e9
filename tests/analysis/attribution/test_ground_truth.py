"""39 really executed experiments with one planted defect each: no wrong class, ever."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "data" / "ground-truth"
LABELS: dict[str, dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text("utf-8"))
UNDECIDED = "insufficient evidence"
INFRASTRUCTURE = ("harness bug", "broken isolation", "invalid evidence")
RESOURCE_CASES = ("shared_port", "shared_tmpfile", "fixture_rewrite", "leaky_fresh")
FRACTIONS = (0.10, 0.20, 0.34, 0.50, 0.75)


@dataclass(frozen=True)
class Judged:
    """The units of all experiments, by (experiment, patch, test)."""

    units: dict[tuple[str, str, str], Any]

    def labelled(self) -> Iterator[tuple[str, dict[str, Any], Any]]:
        """Every label with the unit it is about."""
        for name, label in LABELS.items():
            yield name, label, self.units[name, label["patch_id"], label["test_id"]]


def lines_of(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def write(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def judged(answers: Any) -> Judged:
    return Judged({(u.experiment, u.patch_id, u.test_id): u for u in answers.units})


@pytest.fixture(scope="module")
def whole(answer_of) -> Judged:
    return judged(answer_of(FOLDER))


def wrong(found: Judged) -> list[str]:
    """Labelled units whose class is neither right nor undecided, and any flake or stable unit
    of an experiment whose labelled unit is a bug of the patch or of the infrastructure."""
    return [
        f"{name}: {unit.unit_class}, not {label['class']}: {unit.why}"
        for name, label, unit in found.labelled()
        if unit.unit_class not in (label["class"], UNDECIDED)
    ]


def test_every_experiment_has_a_label():
    assert sorted(LABELS) == sorted(path.name.split(".")[0] for path in FOLDER.glob("*.gz"))
    assert len(LABELS) == 39


def test_no_labelled_unit_gets_a_wrong_class(whole):
    assert wrong(whole) == []


def test_at_least_35_of_39_are_right(whole):
    undecided = [name for name, label, unit in whole.labelled() if unit.unit_class == UNDECIDED]
    assert len(undecided) <= 4, undecided


def test_no_race_and_no_infrastructure_bug_is_called_a_test_flake(whole):
    freezes = {key for key, unit in whole.units.items() if unit.unit_class == "test flake"}
    allowed = {
        (name, label["patch_id"], label["test_id"])
        for name, label in LABELS.items()
        if label["class"] == "test flake"
    }
    assert freezes <= allowed


def test_every_unit_of_every_experiment_has_a_class_and_a_reason(whole):
    assert len(whole.units) == 82
    for unit in whole.units.values():
        assert unit.why
        assert unit.action
        assert (unit.need is not None) == (unit.unit_class == UNDECIDED and unit.row != "I3")


def test_a_unit_beside_the_labelled_one_is_never_worse_than_its_experiment(whole):
    """The planted defect lies in one test; the others never fail on their own."""
    defects = {(name, label["patch_id"], label["test_id"]) for name, label in LABELS.items()}
    for (experiment, patch, test), unit in whole.units.items():
        if (experiment, patch, test) in defects or unit.unit_class in ("stable", UNDECIDED):
            continue
        assert unit.unit_class == LABELS[experiment]["class"]
        assert unit.unit_class in INFRASTRUCTURE


def test_the_locus_is_right_wherever_it_is_labelled_and_said(whole):
    said = 0
    for name, label, unit in whole.labelled():
        if label["locus"] and unit.unit_class == label["class"]:
            assert unit.locus == label["locus"], name
            said += 1
    assert said >= 8


def touched(name: str, test_id: str) -> set[tuple[str, str]]:
    """What the log says the test used, as (kind, id)."""
    return {
        (resource["kind"], resource["id"])
        for line in lines_of(name)
        if line["kind"] == "test" and line["test_id"] == test_id
        for resource in line.get("resources", ())
    }


def test_the_resource_is_named_in_every_port_and_file_case(whole):
    named = 0
    for name, label, unit in whole.labelled():
        if name.startswith(RESOURCE_CASES) and label["class"] == "harness bug":
            assert unit.unit_class == "harness bug", name
            assert unit.address is not None, name
            found = (unit.address["kind"], unit.address["id"])
            assert found in touched(name, label["test_id"]), name
            assert found[0] == ("port" if name.startswith("shared_port") else "file")
            assert re.search(r"\d{4,}" if found[0] == "port" else r"/shared/", found[1]), name
            named += 1
    assert named >= 9


# Names


def rename(lines: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The same log in which every patch, test, run and experiment has another name."""
    names: dict[str, str] = {}

    def other(kind: str, name: str) -> str:
        # The new names sort in another order than the old ones.
        return names.setdefault(name, f"{kind}{999 - len(names)}{'::t' if kind == 'q' else ''}")

    def renamed(line: dict[str, Any]) -> dict[str, Any]:
        new = dict(line)
        for key, kind in (("patch_id", "p"), ("test_id", "q"), ("run_id", "r")):
            if key in new:
                new[key] = other(kind, new[key])
        new["experiment"] = f"x-{new['experiment'][::-1]}"
        for key in ("before", "inventory"):
            if key in new:
                new[key] = [other("q", test) for test in new[key]]
        if "canaries" in new:
            new["canaries"] = {
                role: {
                    **canary,
                    "patch_id": other("p", canary["patch_id"]),
                    "test_id": other("q", canary["test_id"]),
                }
                for role, canary in new["canaries"].items()
            }
        return new

    return [renamed(line) for line in lines], names


def test_renaming_everything_changes_nothing_but_the_names(whole, answer_of, tmp_path):
    names = {}
    for name in LABELS:
        lines, names[name] = rename(lines_of(name))
        write(tmp_path, f"x-{name[::-1]}", lines)
    other = judged(answer_of(tmp_path))
    assert len(other.units) == len(whole.units)
    for (experiment, patch, test), unit in whole.units.items():
        mapped = names[experiment]
        twin = other.units[f"x-{experiment[::-1]}", mapped[patch], mapped[test]]
        for field in ("unit_class", "row", "blocks", "locus", "seed_row", "counts", "counted",
                      "bounds", "need", "elsewhere", "form"):  # fmt: skip
            assert getattr(twin, field) == getattr(unit, field), (experiment, test, field)
        assert twin.p == pytest.approx(unit.p) if unit.p is not None else twin.p is None
        kinds = [None if one.address is None else one.address["kind"] for one in (unit, twin)]
        assert kinds[0] == kinds[1]


# The first part of every arm


def first_part(lines: list[dict[str, Any]], fraction: float) -> list[dict[str, Any]]:
    """Of every arm (phase, role, patch) the first runs in order of their start, at least one."""
    arms: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for line in lines:
        if line["kind"] in ("run_start", "run_end"):
            arm = (line["phase"], line["role"], line["patch_id"])
            started = line.get("started", float("inf"))
            known = arms[arm].get(line["run_id"], float("inf"))
            arms[arm][line["run_id"]] = min(known, started)
    kept: set[str] = set()
    for runs in arms.values():
        in_order = sorted(runs, key=lambda run: (runs[run], run))
        kept.update(in_order[: math.ceil(fraction * len(in_order))])
    return [line for line in lines if line["kind"] == "experiment" or line["run_id"] in kept]


@pytest.fixture(scope="module")
def parts(answer_of, tmp_path_factory) -> dict[float, Judged]:
    """One board a fraction."""
    logs = {name: lines_of(name) for name in LABELS}
    found = {}
    for fraction in FRACTIONS:
        folder = tmp_path_factory.mktemp("parts")
        for name, lines in logs.items():
            write(folder, name, first_part(lines, fraction))
        found[fraction] = judged(answer_of(folder))
    return found


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_the_first_runs_of_every_arm_never_give_a_wrong_class(parts, fraction):
    assert wrong(parts[fraction]) == []


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_the_first_runs_of_every_arm_freeze_no_bug(parts, fraction):
    flakes = {key for key, unit in parts[fraction].units.items() if unit.row in ("4a", "4b")}
    labels = {key: LABELS[key[0]] for key in flakes}
    assert [key for key, label in labels.items() if label["class"] != "test flake"] == []


def test_more_runs_decide_more(parts, whole):
    decided = [
        sum(unit.unit_class == label["class"] for _, label, unit in found.labelled())
        for found in (*parts.values(), whole)
    ]
    assert decided[-1] == max(decided)
    assert decided[-1] > decided[0]
