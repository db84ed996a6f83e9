"""Credentials that slipped into a message or a line are not shown again."""

from __future__ import annotations

import re

MARK = "[redacted]"

_NAMED = re.compile(
    r"""(?ix)
    (\b[\w.-]*(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|credential|private[_-]?key)
    [\w.-]*["']?\s*[:=](?!:)\s*["']?)
    (?!null\b|true\b|false\b)[^\s"',;&}]{4,}
    """
)
_SHAPED = re.compile(
    r"""(?x)
    \bAKIA[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abprs]-[A-Za-z0-9-]{10,}
    | \bsk-[A-Za-z0-9_-]{20,}
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    """
)
_BEARER = re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}")
_IN_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s:/@]+:)[^\s@/]+@")


def redacted(text: str) -> str:
    """`text` with what looks like a password, token or key replaced by [redacted]."""
    text = _SHAPED.sub(MARK, text)
    text = _BEARER.sub(rf"\g<1>{MARK}", text)
    text = _IN_URL.sub(rf"\g<1>{MARK}@", text)
    return _NAMED.sub(rf"\g<1>{MARK}", text)
