"""A rate with its interval, and the rate it is compared with, on one axis."""

from __future__ import annotations

from tui.glyphs import Glyphs
from tui.inks import Ink
from tui.lines import Line, Span, bold, dim, line


def interval_bar(
    span: tuple[float, float] | None,
    point: float | None,
    control: float | None,
    cells: int,
    ink: Ink,
    glyphs: Glyphs,
) -> Line:
    """`├──────○──●─────┤` in `cells` cells. span, point, control: shares of the axis, from 0 to 1;
    more than 1 stands at its end, None is not drawn."""

    def at(share: float) -> int:
        return round(min(1.0, max(0.0, share)) * (cells - 1))

    signs: list[Span] = [Span(" ")] * cells
    if span is not None:
        low, high = map(at, span)
        signs[low : high + 1] = [dim(glyphs.span)] * (high + 1 - low)
        signs[low], signs[high] = dim(glyphs.span_left), dim(glyphs.span_right)
    if control is not None:
        signs[at(control)] = Span(glyphs.control)
    if point is not None:
        signs[at(point)] = bold(glyphs.point, ink)
    return line(*signs)
