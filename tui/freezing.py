"""`Q`: the contract of a test that may be quarantined, or why it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import duckdb

from analysis.quarantine.admission import Condition, failing
from analysis.quarantine.desk import Asked, Contract, Desk, NotAdmitted
from analysis.queries.attributions import UnitKey
from tui.acts import Act, life
from tui.lines import BLANK, Line, bold, dim, line, wrapped
from tui.look import Look, number
from tui.screens.form import Field, FormScreen, TellingScreen
from tui.screens.modal import Modal
from tui.screens.quarantine_lines import conditions, signature

_ASKED_LATER = "an owner and a reason"


def contract_of(
    connection: duckdb.DuckDBPyConnection, desk: Desk, key: UnitKey
) -> tuple[Contract, Desk]:
    """What would be entered for a unit; owner and reason are asked for then."""
    return desk.contract(connection, _asked(key), desk.list_now()), desk


def _asked(key: UnitKey) -> Asked:
    return Asked(key.test_id, variant=key.variant, experiment=key.experiment, patch=key.patch_id)


def screen_for(
    drafted: tuple[Contract, Desk], do: Callable[[Act, Mapping[str, str]], None]
) -> Modal:
    """The box that asks for the rest, or the one that refuses."""
    made, desk = drafted
    asked_of = tuple(one for one in made.conditions if one.rule != _ASKED_LATER)
    unit = made.found.unit
    if failing(asked_of):
        return _refused("Quarantine refused: see what would change it", unit.test_id, asked_of)
    act = Act("Quarantine one test, for a limited time", _intro(made, asked_of), (), _adding(made))
    fields = (
        Field("owner", "Owner", desk.by),
        Field("reason", "Reason"),
        Field("life", "For", f"{desk.config.policy.quarantine_hours}h"),
    )
    return FormScreen(
        act.title, act.intro, fields, lambda given: do(replace(act, fields=fields), given)
    )


def _adding(made: Contract) -> Callable[..., str]:
    unit = made.found.unit

    def add(connection: duckdb.DuckDBPyConnection, desk: Desk, given: Mapping[str, str]) -> str:
        key = UnitKey(unit.experiment, unit.patch_id, unit.test_id, unit.variant)
        asked = replace(
            _asked(key), owner=given["owner"], reason=given["reason"], life=life(given["life"])
        )
        event = desk.add(connection, asked).event
        return f"Quarantined {event.test_id} until {event.fields['expires_at']}."

    return add


def _intro(made: Contract, asked_of: tuple[Condition, ...]) -> Callable[[int, Look], list[Line]]:
    found = made.found

    def lines(width: int, look: Look) -> list[Line]:
        glyphs = look.glyphs
        forms = "; ".join(signature(one) for one in sorted(found.signatures))
        leaves = number(found.runs_to_leave or 0)
        return [
            line(bold(look.test(found.unit.test_id, width))),
            line(dim(look.cut(look.data(f"{found.unit.experiment}, row {found.unit.row}"), width))),
            line(f"{glyphs.stable} {found.alone} alone; all {len(asked_of)} rules hold"),
            BLANK,
            *wrapped(look.data(f"Excuses {forms}. Anything else blocks."), width, most=3),
            *wrapped(f"It leaves after an unlock and {leaves} clean runs alone.", width),
        ]

    return lines


def refusal_screen(refused: NotAdmitted) -> Modal:
    """The box that says which rules an act broke."""
    title = f"{refused.act.capitalize()} refused"
    return _refused(title, refused.test_id, refused.conditions)


def _refused(title: str, test_id: str, found: tuple[Condition, ...]) -> Modal:
    def lines(width: int, look: Look) -> list[Line]:
        made = [line(bold(look.test(test_id, width))), BLANK]
        made += conditions(found, width, look)
        made += [BLANK, line(bold("What would change it"))]
        for one in failing(found):
            made += wrapped(look.data(one.remedy), width, most=3)
        return made

    return TellingScreen(title, lines, copy="tui attribute --explain " + test_id)
