"""`tui formats`: the result files that are read."""

from __future__ import annotations

import click

from tui.machine import print_json
from tui.opening import json_option
from tui.prose import paragraph


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the result files of test runners that are read, and how a runner writes them.

    They are recognised by content, not by name.
    """
    from analysis.records.results import FORMATS

    if as_json:
        said = [
            {"name": one.name, "title": one.title, "written_by": one.written_by} for one in FORMATS
        ]
        print_json("formats", {"formats": said})
        return
    lines: list[str] = []
    for one in FORMATS:
        lines += [f"{one.title} ({one.name})", *paragraph(one.written_by, "  ")]
    click.echo("\n".join(lines))
