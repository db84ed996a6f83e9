"""Result files that hold nothing but what other files of their directory hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import duckdb

from analysis.store import ledger, query
from analysis.store.content import NOTHING


def copied_from(
    connection: duckdb.DuckDBPyConnection,
    source_id: int,
    directory: str,
    prints: Collection[str],
) -> str:
    """The path of a file with the suites of another one; empty unless files of the directory that
    count have all of them."""
    found = query.rows(
        connection,
        """SELECT s.path, list(r.print) FROM result_suites r JOIN sources s USING (source_id)
        WHERE r.counted AND r.directory = $directory AND r.source_id <> $id
            AND list_contains($prints, r.print)
        GROUP BY s.path ORDER BY count(*) DESC, s.path""",
        {"directory": directory, "id": source_id, "prints": list(prints)},
    )
    known = {print_ for _, some in found for print_ in some}
    return found[0][0] if prints and known >= set(prints) else ""


def remember(
    connection: duckdb.DuckDBPyConnection,
    source_id: int,
    directory: str,
    prints: Collection[str],
    *,
    counted: bool,
) -> None:
    """Write down which suites a file has."""
    query.write(
        connection,
        """INSERT INTO result_suites
        SELECT $id, $directory, unnest($prints::VARCHAR[]), $counted""",
        {"id": source_id, "directory": directory, "prints": list(prints), "counted": counted},
    )


def forget(connection: duckdb.DuckDBPyConnection, source_id: int) -> None:
    """A file is read anew: files that were taken for copies of it are looked at again."""
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
