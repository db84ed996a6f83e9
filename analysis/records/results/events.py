"""Files of one JSON object a line that are no records: their lines, and what is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from analysis.records.lines import Line, split_blocks
from analysis.records.parse import LineParser, is_blank
from analysis.records.refusal import Refused
from analysis.records.results.reading import Reading


class Event(NamedTuple):
    """A line of such a file."""

    item: Mapping[str, Any]
    line: int
    offset: int
    raw: bytes


def events(stream: BinaryIO, reading: Reading) -> Iterator[Event]:
    """The objects of a stream in order; the reading gets the lines that are none as rejects, and
    hears of a last line that is cut."""
    parser = LineParser()
    number = 0
    for part in split_blocks(stream, 0):
        lines = [part] if isinstance(part, Line) else map(part.line, range(len(part.starts)))
        for line in lines:
            number += 1
            if is_blank(line.raw) and not line.too_long:
                continue
            try:
                if line.too_long:
                    raise Refused("too-long")
                item = parser.parse(line.raw).item
            except Refused:
                reading.rejects.append((number, line.offset, line.raw))
                if not line.terminated:
                    reading.cut("the last line is cut")
                continue
            yield Event(item, number, line.offset, line.raw)
