"""Writing a report: to a stream, or to a file that is whole or not there."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

import duckdb

from analysis.errors import BadInput, EnvironmentFault
from analysis.quarantine.forms import entry_json
from analysis.reports.compose import document
from analysis.reports.content import Content, Scope, What, read
from analysis.reports.forms import (
    canary_json,
    check_json,
    finding_json,
    overturned_json,
    stability_json,
    unit_json,
)
from analysis.reports.harmless import inert, plain
from analysis.reports.html import page
from analysis.reports.markdown import markdown

SCHEMA = "soakboard.export/1"


class Format(StrEnum):
    """What a report is written as; the value is also the suffix of its files."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"
    CSV = "csv"


def format_of(target: Path) -> Format | None:
    """The format that a file's suffix names, or None."""
    suffix = target.suffix.lower().removeprefix(".")
    return Format(suffix) if suffix in set(Format) else None


def write(
    connection: duckdb.DuckDBPyConnection, scope: Scope, form: Format, stream: TextIO
) -> None:
    """Write a report to a stream.

    Markdown and HTML are of a limited size and say what they leave out; JSON and CSV have all
    rows. Raises BadInput for a CSV of everything: it holds one table.
    """
    refuse_two_tables(scope.what, form)
    content = read(connection, scope)
    for part in _written(content, form):
        stream.write(part)


def write_report(
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    form: Format,
    target: Path,
    *,
    force: bool,
) -> None:
    """Write a report to a file, all of it or nothing. force: replace one that is there.

    Raises BadInput where that is refused, EnvironmentFault where the disk or a permission is in
    the way; the file is as it was then.
    """
    refuse_two_tables(scope.what, form)
    refuse_to_replace(target, force=force)
    content = read(connection, scope)
    whole = target.resolve()
    part = whole.with_name(f".soakboard-{os.getpid()}.part")
    try:
        try:
            with part.open("x", encoding="utf-8", newline="") as stream:
                stream.writelines(_written(content, form))
                stream.flush()
                os.fsync(stream.fileno())
            refuse_to_replace(target, force=force)
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFault(f"{target} cannot be written: {error.strerror}.") from error


def refuse_two_tables(what: What, form: Format) -> None:
    """BadInput for a CSV of everything."""
    if what is What.ALL and form is Format.CSV:
        raise BadInput(
            "A CSV holds one table.",
            "Choose --what attribution, stability, evidence or quarantine, or JSON.",
        )


def refuse_to_replace(target: Path, *, force: bool) -> None:
    """BadInput for what is no file, and without force for a file that is there."""
    if target.exists() and not target.is_file():
        what = "a directory" if target.is_dir() else "no regular file"
        raise BadInput(f"{target} is {what}.", "Choose another file to write to.")
    if not force and (target.exists() or target.is_symlink()):
        raise BadInput(f"{target} is there already.", "Nothing was written; --force replaces.")


def _written(content: Content, form: Format) -> Iterator[str]:
    match form:
        case Format.MARKDOWN:
            yield markdown(document(content))
        case Format.HTML:
            yield page(document(content))
        case Format.JSON:
            yield from _json(content)
        case Format.CSV:
            yield from _csv(content)


def _json(content: Content) -> Iterator[str]:
    """One document, an item a line: the whole is never in memory as text."""
    scope, found = content.scope, content.overview
    head = {
        "schema": SCHEMA,
        "what": scope.what,
        "made": scope.made,
        "filter": scope.filter,
        "trust": found.trust,
        "reasons": found.reasons,
    }
    yield "{\n" + ",\n".join(f"{json.dumps(key)}: {_item(value)}" for key, value in head.items())
    for key, items in _lists(content).items():
        yield f",\n{json.dumps(key)}: ["
        for number, item in enumerate(items):
            yield f"{',' if number else ''}\n{_item(item)}"
        yield "\n]"
    yield "\n}\n"


def _lists(content: Content) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    lists: dict[str, Iterable[Mapping[str, Any]]] = {}
    if content.classes is not None:
        lists["units"] = (unit_json(unit, tried=False) for unit in content.classes.units)
        lists["experiments"] = map(check_json, content.classes.experiments)
    if content.verdicts is not None:
        lists["patches"] = map(stability_json, content.verdicts.patches)
        lists["canaries"] = map(canary_json, content.verdicts.canaries)
    if content.evidence is not None:
        lists["findings"] = map(finding_json, content.evidence.findings)
        lists["overturned"] = map(overturned_json, content.evidence.overturned)
    if content.quarantine is not None:
        found = content.quarantine
        lists["entries"] = (
            entry_json(one, found.now, found.prices.get(one.name))
            for one in (*found.listed, *found.closed)
        )
        lists["complaints"] = (
            {"line": one.line, "sentence": one.sentence} for one in found.found.complaints
        )
    return lists


def _item(value: object) -> str:
    return json.dumps(value, default=plain, allow_nan=False)


class _Line:
    """Takes the one line that a CSV writer writes at a time."""

    def write(self, text: str) -> str:
        return text


def _csv(content: Content) -> Iterator[str]:
    """A line a row of the frame of what was asked for."""
    # Reading, Markdown, HTML and JSON need no pandas, and it is slow to import.
    from analysis.reports.frames import (
        frame_of_entries,
        frame_of_findings,
        frame_of_patches,
        frame_of_units,
    )

    if content.classes is not None:
        frame = frame_of_units(content.classes.units)
    elif content.verdicts is not None:
        frame = frame_of_patches(content.verdicts.canaries, content.verdicts.patches)
    elif content.evidence is not None:
        frame = frame_of_findings(content.evidence.findings)
    elif content.quarantine is not None:
        frame = frame_of_entries(content.quarantine)
    known = frame.astype(object).where(frame.notna(), None)
    writer = csv.writer(_Line(), lineterminator="\n")
    yield writer.writerow(frame.columns)
    for row in known.itertuples(index=False):
        yield writer.writerow([inert(value) for value in row])
