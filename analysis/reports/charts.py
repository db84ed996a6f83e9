"""Charts as SVG within a page: no script, colours by class names of its style sheet."""

from __future__ import annotations

from html import escape

from analysis.model import UnitClass
from analysis.queries.rates import Rate
from analysis.reports.document import Bars, Rates
from analysis.reports.fitting import cut

INKS = {
    UnitClass.INVALID: "invalid",
    UnitClass.BROKEN: "broken",
    UnitClass.HARNESS: "harness",
    UnitClass.CONSISTENT: "fail",
    UnitClass.RACE: "race",
    UnitClass.INSUFFICIENT: "unsure",
    UnitClass.FLAKE: "flake",
    UnitClass.STABLE: "stable",
}

_ROW, _LEFT, _WIDE, _RIGHT = 24, 190, 330, 260
_RATE_LEFT, _RATE_WIDE = 250, 400


def bars_svg(chart: Bars) -> str:
    """A bar a class; the light end of a bar is what never failed."""
    most = max((bar.count for bar in chart.bars), default=0) or 1
    parts = []
    for number, bar in enumerate(chart.bars):
        y = number * _ROW
        ink = INKS[bar.unit_class]
        solid, whole = (count / most * _WIDE for count in (bar.count - bar.quiet, bar.count))
        quiet = f": {bar.count - bar.quiet:,} failed, {bar.quiet:,} never did" if bar.quiet else ""
        parts.append(
            f'<text class="{ink}" x="0" y="{y + 16}">{bar.mark} {bar.unit_class}</text>'
            f'<rect class="{ink} light" x="{_LEFT}" y="{y + 4}" width="{whole:.1f}" height="15"/>'
            f'<rect class="{ink}" x="{_LEFT}" y="{y + 4}" width="{solid:.1f}" height="15"/>'
            f'<text x="{_LEFT + whole + 8:.1f}" y="{y + 16}">{bar.count:,}{quiet}</text>'
        )
    return _svg(_LEFT + _WIDE + _RIGHT, len(chart.bars) * _ROW, chart.title, parts)


def rates_svg(chart: Rates) -> str:
    """A row a phase: the rate of the patch (full) and of green (hollow) with their intervals."""
    bottom = len(chart.phases) * _ROW
    parts = [_axis(bottom)]
    for number, one in enumerate(chart.phases):
        y = number * _ROW + 12
        parts.append(
            f'<text x="0" y="{y + 4}">{escape(one.phase)}</text>'
            f'<text class="race number" x="160" y="{y + 4}">{one.patch.k}/{one.patch.n}</text>'
            f'<text class="stable number" x="230" y="{y + 4}">{one.green.k}/{one.green.n}</text>'
            + _interval(one.green, y + 5, "stable hollow")
            + _interval(one.patch, y - 3, "race")
        )
    title = f"Failure rate by phase of {cut(chart.patch_id, 80)} in {cut(chart.experiment, 80)}"
    return _svg(_RATE_LEFT + _RATE_WIDE + 40, bottom + 24, title, parts)


def _axis(bottom: int) -> str:
    marks = []
    for per_cent in (0, 25, 50, 75, 100):
        x = _RATE_LEFT + _RATE_WIDE * per_cent / 100
        marks.append(
            f'<line class="rule" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{bottom}"/>'
            f'<text class="dim middle" x="{x:.1f}" y="{bottom + 16}">{per_cent} %</text>'
        )
    return "".join(marks)


def _interval(rate: Rate, y: int, ink: str) -> str:
    if not rate.n:
        return ""
    low, at, high = (
        _RATE_LEFT + _RATE_WIDE * share for share in (rate.low, rate.k / rate.n, rate.high)
    )
    return (
        f'<path class="{ink} line" d="M{low:.1f} {y - 3}v6M{high:.1f} {y - 3}v6'
        f'M{low:.1f} {y}H{high:.1f}"/><circle class="{ink}" cx="{at:.1f}" cy="{y}" r="3.5"/>'
    )


def _svg(width: int, height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )
