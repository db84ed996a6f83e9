"""`tui demo`: the dashboard on the sample data."""

from __future__ import annotations

from pathlib import Path

import click

import tui
from tui.commands.dashboard import need_a_terminal, open_on

_PARTS = ("soak", "gate", "broken")


@click.command()
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII signs only.")
def command(ascii_only: bool) -> int:
    """Look at the sample data: eight soaks, bare verdicts and a damaged log.

    Nothing of yours is read or written.
    """
    need_a_terminal()
    from analysis.queries.experiments import Choice
    from tui.state import Start

    paths = tuple(sample_data() / part for part in _PARTS)
    everything = Choice(everything=True)
    return open_on(
        paths,
        None,
        None,
        everything,
        Start(),
        final=True,
        ascii_only=ascii_only,
        own_list=True,
    )


def sample_data() -> Path:
    """The sample data: beside the code where it is installed, else at the top of the checkout."""
    code = Path(tui.__file__).parent
    installed = code / "sample_data"
    return installed if installed.is_dir() else code.parent / "sample_data"
