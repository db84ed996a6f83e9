"""A shelf of logs with an index beside it, to be compared with an index built afresh."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from analysis.evidence.audit import assign_experiments
from analysis.records.schema import CONTEXT
from analysis.store import query
from analysis.store.index import open_memory
from analysis.store.loader import Ingest, SourceReport, ingest, rehearse

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
RECORDED = ("run_lines", "test_lines", "experiment_lines", "reject_lines", "note_lines")

Snapshot = dict[str, Any]


def run_line(run: object, **fields: object) -> bytes:
    """A verdict line with a run id."""
    return json.dumps({"run_id": str(run), "patch_id": "A", "verdict": "pass", **fields}).encode()


def test_line(run: object, test: str, **fields: object) -> bytes:
    """A line of one execution."""
    item = {"kind": "test", "run_id": str(run), "test_id": test, "outcome": "passed", **fields}
    return json.dumps(item).encode()


test_line.__test__ = False  # type: ignore[attr-defined]

BARE = b'{"patch_id": "A", "verdict": "fail"}'


def text(*lines: bytes) -> bytes:
    """Whole lines."""
    return b"".join(line + b"\n" for line in lines)


@dataclass
class Shelf:
    """A directory of logs and an index that follows them."""

    root: Path
    connection: duckdb.DuckDBPyConnection

    def path(self, name: str) -> Path:
        return self.root / name

    def write(self, name: str, data: bytes) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, name: str, data: bytes) -> None:
        with self.path(name).open("ab") as file:
            file.write(data)

    def take(
        self, *names: str, final: bool = False, experiment: str | None = None
    ) -> list[SourceReport]:
        return ingest(self.connection, self._sources(names), Ingest(NOW, final, experiment))

    def try_out(self, *names: str, final: bool = False) -> list[SourceReport]:
        return rehearse(self.connection, self._sources(names), Ingest(NOW, final))

    def _sources(self, names: Iterable[str]) -> list[tuple[str, Path]]:
        return [(str(self.path(name).resolve()), self.path(name)) for name in names]

    def count(self, table: str) -> int:
        row = query.first(self.connection, f"SELECT count(*) FROM {table}")
        assert row is not None
        return int(row[0])

    def known(self) -> dict[str, str | None]:
        """Names of the sources in the order of first sight, with their given experiment."""
        return {
            str(Path(path).relative_to(self.root.resolve())): given
            for path, given in query.rows(
                self.connection,
                """SELECT path, given_experiment FROM sources
                WHERE directory <> 'stdin' ORDER BY source_id""",
            )
        }

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """All tables as they are."""
        tables = query.rows(
            self.connection,
            "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'",
        )
        return {
            name: sorted(query.rows(self.connection, f"FROM {name}"), key=repr)
            for (name,) in tables
        }

    def agrees_with_the_files(self, *, final: bool = False) -> None:
        """The index equals one that is built from the files as they are now.

        Asserts also, for each source, that its lines are accounted for.
        """
        assert_accounted_for(self.connection)
        with fresh(self.root) as other:
            for name, experiment in self.known().items():
                if self.path(name).is_file():
                    other.take(name, final=final, experiment=experiment)
            expected = snapshot(other.connection)
        assert snapshot(self.connection) == expected


@contextmanager
def fresh(root: Path) -> Iterator[Shelf]:
    """A shelf with an index that knows nothing yet."""
    with open_memory() as index:
        yield Shelf(root, index.connection)


def assert_accounted_for(connection: duckdb.DuckDBPyConnection) -> None:
    """lines = rows + rejects + blank + pending; the rows of a content stand once."""
    for path, same_as, lines, accepted, rejected, blank, pending, rows, runs in query.rows(
        connection,
        """SELECT path, same_as, lines, accepted, rejected, blank, pending,
            (SELECT count(*) FROM reject_lines j WHERE j.source_id = s.source_id),
            (SELECT count(DISTINCT byte_offset) FROM (
                SELECT source_id, byte_offset FROM run_lines WHERE kind <> 'test'
                UNION ALL SELECT source_id, byte_offset FROM test_lines
                UNION ALL SELECT source_id, byte_offset FROM experiment_lines
            ) l WHERE l.source_id = s.source_id)
        FROM sources s""",
    ):
        assert lines == accepted + rejected + blank + pending, path
        assert rows == (rejected if same_as is None else 0), path
        assert runs == (accepted if same_as is None else 0), path
    orphans = " UNION ALL ".join(f"SELECT source_id FROM {table}" for table in RECORDED)
    assert not query.rows(
        connection,
        f"SELECT * FROM ({orphans}) WHERE source_id NOT IN (SELECT source_id FROM sources)",
    )


def snapshot(connection: duckdb.DuckDBPyConnection) -> Snapshot:
    """What an index says of the sources that are there, without ids.

    A torn last line is the same, waiting or refused: that depends on who asked for the end.
    A context that a row above it has already is no row of its own: reading in two parts
    repeats it.
    """
    assign_experiments(connection)
    path_of = dict(query.rows(connection, "SELECT source_id, path FROM sources"))
    done = dict(query.rows(connection, "SELECT source_id, done FROM sources WHERE tail = 'reject'"))
    there = query.rows(
        connection,
        """SELECT source_id, same_as, directory, given_experiment, identity, content_sha256,
            damage, done, lines, accepted, rejected, blank, pending, tail
        FROM sources WHERE NOT vanished AND content_sha256 <> ''""",
    )
    holders = {row[0] if row[1] is None else row[1] for row in there}
    sources = {}
    for source_id, same_as, *middle, rejected, blank, pending, tail in there:
        torn = pending + (tail == "reject")
        sources[path_of[source_id]] = (
            path_of.get(same_as),
            *middle,
            rejected - (tail == "reject"),
            blank,
            torn,
            "torn" if torn else tail,
        )
    found: Snapshot = {"sources": sources}
    for table in (*RECORDED, "source_runs"):
        cursor = connection.execute(f"FROM {table}")
        columns = [name for name, *_ in cursor.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        rows = [row for row in rows if row["source_id"] in holders]
        if table == "run_lines":
            rows = _without_repeated_contexts(rows)
        if table == "reject_lines":
            rows = [
                row
                for row in rows
                if row["byte_offset"] < done.get(row["source_id"], row["byte_offset"] + 1)
            ]
        for row in rows:
            row["source_id"] = path_of[row["source_id"]]
        found[table] = sorted((tuple(row.items()) for row in rows), key=repr)
    return found


def _without_repeated_contexts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("source_id", "run_id", *(name for name in CONTEXT if name != "variant"))
    kept, seen = [], set()
    for row in sorted(rows, key=lambda row: (row["source_id"], row["byte_offset"])):
        key = tuple(row[name] for name in names)
        if row["kind"] != "test" or key not in seen:
            kept.append(row)
        seen.add(key)
    return kept
