"""`tui quarantine`: the list, its acts, and its check."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.exit_codes import ExitCode
from tui.machine import print_json
from tui.opening import existing_index, index_for, json_option, tell
from tui.person import who
from tui.text import safe, table

if TYPE_CHECKING:
    import duckdb

    from analysis.quarantine.desk import Desk, NotAdmitted
    from analysis.quarantine.events import Event
    from analysis.quarantine.replay import Entry, QuarantineList

_LIFE = re.compile(r"(\d+(?:\.\d+)?)(m|h|d)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Life(click.ParamType[timedelta]):
    """A length of time: `24h`, `3d`, `90m`."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = _LIFE.fullmatch(str(value).strip())
        if not found:
            self.fail(f"{value!r} is no length of time, such as 24h or 3d.", param, ctx)
        try:
            return timedelta(**{_UNITS[found[2]]: float(found[1])})
        except OverflowError:
            self.fail(f"{value!r} is too long.", param, ctx)


class Moment(click.ParamType[datetime]):
    """A time with a zone, in RFC 3339."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time, such as 2026-11-30T07:55:00Z.", param, ctx)
        if found.tzinfo is None:
            self.fail(f"{value!r} has no zone; end it with Z for UTC.", param, ctx)
        return found.astimezone(UTC)


list_option = click.option(
    "--quarantine",
    "path",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="The list; otherwise quarantine.jsonl beside the configuration.",
)
at_option = click.option("--at", type=Moment(), metavar="TIME", help="As of then; otherwise now.")
by_option = click.option("--by", metavar="WHO", help="Who acts; otherwise git's user.email.")
db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="The index with the evidence.",
)
variant_option = click.option("--variant", metavar="V", help="The variant of the test.")


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def command(ctx: click.Context) -> None:
    """Keep the list of quarantined tests: on evidence, by an owner, for a limited time.

    The list is an append-only log, quarantine.jsonl, that is committed with the code.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command()
