"""Result files of other formats: recognised, and refused by name with what to use instead."""

from __future__ import annotations

import re
from collections.abc import Mapping

_XML: Mapping[str, tuple[str, str]] = {
    "test-run": ("NUnit 3 XML", "convert it with nunit3-junit.xslt, or add JunitXml.TestLogger"),
    "test-results": ("NUnit 2 XML", "write JUnit XML with an XSLT of the runner"),
    "assemblies": ("xUnit.net XML", "run with the JUnit reporter (-junit FILE)"),
    "assembly": ("xUnit.net XML", "run with the JUnit reporter (-junit FILE)"),
    "robot": ("Robot Framework output", "run with --xunit FILE"),
    "Site": ("CTest XML", "run ctest with --output-junit FILE"),
    "failsafe-summary": ("the summary of Failsafe", "the reports beside it have the results"),
    "result": ("Jenkins' own result", "give the reports that Jenkins read"),
    "TestRun": ("TRX or CppUnit XML", "use a JUnit logger (dotnet test --logger junit)"),
    "TestResult": ("Boost.Test or Qt XML", "run with --logger=JUNIT"),
    "TestLog": ("Boost.Test XML", "run with --logger=JUNIT"),
    "coverage": ("a coverage report", "give the test report"),
}
_JSON: tuple[tuple[re.Pattern[bytes], str, str], ...] = (
    (
        re.compile(rb'"(numTotalTests|numFailedTestSuites|testResults)"\s*:'),
        "Jest JSON",
        "use jest-junit",
    ),
    (
        re.compile(rb'"config"\s*:.*"(suites|rootDir)"', re.DOTALL),
        "Playwright JSON",
        "run with --reporter=junit",
    ),
    (
        re.compile(rb'"stats"\s*:\s*\{[^}]*"(suites|passes)"'),
        "Mocha JSON",
        "use mocha-junit-reporter",
    ),
    (re.compile(rb'"SpecReports"|"SuiteSucceeded"'), "Ginkgo JSON", "run with --junit-report=FILE"),
    (
        re.compile(
            rb'"(progress|started)"\s*:\s*\{.*"(buildToolVersion|uuid|opaqueCount)"', re.DOTALL
        ),
        "Bazel build events",
        "give the test.xml files of bazel-testlogs",
    ),
    (
        re.compile(rb'"(testResult|testSummary|buildStarted)"\s*:'),
        "Bazel build events",
        "give the test.xml files of bazel-testlogs",
    ),
    (
        re.compile(rb'"protocolVersion"\s*:.*"runnerVersion"', re.DOTALL),
        "Dart test JSON",
        "use junitreport (tojunit)",
    ),
    (
        re.compile(rb'"keyword"\s*:.*"elements"|"elements"\s*:', re.DOTALL),
        "Cucumber JSON",
        "run with --format junit",
    ),
    (
        re.compile(rb'rwx-research|"framework"\s*:'),
        "RWX test results JSON",
        "give the runner's JUnit XML",
    ),
    (
        re.compile(rb'"type"\s*:\s*"(suite|test)"\s*,\s*"event"\s*:'),
        "libtest JSON",
        "use cargo nextest with a JUnit profile",
    ),
)


def foreign_xml(root: str) -> str:
    """The sentence that refuses a document with this root; empty for an unknown one."""
    name, instead = _XML.get(root, ("", ""))
    return _sentence(name, instead) if name else ""


def foreign_json(head: bytes) -> str:
    """The sentence that refuses a JSON document that begins so; empty for an unknown one."""
    for pattern, name, instead in _JSON:
        if pattern.search(head):
            return _sentence(name, instead)
    return ""


def _sentence(name: str, instead: str) -> str:
    return f"this is {name}, which is not read: {instead}."
