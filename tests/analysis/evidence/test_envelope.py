"""Envelopes: whole, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.envelope import seal, unseal
from analysis.evidence.refusal import Refusal


@given(st.binary(max_size=200))
def test_what_was_sealed_is_what_is_found(content: bytes) -> None:
    assert unseal(seal(content)) == content


@given(st.binary(max_size=60))
def test_every_truncation_is_refused(content: bytes) -> None:
    envelope = seal(content)
    for length in range(len(envelope)):
        with pytest.raises(Refusal):
            unseal(envelope[:length])


@given(st.binary(max_size=60), st.integers(1, 255))
def test_every_changed_byte_is_refused(content: bytes, mask: int) -> None:
    envelope = seal(content)
    for place in range(len(envelope)):
        changed = bytearray(envelope)
        changed[place] ^= mask
        with pytest.raises(Refusal):
            unseal(bytes(changed))


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=8))
def test_what_is_appended_or_prepended_is_refused(content: bytes, more: bytes) -> None:
    for envelope in (seal(content) + more, more + seal(content)):
        with pytest.raises(Refusal):
            unseal(envelope)


@pytest.mark.parametrize(
    ("envelope", "rule"),
    [
        (b"", "response-empty"),
        (b"<html>", "response-truncated"),
        (seal(b"x")[:-1], "response-truncated"),
        (seal(b"x").replace(b"\nx\n", b"\ny\n"), "response-digest-mismatch"),
    ],
)
def test_a_refusal_names_its_rule(envelope: bytes, rule: str) -> None:
    with pytest.raises(Refusal) as refused:
        unseal(envelope)
    assert refused.value.rule == rule


def test_a_body_without_its_last_line_is_refused_whatever_its_header_says() -> None:
    import hashlib

    body = b"no end"
    header = b"MC1 %d %s\n" % (len(body), hashlib.sha256(body).hexdigest().encode())
    with pytest.raises(Refusal, match="response-sentinel-missing"):
        unseal(header + body)
