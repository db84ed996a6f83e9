"""Who may import whom, where no contract of import-linter can see it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import analysis
import tui

ROOM = Path(analysis.__file__).parent
HEAVY = {"duckdb", "pandas", "pyarrow", "scipy", "numpy", "textual", "plotext", "rich"}


def test_the_tests_run_on_the_installed_packages() -> None:
    try:
        installed = metadata.distribution("soakboard")
    except metadata.PackageNotFoundError:
        pytest.skip("soakboard is not installed here; the packages come from the checkout")
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        pytest.skip("soakboard is installed as a link to the checkout")
    for package in (analysis, tui):
        expected = Path(str(installed.locate_file(f"{package.__name__}/__init__.py")))
        assert Path(package.__file__).resolve() == expected.resolve()


@pytest.mark.parametrize("name", ["model", "errors"])
def test_the_vocabulary_imports_the_standard_library_only(name: str) -> None:
    tree = ast.parse((ROOM / f"{name}.py").read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or ".")
    assert imported
    assert {module.split(".")[0] for module in imported} <= sys.stdlib_module_names


def test_the_analysis_prints_nothing() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in ROOM.rglob("*.py")}
    assert trees
    printing = [
        f"{path.relative_to(ROOM)}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "print"
    ]
    assert not printing


def test_the_configuration_needs_no_engine() -> None:
    assert not HEAVY & loaded_after("import analysis.config")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["chek"], ["--nonsense"]])
def test_help_and_usage_errors_import_no_engine(arguments: list[str]) -> None:
    modules = loaded_after(f"import tui.cli; tui.cli.main({arguments!r})")
    assert "click" in modules
    assert not HEAVY & modules


def test_the_version_imports_no_engine() -> None:
    modules = loaded_after("import tui.cli; tui.cli.main(['--version'])")
    assert "click" in modules
    assert not HEAVY & modules


def test_completion_of_command_names_imports_no_engine() -> None:
    modules = loaded_after(
        "import os, tui.cli\n"
        "os.environ.update(_TUI_COMPLETE='bash_complete', COMP_WORDS='tui ', COMP_CWORD='1')\n"
        "tui.cli.main([])"
    )
    assert "click.shell_completion" in modules
    assert not HEAVY & modules


@pytest.mark.parametrize("command", ["check", "attribute"])
def test_classes_of_tests_that_failed_need_neither_scipy_nor_pandas(command: str) -> None:
    log = Path(__file__).parents[1] / "sample_data" / "soak" / "gateway.jsonl"
    modules = loaded_after(f"import tui.cli; tui.cli.main([{command!r}, {str(log)!r}])")
    assert "analysis.attribution.failing" in modules
    assert not {"scipy", "pandas"} & modules


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after `code`."""
    packages = str(ROOM.parent)
    tail = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {packages!r})\n{code}{tail}"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))
