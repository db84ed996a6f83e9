"""How the executions of one unit failed: what they said, where that stands, what was kept."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analysis.evidence.signatures import normal_form
from analysis.model import Outcome, Phase, Role
from analysis.queries.redaction import redacted
from analysis.queries.unit_executions import in_utc
from analysis.store import query

FORMS = 20
"""Normal forms that are shown."""

EXAMPLES = 20
"""Failing executions that are listed."""

_SHAPES = 5_000
_FIRST, _AROUND, _LAST = 10, 10, 5
_HEAD, _TAIL = 15_000, 5_000
_LINE = 2_000

_ASSERTION = re.compile(r"^E\s|^\s*>?\s*assert\b|\bAssertionError\b")

_FAILED = """
SELECT e.failure, e.run_id, e.patch_id, e.role, e.phase, e.round, e.outcome, e.started, e.finished,
    e.exc, e.errno, e."where", e.message, e.kept,
    CASE WHEN starts_with(s.path, '-') THEN '-' ELSE s.path END || ':' || e.line AS place
FROM unit_executions e
JOIN sources s USING (source_id)
WHERE list_contains($numbers, e.failure)
ORDER BY e.failure
"""

# Messages that differ in digits only have one normal form (but 0x12 is none of them): of each
# such shape one message is read.
_BY_SHAPE = """
SELECT role, exc, errno, "where", count(*) AS n,
    min(left(message, 8000)) AS message, min(failure) AS first
FROM unit_executions
WHERE on_record
GROUP BY role, exc, errno, "where",
    translate(
        regexp_replace(message, '0([xX])', chr(57344) || '\\1', 'g'), '123456789', '000000000'
    )
ORDER BY n DESC, first
LIMIT $most
"""

_COUNT = """
SELECT count(*), count(*) FILTER (role <> 'red') FROM unit_executions WHERE on_record
"""


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a message: passages with something left out between them.

    The first ten lines, ten around the assertion and the last five; credentials redacted, long
    lines cut. lines: how many the message has.
    """

    passages: tuple[tuple[str, ...], ...]
    lines: int


@dataclass(frozen=True)
class KeptLog:
    """The kept full output of a failing execution, as the record names it. It is not opened."""

    path: str
    sha256: str | None


@dataclass(frozen=True)
class FailedExecution:
    """One failing execution. number: from 0, the patch's own by time, then green's, then red's.
    Times are UTC. at: `file:line` of its record, which holds one execution or a whole run."""

    number: int
    run_id: str
    patch_id: str
    role: Role
    phase: Phase
    round: int | None
    outcome: Outcome
    started: datetime | None
    finished: datetime | None
    exc: str | None
    errno: str | None
    where: str | None
    message: Excerpt | None
    log: KeptLog | None
    at: str


@dataclass(frozen=True)
class FailureForm:
    """The failures of one normal form; None for failures without a message, by exception.

    count: those of the patch, green and red, and by_role each. exc, errno, where: of most of
    them. example: the first, the patch's own before those of others.
    """

    form: str | None
    count: int
    by_role: Mapping[Role, int]
    exc: str | None
    errno: str | None
    where: str | None
    example: FailedExecution


@dataclass(frozen=True)
class Forms:
    """forms: most failures of the patch and green first, at most FORMS of `distinct`.

    failures: on record in all roles. unread: failures among so many different messages that
    their form was not looked at.
    """

    forms: tuple[FailureForm, ...]
    distinct: int
    failures: int
    unread: int


def failures_total(connection: duckdb.DuckDBPyConnection) -> int:
    """How many executions of the patch and of green failed. Reads `unit_executions`."""
    found = query.first(connection, _COUNT)
    return 0 if found is None else int(found[1])


def failed_executions(
    connection: duckdb.DuckDBPyConnection, numbers: Sequence[int]
) -> dict[int, FailedExecution]:
    """Failing executions by their number. Reads `unit_executions`."""
    found = map(_failed, query.rows(connection, _FAILED, {"numbers": list(numbers)}))
    return {one.number: one for one in found}


