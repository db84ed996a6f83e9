"""How two experiments are shown beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.attribution.judgement import p_text
from analysis.queries.compared import ComparedTest, Standing
from analysis.queries.comparison import Comparison, OneSided, Side
from analysis.queries.difference import Change
from tui.glyphs import Glyphs
from tui.inks import OF_CLASS, Ink
from tui.lines import (
    BLANK,
    Line,
    Part,
    Span,
    beside,
    bold,
    cells,
    columns,
    dim,
    fit,
    line,
    right,
    wrapped,
)
from tui.look import Look, count, number, plural, short
from tui.state import Ordering
from tui.widgets.document import heading
from tui.widgets.frame import WIDE

ONE_LINE = 160
_CHANGE, _P, _COUNTS = 21, 9, 23
_CLASSES = 49
_NARROW_COUNTS = (15, 16)
_MOST = 60


def sign_of(change: Change, glyphs: Glyphs) -> tuple[str, Ink]:
    """Sign and ink of what became of a test: up where it fails more often, down where less."""
    signs = {
        Change.WORSE: (glyphs.up, Ink.BROKEN),
        Change.UNCOMPARABLE: (glyphs.unsure, Ink.UNSURE),
        Change.SAME: (glyphs.none, Ink.DIM),
        Change.BETTER: (glyphs.down, Ink.STABLE),
        Change.FIXED: (glyphs.stable, Ink.STABLE),
        Change.NEW: (glyphs.match, Ink.FLAKE),
        Change.VANISHED: (glyphs.close, Ink.UNSURE),
    }
    return signs[change]


def answer(found: Comparison, look: Look) -> list[Line]:
    """`✓ FIXED  1 test failed in either experiment, 1 fixed.`; long sentences give way."""
    head, colon, rest = found.answer.partition(": ")
    changes = found.changes()
    leading = (Change.WORSE, Change.FIXED, Change.BETTER, Change.UNCOMPARABLE)
    most = next((change for change in leading if change in changes), Change.SAME)
    if most is Change.FIXED and len(changes) > 1:
        most = Change.BETTER
    sign, ink = sign_of(most, look.glyphs)
    start = line(bold(f"{sign} {head.upper()}", ink), "  ")
    whole = line(start, bold(rest[:1].upper() + rest[1:] if colon else ""))
    counts = ", ".join(f"{number(n)} {change}" for change, n in changes.items())
    return [whole, line(start, bold(f"{counts}." if counts else ""))]


def sides(found: Comparison, width: int, look: Look) -> list[Line]:
    """The two experiments: name, class and age; and the patches if they have other names."""
    named = (("before", found.before), ("after", found.after))
    longest = max(cells(look.data(side.experiment)) for _, side in named)
    room = max(12, min(longest, width - 8 - 24 - 20))
    made = [_side(label, side, room, look) for label, side in named]
    if found.patches and found.patches[0] != found.patches[1]:
        one, other = (look.middle(look.data(patch), 24) for patch in found.patches)
        note = f" patch {one} is compared with {other}: the only one on either side"
        made.append(fit(line(dim(note)), width, look.glyphs.ellipsis))
    return made


def _side(label: str, side: Side, room: int, look: Look) -> Line:
    name = look.middle(look.data(side.experiment), room)
    widths = (6, room, 23, 17)
    parts: tuple[Part, ...] = (
        dim(label),
        bold(name),
        look.unit_class(side.unit_class),
        dim(look.ago(side.newest)),
    )
    return line(" ", columns(parts, widths, "llll", ellipsis=look.glyphs.ellipsis))


class ComparedPainter:
    """Two lines a test, one where there is room: what became of it, and its classes and counts."""

    def head(self, width: int, look: Look, ordering: Ordering, focused: bool) -> Sequence[Line]:
        arrow = look.glyphs.right
        names: dict[str, str] = {
            "change": "CHANGE",
            "test": "TEST",
            "p": "P",
            "before": "BEFORE",
            "after": "AFTER",
            "company": "COMPANY",
            "alone": "ALONE",
        }
        made = {name: _head(name, word, ordering, look) for name, word in names.items()}
        width -= 2
        classes = line(made["before"], dim(f" {arrow} "), made["after"])
        first: tuple[Part, ...] = (made["change"], made["test"], made["p"])
        second: tuple[Part, ...] = (classes, made["company"], made["alone"])
        return [line(" ", one) for one in _laid_out(first, second, width, look)]

    def row(self, row: ComparedTest, width: int, look: Look, lines: int) -> Sequence[Line]:
        width -= 1
        sign, ink = sign_of(row.change, look.glyphs)
        telling = row.change not in (Change.SAME, Change.UNCOMPARABLE)
        room = _test_room(width)
        name = look.test(row.test_id, room)
        if row.variant is not None:
            variant = f" [{look.cut(look.data(row.variant), max(3, room // 4))}]"
            name = look.test(row.test_id, room - cells(variant)) + variant
        p = "" if row.p is None else f"p {p_text(row.p)}"
        first: tuple[Part, ...] = (
            Span(f"{sign} {row.change}", ink, bold=telling),
            Span(name, Ink.TEXT, bold=telling),
            dim(p),
        )
        sides_ = (row.before, row.after)
        company = [None if side is None else side.company for side in sides_]
        alone = [None if side is None else side.alone for side in sides_]
        widths = _second_widths(width)
        second: tuple[Part, ...] = (
            _classes(row, widths[0], look),
            _counts(company, widths[1], look),
            _counts(alone, widths[2], look),
        )
        return _laid_out(first, second, width, look)

    def lines_of_a_row(self, width: int, height: int, rows: int) -> int:
        return 1 if width >= ONE_LINE else 2

    def foot(self, shown: str, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(f" {shown}"))] if shown else []

    def nothing(self, width: int, look: Look) -> Sequence[Line]:
        return [line(dim(" No test failed in either experiment."))]


def _test_room(width: int) -> int:
    """Cells of the test id in a row of `width` cells."""
    if width >= ONE_LINE - 2:
        return width - _CHANGE - _P - _CLASSES - 2 * _COUNTS - 5
    return width - _CHANGE - _P - 2


def _second_widths(width: int) -> tuple[int, int, int]:
    """Cells of classes, company and alone."""
    if width >= ONE_LINE - 2:
        return _CLASSES, _COUNTS, _COUNTS
    company, alone = _NARROW_COUNTS if width < WIDE - 2 else (_COUNTS, _COUNTS)
    return width - company - alone - 4, company, alone


def _laid_out(first: Sequence[Part], second: Sequence[Part], width: int, look: Look) -> list[Line]:
    """change, test and p; classes and counts: on one line, or on two."""
    mark, room = look.glyphs.ellipsis, _test_room(width)
    if width >= ONE_LINE - 2:
        change, test, p = first
        widths = (_CHANGE, room, *_second_widths(width), _P)
        return [columns((change, test, *second, p), widths, "lllrrr", ellipsis=mark)]
    return [
        columns(first, (_CHANGE, room, _P), "llr", ellipsis=mark),
        line("  ", columns(second, _second_widths(width), "lrr", ellipsis=mark)),
    ]


def _head(name: str, word: str, ordering: Ordering, look: Look) -> Span:
    """A header that sorts when it is clicked; an arrow shows which one it is."""
    if ordering.sort != name:
        return Span(word, Ink.HEAD, bold=True, act=f"sort:{name}")
    arrow = look.glyphs.up if ordering.reverse else look.glyphs.down
    return Span(word + arrow, Ink.ACCENT, bold=True, act=f"sort:{name}")


def _classes(row: ComparedTest, room: int, look: Look) -> Line:
    """`▲ harness bug 1a → ✓ stable S`, without the rows of the table where there is no room."""
    arrow = dim(f" {look.glyphs.right} ")
    whole = line(_standing(row.before, look), arrow, _standing(row.after, look))
    if cells(whole) <= room:
        return whole
    return line(_standing(row.before, look)[:1], arrow, _standing(row.after, look)[:1])


def _standing(side: Standing | None, look: Look) -> Line:
    if side is None:
        return line(dim("not there"))
    return line(look.unit_class(side.unit_class, short=True), dim(f" {side.row}"))


def _counts(counts: Sequence[tuple[int, int] | None], room: int, look: Look) -> Line:
    """`4/12 → 0/24`, closer together where there is no room."""
    before, after = map(_count, counts)
    whole = line(before, dim(f" {look.glyphs.right} "), after)
    return whole if cells(whole) <= room else line(before, dim(look.glyphs.right), after)


def _count(counts: tuple[int, int] | None) -> Span:
    if counts is None or not counts[1]:
        return dim("-")
    k, n = counts
    written = count(k, n) if n < 10_000 else f"{short(k)}/{short(n)}"
    return bold(written) if k else dim(written)


# Under the list


def below(
    found: Comparison, row: ComparedTest | None, width: int, height: int, look: Look
) -> list[Line]:
    """Why the test under the cursor is called so, and how all tests changed their class."""
    if width >= WIDE:
        left = (width - 2) * 11 // 20
        why = _cropped(_why(row, left, look), height, left, look)
        moves = _cropped(_moves(found, width - 2 - left, look), height, width - 2 - left, look)
        return beside(why, moves, left, 2)
    why = _cropped(_why(row, width, look), max(3, height // 2), width, look)
    return [*why, *_cropped(_moves(found, width, look), height - len(why), width, look)]


def _cropped(lines: list[Line], height: int, width: int, look: Look) -> list[Line]:
    """At most `height` lines; what is left out is said in the last."""
    if len(lines) <= height:
        return lines
    mark = dim(f" {look.glyphs.ellipsis} {number(len(lines) - height)} more")
    last = fit(lines[height - 1], max(0, width - cells(mark)), look.glyphs.ellipsis)
    return [*lines[: height - 1], line(last, mark)]


def _why(row: ComparedTest | None, width: int, look: Look) -> list[Line]:
    if row is None:
        return [heading("WHY", "", width, look)]
    sign, ink = sign_of(row.change, look.glyphs)
    made = [heading("WHY", Span(f"{sign} {row.change}", ink), width, look)]
    made += [line(" ", one) for one in wrapped(look.data(row.why), width - 2, most=_MOST)]
    name = row.test_id if row.variant is None else f"{row.test_id} [{row.variant}]"
    patches = dict.fromkeys(side.patch_id for side in (row.before, row.after) if side)
    where = f"{name} on {' and '.join(patches)}"
    return [
        *made,
        *(line(" ", one) for one in wrapped(look.data(where), width - 2, Ink.DIM, _MOST)),
    ]


def _moves(found: Comparison, width: int, look: Look) -> list[Line]:
    """So many tests went from one class to another; those that stayed come last and dim."""
    total = sum(pair.tests for pair in found.classes)
    made = [heading("CLASSES", dim(f"of {plural(total, 'test')}"), width, look)]
    moved = sorted(found.classes, key=lambda pair: (pair.before is pair.after, -pair.tests))
    for pair in moved:
        arrow = dim(f" {look.glyphs.right} ")
        sides_ = [
            dim("not there") if one is None else Span(str(one), OF_CLASS[one])
            for one in (pair.before, pair.after)
        ]
        tests = number(pair.tests)
        if pair.before is pair.after:
            made.append(line(right(dim(tests), 8), dim("  stay "), sides_[0]))
        else:
            made.append(line(right(bold(tests), 8), "  ", sides_[0], arrow, sides_[1]))
    for word, side in (("new", found.new), ("vanished", found.vanished)):
        made += _named(word, side, width, look)
    return made


def _named(word: str, side: OneSided, width: int, look: Look) -> list[Line]:
    """The first tests that only one experiment has."""
    label = f" {word} "
    return [
        line(dim(label), look.test(test, width - len(label) - 1)) for _, test, _ in side.named[:3]
    ] or ([BLANK] if side.total else [])
