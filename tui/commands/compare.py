"""`tui compare`: did it help?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.machine import print_json
from tui.opening import Selection, board_for, db_option, json_option, log_paths, up_to_date
from tui.prose import fitted, paragraph, paragraphs

if TYPE_CHECKING:
    from analysis.queries.compared import ComparedTest, Standing
    from analysis.queries.comparison import Comparison, OneSided, Side


@click.command()
@click.argument("before")
@click.argument("after")
@log_paths
@db_option
@json_option
def command(
    before: str, after: str, paths: tuple[Path, ...], db: Path | None, as_json: bool
) -> None:
    """Compare the experiments BEFORE and AFTER a change, test by test.

    Says of each test that failed in either whether it is fixed, better or worse, whether the
    difference is no more than noise, or how many runs are missing to tell.
    """
    from analysis.queries.comparison import compare

    with board_for(Selection(paths, db)) as board:
        up_to_date(board)
        found = compare(board.connection, before, after, board.config.policy.alpha)
    if as_json:
        print_json("compare", _json(found))
    else:
        click.echo("\n".join(_text(found)))


def _text(found: Comparison) -> list[str]:
    lines = paragraph(found.answer, "")
    if found.patches and found.patches[0] != found.patches[1]:
        one, other = found.patches
        lines += paragraph(f"{one} is compared with {other}: the only patch on either side", "")
    if found.tests:
        headers = ["CHANGE", "TEST", "BEFORE", "AFTER", "COMPANY", "ALONE"]
        rows = [_row(test) for test in found.tests]
        lines += ["", fitted(headers, rows, "llllrr", ("TEST",)), ""]
        lines += paragraphs(
            (f"{test.change}: {_name(test)}: {test.why}" for test in found.tests), ""
        )
    lines += ["", "all tests, by class"]
    lines += paragraphs(
        (
            f"{pair.before or 'not there'} → {pair.after or 'not there'}: {pair.tests:,}"
            for pair in found.classes
        ),
        "  ",
    )
    for word, side in (("new", found.new), ("vanished", found.vanished)):
        lines += paragraphs(_named(word, side), "")
    return lines


def _row(test: ComparedTest) -> list[object]:
    sides = (test.before, test.after)
    return [
        test.change,
        _name(test),
        *("-" if side is None else f"{side.unit_class} ({side.row})" for side in sides),
        " → ".join("-" if side is None else _count(side.company) for side in sides),
        " → ".join("-" if side is None else _count(side.alone) for side in sides),
    ]


def _count(count: tuple[int, int]) -> str:
    k, n = count
    return f"{k}/{n}" if n else "-"


def _name(test: ComparedTest) -> str:
    return test.test_id if test.variant is None else f"{test.test_id} [{test.variant}]"


def _named(word: str, side: OneSided) -> list[str]:
    lines = [
        f"{word}: {test if variant is None else f'{test} [{variant}]'} on {patch}"
        for patch, test, variant in side.named
    ]
    rest = side.total - len(side.named)
    return [*lines, f"{word}: and {rest:,} more"] if rest else lines


def _json(found: Comparison) -> dict[str, Any]:
    return {
        "before": _side(found.before),
        "after": _side(found.after),
        "answer": found.answer,
        "alpha": found.alpha,
        "patches": found.patches and list(found.patches),
        "changes": {str(change): count for change, count in found.changes().items()},
        "tests": [
            {
                "test_id": test.test_id,
                "variant": test.variant,
                "change": test.change,
                "p": test.p,
                "why": test.why,
                "missing": dict(test.missing),
                "before": _standing(test.before),
                "after": _standing(test.after),
            }
            for test in found.tests
        ],
        "classes": [
            {"before": pair.before, "after": pair.after, "tests": pair.tests}
            for pair in found.classes
        ],
        "new": _one_sided(found.new),
        "vanished": _one_sided(found.vanished),
    }


def _side(side: Side) -> dict[str, Any]:
    return {"experiment": side.experiment, "class": side.unit_class, "newest": side.newest}


def _standing(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    return {
        "patch_id": standing.patch_id,
        "test_id": standing.test_id,
        "class": standing.unit_class,
        "row": standing.row,
        "failures": standing.failures,
        "company": list(standing.company),
        "alone": list(standing.alone),
        "counted": standing.counted,
    }


def _one_sided(side: OneSided) -> dict[str, Any]:
    return {
        "total": side.total,
        "named": [
            {"patch_id": patch, "test_id": test, "variant": variant}
            for patch, test, variant in side.named
        ],
    }