def failure_forms(connection: duckdb.DuckDBPyConnection) -> Forms:
    """The failures of a unit by the normal form of their message. Reads `unit_executions`."""
    groups: dict[tuple[str | None, str | None], list[Sequence[Any]]] = {}
    for row in query.rows(connection, _BY_SHAPE, {"most": _SHAPES}):
        exc, message = row[1], row[5]
        form = None if message is None else normal_form(message)
        groups.setdefault((form, exc if form is None else None), []).append(row)
    failures = int((query.first(connection, _COUNT) or (0,))[0])
    shown = sorted(groups.items(), key=_most_first)[:FORMS]
    examples = failed_executions(connection, [_first(rows) for _, rows in shown])
    return Forms(
        forms=tuple(_form(form, rows, examples) for (form, _), rows in shown),
        distinct=len(groups),
        failures=failures,
        unread=failures - sum(row[4] for rows in groups.values() for row in rows),
    )


def _most_first(
    group: tuple[tuple[str | None, str | None], Sequence[Sequence[Any]]],
) -> tuple[int, int, str, str]:
    (form, exc), rows = group
    own = sum(row[4] for row in rows if row[0] != Role.RED)
    return -own, -sum(row[4] for row in rows), form or "", exc or ""


def _first(rows: Sequence[Sequence[Any]]) -> int:
    return min(int(row[6]) for row in rows)


def _form(
    form: str | None,
    rows: Sequence[Sequence[Any]],
    examples: Mapping[int, FailedExecution],
) -> FailureForm:
    by_role: Counter[Role] = Counter()
    for row in rows:
        by_role[Role(row[0])] += row[4]
    return FailureForm(
        form=None if form is None else redacted(form),
        count=by_role.total(),
        by_role={role: by_role[role] for role in Role if by_role[role]},
        exc=_of_most(rows, 1),
        errno=_of_most(rows, 2),
        where=_of_most(rows, 3),
        example=examples[_first(rows)],
    )


def _of_most(rows: Sequence[Sequence[Any]], column: int) -> str | None:
    counts: Counter[str] = Counter()
    for row in rows:
        if row[column]:
            counts[row[column]] += row[4]
    return min(counts, key=lambda text: (-counts[text], text), default=None)


def _failed(row: Sequence[Any]) -> FailedExecution:
    number, run_id, patch, role, phase, round_, outcome, *rest = row
    started, finished, exc, errno, where, message, kept, at = rest
    return FailedExecution(
        number=number,
        run_id=run_id,
        patch_id=patch,
        role=Role(role),
        phase=Phase(phase),
        round=round_,
        outcome=Outcome(outcome),
        started=in_utc(started),
        finished=in_utc(finished),
        exc=exc,
        errno=errno,
        where=where,
        message=None if message is None else excerpt(message),
        log=_kept(kept),
        at=at,
    )


def _kept(text: str | None) -> KeptLog | None:
    log = None if text is None else json.loads(text)
    if not isinstance(log, dict) or not isinstance(log.get("path"), str):
        return None
    digest = log.get("sha256")
    return KeptLog(redacted(log["path"]), digest if isinstance(digest, str) else None)


def excerpt(message: str) -> Excerpt:
    """The lines of a failure message that tell most; see Excerpt."""
    total = len(message.split("\n"))
    if len(message) > _HEAD + _TAIL:
        message = f"{message[:_HEAD]}\n…\n{message[-_TAIL:]}"
    # Before anything is cut: a key of several lines is known by its first.
    lines = redacted(message).split("\n")
    chosen = {*range(_FIRST), *range(len(lines) - _LAST, len(lines))}
    assertion = next((at for at, line in enumerate(lines) if _ASSERTION.search(line)), None)
    if assertion is not None:
        chosen.update(range(assertion - _AROUND // 2, assertion + _AROUND // 2))
    passages: list[list[str]] = []
    for at, line in enumerate(lines):
        if at in chosen:
            if at - 1 not in chosen or not passages:
                passages.append([])
            passages[-1].append(line if len(line) <= _LINE else f"{line[: _LINE - 1]}…")
    return Excerpt(tuple(map(tuple, passages)), total)
