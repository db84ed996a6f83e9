"""The audit of a few lines: which findings, and what each run is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.config import Config
from analysis.evidence.audit import assign_experiments, audit, headers
from analysis.store import query
from analysis.store.index import open_memory
from analysis.store.loader import Ingest, ingest

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Audited:
    """An index whose runs were judged."""

    connection: duckdb.DuckDBPyConnection

    def rules(self, run: str | None = None) -> set[str]:
        """Names of the rules that found something, of one run or of all."""
        found = query.rows(
            self.connection,
            "SELECT rule FROM findings WHERE $run IS NULL OR run_id = $run",
            {"run": run},
        )
        return {rule for (rule,) in found}

    def sentence(self, rule: str) -> str:
        """The one sentence that a rule said."""
        ((sentence,),) = query.rows(
            self.connection, "SELECT sentence FROM findings WHERE rule = $rule", {"rule": rule}
        )
        return str(sentence)

    def standing(self, run: str = "1") -> tuple[str, str, bool]:
        """Standing, verdict, usable of one run."""
        (row,) = query.rows(
            self.connection,
            "SELECT standing, verdict, usable FROM runs WHERE run_id = $run",
            {"run": run},
        )
        return row

    def column(self, sql: str) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in query.rows(self.connection, sql)]


Audit = Callable[..., Audited]


@contextmanager
def _audited(
    folder: Path, logs: Mapping[str, list[Any]], config: Config, given: str | None, tail: str
) -> Iterator[Audited]:
    with open_memory() as index:
        sources = []
        for name, lines in logs.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            path.write_text("".join(text + "\n" for text in texts) + tail, encoding="utf-8")
            sources.append((str(path), path))
        ingest(index.connection, sources, Ingest(NOW, True, given))
        assign_experiments(index.connection)
        audit(index.connection, dict.fromkeys(headers(index.connection), config))
        yield Audited(index.connection)


@pytest.fixture
def audited(tmp_path: Path) -> Iterator[Audit]:
    """Judges lines: `audited(line, ...)`, or `audited(logs={name: [line, ...]})`.

    A line is an object or a text as it stands. What else is named configures; given is
    the experiment named at ingest, tail what stands after the last newline.
    """
    opened: list[Any] = []

    def judge(
        *lines: Any,
        logs: Mapping[str, list[Any]] | None = None,
        inventory: tuple[str, ...] | None = None,
        require_proof: bool = False,
        prompt_versions: tuple[str, ...] = (),
        reviewers: tuple[str, ...] = (),
        bots: tuple[str, ...] = (),
        given: str | None = None,
        tail: str = "",
    ) -> Audited:
        plain = Config()
        policy = replace(plain.policy, require_proof=require_proof)
        config = replace(
            plain,
            inventory=inventory,
            policy=policy,
            prompt_versions=prompt_versions,
            oracle=replace(plain.oracle, reviewers=reviewers, bots=bots),
        )
        context = _audited(
            tmp_path / str(len(opened)), logs or {"a.jsonl": [*lines]}, config, given, tail
        )
        opened.append(context)
        return context.__enter__()

    yield judge
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture
def verdict() -> Callable[..., dict[str, Any]]:
    """A verdict line of run 1 with sound counts; fields given replace or, as None, remove."""

    def line(**fields: Any) -> dict[str, Any]:
        sound = {"run_id": "1", "patch_id": "A", "verdict": "pass", "collected": 3, "passed": 3}
        return {key: value for key, value in {**sound, **fields}.items() if value is not None}

    return line
