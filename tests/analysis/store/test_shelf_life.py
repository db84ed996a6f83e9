"""Whatever happens to the files, the index is what reading them afresh would give."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from shelf import BARE, Shelf, fresh, run_line, test_line, text

NAMES = ("one/a.jsonl", "one/b.jsonl", "two/c.jsonl", "two/d.jsonl.gz")
LINES = (
    run_line(1),
    run_line(2, verdict="fail", experiment="E"),
    BARE,
    b'{"kind": "run_start", "run_id": "1", "phase": "soak"}',
    test_line(1, "t::a", phase="soak"),
    test_line(1, "t::b", phase="soak", outcome="failed"),
    b'{"kind": "experiment", "experiment": "H"}',
    b'{"run_id": "3", "verdict": "pass", "started": "2026-01-01", "tests": []}',
    b"not json",
    b"",
)
lines = st.lists(st.sampled_from(LINES), min_size=1, max_size=4)
# What stands after the last newline: nothing, a torn record, a whole one, blanks, junk.
tails = st.sampled_from((b"", b"", b'{"run_id": "4", "verd', run_line(4), b"  ", b"junk"))
names = st.sampled_from(NAMES)


class Files(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="shelf-"))
        self._index = fresh(self.root)
        self.shelf: Shelf = self._index.__enter__()

    @initialize(chosen=names, body=lines)
    def begin(self, chosen: str, body: list[bytes]) -> None:
        self._put(chosen, text(*body))

    def _read(self, name: str) -> bytes:
        data = self.shelf.path(name).read_bytes()
        return gzip.decompress(data) if name.endswith(".gz") else data

    def _put(self, name: str, data: bytes) -> None:
        self.shelf.write(name, gzip.compress(data) if name.endswith(".gz") else data)

    def _there(self) -> list[str]:
        return [name for name in NAMES if self.shelf.path(name).exists()]

    @rule(name=names, body=lines, tail=tails)
    def rewrite(self, name: str, body: list[bytes], tail: bytes) -> None:
        self._put(name, text(*body) + tail)

    @precondition(lambda self: self._there())
    @rule(data=st.data(), body=lines, tail=tails)
    def append(self, data: st.DataObject, body: list[bytes], tail: bytes) -> None:
        name = data.draw(st.sampled_from(self._there()))
        self._put(name, self._read(name) + text(*body) + tail)

    @precondition(lambda self: self._there())
    @rule(data=st.data(), size=st.integers(0, 200))
    def truncate(self, data: st.DataObject, size: int) -> None:
        name = data.draw(st.sampled_from(self._there()))
        self._put(name, self._read(name)[:size])

    @precondition(lambda self: self._there())
    @rule(data=st.data(), to=names)
    def copy(self, data: st.DataObject, to: str) -> None:
        self._put(to, self._read(data.draw(st.sampled_from(self._there()))))

    @precondition(lambda self: self._there())
    @rule(data=st.data(), to=names)
    def move(self, data: st.DataObject, to: str) -> None:
        name = data.draw(st.sampled_from(self._there()))
        content = self._read(name)
        self.shelf.path(name).unlink()
        self._put(to, content)

    @precondition(lambda self: self._there())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.shelf.path(data.draw(st.sampled_from(self._there()))).unlink()

    @rule(some=st.permutations(NAMES), count=st.integers(1, 4), final=st.booleans())
    def ingest(self, some: list[str], count: int, final: bool) -> None:
        self.shelf.take(*some[:count], final=final)

    @rule(name=names, experiment=st.sampled_from(("X", "Y")))
    def name_experiment(self, name: str, experiment: str) -> None:
        self.shelf.take(name, experiment=experiment)

    @rule(final=st.booleans())
    def compare(self, final: bool) -> None:
        self.shelf.take(*NAMES, *self.shelf.known(), final=final)
        self.shelf.agrees_with_the_files(final=final)

    def teardown(self) -> None:
        self.compare(final=False)
        self._index.__exit__(None, None, None)
        shutil.rmtree(self.root)


TestFiles = Files.TestCase
TestFiles.settings = settings(
    max_examples=12,
    stateful_step_count=15,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
