"""A report as a document: sentences, tables and charts, without a format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from analysis.model import UnitClass
from analysis.queries.rates import PhaseRate


class Kind(StrEnum):
    """What the cells of a column are: words, a name out of data, numbers, a run a sign."""

    TEXT = "text"
    NAME = "name"
    NUMBER = "number"
    RUNS = "runs"


@dataclass(frozen=True)
class Column:
    """A heading and the kind of what stands under it."""

    heading: str
    kind: Kind = Kind.TEXT


@dataclass(frozen=True)
class Table:
    """Rows of text, the most important first. total: how many there are, with those that are
    not in `rows`. Texts are as recorded; a writer makes them harmless."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int


@dataclass(frozen=True)
class Bar:
    """A class and how many tests have it; of these, `quiet` never failed."""

    unit_class: UnitClass
    mark: str
    count: int
    quiet: int = 0


@dataclass(frozen=True)
class Bars:
    """A chart of counts."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Rates:
    """A chart of failure rates with two-sided 95 % intervals, of a patch beside green."""

    experiment: str
    patch_id: str
    phases: tuple[PhaseRate, ...]


@dataclass(frozen=True)
class Section:
    """A question and its answer, "" where the document gives it. notes: further sentences.
    total_rates: how many patches there are, of which `rates` shows the first."""

    title: str
    answer: str
    notes: tuple[str, ...] = ()
    bars: tuple[Bars, ...] = ()
    rates: tuple[Rates, ...] = ()
    total_rates: int = 0
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Document:
    """A report. answer: the sentence that a hurried reader needs. about: of what and when."""

    title: str
    answer: str
    about: str
    sections: tuple[Section, ...]
