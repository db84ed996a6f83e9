"""Pictures of the dashboard on the sample data, for the README.

`python tests/support/pictures.py` draws them anew.
"""

from __future__ import annotations

import asyncio
import html
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from dashboard import SAMPLES, index_of, opened, press

from tui.state import Start

FOLDER = Path(__file__).parents[1] / "tui" / "pictures"
SIZE = (100, 30)
PICTURES: Mapping[str, tuple[Start, tuple[str, ...]]] = {
    "overview": (Start(), ()),
    "detail": (Start("tests", 'class:"harness bug"'), ("enter",)),
}
"""A picture's name, where the dashboard opens for it, and the keys that are pressed then."""

_FONT_FACES = re.compile(r"@font-face \{.*?\}\n?", re.DOTALL)
_COUNTS = re.compile(r"lines \d+–\d+ of \d+")
_TEXTS = re.compile(r"<text[^>]*>(.*?)</text>")


async def picture(name: str, folder: Path) -> str:
    """One of PICTURES as SVG."""
    start, keys = PICTURES[name]
    logs = shutil.copytree(SAMPLES, folder / "sample_data")
    db = index_of(folder, *(logs / part for part in ("soak", "gate", "broken")))
    async with opened(db, SIZE, start=start) as (app, pilot):
        await press(app, pilot, *keys)
        drawn = app.export_screenshot(title="tui demo")
    # A picture loads nothing from elsewhere.
    plain = _FONT_FACES.sub("", drawn)
    return plain.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def texts(svg: str) -> list[str]:
    """What stands in a picture, piece by piece; how many lines there are depends on paths."""
    found = (html.unescape(one).replace("\xa0", " ") for one in _TEXTS.findall(svg))
    return [_COUNTS.sub("lines", one) for one in found]


def main() -> None:
    """Draw all of them."""
    for name in PICTURES:
        with TemporaryDirectory() as folder:
            svg = asyncio.run(picture(name, Path(folder)))
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
