"""Where bytes come from: plain, gzip, zstd, damaged, missing."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tracemalloc
from contextlib import contextmanager

import pytest
import zstandard

from analysis.errors import BadInput, EnvironmentFault
from analysis.records import decoded, find_logs, open_source

NOISE = random.Random(7)
LINES = [
    json.dumps({"run": number, "verdict": "pass", "x": NOISE.random()}).encode() + b"\n"
    for number in range(4000)
]
DATA = b"".join(LINES)


def zst(data):
    return zstandard.ZstdCompressor().compress(data)


def drain(packed, size=1000):
    stream = decoded(io.BytesIO(packed))
    data = b"".join(iter(lambda: stream.read(size), b""))
    return data, stream.damage


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zst])
def test_every_form_gives_the_same_bytes(tmp_path, pack):
    path = tmp_path / "any-name"
    path.write_bytes(pack(DATA))
    with open_source(path) as stream:
        assert stream.read() == DATA
        assert stream.damage == ""
        assert stream.tell() == len(DATA)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zst])
@pytest.mark.parametrize("data", [b"", b"x", b"abc", DATA])
def test_short_sources_are_read_too(pack, data):
    assert drain(pack(data)) == (data, "")


@pytest.mark.parametrize("pack", [gzip.compress, zst])
def test_members_one_after_the_other_are_one_source(pack):
    packed = pack(DATA[:100]) + pack(b"") + pack(DATA[100:])
    assert drain(packed) == (DATA, "")
    assert drain(packed + b"\0" * 512) == (DATA, "")


@pytest.mark.parametrize("pack", [gzip.compress, zst])
def test_small_input_that_stands_for_much_is_given_in_bounded_pieces(pack):
    packed = pack(bytes(200_000_000))
    tracemalloc.start()
    try:
        stream = decoded(io.BytesIO(packed))
        total = sum(map(len, iter(lambda: stream.read(1 << 20), b"")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total == 200_000_000
    assert stream.damage == ""
    assert peak < 100_000_000


@pytest.mark.parametrize("pack", [gzip.compress, zst])
def test_a_cut_source_loses_no_whole_line_before_the_cut(read_all, pack):
    first, second = pack(DATA), pack(DATA)
    for cut in (1, 5, 20, len(second) // 2, len(second) - 1):
        packed = first + second[:cut]
        stream = decoded(io.BytesIO(packed))
        reading = read_all(b"", stream=stream, final=True)
        assert stream.damage
        assert reading.counts[1] >= len(LINES)
        assert len(reading.rejects) <= 1
        assert all(reason == "truncated" for reason in reading.reasons)


def test_a_cut_gzip_gives_all_that_its_bytes_hold():
    packed = gzip.compress(DATA)
    data, damage = drain(packed[:-4])
    assert data == DATA
    assert damage


@pytest.mark.parametrize("final", [True, False])
def test_what_follows_the_last_newline_of_a_damaged_source_is_torn(read_all, final):
    packed = gzip.compress(LINES[0] + b'{"verdict":"pass"}')[:-4]
    reading = read_all(b"", stream=decoded(io.BytesIO(packed)), final=final)
    assert reading.counts == ((2, 1, 1, 0, 0) if final else (2, 1, 0, 0, 1))
    assert reading.reasons == (["truncated"] if final else [])
    assert reading.end_offset == len(LINES[0])


def test_a_wrong_checksum_loses_nothing():
    packed = bytearray(gzip.compress(DATA))
    packed[-6] ^= 1
    data, damage = drain(bytes(packed))
    assert data == DATA
    assert damage


@pytest.mark.parametrize("pack", [gzip.compress, zst])
def test_a_flipped_byte_never_raises_and_what_it_gives_is_a_beginning(pack):
    data = DATA[:20_000]
    packed = pack(data)
    for at in range(4, len(packed), 97):
        flipped = bytearray(packed)
        flipped[at] ^= 0x40
        given, damage = drain(bytes(flipped))
        assert damage or given == data or len(given) > 0


@pytest.mark.parametrize("pack", [gzip.compress, zst])
def test_a_damaged_member_costs_nothing_of_the_members_before(pack):
    packed = pack(DATA) + pack(DATA)[:4] + b"\xff" * 500
    data, damage = drain(packed)
    assert data.startswith(DATA)
    assert damage


def test_rubbish_after_the_end_is_a_damage_and_costs_nothing():
    assert drain(gzip.compress(DATA) + b"rubbish") == (DATA, "the compressed data is damaged")


def test_skipping_goes_to_a_byte_of_the_content(tmp_path):
    path = tmp_path / "soak.jsonl.gz"
    path.write_bytes(gzip.compress(DATA))
    with open_source(path) as stream:
        assert stream.skip(1000) == 1000
        assert stream.read(50) == DATA[1000:1050]
        assert stream.skip(10**9) == len(DATA) - 1050


def test_a_stream_that_gives_little_at_a_time_is_recognised():
    class Drip(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    stream = decoded(Drip(gzip.compress(b"drop by drop")))
    assert stream.read() == b"drop by drop"


def test_a_file_gives_itself_and_a_directory_its_logs(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.jsonl.zst", "d.json", "e.jsonl.bak"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "f.jsonl").mkdir()
    (tmp_path / "f.jsonl" / "deep.jsonl").write_bytes(b"")
    found = find_logs(tmp_path)
    assert [path.name for path in found] == ["a.jsonl.gz", "b.jsonl", "c.jsonl.zst"]
    assert find_logs(tmp_path / "d.json") == [tmp_path / "d.json"]


@pytest.mark.parametrize("name", ["gone.jsonl", "file/inside.jsonl", "with\0nul"])
def test_a_missing_path_is_named(tmp_path, name):
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / name
    with pytest.raises(BadInput) as missing:
        find_logs(path)
    assert name.split("\0")[0] in missing.value.message
    with pytest.raises(BadInput), open_source(path):
        pass


def test_a_directory_without_logs_is_named(tmp_path):
    with pytest.raises(BadInput) as empty:
        find_logs(tmp_path)
    assert str(tmp_path) in empty.value.message
    with pytest.raises(BadInput) as directory, open_source(tmp_path):
        pass
    assert str(tmp_path) in directory.value.message


@contextmanager
def unprivileged():
    """The code inside runs as a user whom file permissions bind."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_no_permission_is_the_machines_fault_and_names_the_file(tmp_path):
    path = tmp_path / "soak.jsonl"
    path.write_bytes(DATA)
    path.chmod(0)
    with unprivileged(), pytest.raises(EnvironmentFault) as refused, open_source(path):
        pass
    assert str(path) in refused.value.message


def test_a_directory_without_permission_is_the_machines_fault(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with unprivileged(), pytest.raises(EnvironmentFault) as refused:
        find_logs(closed)
    assert str(closed) in refused.value.message


@pytest.mark.parametrize("size", range(256 * 1024 - 2, 256 * 1024 + 3))
def test_a_member_that_ends_anywhere_is_followed_by_the_next(size):
    packed = gzip.compress(b"a" * size) + gzip.compress(b"b" * 10)
    with decoded(io.BytesIO(packed)) as stream:
        assert stream.read() == b"a" * size + b"b" * 10
    assert stream.damage == ""
