"""`tui init`: writes soakboard.toml from what the logs show."""

from __future__ import annotations

import os
from pathlib import Path

import click

from analysis.config import FILE_NAME, Canary, configured_in
from analysis.errors import BadInput, EnvironmentFault
from analysis.records import find_logs
from analysis.scan import Proposal, config_text, inventory_text, propose
from tui.opening import log_paths
from tui.text import safe

INVENTORY_NAME = "test_inventory.txt"


@click.command()
@log_paths
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(paths: tuple[Path, ...], force: bool) -> None:
    """Write soakboard.toml, with comments, from what the logs show.

    PATH is a log or a directory of logs; without one the logs of the current directory are
    taken. The file goes into the current directory, and the test ids that the logs name
    into test_inventory.txt beside it. Read both before you commit them.
    """
    here = Path.cwd()
    proposal = propose(paths or _logs_of(here))
    texts = {here / FILE_NAME: config_text(proposal, None)}
    if proposal.inventory:
        # The inventory goes first: a configuration must not name a file that is not there.
        texts = {
            here / INVENTORY_NAME: inventory_text(proposal),
            here / FILE_NAME: config_text(proposal, INVENTORY_NAME),
        }
    if not force:
        _refuse_to_replace(here, texts)
    for path, text in texts.items():
        _write(path, text)
    _tell(proposal)


def _logs_of(folder: Path) -> tuple[Path, ...]:
    try:
        return tuple(find_logs(folder))
    except BadInput:
        return ()


def _refuse_to_replace(folder: Path, texts: dict[Path, str]) -> None:
    configured = configured_in(folder)
    taken = [path for path in texts if path.exists() or path.is_symlink()]
    if configured is not None and configured not in taken:
        taken.append(configured)
    if taken:
        raise BadInput(f"{taken[-1]} is there already.", "Nothing was written; --force replaces.")


def _write(path: Path, text: str) -> None:
    """Replace `path` by `text` at once: a reader sees the old file or the whole new one."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be written: {error.strerror}.") from error


def _tell(proposal: Proposal) -> None:
    click.echo(f"{FILE_NAME} written.")
    for name in ("red", "green"):
        click.echo(f"{name} canary: {_described(getattr(proposal.canaries, name))}")
    count = len(proposal.inventory)
    click.echo(f"inventory: {count} tests in {INVENTORY_NAME}" if count else "inventory: open")
    for test in proposal.left_out:
        click.echo(f"Left out of the inventory, no line can hold it: {safe(test)}", err=True)
    for note in proposal.notes:
        click.echo(f"To decide: {safe(note)}", err=True)


def _described(canary: Canary) -> str:
    if canary.patch_id is None:
        return "open"
    parts = [safe(canary.patch_id)]
    if canary.test_id is not None:
        parts.append(f"pinned to {safe(canary.test_id)}")
    if canary.expect is not None:
        parts.append(f'failing with "{safe(canary.expect)}"')
    return ", ".join(parts)
