"""JUnit XML in all its dialects: suites, cases, and what hangs on a case."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

from analysis.model import Outcome
from analysis.records.results.reading import (
    Execution,
    Note,
    Reading,
    first_lines,
    print_of,
)
from analysis.records.results.values import moment, seconds, writes_decimal_commas
from analysis.records.results.xml import walk

NAME = "junit"
ROOTS = frozenset({"testsuites", "testsuite", "testrun"})

_OUTCOMES = {"error": Outcome.ERROR, "failure": Outcome.FAILED, "skipped": Outcome.SKIPPED}
_EARLIER = {"flakyFailure": Outcome.FAILED, "flakyError": Outcome.ERROR}
_AGAIN = {"rerunFailure": Outcome.FAILED, "rerunError": Outcome.ERROR}
_RESULTS = frozenset({*_OUTCOMES, *_EARLIER, *_AGAIN})
_CAPTURED = frozenset({"system-out", "system-err"})
_RANK = (Outcome.ERROR, Outcome.FAILED, Outcome.SKIPPED)
_NOT_RUN = frozenset(
    {
        "disabled",
        "notrun",
        "not_run",
        "not run",
        "notexecuted",
        "ignored",
        "suppressed",
        "todo",
        "pending",
    }
)
_XFAIL = "pytest.xfail"
_COMMON_SUITES = frozenset({"", "pytest", "undefined", "nosetests", "root suite", "default"})


@dataclass(slots=True)
class _Result:
    """A child of a case that says how an attempt ended."""

    kind: str
    line: int
    offset: int
    exc: str
    message: str
    duration: str | None
    text: list[str] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class _Suite:
    """A suite as it is read. cases: those of its own; declared: what its header counts."""

    name: str
    file: str
    cases: list[_Case] = field(default_factory=list)
    declared: int | None = None
    nested: int = 0


@dataclass(slots=True)
class _Case:
    """A case as it stands in the file."""

    test_id: str
    line: int
    offset: int
    duration: str | None
    started: str | None
    where: str
    marked: bool
    results: list[_Result] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """Error before failure before skipped before passed."""
        kinds = {result.kind for result in self.results}
        for name, outcome in _OUTCOMES.items():
            if name in kinds:
                return outcome
        return Outcome.SKIPPED if self.marked else Outcome.PASSED


class _Handler:
    """Collects cases. Text is taken only where it says how a case ended."""

    def __init__(self) -> None:
        self.takes_text = False
        self.root = ""
        self.cases: list[_Case] = []
        self.groups: list[list[_Case]] = []
        self.notes: list[Note] = []
        self.suite_errors = 0
        self.started: str | None = None
        self._suites: list[_Suite] = []
        self._case: _Case | None = None
        self._result: _Result | None = None
        self._captured = 0

    def start(self, name: str, attributes: dict[str, str], line: int, offset: int) -> None:
        if not self.root:
            self.root = name
        if name == "testcase":
            self._begin_case(attributes, line, offset)
        elif name in _RESULTS:
            self._begin_result(name, attributes, line, offset)
        elif name in ROOTS:
            self._begin_suite(name, attributes)
        elif name in _CAPTURED:
            self._captured += 1
            self.takes_text = False

    def end(self, name: str) -> None:
        if name == "testcase":
            self._end_case()
        elif name in _RESULTS:
            self._result = None
            self.takes_text = False
        elif name in ROOTS and self._suites:
            self._end_suite(self._suites.pop())
        elif name in _CAPTURED and self._captured:
            self._captured -= 1
            self.takes_text = self._result is not None and not self._captured

    def text(self, text: str) -> None:
        result = self._result
        if result is not None and result.size < 16_000:
            result.text.append(text)
            result.size += len(text)

    def _begin_suite(self, name: str, attributes: dict[str, str]) -> None:
        self.started = self.started or moment(attributes.get("timestamp"))
        declared = attributes.get("tests", "").strip()
        self._suites.append(
            _Suite(
                attributes.get("name", "").strip() if name == "testsuite" else "",
                attributes.get("file", ""),
                declared=int(declared) if declared.isdecimal() and len(declared) < 10 else None,
            )
        )

    def _end_suite(self, suite: _Suite) -> None:
        cases = suite.cases
        whole = len(cases) + suite.nested
        if suite.declared is not None and suite.declared != whole:
            self._disagrees(suite, whole)
        if suite.declared is not None and suite.declared < len(cases):
            _mark_unfinished(cases)
        if cases:
            self.groups.append(cases)
        if self._suites:
            self._suites[-1].nested += whole

    def _disagrees(self, suite: _Suite, whole: int) -> None:
        name = suite.name or "the root"
        self.notes.append(
            Note("header-disagrees", f"{name} says {suite.declared} tests and holds {whole}")
        )

    def _begin_case(self, attributes: dict[str, str], line: int, offset: int) -> None:
        suite = self._suites[-1] if self._suites else _Suite("", "")
        get = attributes.get
        file = get("file") or suite.file
        number = get("line") or get("lineno") or ""
        told = {get("status", "").lower(), get("result", "").lower()}
        self._case = _Case(
            identity(suite.name, file, get("classname") or get("class") or "", get("name", "")),
            line,
            offset,
            get("time"),
            moment(get("timestamp")),
            f"{file}:{number}" if file and number else "",
            bool(told & _NOT_RUN),
        )
        suite.cases.append(self._case)

    def _end_case(self) -> None:
        if self._case is not None:
            self.cases.append(self._case)
        self._case = self._result = None
        self.takes_text = False

    def _begin_result(self, name: str, attributes: dict[str, str], line: int, offset: int) -> None:
        if self._case is None:
            if name in ("error", "failure"):
                self.suite_errors += 1
                said = attributes.get("message", "")[:200]
                self.notes.append(Note("suite-error", f"{_name(self._suites)}: {said}".strip(": ")))
            return
        self._result = _Result(
            name,
            line,
            offset,
            attributes.get("type", ""),
            attributes.get("message", ""),
            attributes.get("time"),
        )
        self._case.results.append(self._result)
        self.takes_text = True


def _name(suites: list[_Suite]) -> str:
    return next((suite.name for suite in reversed(suites) if suite.name), "a suite")


def identity(suite: str, file: str, classname: str, name: str) -> str:
    """Suite or file, class and name of a test, verbatim; a part that says nothing new is left
    out, and so is the number of a stress iteration in the name of a suite."""
    suite = suite.partition("@stress-")[0]
    parts: list[str] = []
    if file:
        parts.append(file)
    elif suite.lower() not in _COMMON_SUITES and not _says(classname, suite) and suite != name:
        parts.append(suite)
    if file:
        classname = _beyond(file, classname)
    if classname and classname != name and not (parts and _says(parts[0], classname)):
        parts.append(classname)
    return "::".join([*parts, name or "(no name)"])


def _beyond(file: str, classname: str) -> str:
    """What a class name adds to the module that the file is: `TestB` of `tests.test_a.TestB`."""
    stem = file.rpartition(".")[0] or file
    module = stem.replace("\\", "/").strip("/").replace("/", ".")
    if classname == module:
        return ""
    return (
        classname.removeprefix(f"{module}.").replace(".", "::")
        if classname.startswith(f"{module}.")
        else classname
    )


def _says(whole: str, part: str) -> bool:
    """Whether a name says another one already: it is the same, or continues it."""
    return whole == part or (
        bool(part) and whole.startswith(part) and not whole[len(part)].isalnum()
    )


def _mark_unfinished(cases: list[_Case]) -> None:
    """With more records than tests, an empty record that another of its test follows is an
    attempt of which no end is known: it did not pass."""
    left = Counter(case.test_id for case in cases)
    for case in cases:
        left[case.test_id] -= 1
        if left[case.test_id] and not case.results and not case.marked:
            case.results.append(_Result("unfinished", case.line, case.offset, "", "", None))


def recognise(head: bytes, root: str) -> bool:
    """Whether a document with this root element is one."""
    return root in ROOTS


def read(stream: BinaryIO) -> Reading:
    """The cases of a document, as far as it is well-formed."""
    handler = _Handler()
    walked = walk(stream, handler)
    reading = Reading(NAME, started=handler.started, notes=handler.notes)
    for repair in walked.repairs:
        reading.notes.append(Note("file-repaired", repair))
    if walked.damage:
        reading.cut(walked.damage)
    if handler.suite_errors:
        reading.cut("a suite reports an error beside its tests")
    commas = writes_decimal_commas(case.duration or "" for case in handler.cases)
    of_case = {id(case): _executions(case, decimal_commas=commas) for case in handler.cases}
    for case in handler.cases:
        reading.executions += of_case[id(case)]
    if any(result.kind == "unfinished" for case in handler.cases for result in case.results):
        reading.notes.append(
            Note("attempt-unfinished", "more records than tests: an empty one is no pass")
        )
    for group in handler.groups:
        executions = [one for case in group for one in of_case.get(id(case), ())]
        reading.suites = {**reading.suites, print_of(executions): executions}
    return reading


def _executions(case: _Case, *, decimal_commas: bool) -> list[Execution]:
    """The attempts of a case: earlier ones as its children say, then its own end."""
    final = _final(case, decimal_commas=decimal_commas)
    earlier = [
        _child(case, result, _EARLIER[result.kind])
        for result in case.results
        if result.kind in _EARLIER
    ]
    again = [
        _child(case, result, _AGAIN[result.kind])
        for result in case.results
        if result.kind in _AGAIN
    ]
    return [*earlier, final, *again]


def _final(case: _Case, *, decimal_commas: bool) -> Execution:
    duration = seconds(case.duration, decimal_commas=decimal_commas)
    one = Execution(
        case.test_id,
        case.outcome,
        case.line,
        case.offset,
        duration,
        case.started,
        where=case.where,
        not_run=case.marked and not case.results,
    )
    if not case.results:
        return one
    if case.results[0].kind == "unfinished":
        one.outcome = None
        return one
    own = [result for result in case.results if result.kind in _OUTCOMES]
    if own:
        worst = min(own, key=lambda result: list(_OUTCOMES).index(result.kind))
        one.exc = worst.exc
        one.message = "\n".join(map(_message, own)) if len(own) > 1 else _message(worst)
        one.message = first_lines(one.message)
        if one.outcome is Outcome.SKIPPED and worst.exc == _XFAIL:
            one.outcome = Outcome.XFAILED
    return one


def _child(case: _Case, result: _Result, outcome: Outcome) -> Execution:
    return Execution(
        case.test_id,
        outcome,
        result.line,
        result.offset,
        seconds(result.duration),
        exc=result.exc,
        message=first_lines(_message(result)),
        where=case.where,
    )


def _message(result: _Result) -> str:
    text = "".join(result.text).strip()
    if not result.message or text.startswith(result.message):
        return text or result.message
    return f"{result.message}\n{text}" if text else result.message
