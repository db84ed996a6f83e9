"""The board: an index whose logs are taken and whose answers are fresh.

Every command and screen goes the same way: take new bytes of the logs, derive what follows
from them where something changed, then ask `analysis.queries`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from analysis.config import Config, differences, override, read_inventory
from analysis.errors import BadInput, EnvironmentFault
from analysis.evidence.audit import Header, assign_experiments, audit, headers
from analysis.evidence.outage import find_outages
from analysis.records import find_logs
from analysis.records.results.context import Layout
from analysis.store import ledger, query
from analysis.store.connect import Tell, log_notice
from analysis.store.derived import forget_the_gone
from analysis.store.index import Index, open_index, open_memory, transaction
from analysis.store.ledger import Status
from analysis.store.loader import STDIN, Ingest, SourceReport, ingest, rehearse, standard_input
from analysis.store.transaction import put_back


@dataclass(frozen=True)
class Inputs:
    """Logs to read: files, directories, and `-` for standard input (`stdin`). layout: where in
    these directories result files lie, and what their paths say of their runs."""

    paths: tuple[Path, ...]
    stdin: BinaryIO | None = None
    layout: Layout | None = None


@dataclass
class Board:
    """An open index, the configuration that holds, and what there is to say about both."""

    index: Index
    config: Config
    digests: Mapping[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return self.index.connection

    def take(self, inputs: Inputs, how: Ingest) -> list[SourceReport]:
        """Ingest what is new of the inputs; see `loader.ingest`."""
        with self._sources(inputs) as (sources, contexts):
            return ingest(self.connection, sources, replace(how, contexts=contexts))

    def catch_up(self, how: Ingest) -> list[SourceReport]:
        """Take the new bytes of every source that the index knows."""
        reports = ingest(self.connection, self._known(), how)
        for report in reports:
            if report.status in (Status.VANISHED, Status.REWRITTEN):
                self.notices.append(f"{report.path}: {report.note}")
        return reports

    def rehearse(self, inputs: Inputs | None, how: Ingest) -> list[SourceReport]:
        """What `take`, or `catch_up` for None, would do, without doing it."""
        if inputs is None:
            return rehearse(self.connection, self._known(), how)
        with self._sources(inputs) as (sources, contexts):
            return rehearse(self.connection, sources, replace(how, contexts=contexts))

    @contextmanager
    def _sources(
        self, inputs: Inputs
    ) -> Iterator[tuple[list[tuple[str, Path]], dict[str, dict[str, str]]]]:
        """Names and files, and by name what the layout says of the run of a file."""
        known = set(ledger.known_paths(self.connection))
        named: list[tuple[str, Path]] = []
        contexts: dict[str, dict[str, str]] = {}
        for path in inputs.paths:
            logs = [] if str(path) == STDIN or inputs.layout else find_logs(path)
            if inputs.layout is not None and str(path) != STDIN:
                said = dict(inputs.layout.files(path))
                if not said:
                    raise BadInput(f"{path} has no file that fits {inputs.layout.template}.")
                contexts |= {str(log.resolve()): fields for log, fields in said.items()}
                logs = list(said)
            for log in logs:
                named.append((str(log.resolve()), log))
                # A log in whose place there is a link now has another content.
                if log.is_symlink() and log.absolute() in known:
                    named.append((str(log.absolute()), log))
        if inputs.stdin is None or Path(STDIN) not in inputs.paths:
            yield named, contexts
            return
        with standard_input(inputs.stdin) as copy:
            yield [*named, (STDIN, copy)], contexts

    def _known(self) -> list[tuple[str, Path]]:
        paths = ledger.known_paths(self.connection)
        return [(str(path), path) for path in paths]

    def derive(self) -> bool:
        """Bring runs, findings and attributions up to date with logs, policy and code.

        They are a cache: only experiments for which one of the three has changed are derived
        anew. Returns whether there was anything to do.
        """
        configs = self._configs()
        keys = _keys(self.connection, configs, self.digests)
        known = dict(query.rows(self.connection, "FROM derived_experiments"))
        if known == keys:
            return False
        # Reading logs needs no statistics, and they are slow to import.
        from analysis.attribution.attribute import attribute

        touched = {name: configs[name] for name in configs if known.get(name) != keys[name]}
        with transaction(self.connection):
            forget_the_gone(self.connection)
            audit(self.connection, touched)
            find_outages(self.connection, touched)
            attribute(self.connection, touched, self._overridden(touched), self.digests)
            query.write(self.connection, "DELETE FROM derived_experiments")
            query.write(
                self.connection,
                """INSERT INTO derived_experiments
                SELECT unnest($names::VARCHAR[]), unnest($keys::VARCHAR[])""",
                {"names": list(keys), "keys": list(keys.values())},
            )
        return True

    def pin(self, inventory: Path) -> None:
        """Let the test ids of a file stand for the configured inventory. Raises BadInput for a
        file that is missing or lists none."""
        ids = read_inventory(inventory, Path("--inventory"))
        self.config = replace(self.config, inventory=ids, inventory_file=inventory)

    def _overridden(self, configs: Mapping[str, Config]) -> dict[str, tuple[str, ...]]:
        """The keys in which an experiment's header overrules the file, or the policy."""
        return {
            name: tuple(
                key
                for key in differences(self.config, config)
                if self.config.path is not None or key.startswith("policy.")
            )
            for name, config in configs.items()
        }

    def _configs(self) -> dict[str, Config]:
        """The effective configuration of each experiment: its header overrides the file."""
        sources = _digest(_sources_of(self.connection))
        if query.first(self.connection, "SELECT key FROM derived_key") != (sources,):
            with transaction(self.connection):
                assign_experiments(self.connection)
                query.write(self.connection, "DELETE FROM derived_key")
                query.write(
                    self.connection, "INSERT INTO derived_key VALUES ($key)", {"key": sources}
                )
        configs = {}
        for name, header in headers(self.connection).items():
            configs[name], complaints = override(self.config, _fields(header))
            self.notices.extend(f"experiment {name}: {complaint}" for complaint in complaints)
            if header.lines > 1:
                self.notices.append(f"experiment {name}: {header.lines} header lines disagree.")
        return configs


