"""Which result files are read, how they are told, and how a runner writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from analysis.records.results import ctrf, gotest, junit, reportlog
from analysis.records.results.foreign import foreign_json, foreign_xml
from analysis.records.results.reading import Reading

HEAD_BYTES = 64 * 1024
_FIRST_LINES = 20
_ROOT = re.compile(
    rb"""\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^\[>]*(?:\[.*?\])?\s*>\s*)*<([A-Za-z_][\w:.-]*)""",
    re.DOTALL,
)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Format:
    """A kind of result file. written_by: which runners write it, and with which option."""

    name: str
    title: str
    written_by: str
    read: Callable[[BinaryIO], Reading]


JUNIT = Format(
    junit.NAME,
    "JUnit XML",
    "pytest --junitxml=FILE -o junit_family=xunit1 (then ids are node ids); Maven Surefire and "
    "Gradle by themselves; gotestsum --junitfile FILE; jest-junit; vitest and Playwright "
    "--reporter=junit; cargo nextest with a JUnit profile; GoogleTest --gtest_output=xml:FILE; "
    "Bazel's test.xml; most others",
    junit.read,
)
REPORTLOG = Format(
    reportlog.NAME,
    "pytest-reportlog",
    "pytest --report-log=FILE (pytest-reportlog)",
    reportlog.read,
)
GO_TEST = Format(gotest.NAME, "go test -json", "go test -json ./... > FILE", gotest.read)
CTRF = Format(ctrf.NAME, "CTRF", "the CTRF reporter of a runner (ctrf.io)", ctrf.read)

FORMATS = (JUNIT, REPORTLOG, GO_TEST, CTRF)
"""Every format that is read: a module and a line here."""


@dataclass(frozen=True)
class Foreign:
    """A result file that is not read. sentence: what it is, and what to use instead."""

    sentence: str


def recognise(head: bytes) -> Format | Foreign | None:
    """What a file is that begins with `head` (HEAD_BYTES of it, or all); None: no result file."""
    for mark in (b"\xff\xfe", b"\xfe\xff"):
        if head.startswith(mark):
            head = head.decode("utf-16", "replace").encode()
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"<"):
        return _xml(text)
    if text[:1] not in (b"{", b"["):
        return _lines(text) if b"\n{" in text else None
    return _lines(text) or _document(text)


def _xml(text: bytes) -> Format | Foreign | None:
    found = _ROOT.match(text)
    root = found[1].decode("ascii", "replace").rpartition(":")[2] if found else ""
    if junit.recognise(text, root):
        return JUNIT
    sentence = foreign_xml(root)
    return Foreign(sentence) if sentence else None


def _lines(text: bytes) -> Format | None:
    items = _objects(text.split(b"\n")[:_FIRST_LINES])
    if reportlog.recognise(items):
        return REPORTLOG
    return GO_TEST if gotest.recognise(items) else None


def _objects(lines: Sequence[bytes]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for line in lines:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(item, dict):
            found.append(item)
    return found


def _document(text: bytes) -> Format | Foreign | None:
    if ctrf.recognise(text):
        return CTRF
    # A log of records has an object a line; what is no record is no result file either.
    sentence = foreign_json(text)
    return Foreign(sentence) if sentence else None