@click.argument("test")
@click.option("--owner", default="", metavar="WHO", help="Who answers for the test.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is flaky, as far as known.")
@click.option("--experiment", metavar="NAME", help="The evidence; otherwise the newest with it.")
@click.option("--patch", metavar="P", help="The patch of the evidence.")
@click.option("--for", "life", type=Life(), metavar="TIME", help="How long; otherwise 24h.")
@click.option("--fixture", "fixtures", multiple=True, metavar="PATH", help="A file it reads.")
@variant_option
@list_option
@db_option
@by_option
@at_option
@json_option
def add(
    test: str,
    owner: str,
    reason: str,
    experiment: str | None,
    patch: str | None,
    life: timedelta | None,
    fixtures: tuple[str, ...],
    variant: str | None,
    path: Path | None,
    db: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Freeze TEST, an exact id, for a limited time. Refused unless every rule holds."""
    from analysis.quarantine.desk import Asked, NotAdmitted
    from analysis.quarantine.forms import condition_json, event_json

    desk = _desk(path, by, at)
    asked = Asked(test, owner, reason, variant, experiment, patch, life, fixtures)
    with _index(db) as connection:
        try:
            made = desk.add(connection, asked)
        except NotAdmitted as refused:
            return _refused(refused, as_json)
    if as_json:
        conditions = [condition_json(one) for one in made.conditions]
        body = {"done": True, "event": event_json(made.event), "conditions": conditions}
        print_json("quarantine.add", {**body, "runs_to_leave": made.found.runs_to_leave})
        return ExitCode.YES
    event = made.event
    click.echo(f"Quarantined {safe(event.test_id)} until {event.fields['expires_at']}.")
    click.echo("It keeps running; only these failures are excused:")
    for one in sorted(made.found.signatures):
        click.echo(f"  {safe(' '.join(part for part in one if part))}")
    click.echo(
        f"It leaves once a diff unlocks it and {made.found.runs_to_leave} runs alone are clean."
    )
    return ExitCode.YES


@command.command()
@click.argument("test")
@click.option("--experiment", metavar="NAME", help="The fresh evidence; otherwise the newest.")
@click.option("--patch", metavar="P", help="The patch of the evidence.")
@click.option("--for", "life", type=Life(), metavar="TIME", help="How long; otherwise 24h.")
@click.option("--approved-by", default="", metavar="WHO", help="From the second renewal on.")
@variant_option
@list_option
@db_option
@by_option
@at_option
@json_option
def renew(
    test: str,
    experiment: str | None,
    patch: str | None,
    life: timedelta | None,
    approved_by: str,
    variant: str | None,
    path: Path | None,
    db: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Keep TEST on the list, on stress evidence newer than the last."""
    from analysis.quarantine.desk import Asked

    desk = _desk(path, by, at)
    asked = Asked(
        test,
        variant=variant,
        experiment=experiment,
        patch=patch,
        life=life,
        approved_by=approved_by,
    )
    with _index(db) as connection:
        return _act("renew", as_json, lambda: desk.renew(connection, asked))


@command.command()
@click.argument("test")
@variant_option
@list_option
@db_option
@by_option
@at_option
@json_option
def release(
    test: str,
    variant: str | None,
    path: Path | None,
    db: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Let TEST go: unlocked by a change of the code, and proven clean since."""
    desk = _desk(path, by, at)
    with _index(db) as connection:
        return _act("release", as_json, lambda: desk.release(connection, test, variant))


@command.command()
@click.argument("test")
@click.option("--reason", default="", metavar="TEXT", help="What it hid.")
@variant_option
@list_option
@by_option
@at_option
@json_option
def revoke(
    test: str,
    reason: str,
    variant: str | None,
    path: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Take TEST off: it was a race or an infrastructure bug. It blocks again at once."""
    from analysis.quarantine.patterns import FILE_NAME, pattern_text

    desk = _desk(path, by, at)
    code = _act("revoke", as_json, lambda: desk.revoke(test, variant, reason))
    if code is ExitCode.YES and not as_json:
        entry = desk.list_now().of(test, variant)
        forms = sorted({one.form for one in entry.signatures}) if entry else [""]
        tell([f"so that it is recognised next time, append to {FILE_NAME}:"])
        fields = {"test": test, "signature": forms[0], "cause": reason, "fix": "..."}
        click.echo(pattern_text({**fields, "date": f"{desk.at:%Y-%m-%d}"}), nl=False)
    return code


@command.command()
@click.argument("test")
@click.option("--text", default="", metavar="TEXT", help="What to write down.")
@variant_option
@list_option
@by_option
@at_option
@json_option
def note(
    test: str,
    text: str,
    variant: str | None,
    path: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Write something down about TEST: a disagreement, an agreement, a link."""
    desk = _desk(path, by, at)
    return _act("note", as_json, lambda: desk.note(test, variant, text))


@command.command("list")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "ids", "md"]),
    default="text",
    help="ids: for the job that stresses them; md: to send to owners.",
)
@click.option("--owner", metavar="WHO", help="Only what this owner answers for.")
@list_option
@db_option
@at_option
@json_option
def list_(
    form: str,
    owner: str | None,
    path: Path | None,
    db: Path | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Print the list: lapsed first, then by expiry."""
    from analysis.quarantine.forms import list_json

    desk = _desk(path, None, at)
    found = desk.list_now()
    shown = [one for one in found.listed() if owner in (None, one.owner)]
    prices = _prices(db, shown)
    _complain(found)
    if as_json or form == "json":
        body = list_json(found, prices)
        if owner is not None:
            body["entries"] = [one for one in body["entries"] if one["owner"] == owner]
        print_json("quarantine.list", body)
    elif form == "ids":
        for entry in shown:
            click.echo(safe(entry.test_id))
    elif form == "md":
        click.echo(_markdown(shown, found, prices), nl=False)
    elif not shown:
        click.echo("Nothing is quarantined: no failure is excused.")
    else:
        headers = ["STATE", "TEST", "EXPIRES", "OWNER", "HELD", "RENEWED", "EXCUSED", "HIDES"]
        rows = [_row(one, found.at, prices) for one in shown]
        click.echo(table(headers, rows, "lllllrrr"))
    return ExitCode.BAD_INPUT if found.complaints else ExitCode.YES


@command.command()
@click.argument("test")
@variant_option
@list_option
@db_option
@at_option
@json_option
def show(
    test: str,
    variant: str | None,
    path: Path | None,
    db: Path | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Print the whole contract of TEST and all of its events."""
    from analysis.errors import BadInput
    from analysis.quarantine.forms import entry_json, event_json

    found = _desk(path, None, at).list_now()
    entry = found.of(test, variant)
    if entry is None:
        raise BadInput(
            f"{test!r} was never on the list.", "`tui quarantine list` prints exact ids."
        )
    price = _prices(db, [entry]).get(entry.name)
    events = [event_json(one) for one in entry.events]
    if as_json:
        print_json("quarantine.show", {**entry_json(entry, found.at, price), "events": events})
        return ExitCode.YES
    for name, value in entry_json(entry, found.at, price).items():
        click.echo(f"{name:<12} {safe(str(value))}")
    for event in entry.events:
        click.echo(
            f"{event.at:%Y-%m-%d %H:%MZ}  {event.kind:<12} {safe(event.by)}  (line {event.line})"
        )
    return ExitCode.YES


@command.command()
@click.option("--within", type=Life(), metavar="TIME", help="Warn of what lapses so soon.")
@list_option
@db_option
@at_option
@json_option
def check(
    within: timedelta | None,
    path: Path | None,
    db: Path | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Exit 1 if an entry has lapsed, or hides a race. With nothing lapsed, exit 0."""
    from analysis.quarantine.forms import entry_json, span
    from analysis.quarantine.replay import State

    desk = _desk(path, None, at)
    found = desk.list_now()
    inert = hidden(db, found)
    lapsed = found.listed(State.LAPSED)
    due = [one for one in found.listed() if within is not None and one.due(found.at, within)]
    _complain(found)
    if as_json:
        print_json(
            "quarantine.check",
            {
                "at": f"{found.at:%Y-%m-%dT%H:%M:%SZ}",
                "digest": found.digest,
                "lapsed": [entry_json(one, found.at) for one in lapsed],
                "hid": [{"entry": name, "sentence": words} for name, words in inert.items()],
                "due": [entry_json(one, found.at) for one in due],
                "complaints": [one.sentence for one in found.complaints],
            },
        )
    else:
        for one in lapsed:
            age = span(found.at - one.expires_at)
            click.echo(
                f"LAPSED {age} ago: {safe(one.test_id)}, owner {safe(one.owner)}, held "
                f"{span(one.held(found.at))}. Renew it on fresh evidence, or fix the test."
            )
        for one in found.listed():
            if one.name in inert:
                click.echo(f"{safe(one.test_id)} {safe(inert[one.name])}. Revoke it.")
        for one in due:
            left = span(one.expires_at - found.at)
            click.echo(f"DUE in {left}: {safe(one.test_id)}, owner {safe(one.owner)}.")
        if not lapsed and not inert:
            click.echo("Nothing has lapsed.")
    if found.complaints:
        return ExitCode.BAD_INPUT
    return ExitCode.NO if lapsed or inert else ExitCode.YES


@command.command()
@click.option("--diff", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE")
@click.option("--base", metavar="REV", help="With --head: what changed between two revisions.")
@click.option("--head", metavar="REV")
@click.option(
    "--moved-to",
    "moved",
    multiple=True,
    nargs=2,
    metavar="OLD NEW",
    help="A test that was renamed keeps its history.",
)
@list_option
@by_option
@at_option
@json_option
def touch(
    diff: Path | None,
    base: str | None,
    head: str | None,
    moved: tuple[tuple[str, str], ...],
    path: Path | None,
    by: str | None,
    at: datetime | None,
    as_json: bool,
) -> ExitCode:
    """Unlock the entries whose test or fixtures a diff touches: their evidence is void then."""
    from analysis.quarantine.forms import event_json
    from analysis.quarantine.touch import git_diff, read_diff

    desk = _desk(path, by, at)
    if (diff is None) == (base is None or head is None):
        raise click.UsageError("Give --diff FILE, or --base REV and --head REV.")
    if diff is None:
        text = git_diff(desk.path.resolve().parent, str(base), str(head))
    elif str(diff) == "-":
        text = sys.stdin.read()
    else:
        text = diff.read_text("utf-8", "replace")
    written = desk.unlock(read_diff(text), dict(moved))
    if as_json:
        print_json("quarantine.touch", {"unlocked": [event_json(event) for event, _ in written]})
        return ExitCode.YES
    for event, only_waits in written:
        click.echo(f"Unlocked {safe(event.test_id)}: {safe(', '.join(event.fields['paths']))}.")
        if only_waits:
            click.echo("  It only waits longer: the window moved, it did not close.")
    if not written:
        click.echo("The diff touches no quarantined test and none of its fixtures.")
    return ExitCode.YES


# What the commands share


def _desk(path: Path | None, by: str | None, at: datetime | None) -> Desk:
    from analysis.config import load_config
    from analysis.quarantine.desk import Desk
    from analysis.quarantine.log import list_path

    config = load_config(Path.cwd())
    moment = (at or datetime.now(UTC)).replace(microsecond=0)
    return Desk(path or list_path(config, Path.cwd()), config, by or who(), moment)


@contextmanager
def _index(db: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """The project's index, its logs taken and its answers up to date."""
    from analysis.board import Ingest, now, open_board
    from analysis.config import load_config

    with open_board(existing_index(db), load_config(Path.cwd())) as board:
        board.catch_up(Ingest(now(), final=False))
        board.derive()
        yield board.connection


def _if_there(db: Path | None) -> Path | None:
    path = index_for(db)
    return path if path.exists() else None


def _prices(db: Path | None, entries: Sequence[Entry]) -> dict[str, Any]:
    """What entries cost, where there is an index that knows."""
    from analysis.quarantine.price import price_of

    if not entries or _if_there(db) is None:
        return {}
    with _index(db) as connection:
        return {one.name: price_of(connection, one) for one in entries}


def hidden(db: Path | None, found: QuarantineList) -> dict[str, str]:
    """Entries that hide a race, where there is an index that knows."""
    from analysis.quarantine.gate import hidden_races

    if not found.listed() or _if_there(db) is None:
        return {}
    with _index(db) as connection:
        return hidden_races(connection, found)


def _act(name: str, as_json: bool, act: Any) -> ExitCode:
    from analysis.quarantine.desk import NotAdmitted
    from analysis.quarantine.forms import event_json

    try:
        event: Event = act()
    except NotAdmitted as refused:
        return _refused(refused, as_json)
    if as_json:
        print_json(f"quarantine.{name}", {"done": True, "event": event_json(event)})
    else:
        until = f" until {event.fields['expires_at']}" if "expires_at" in event.fields else ""
        click.echo(f"{event.kind.capitalize()} {safe(event.test_id)}{until}.")
    return ExitCode.YES


def _refused(refused: NotAdmitted, as_json: bool) -> ExitCode:
    from analysis.quarantine.admission import failing
    from analysis.quarantine.forms import condition_json

    if as_json:
        conditions = [condition_json(one) for one in refused.conditions]
        body = {"done": False, "test_id": refused.test_id, "conditions": conditions}
        print_json(f"quarantine.{'add' if refused.act == 'quarantine' else refused.act}", body)
        return ExitCode.NO
    tell([f"{safe(refused.test_id)}: {refused.act} refused"])
    for one in failing(refused.conditions):
        tell([f"  no: {one.rule}: {one.figures}"])
        if one.remedy:
            tell([f"      {one.remedy}"])
    for one in refused.conditions:
        if one.holds:
            tell([f"  ok: {one.rule}: {one.figures}"])
    return ExitCode.NO


def _complain(found: QuarantineList) -> None:
    tell([one.sentence for one in found.complaints])


def _row(entry: Entry, now: datetime, prices: dict[str, Any]) -> list[object]:
    from analysis.quarantine.forms import span

    left = entry.expires_at - now
    expires = f"in {span(left)}" if left > timedelta(0) else f"{span(-left)} ago"
    price = prices.get(entry.name)
    return [
        entry.state,
        entry.test_id if entry.variant is None else f"{entry.test_id} [{entry.variant}]",
        expires,
        entry.owner,
        span(entry.held(now)),
        entry.renewals,
        "-" if price is None else str(price.excused),
        "-" if price is None else f"<={100 * price.upper:.1f}%",
    ]


def _markdown(shown: Sequence[Entry], found: QuarantineList, prices: dict[str, Any]) -> str:
    from analysis.reports.markdown import code, prose

    lines = [f"## Quarantine, {found.at:%Y-%m-%d %H:%MZ}", ""]
    if not shown:
        return "\n".join([*lines, "Nothing is quarantined: no failure is excused.", ""])
    lines += [
        "| state | test | expires | owner | held | renewed | excused | hides |",
        "|---" * 8 + "|",
    ]
    for one in shown:
        state, test, *rest = map(str, _row(one, found.at, prices))
        cells = (prose(state), code(test), *map(prose, rest))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
