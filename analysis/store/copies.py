"""Suites that stand in several result files of one directory: an aggregate and its parts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import duckdb

from analysis.store import ledger, query
from analysis.store.content import NOTHING
from analysis.store.ledger import Entry


def elsewhere(
    connection: duckdb.DuckDBPyConnection,
    source_id: int,
    directory: str,
    prints: Collection[str],
) -> dict[str, str]:
    """Of some suites those that another file of the directory has, and the path of it."""
    found = query.rows(
        connection,
        """SELECT r.print, min(s.path) FROM result_suites r JOIN sources s USING (source_id)
        WHERE r.counted AND r.directory = $directory AND r.source_id <> $id
            AND list_contains($prints, r.print)
        GROUP BY r.print""",
        {"directory": directory, "id": source_id, "prints": list(prints)},
    )
    return dict(found)


def remember(
    connection: duckdb.DuckDBPyConnection,
    entry: Entry,
    prints: Collection[str],
    copied: Collection[str],
) -> None:
    """Write down which suites a file has, and which of them count elsewhere."""
    query.write(
        connection,
        """INSERT INTO result_suites
        SELECT $id, $directory, print, NOT list_contains($copied::VARCHAR[], print)
        FROM (SELECT unnest($prints::VARCHAR[]) AS print)""",
        {
            "id": entry.source_id,
            "directory": entry.directory,
            "prints": list(prints),
            "copied": list(copied),
        },
    )


def forget(connection: duckdb.DuckDBPyConnection, source_id: int) -> None:
    """A file is read anew: files whose suites count in it are looked at again."""
    copies = query.rows(
        connection,
        """SELECT DISTINCT c.source_id
        FROM result_suites c JOIN result_suites o USING (print, directory)
        WHERE o.source_id = $id AND o.counted AND NOT c.counted""",
        {"id": source_id},
    )
    for (copy,) in copies:
        entry = ledger.entry_with_id(connection, copy)
        ledger.write(connection, replace(entry, stamp=ledger.NO_STAMP, content=NOTHING))
    query.write(connection, "DELETE FROM result_suites WHERE source_id = $id", {"id": source_id})
