"""A curve of characters: plotext draws the line, axes and labels are ours.

plotext keeps one figure for the whole process: it is cleared before and after, and only the thread
that draws the screen may come here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotext  # type: ignore[import-untyped]

from tui.inks import Ink
from tui.lines import BLANK, Line, Span, dim, line
from tui.look import Look, number

Point = tuple[float, float]

_LABEL_CELLS = 5
_LEAST_WIDTH, _LEAST_HEIGHT = 12, 5
_TICKS = 4


@dataclass(frozen=True)
class Curve:
    """Shares (0 to 1) over something that is counted. nothing: what to say without a point."""

    points: tuple[Point, ...]
    nothing: str = "Nothing to draw."


def chart(curve: Curve, width: int, height: int, look: Look) -> list[Line]:
    """The curve with its axes in exactly `height` lines of at most `width` cells."""
    drawn = drawable(curve.points)
    if not drawn:
        return _filled([line(" ", dim(look.cut(curve.nothing, width - 1)))], height)
    if width < _LEAST_WIDTH or height < _LEAST_HEIGHT:
        return _filled([line(" ", dim(look.cut("No room to draw.", width - 1)))], height)
    room, rows = width - _LABEL_CELLS - 1, height - 2
    low, high = drawn[0][0], drawn[-1][0]
    canvas = canvas_of(drawn, room, rows, look.glyphs.plot_marker)
    labels = {0: "100 %", rows // 2: "50", rows - 1: "0"}
    made = [
        line(
            dim(labels.get(row, "").rjust(_LABEL_CELLS)),
            dim(look.glyphs.span_right if row in labels else look.glyphs.column),
            Span(text, Ink.RACE),
        )
        for row, text in enumerate(canvas)
    ]
    foot = look.glyphs.bottom_left + look.glyphs.rule * room
    margin = " " * _LABEL_CELLS
    return [*made, line(margin, dim(foot)), line(margin, dim(_ticks(low, high, room)))]


def drawable(points: Sequence[Point]) -> list[Point]:
    """The points that have a place, from left to right."""
    return sorted(point for point in points if all(map(math.isfinite, point)))


def canvas_of(points: Sequence[Point], width: int, height: int, marker: str) -> list[str]:
    """The line through finite points, shares from bottom to top, as `height` texts of `width`."""
    few = thinned(points, width)
    xs = shares([x for x, _ in few])
    plotext.clear_figure()
    try:
        # Otherwise the terminal that the process was started in bounds the picture.
        plotext.limit_size(False, False)
        plotext.plotsize(width, height)
        plotext.frame(False)
        plotext.xaxes(False, False)
        plotext.yaxes(False, False)
        plotext.xticks([])
        plotext.yticks([])
        plotext.xlim(0, 1)
        plotext.ylim(0, 1)
        plotext.plot(xs, [min(1.0, max(0.0, y)) for _, y in few], marker=marker)
        text = plotext.uncolorize(plotext.build())
    finally:
        plotext.clear_figure()
    rows = text.split("\n")[:height]
    return [row[:width].ljust(width) for row in (*rows, *[""] * (height - len(rows)))]


def shares(sorted_: Sequence[float]) -> list[float]:
    """Where numbers lie between the first and the last of them, 0 to 1; all in the middle where
    those are one place."""
    # Halves, because the distance of two finite numbers need not be finite.
    low, high = sorted_[0] / 2, sorted_[-1] / 2
    if not low < high:
        return [0.5] * len(sorted_)
    return [(x / 2 - low) / (high - low) for x in sorted_]


def thinned(points: Sequence[Point], width: int) -> list[Point]:
    """Of sorted points what `width` cells can show: the lowest and the highest of each half cell.

    Its time does not depend on what plotext makes of many points.
    """
    most = 2 * width
    if len(points) <= 2 * most:
        return [*points]
    few: list[Point] = []
    for column in range(most):
        part = points[column * len(points) // most : (column + 1) * len(points) // most]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        few += sorted(ends)
    return [points[0], *few, points[-1]]


def _ticks(low: float, high: float, room: int) -> str:
    """Labels under the axis, as many as there is room for; none overlaps another."""
    cells = [" "] * (room + 1)
    last = number(round(high))
    end = room - len(last)
    if end < 0:
        return ""
    if not low < high:
        return last.center(room + 1)
    cells[end + 1 :] = last
    at, before = 0, last
    for tick in range(_TICKS):
        share = tick / _TICKS
        text = number(round(low * (1 - share) + high * share))
        start = max(1, round(room * share) - len(text) // 2)
        if at <= start and start + len(text) < end and text not in (before, last):
            cells[start : start + len(text)] = text
            at, before = start + len(text) + 1, text
    return "".join(cells)


def _filled(lines: Sequence[Line], height: int) -> list[Line]:
    return [*lines, *([BLANK] * height)][: max(0, height)]
