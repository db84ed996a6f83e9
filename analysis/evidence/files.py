"""The files that records offer as proof, looked at: what `tui audit` adds to what ingest found.

Findings go to the table `findings`, responses and receipts that lie in files are put in the place
of their paths in `proved`, and the rules on them are asked there: one set of rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from analysis.config import Config
from analysis.evidence.audit import (
    FILE_RULES,
    PROOF_RULES,
    apply_proof_rules,
    prepare_proofs,
    require_proof,
)
from analysis.evidence.logged import faults_of_log
from analysis.evidence.manifest import Fault, faults_of
from analysis.evidence.rooted import Unreadable, content
from analysis.evidence.rules import Family
from analysis.store import query

_AT_ONCE = 500
_MOST_CHARACTERS = 64 << 20
_FILES = ("log", "manifest", "response", "receipt")

_RULES = {rule.name: rule for rule in (*PROOF_RULES, *FILE_RULES)}


@dataclass(frozen=True)
class _Run:
    """A run that offers files. root: where they lie."""

    experiment: str
    run_id: str
    run_no: int
    source_id: int
    line: int
    root: Path
    proof: Mapping[str, Any]


def audit_files(
    connection: duckdb.DuckDBPyConnection, configs: Mapping[str, Config], root: Path | None
) -> None:
    """Add to `findings` what the files say that the runs of some experiments offer as proof.

    root: the directory in which they lie; None for the directory of each log. What lies outside of
    it is not opened. The caller decides whether the findings are kept.
    """
    prepare_proofs(connection, configs)
    offers = " OR ".join(f"json_exists(proof, '$.{block}')" for block in _FILES)
    query.write(connection, f"CREATE OR REPLACE TEMP TABLE offering AS FROM proved WHERE {offers}")
    batch = _Batch()
    for run in _runs(connection, root):
        batch.take(run, *_look(run))
        if batch.is_full:
            batch.write(connection)
            batch = _Batch()
    batch.write(connection)
    require_proof(connection, configs)


class _Batch:
    """What was found of some runs, until it is written."""

    def __init__(self) -> None:
        self._faults: list[tuple[_Run, Fault]] = []
        self._filled: dict[int, str] = {}
        self._characters = 0

    def take(self, run: _Run, faults: list[Fault], bodies: Mapping[str, Any]) -> None:
        self._faults += [(run, fault) for fault in faults]
        if bodies:
            text = json.dumps({**run.proof, **bodies})
            self._filled[run.run_no] = text
            self._characters += len(text)

    @property
    def is_full(self) -> bool:
        return len(self._faults) >= _AT_ONCE or self._characters >= _MOST_CHARACTERS

    def write(self, connection: duckdb.DuckDBPyConnection) -> None:
        if self._filled:
            self._ask_again(connection)
        if not self._faults:
            return
        query.write(
            connection,
            """INSERT INTO findings
            SELECT unnest($experiments::VARCHAR[]), unnest($runs::VARCHAR[]),
                unnest($rules::VARCHAR[]), unnest($families::VARCHAR[]),
                unnest($standings::VARCHAR[]), unnest($sentences::VARCHAR[]),
                unnest($sources::INTEGER[]), unnest($lines::BIGINT[])""",
            {
                "experiments": [run.experiment for run, _ in self._faults],
                "runs": [run.run_id for run, _ in self._faults],
                "rules": [rule for _, (rule, _) in self._faults],
                "families": [_RULES[rule].family for _, (rule, _) in self._faults],
                "standings": [_RULES[rule].standing for _, (rule, _) in self._faults],
                "sentences": [sentence for _, (_, sentence) in self._faults],
                "sources": [run.source_id for run, _ in self._faults],
                "lines": [run.line for run, _ in self._faults],
            },
        )

    def _ask_again(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Ask the rules that look at a body or a receipt once more, now that it is there."""
        query.write(
            connection,
            """CREATE OR REPLACE TEMP TABLE proved AS
            SELECT o.* REPLACE (f.proof::JSON AS proof)
            FROM offering o
            JOIN (SELECT unnest($runs::INTEGER[]) AS run_no, unnest($proofs::VARCHAR[]) AS proof) f
                USING (run_no)""",
            {"runs": list(self._filled), "proofs": list(self._filled.values())},
        )
        query.write(
            connection,
            """DELETE FROM findings WHERE list_contains($families, family)
                AND (experiment, run_id) IN (SELECT (experiment, run_id) FROM proved)""",
            {"families": [Family.RESPONSE, Family.RECEIPT, Family.CACHE]},
        )
        apply_proof_rules(connection, ("response", "receipt", "cache"))


def _runs(connection: duckdb.DuckDBPyConnection, root: Path | None) -> Iterator[_Run]:
    """The runs whose proofs name files, some at a time."""
    last = -1
    while True:
        rows = query.rows(
            connection,
            """SELECT o.experiment, o.run_id, o.run_no, o.source_id, o.line, s.path,
                o.proof::VARCHAR
            FROM offering o JOIN sources s USING (source_id)
            WHERE o.run_no > $last ORDER BY o.run_no LIMIT $most""",
            {"last": last, "most": _AT_ONCE},
        )
        for experiment, run_id, run_no, source_id, line, path, proof in rows:
            last = run_no
            place = Path.cwd() if path.startswith("-") else Path(path).parent
            yield _Run(
                experiment, run_id, run_no, source_id, line, root or place, json.loads(proof)
            )
        if len(rows) < _AT_ONCE:
            return


def _look(run: _Run) -> tuple[list[Fault], dict[str, Any]]:
    """What is wrong with the files of a run, and the blocks that stand in files, filled."""
    faults: list[Fault] = []
    bodies: dict[str, Any] = {}
    checks: dict[str, Callable[[str], list[Fault]]] = {
        "log": partial(_log, run),
        "manifest": partial(_manifest, run),
        "response": partial(_response, run, bodies),
        "receipt": partial(_receipt, run, bodies),
    }
    for block, check in checks.items():
        path = _path(run.proof.get(block))
        if path is not None:
            faults += check(path)
    return faults, bodies


def _path(block: object) -> str | None:
    path = block.get("path") if isinstance(block, dict) else None
    return path if isinstance(path, str) and path.strip() else None


def _log(run: _Run, path: str) -> list[Fault]:
    sha256 = run.proof["log"].get("sha256")
    return faults_of_log(
        run.root, path, run.run_id, sha256 if isinstance(sha256, str) and sha256 else None
    )


def _manifest(run: _Run, path: str) -> list[Fault]:
    return faults_of(run.root, path, run.proof["manifest"])


def _response(run: _Run, bodies: dict[str, Any], path: str) -> list[Fault]:
    block = run.proof["response"]
    if block.get("body") is not None:
        return []
    try:
        text = content(run.root, path).decode("utf-8")
    except Unreadable as error:
        return [("response-empty", f"its response {path} {error}")]
    except UnicodeDecodeError:
        return [("response-bad-shape", f"its response {path} is no UTF-8")]
    bodies["response"] = {**block, "body": text}
    return []


def _receipt(run: _Run, bodies: dict[str, Any], path: str) -> list[Fault]:
    try:
        said = json.loads(content(run.root, path))
    except Unreadable as error:
        return [("receipt-missing", f"its receipt {path} {error}")]
    except (ValueError, RecursionError):
        return [("receipt-unreadable", f"its receipt {path} is no JSON")]
    if not isinstance(said, dict):
        return [("receipt-unreadable", f"its receipt {path} is no JSON object")]
    bodies["receipt"] = {"path": path, **said}
    return []