@contextmanager
def audited(board: Board, experiments: Sequence[str], root: Path | None) -> Iterator[None]:
    """While this lasts, `findings` holds also what the files say that runs offer as proof.

    root: where they lie; None for the directory of each log. What is on disk now may be gone
    tomorrow: nothing of it stays in the index.
    """
    from analysis.evidence.files import audit_files

    configs = board._configs()
    with put_back(board.connection):
        audit_files(board.connection, {name: configs[name] for name in experiments}, root)
        yield


@contextmanager
def open_board(db: Path | None, config: Config, tell: Tell = log_notice) -> Iterator[Board]:
    """Open the index at `db`, or one in memory for None, as a board.

    tell: gets a sentence when another process has to be waited for.
    """
    with open_memory() if db is None else open_index(db, tell=tell) as index:
        yield Board(index, config, notices=list(index.notices))


def usable(reports: Iterable[SourceReport]) -> list[SourceReport]:
    """The reports, if no source was refused; otherwise the first refusal is raised."""
    found = list(reports)
    for report in found:
        if report.status is Status.REFUSED:
            kind = EnvironmentFault if report.environment else BadInput
            raise kind(report.note)
    return found


def log_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """The names under which the logs of some paths stand in the index."""
    return tuple(
        name
        for path in paths
        for name in (
            [STDIN] if str(path) == STDIN else [str(log.resolve()) for log in find_logs(path)]
        )
    )


def now() -> datetime:
    """The clock, in UTC."""
    return datetime.now(UTC)


def _fields(header: Header) -> dict[str, object]:
    return {
        "canaries": json.loads(header.canaries) if header.canaries else None,
        "policy": json.loads(header.policy) if header.policy else None,
        "inventory": list(header.inventory) if header.inventory else None,
    }


def _keys(
    connection: duckdb.DuckDBPyConnection,
    configs: Mapping[str, Config],
    digests: Mapping[str, str],
) -> dict[str, str]:
    """What is derived of each experiment depends on: code, policy, and the content of the
    sources that have its runs, and which of their runs it has."""
    contents = {row[0]: row for row in _sources_of(connection)}
    parts: dict[str, list[object]] = {name: [] for name in configs}
    for name, source_id, runs in query.rows(
        connection,
        """SELECT experiment, source_id, list(run_id ORDER BY run_id) FROM source_runs
        GROUP BY ALL ORDER BY ALL""",
    ):
        parts[name].append((contents[source_id], runs))
    return {
        name: _digest(
            (
                version("soakboard"),
                repr(replace(config, path=None)),
                sorted(digests.items()),
                parts[name],
            )
        )
        for name, config in configs.items()
    }


def _sources_of(connection: duckdb.DuckDBPyConnection) -> Sequence[tuple[Any, ...]]:
    """The content of every source, by its id."""
    return query.rows(
        connection,
        """SELECT source_id, path, content_sha256, given_experiment, done, tail, finished, damage,
            same_as
        FROM sources ORDER BY source_id""",
    )


def _digest(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


__all__ = [
    "Board",
    "Ingest",
    "Inputs",
    "SourceReport",
    "Status",
    "audited",
    "log_names",
    "now",
    "open_board",
    "usable",
]
