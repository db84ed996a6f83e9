"""A curve under a heading, drawn anew for every size."""

from __future__ import annotations

from collections.abc import Sequence

from tui.lines import Line, dim
from tui.plot import Curve, chart
from tui.widgets.document import heading
from tui.widgets.lined import Lined

_MOST_LINES = 14


class Plot(Lined):
    """Shows a curve."""

    def __init__(self, title: str, note: str, *, id: str) -> None:
        super().__init__(id=id)
        self._title, self._note = title, note
        self._curve: Curve | None = None

    def show(self, curve: Curve) -> None:
        """Show another curve."""
        if curve != self._curve:
            self._curve = curve
            self.redraw()

    def made(self, width: int, height: int) -> Sequence[Line]:
        if self._curve is None or height < 1:
            return []
        head = heading(self._title, dim(self._note), width, self.look)
        return [head, *chart(self._curve, width, min(height, _MOST_LINES) - 1, self.look)]
