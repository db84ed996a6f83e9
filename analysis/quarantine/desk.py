"""What can be done to the list: each act asks for what its rule asks for, and writes one event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from analysis.attribution.statistics import Count
from analysis.config import Config
from analysis.errors import BadInput
from analysis.quarantine import patterns
from analysis.quarantine.admission import (
    Condition,
    admission,
    failing,
    release,
    renewal,
    unlocked_at,
)
from analysis.quarantine.events import Event, Kind, entry_id, stamp
from analysis.quarantine.evidence import Evidence, clean_runs, evidence_for
from analysis.quarantine.log import append, read_list
from analysis.quarantine.replay import EXCUSING, Entry, QuarantineList
from analysis.quarantine.touch import Change, touched


class NotAdmitted(Exception):
    """The list's rules say no. conditions: all of them, with their figures."""

    def __init__(self, act: str, test_id: str, conditions: Sequence[Condition]) -> None:
        first = failing(conditions)[0]
        super().__init__(f"{act} refused: {first.rule}: {first.figures}.")
        self.act, self.test_id, self.conditions = act, test_id, tuple(conditions)


@dataclass(frozen=True)
class Contract:
    """What an entry would be: its evidence, its conditions, its event if all of them hold."""

    found: Evidence
    conditions: tuple[Condition, ...]
    event: Event

    @property
    def holds(self) -> bool:
        """Whether it may be entered."""
        return not failing(self.conditions)


@dataclass(frozen=True)
class Asked:
    """What a person asks for a test. life: how long; None for the policy's hours."""

    test_id: str
    owner: str = ""
    reason: str = ""
    variant: str | None = None
    experiment: str | None = None
    patch: str | None = None
    life: timedelta | None = None
    fixtures: tuple[str, ...] = ()
    approved_by: str = ""

    def evidence(self, connection: duckdb.DuckDBPyConnection) -> Evidence:
        """What is known of the test. BadInput: no experiment has it."""
        return evidence_for(
            connection,
            self.test_id,
            variant=self.variant,
            experiment=self.experiment,
            patch=self.patch,
        )


