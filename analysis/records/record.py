"""One JSON object to the rows that it stands for, without its position."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.model import FAILING, NOT_EXECUTED, Kind, Outcome, Phase, Role, Verdict
from analysis.records import fields, plan
from analysis.records.parse import Parsed
from analysis.records.plan import Plan, Slot, is_missing
from analysis.records.refusal import Refused, bad_value, missing_field
from analysis.records.times import MICROS_PER_SECOND, Moment

Row = dict[str, Any]

EARLIEST_MICROS = 946_684_800 * MICROS_PER_SECOND
"""2000-01-01: a clock that says less was never set."""
DAY_MICROS = 86_400 * MICROS_PER_SECOND

_NAMESPACE = re.compile(r"soak-([0-9]{1,18})-(red|green|subj)")
_NAMESPACE_ROLES = {"red": Role.RED.value, "green": Role.GREEN.value, "subj": Role.SUBJECT.value}
FAILED = {
    **{outcome.value: outcome in FAILING for outcome in Outcome},
    **{outcome.value: None for outcome in NOT_EXECUTED},
}
"""Whether an outcome is a failure; None where nothing was executed."""
_QUOTED_CHARACTERS = 200


@dataclass
class Record:
    """What an accepted line says.

    run: the row of a run_start, run_end or verdict line; of a test line its context, which
    is a row of its own only where no other has it. Rows hold what is known under the names
    of `schema`. notes: (rule, detail).
    """

    kind: Kind
    run_id: str | None
    run: Row = field(default_factory=dict)
    tests: list[Row] = field(default_factory=list)
    experiment: Row | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)


def read_record(parsed: Parsed, latest_micros: int) -> Record:
    """The rows of one line. Refused: the line is accepted whole or not at all.

    latest_micros: a time after it is kept and noted as suspect.
    """
    item = parsed.item
    if parsed.nonfinite:
        raise _nonfinite(item)
    kind = plan.kind_of(item)
    notes: list[tuple[str, str]] = []
    taken = _Taken(item, plan.plan_of(kind, item), notes, "")
    values = taken.values
    _settle_kind(kind, item, taken.extra, notes)
    _settle_times(values, latest_micros, notes, "")
    record = Record(kind, values.get("run_id"), values, notes=notes)
    if kind is Kind.EXPERIMENT:
        values["extra"] = _extra_text(taken.extra)
        record.experiment = values
        return record
    _settle_environment(taken)
    _settle_namespace(values)
    if kind is Kind.TEST:
        record.tests.append(_execution(taken, values["outcome"]))
        return record
    if kind is Kind.VERDICT:
        record.tests.extend(_executions(taken, latest_micros))
    if kind is not Kind.RUN_START:
        _settle_verdict(taken)
    values["extra"] = _extra_text(taken.extra)
    return record


class _Taken:
    """The fields of an object under their canonical names, and what is none of them."""

    def __init__(
        self,
        item: Mapping[str, Any],
        reading: Plan,
        notes: list[tuple[str, str]],
        place: str,
    ) -> None:
        self.item = item
        self.extra: Row = {}
        self.chosen: dict[str, Slot] = {}
        self.values: Row = {}
        self.notes = notes
        if not self._take_plainly(reading):
            self._take_with_care(reading, place)
        for name in reading.needs:
            if name not in self.chosen:
                raise missing_field(name)

    def _take_plainly(self, reading: Plan) -> bool:
        """Take an object in which every value is right and no two keys mean the same.

        That is nearly every object, and one pass is enough for it. False: it is another.
        """
        values, chosen, extra, slot_of = self.values, self.chosen, self.extra, reading.slots.get
        try:
            for key, value in self.item.items():
                slot = slot_of(key)
                if slot is None:
                    extra[key] = value
                    continue
                name, _, _, parse, plain = slot
                if value is None or value == "":
                    if name == "verdict":
                        return False
                elif name in chosen:
                    return False
                else:
                    chosen[name] = slot
                    values[name] = value if type(value) is plain else parse(value, name)
        except Refused:
            return False
        return True

    def _take_with_care(self, reading: Plan, place: str) -> None:
        self.extra.clear()
        self.chosen.clear()
        losers = self._choose(reading)
        self.values = {
            name: slot.parse(self.item[slot.key], name) for name, slot in self.chosen.items()
        }
        for slot in sorted(losers, key=lambda loser: loser.rank):
            self._compare(slot, place)

    def _choose(self, reading: Plan) -> list[Slot]:
        """Fill `chosen` and `extra`; returns the keys that another one outdid."""
        losers: list[Slot] = []
        chosen, extra, slot_of = self.chosen, self.extra, reading.slots.get
        for key, value in self.item.items():
            slot = slot_of(key)
            if slot is None:
                extra[key] = value
            elif (value is None or value == "") and slot.name != "verdict":
                continue
            elif slot.name not in chosen:
                chosen[slot.name] = slot
            else:
                rival = chosen[slot.name]
                winner, loser = (slot, rival) if self._outdoes(slot, rival) else (rival, slot)
                chosen[slot.name] = winner
                losers.append(loser)
        return losers

    def _outdoes(self, slot: Slot, rival: Slot) -> bool:
        """Whether a key wins over another one of the same name.

        Only a verdict can be chosen while it is missing. Its canonical name wins even then:
        a verdict that is there and empty is none, and no alias makes it one.
        """
        if slot.rank and rival.rank:
            missing = is_missing(self.item[slot.key]), is_missing(self.item[rival.key])
            return (missing[0], slot.rank) < (missing[1], rival.rank)
        return slot.rank < rival.rank

    def _compare(self, loser: Slot, place: str) -> None:
        name, value = loser.name, self.item[loser.key]
        if is_missing(value):
            return
        try:
            same = loser.parse(value, name) == self.values[name]
        except Refused:
            same = False
        if same:
            return
        winner = self.chosen[name].key
        detail = f"{place}{winner} {_quote(self.item[winner])} and {loser.key} {_quote(value)}"
        self.notes.append(("alias-conflict", detail))
        self.extra[loser.key] = value

    def give_back(self, names: Iterable[str]) -> None:
        """Keep fields as they were written, because no row has a place for them."""
        for name in names:
            slot = self.chosen.get(name)
            if slot is not None:
                self.extra[slot.key] = self.item[slot.key]


def _nonfinite(item: Mapping[str, Any]) -> Refused:
    for key, value in item.items():
        if _holds_nonfinite(value):
            return bad_value(plan.canonical_name(key, item))
    raise AssertionError("a line was marked as holding NaN or an Infinity and holds none")


def _holds_nonfinite(value: object) -> bool:
    waiting = [value]
    while waiting:
        member = waiting.pop()
        if isinstance(member, float) and not math.isfinite(member):
            return True
        if isinstance(member, dict):
            waiting.extend(member.values())
        elif isinstance(member, list):
            waiting.extend(member)
    return False


def _settle_kind(
    kind: Kind, item: Mapping[str, Any], extra: Row, notes: list[tuple[str, str]]
) -> None:
    extra.pop("kind", None)
    event = extra.get("event")
    said = plan.EVENTS.get(event) if isinstance(event, str) else None
    if is_missing(event) or said is kind:
        extra.pop("event", None)
    elif said is not None:
        notes.append(("alias-conflict", f"kind {_quote(item['kind'])} and event {_quote(event)}"))


def _settle_times(
    values: Row, latest_micros: int, notes: list[tuple[str, str]], place: str
) -> None:
    """Moments to microseconds, with a note on what is odd about them."""
    for name in ("started", "finished"):
        moment: Moment | None = values.get(name)
        if moment is None:
            continue
        values[name] = moment.micros
        if not moment.zoned:
            notes.append(("unlabelled-zone", f"{place}{name} has no zone and is read as UTC"))
        if moment.micros < EARLIEST_MICROS:
            notes.append(("clock-suspect", f"{place}{name} is before the year 2000"))
        elif moment.micros > latest_micros:
            notes.append(("clock-suspect", f"{place}{name} is more than a day ahead"))
    started, finished = values.get("started"), values.get("finished")
    if started is not None and finished is not None and finished < started:
        seconds = (started - finished) / MICROS_PER_SECOND
        notes.append(("clock-suspect", f"{place}finished {seconds:g} s before it started"))


def _settle_environment(taken: _Taken) -> None:
    """Named variables stay in `env`; other keys are kept aside; a text is the variant."""
    env = taken.values.pop("env", None)
    if env is None:
        return
    if isinstance(env, str):
        if "variant" in taken.values:
            taken.extra["env"] = env
        else:
            taken.values["variant"] = env
        return
    named = {key: value for key, value in env.items() if key in fields.ENV_NAMES}
    if named:
        taken.values["env"] = fields.json_text(named, "env")
    if len(named) < len(env):
        taken.extra["env"] = {key: value for key, value in env.items() if key not in named}


def _settle_namespace(values: Row) -> None:
    """A namespace of the form soak-<i>-<who> says what its line leaves out."""
    found = _NAMESPACE.fullmatch(values.get("ns", ""))
    if found:
        values.setdefault("phase", Phase.SOAK.value)
        values.setdefault("round", int(found[1]))
        values.setdefault("role", _NAMESPACE_ROLES[found[2]])


def _settle_verdict(taken: _Taken) -> None:
    """No verdict is the verdict none; a word that is no verdict is kept as it was."""
    verdict = taken.values.setdefault("verdict", Verdict.NONE.value)
    if verdict != Verdict.NONE.value or "verdict" not in taken.chosen:
        return
    key = taken.chosen["verdict"].key
    word = taken.item[key]
    if not is_missing(word) and word != Verdict.NONE.value:
        taken.extra[key] = word


def _execution(taken: _Taken, outcome: str) -> Row:
    """The row of one execution; its object is a test line or says the same."""
    row = taken.values
    row["outcome"] = outcome
    row["failed"] = FAILED[outcome]
    if outcome == Outcome.XPASSED.value and taken.item.get("strict") is True:
        row["failed"] = True
    if any(len(touched) > 3 for touched in taken.item.get("resources") or ()):
        taken.extra["resources"] = taken.item["resources"]
    row["extra"] = _extra_text(taken.extra)
    return row


def _executions(taken: _Taken, latest_micros: int) -> list[Row]:
    """The executions that a verdict line carries: its own test, then its `tests`."""
    values = taken.values
    items = values.pop("tests", ())
    rows: list[Row] = []
    if "test_id" in taken.chosen:
        outcome = {"pass": Outcome.PASSED.value, "fail": Outcome.FAILED.value}.get(
            values.get("verdict", Verdict.NONE.value)
        )
        if outcome is None:
            taken.give_back(plan.EXECUTION_ONLY)
        else:
            own = {name: value for name, value in values.items() if name != "env"}
            rows.append(own | {"outcome": outcome, "failed": FAILED[outcome]})
            if any(len(touched) > 3 for touched in taken.item.get("resources") or ()):
                taken.extra["resources"] = taken.item["resources"]
    for index, item in enumerate(items):
        rows.append(_item_row(taken, item, index, latest_micros))
    return rows


def _item_row(line: _Taken, item: Row, index: int, latest_micros: int) -> Row:
    place = f"tests[{index}]: "
    taken = _Taken(item, plan.ITEM, line.notes, place)
    values = taken.values
    _settle_times(values, latest_micros, line.notes, place)
    _settle_environment(taken)
    env = values.pop("env", None)
    if env is not None:
        taken.extra["env"] = item["env"]
    for name in ("variant", "attempt"):
        if name in line.values:
            values.setdefault(name, line.values[name])
    own, other = line.values.get("run_id"), values.get("run_id")
    if other is not None and other != own:
        line.notes.append(
            ("log-run-mismatch", f"{place}names run {_quote(other)}, its line {_quote(own)}")
        )
        taken.give_back(("run_id",))
    values["run_id"] = own
    return _execution(taken, values["outcome"])


def _extra_text(extra: Row) -> str | None:
    if not extra:
        return None
    try:
        return fields.json_text(extra, "extra")
    except Refused:
        # A literal such as 1e999, which no number column and no JSON text can hold.
        for key, value in extra.items():
            fields.json_text(value, key)
        raise


def _quote(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _QUOTED_CHARACTERS else text[: _QUOTED_CHARACTERS - 1] + "…"
