"""Which runs belong to one experiment."""

from __future__ import annotations

from analysis.evidence.audit import headers

BARE = {"patch_id": "A", "verdict": "pass"}


def experiments(found):
    return set(found.column("SELECT experiment FROM runs"))


def test_the_nameless_logs_of_one_directory_are_one_experiment(audited):
    names = ("soak.jsonl", "stress.jsonl", "gate.jsonl")
    found = audited(
        logs={f"night/{name}": [{**BARE, "round": at}] for at, name in enumerate(names)}
    )
    assert experiments(found) == {"night"}
    assert len(found.column("SELECT run_id FROM runs")) == 3


def test_two_directories_of_one_name_stay_two_experiments(audited):
    logs = {f"{top}/night/soak.jsonl": [{**BARE, "round": at}] for at, top in enumerate("xy")}
    found = audited(logs=logs)
    assert len(experiments(found)) == 2
    assert all(name.endswith("/night") for name in experiments(found))


def test_a_header_names_the_nameless_lines_of_its_file(audited):
    header = {"kind": "experiment", "experiment": "H"}
    found = audited(logs={"d/a.jsonl": [BARE, header], "d/b.jsonl": [{**BARE, "round": 1}]})
    assert experiments(found) == {"H", "d"}


def test_two_headers_in_one_file_name_no_nameless_line(audited):
    two = [{"kind": "experiment", "experiment": name} for name in "HJ"]
    assert experiments(audited(logs={"d/a.jsonl": [*two, BARE]})) == {"d"}


def test_a_run_is_named_by_any_of_its_lines(audited):
    start = {"kind": "run_start", "run_id": "1", "experiment": "E"}
    test = {"kind": "test", "run_id": "1", "test_id": "t::a", "outcome": "passed"}
    end = {"kind": "run_end", "run_id": "1", "verdict": "pass", "collected": 1, "passed": 1}
    other = {"run_id": "2", "verdict": "pass", "experiment": "F"}
    found = audited(start, test, end, other)
    assert experiments(found) == {"E", "F"}
    assert found.standing() == ("proven", "pass", True)


def test_an_experiment_given_at_ingest_names_nameless_runs(audited):
    assert experiments(audited(BARE, given="G")) == {"G"}


def test_an_experiment_given_at_ingest_names_lines_that_no_header_and_no_field_names(audited):
    header = {"kind": "experiment", "experiment": "H"}
    assert experiments(audited(BARE, given="G")) == {"G"}
    assert experiments(audited(header, BARE, given="G")) == {"H"}


def test_the_same_run_ids_in_two_experiments_are_different_runs(audited):
    lines = [
        {"run_id": "1", "verdict": word, "experiment": name}
        for name, word in (("E", "pass"), ("F", "fail"))
    ]
    found = audited(logs={"a.jsonl": lines[:1], "b.jsonl": lines[1:]})
    assert sorted(found.column("SELECT experiment || verdict FROM runs")) == ["Epass", "Ffail"]


def test_the_header_of_an_experiment_is_found_by_its_name(audited):
    canaries = {"red": {"patch_id": "R", "test_id": "t::p"}}
    found = audited(
        {"kind": "experiment", "experiment": "E", "canaries": canaries, "inventory": ["t::p"]},
        {**BARE, "experiment": "E"},
    )
    header = headers(found.connection)["E"]
    assert (header.inventory, header.lines) == (("t::p",), 1)
    assert '"R"' in (header.canaries or "")
