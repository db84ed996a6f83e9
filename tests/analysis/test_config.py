"""The configuration: what is read, what is refused in which words, what a header changes."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.config import (
    Canaries,
    Canary,
    Config,
    Oracle,
    Policy,
    differences,
    index_path,
    listed_ids,
    load_config,
    override,
)
from analysis.errors import BadInput, EnvironmentFault

EXAMPLE = """\
[canaries.red]
patch_id = "red"                     # known violated property: must fail on every run
test_id  = "tests/test_contract.py::test_property"
expect   = "property violated"       # and fail with this message
[canaries.green]
patch_id = "green"
test_id  = "tests/test_contract.py::test_property"
[inventory]
file = "gate/test_inventory.txt"
[policy]
alpha = 0.01
min_failures = 3
require_stress_verdict = true
require_proof = false
stress_runs = 200
min_tightened = 100
min_loaded = 40
rate_alone = 0.05
rate_company = 0.10
quarantine_hours = 24
quarantine_max_days = 30
on_lapse = "hold"
[oracle]
reviewers = ["lead@example.org"]
bots = []
globs = ["*.golden", "**/__snapshots__/**"]
"""


def written(folder: Path, text: str, name: str = "soakboard.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str, name: str = "soakboard.toml") -> str:
    path = written(folder, text, name)
    with pytest.raises(BadInput) as caught:
        load_config(folder)
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value.message


class TestReading:
    def test_the_example_of_the_documentation_is_read_in_full(self, tmp_path: Path) -> None:
        path = written(tmp_path, EXAMPLE)
        written(tmp_path / "gate", "a::b\n", "test_inventory.txt")
        pinned = "tests/test_contract.py::test_property"
        assert load_config(tmp_path) == Config(
            path=path,
            canaries=Canaries(
                Canary("red", pinned, "property violated"), Canary("green", pinned, None)
            ),
            inventory=("a::b",),
            inventory_file=tmp_path / "gate" / "test_inventory.txt",
            policy=Policy(),
            oracle=Oracle(reviewers=("lead@example.org",)),
        )

    def test_without_a_file_the_defaults_hold(self, tmp_path: Path) -> None:
        assert load_config(tmp_path) == Config()

    def test_an_empty_file_gives_the_defaults_and_its_place(self, tmp_path: Path) -> None:
        assert load_config(tmp_path) == Config()
        path = written(tmp_path, "")
        assert load_config(tmp_path) == Config(path=path)

    def test_the_nearest_file_upward_holds(self, tmp_path: Path) -> None:
        written(tmp_path, "[policy]\nmin_failures = 5\n")
        near = written(tmp_path / "a", "[policy]\nmin_failures = 7\n")
        deep = tmp_path / "a" / "b" / "c"
        deep.mkdir(parents=True)
        config = load_config(deep)
        assert (config.path, config.policy.min_failures) == (near, 7)

    def test_a_pyproject_without_a_table_of_ours_is_passed_over(self, tmp_path: Path) -> None:
        far = written(tmp_path, "[tool.soakboard.policy]\nalpha = 0.02\n", "pyproject.toml")
        written(tmp_path / "a", "[tool.other]\nx = 1\n", "pyproject.toml")
        config = load_config(tmp_path / "a")
        assert (config.path, config.policy.alpha) == (far, 0.02)

    def test_soakboard_toml_goes_before_pyproject_toml(self, tmp_path: Path) -> None:
        written(tmp_path, "[tool.soakboard.policy]\nalpha = 0.02\n", "pyproject.toml")
        own = written(tmp_path, "")
        assert load_config(tmp_path).path == own

    def test_a_byte_order_mark_and_crlf_are_fine(self, tmp_path: Path) -> None:
        (tmp_path / "soakboard.toml").write_bytes(b"\xef\xbb\xbf[policy]\r\nalpha = 0.02\r\n")
        assert load_config(tmp_path).policy.alpha == 0.02

    def test_a_relative_start_is_searched_upward_too(self, tmp_path: Path, monkeypatch) -> None:
        path = written(tmp_path, "")
        (tmp_path / "a").mkdir()
        monkeypatch.chdir(tmp_path / "a")
        assert load_config(Path()).path == path


class TestRefusals:
    def test_a_mistyped_key_gets_a_suggestion_and_the_list(self, tmp_path: Path) -> None:
        told = refusal(tmp_path, "[policy]\nmin_failure = 3\n")
        assert '[policy] has no key "min_failure"' in told
        assert "Did you mean min_failures?" in told
        assert "on_lapse" in told

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("alpha = 0.01", "the top level has no key"),
            ("[canaries.blue]", "[canaries] has no key"),
            ("[canaries.red]\npatch = 'x'", "[canaries.red] has no key"),
            ("[inventory]\nids = []", "[inventory] has no key"),
            ("[oracle]\nbot = []", "[oracle] has no key"),
        ],
    )
    def test_an_unknown_key_names_its_table(self, tmp_path: Path, text: str, place: str) -> None:
        assert place in refusal(tmp_path, text)

    @pytest.mark.parametrize(
        ("text", "key", "allowed"),
        [
            ("policy = 3", "policy is 3", "a table"),
            ("[policy]\nalpha = 'x'", 'policy.alpha is "x"', "above 0 and below 0.5"),
            ("[policy]\nalpha = 0.5", "policy.alpha is 0.5", "above 0 and below 0.5"),
            ("[policy]\nalpha = 0.0", "policy.alpha is 0.0", "above 0 and below 0.5"),
            ("[policy]\nalpha = nan", "policy.alpha is NaN", "above 0 and below 0.5"),
            ("[policy]\nalpha = true", "policy.alpha is true", "above 0 and below 0.5"),
            ("[policy]\nrate_alone = 1", "policy.rate_alone is 1", "above 0 and below 1"),
            ("[policy]\nmin_failures = 0", "policy.min_failures is 0", "from 1 to"),
            ("[policy]\nmin_failures = 2.0", "policy.min_failures is 2.0", "from 1 to"),
            ("[policy]\nmin_failures = true", "policy.min_failures is true", "from 1 to"),
            ("[policy]\nrequire_proof = 1", "policy.require_proof is 1", "true or false"),
            ("[policy]\nrequire_stress_verdict = false", "is false", "allowed is true"),
            ("[policy]\non_lapse = 'go'", 'policy.on_lapse is "go"', '"hold" or "block"'),
            ("[canaries]\nred = 'x'", 'canaries.red is "x"', "a table"),
            ("[canaries.red]\npatch_id = 5", "canaries.red.patch_id is 5", "a text"),
            ("[canaries.red]\npatch_id = ' '", "canaries.red.patch_id", "not empty"),
            ("[oracle]\nbots = 'x'", 'oracle.bots is "x"', "a list of texts"),
            ("[oracle]\nbots = [1]", "oracle.bots is a list ([1])", "a list of texts"),
            ("[inventory]\nfile = []", "inventory.file is a list", "a text"),
            ("[policy]\nalpha = 2026-01-01", 'policy.alpha is "2026-01-01"', "a number"),
        ],
    )
    def test_a_wrong_value_names_key_value_and_what_is_allowed(
        self, tmp_path: Path, text: str, key: str, allowed: str
    ) -> None:
        told = refusal(tmp_path, text)
        assert key in told
        assert allowed in told

    @pytest.mark.parametrize("value", ["0.499", "0.0001"])
    def test_the_nearest_values_are_accepted(self, tmp_path: Path, value: str) -> None:
        written(tmp_path, f"[policy]\nalpha = {value}\n")
        assert load_config(tmp_path).policy.alpha == float(value)

    def test_in_a_pyproject_the_key_is_named_in_full(self, tmp_path: Path) -> None:
        told = refusal(tmp_path, "[tool.soakboard.policy]\nalpha = 3\n", "pyproject.toml")
        assert "tool.soakboard.policy.alpha is 3" in told
        told = refusal(tmp_path, "[tool]\nsoakboard = 3\n", "pyproject.toml")
        assert "tool.soakboard is 3; allowed is a table" in told

    @pytest.mark.parametrize("text", ["[policy", "a = 1\na = 2", "x = " + "[" * 5000])
    def test_broken_toml_is_named(self, tmp_path: Path, text: str) -> None:
        assert "not valid TOML" in refusal(tmp_path, text)

    def test_bytes_that_are_no_text_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "soakboard.toml").write_bytes(b"# \xff\n")
        with pytest.raises(BadInput, match=r"soakboard\.toml is not UTF-8 at byte 2"):
            load_config(tmp_path)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission_is_a_fault_of_the_environment(self, tmp_path: Path) -> None:
        written(tmp_path, "").chmod(0)
        with pytest.raises(EnvironmentFault, match=r"soakboard\.toml cannot be read"):
            load_config(tmp_path)

    @given(st.dictionaries(st.text(), st.none() | st.booleans() | st.text() | st.floats()))
    def test_whatever_a_header_says_never_raises(self, table) -> None:
        config, complaints = override(Config(), {"policy": table, "canaries": table})
        assert config.inventory is None
        assert all(isinstance(one, str) for one in complaints)


class TestInventory:
    def test_counts_comments_and_blank_lines_are_no_ids(self) -> None:
        text = (
            "# pinned\n\ntests/a.py::test_x\r\n  tests/a.py::test_y[3 tests collected]\n"
            "com.example.FooTest#bar\nsuite works > with spaces\nerrors.py handles x\n"
            "3/5 tests collected (2 deselected) in 0.10s\n3 tests collected in 0.02s\n"
            "no tests collected in 0.1s\n1 test collected\ncollected 3 items\n"
            "=========== 3 tests collected ===========\nERROR tests/b.py::x - ImportError\n"
            "ok  \texample.org/pkg\t0.003s\nTotal: 3 tests in 1 file\ntests/a.py::test_x\n"
        )
        assert listed_ids(text) == (
            "tests/a.py::test_x",
            "tests/a.py::test_y[3 tests collected]",
            "com.example.FooTest#bar",
            "suite works > with spaces",
            "errors.py handles x",
        )

    def test_the_file_is_looked_for_beside_the_configuration(self, tmp_path: Path) -> None:
        written(tmp_path, "[inventory]\nfile = 'list.txt'\n")
        written(tmp_path, "a::b\n3 tests collected\n", "list.txt")
        below = tmp_path / "below"
        below.mkdir()
        assert load_config(below).inventory == ("a::b",)

    @pytest.mark.parametrize("content", [None, "", "# none\n", "3 tests collected\n"])
    def test_an_inventory_that_pins_nothing_is_refused(self, tmp_path: Path, content) -> None:
        if content is not None:
            written(tmp_path, content, "list.txt")
        told = refusal(tmp_path, "[inventory]\nfile = 'list.txt'\n")
        assert "list.txt" in told


class TestHeader:
    FILED = Config(
        canaries=Canaries(Canary("red", "a::b", "no"), Canary("green", "a::b")),
        inventory=("a::b",),
        inventory_file=Path("list.txt"),
        policy=Policy(alpha=0.02),
    )

    def test_a_header_that_says_nothing_changes_nothing(self) -> None:
        header = {"experiment": "e", "kind": "experiment", "note": 1}
        assert override(self.FILED, header) == (self.FILED, ())

    def test_the_header_wins_key_by_key(self) -> None:
        header = {
            "canaries": {"red": {"patch_id": "r2"}, "green": {"test_id": "c::d", "expect": None}},
            "inventory": ["x", "y"],
            "policy": {"min_failures": 9},
        }
        changed, complaints = override(self.FILED, header)
        assert complaints == ()
        assert changed == replace(
            self.FILED,
            canaries=Canaries(Canary("r2", "a::b", "no"), Canary("green", "c::d")),
            inventory=("x", "y"),
            inventory_file=None,
            policy=Policy(alpha=0.02, min_failures=9),
        )

    def test_the_result_can_say_what_the_header_changed(self) -> None:
        header = {"canaries": {"red": {"patch_id": "r2"}}, "inventory": ["x"], "policy": {}}
        changed, _ = override(self.FILED, header)
        assert differences(self.FILED, changed) == ("canaries.red.patch_id", "inventory")
        assert differences(self.FILED, self.FILED) == ()

    @pytest.mark.parametrize(
        ("header", "named"),
        [
            ({"policy": {"alhpa": 0.2}}, "alpha"),
            ({"policy": {"alpha": 2}}, "policy.alpha is 2"),
            ({"policy": {"require_stress_verdict": False}}, "require_stress_verdict"),
            ({"policy": []}, "policy is a list"),
            ({"canaries": {"blue": {}}}, "blue"),
            ({"canaries": {"red": "x"}}, "canaries.red"),
            ({"inventory": "x"}, "inventory"),
            ({"inventory": []}, "inventory"),
        ],
    )
    def test_what_is_wrong_in_a_header_is_named_and_left_out(self, header, named: str) -> None:
        changed, complaints = override(self.FILED, header)
        assert changed == self.FILED
        assert len(complaints) == 1
        assert named in complaints[0]
        assert complaints[0].startswith("experiment header: ")


class TestIndexPath:
    @pytest.mark.parametrize("mark", ["soakboard.toml", "pyproject.toml", ".git"])
    def test_the_index_lives_beside_the_nearest_mark(self, tmp_path: Path, mark: str) -> None:
        (tmp_path / mark).touch()
        deep = tmp_path / "a" / "b"
        deep.mkdir(parents=True)
        assert index_path(deep) == tmp_path / ".soakboard" / "index.duckdb"

    def test_without_a_mark_it_lives_beside_the_start(self, tmp_path: Path) -> None:
        assert index_path(tmp_path) == tmp_path / ".soakboard" / "index.duckdb"


def test_every_default_is_a_value_that_a_file_may_hold(tmp_path: Path) -> None:
    assert set(tomllib.loads(EXAMPLE)["policy"]) == set(vars(Policy()))
    config, complaints = override(Config(), {"policy": vars(Policy())})
    assert (config, complaints) == (Config(), ())