@dataclass(frozen=True)
class Desk:
    """Where the list lies, by which rules it is kept, who acts and when."""

    path: Path
    config: Config
    by: str
    at: datetime

    def list_now(self) -> QuarantineList:
        """The list as it is."""
        return read_list(self.path, self.at, self.config)

    @property
    def known_races(self) -> tuple[patterns.Pattern, ...]:
        """The race patterns that stand beside the list."""
        return patterns.read_patterns(self.path.with_name(patterns.FILE_NAME))

    def contract(
        self, connection: duckdb.DuckDBPyConnection, asked: Asked, listed: QuarantineList
    ) -> Contract:
        """What would be entered for a test, and whether it may be."""
        found = asked.evidence(connection)
        unit = found.unit
        entry = listed.of(unit.test_id, unit.variant)
        life = asked.life or timedelta(hours=self.config.policy.quarantine_hours)
        conditions = admission(
            found,
            self.config.policy,
            self.known_races,
            owner=asked.owner,
            reason=asked.reason,
            life=life,
            entry=entry,
        )
        return Contract(found, tuple(conditions), self._opening(found, asked, entry, life))

    def _opening(
        self, found: Evidence, asked: Asked, entry: Entry | None, life: timedelta
    ) -> Event:
        unit = found.unit
        name = entry.name if entry is not None else entry_id(unit.test_id, unit.variant)
        file, colons, _ = unit.test_id.partition("::")
        fields = {
            "owner": asked.owner.strip(),
            "reason": asked.reason.strip(),
            "expires_at": stamp(self.at + life),
            "class": unit.unit_class.value,
            "row": unit.row,
            "experiment": unit.experiment,
            "patch_id": unit.patch_id,
            "patch_digest": found.patch_digest,
            "base_sha": found.base_sha,
            "test_file": file if colons else None,
            "fixtures": sorted({*found.fixtures, *asked.fixtures}),
            "signatures": [one._asdict() for one in sorted(found.signatures)],
            "evidence": found.as_json(),
        }
        return Event(Kind.QUARANTINED, name, unit.test_id, unit.variant, self.at, self.by, fields)

    def add(self, connection: duckdb.DuckDBPyConnection, asked: Asked) -> Contract:
        """Enter a test. NotAdmitted: a rule says no; nothing is written then."""
        made: list[Contract] = []

        def decide(listed: QuarantineList) -> Event:
            contract = self.contract(connection, asked, listed)
            if not contract.holds:
                raise NotAdmitted("quarantine", contract.found.unit.test_id, contract.conditions)
            made.append(contract)
            return contract.event

        append(self.path, self.at, self.config, decide)
        return made[0]

    def renew(self, connection: duckdb.DuckDBPyConnection, asked: Asked) -> Event:
        """Keep a test for longer, on fresh evidence."""

        def decide(listed: QuarantineList) -> Event:
            found = asked.evidence(connection)
            unit = found.unit
            entry = listed.of(unit.test_id, unit.variant)
            life = asked.life or timedelta(hours=self.config.policy.quarantine_hours)
            conditions = renewal(
                entry,
                found,
                self.config.policy,
                self.known_races,
                by=self.by,
                approved_by=asked.approved_by,
                life=life,
            )
            if failing(conditions) or entry is None:
                raise NotAdmitted("renewal", unit.test_id, conditions)
            fields = {
                "expires_at": stamp(self.at + life),
                "experiment": unit.experiment,
                "approved_by": asked.approved_by.strip() or None,
                "signatures": [one._asdict() for one in sorted(found.signatures)],
                "evidence": found.as_json(),
            }
            return self._event(Kind.RENEWED, entry, fields)

        return self._appended(decide)

    def release(
        self, connection: duckdb.DuckDBPyConnection, test_id: str, variant: str | None
    ) -> Event:
        """Let a test go that was unlocked and is proven clean."""

        def decide(listed: QuarantineList) -> Event:
            entry = listed.of(test_id, variant)
            clean = self.clean(connection, entry) if entry is not None else Count(0, 0)
            conditions = release(entry, clean)
            if failing(conditions) or entry is None:
                raise NotAdmitted("release", test_id, conditions)
            return self._event(Kind.RELEASED, entry, {"k": clean.k, "n": clean.n})

        return self._appended(decide)

    @staticmethod
    def clean(connection: duckdb.DuckDBPyConnection, entry: Entry) -> Count:
        """Failures of executed since the code moved."""
        return clean_runs(connection, entry.test_id, entry.variant, unlocked_at(entry))

    def revoke(self, test_id: str, variant: str | None, reason: str) -> Event:
        """Take a test off that should never have been on the list."""
        if not reason.strip():
            raise BadInput("A revocation needs a reason.", "Give --reason.")

        def decide(listed: QuarantineList) -> Event:
            entry = self._entry(listed, test_id, variant)
            conditions = [
                Condition("not revoked yet", entry.state != "revoked", f"it is {entry.state}")
            ]
            if failing(conditions):
                raise NotAdmitted("revocation", test_id, conditions)
            return self._event(Kind.REVOKED, entry, {"reason": reason.strip()})

        return self._appended(decide)

    def note(self, test_id: str, variant: str | None, text: str) -> Event:
        """Write something down about a test, listed or not: a disagreement, for one."""
        if not text.strip():
            raise BadInput("A note needs a text.", "Give --text.")

        def decide(listed: QuarantineList) -> Event:
            entry = listed.of(test_id, variant)
            name = entry.name if entry is not None else entry_id(test_id, variant)
            return Event(
                Kind.NOTED, name, test_id, variant, self.at, self.by, {"text": text.strip()}
            )

        return self._appended(decide)

    def unlock(self, changes: dict[str, Change], moved: dict[str, str]) -> list[tuple[Event, bool]]:
        """Unlock every entry whose test or fixtures a diff touches; the events, and whether the
        diff does nothing but wait. moved: new ids of renamed tests, by the old ones."""
        written = []
        for entry in self.list_now().listed(*EXCUSING):
            touch = touched(entry, changes)
            if touch is None:
                continue
            fields = {
                "paths": list(touch.paths),
                "only_waits": touch.only_waits,
                "moved_to": moved.get(entry.test_id),
            }

            written.append((self._unlocked(entry, fields), touch.only_waits))
        return written

    def _unlocked(self, entry: Entry, fields: dict[str, object]) -> Event:
        def decide(listed: QuarantineList) -> Event:
            now = self._entry(listed, entry.test_id, entry.variant)
            return self._event(Kind.UNLOCKED, now, fields)

        return self._appended(decide)

    def _appended(self, decide: Callable[[QuarantineList], Event]) -> Event:
        made: list[Event] = []

        def remembered(listed: QuarantineList) -> Event:
            made.append(decide(listed))
            return made[-1]

        append(self.path, self.at, self.config, remembered)
        return made[0]

    def _event(self, kind: Kind, entry: Entry, fields: Mapping[str, object]) -> Event:
        known = {name: value for name, value in fields.items() if value is not None}
        return Event(kind, entry.name, entry.test_id, entry.variant, self.at, self.by, known)

    @staticmethod
    def _entry(listed: QuarantineList, test_id: str, variant: str | None) -> Entry:
        entry = listed.of(test_id, variant)
        if entry is None:
            raise BadInput(
                f"{test_id!r} was never on the list.", "`tui quarantine list` prints exact ids."
            )
        return entry
