"""What looks like a credential is not shown again; everything else is."""

from __future__ import annotations

import pytest

from analysis.queries.redaction import MARK, redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"password": "hunter22", "a": 1}', "hunter22"),
        ("DB_PASSWORD=correct-horse", "correct-horse"),
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("postgres://user:pa55word@db/x", "pa55word"),
        ("api_key: 0123456789abcdef", "0123456789abcdef"),
        ("key AKIAABCDEFGHIJKLMNOP in use", "AKIAABCDEFGHIJKLMNOP"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ],
)
def test_a_credential_is_replaced(text: str, secret: str) -> None:
    assert secret not in redacted(text)
    assert MARK in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"tokens": 5}',
        "tests/test_tokens.py::test_token_expiry failed",
        "expected token: null",
        "[Errno 98] Address already in use: ('127.0.0.1', 26411)",
        "https://example.org/path?page=2",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redacted(text) == text
