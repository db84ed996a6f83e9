"""Canonical JSON and the keys that are made of it.

    from analysis.evidence.keys import lease_key, review_key

A key is the same for the same inputs, whatever the order in which they are written, and another
one for any other inputs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.errors import BadInput

REVIEW_FIELDS = ("model", "system", "diff_sha256", "files", "prompt", "prompt_version")
COMPLETION_FIELDS = ("prompt_sha256", "model_revision", "image_digest", "fixture_generation")
LEASE_FIELDS = ("repo", "commit", "config_hash")
LEASE_KEY_LENGTH = 16

BLANKS = " \t\n\v\f\r"
"""What is trimmed from a system text."""

SECRET = (
    r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[Bb]earer\s+[A-Za-z0-9+/=._~-]{16,}"
)
"""What looks like a raw credential, in the syntax that Python and DuckDB share."""

_SECRET = re.compile(SECRET)


def canonical_json(value: object) -> str:
    """JSON with sorted keys and without spaces, non-ASCII characters as they are.

    Raises BadInput for NaN and infinities, and for what JSON cannot hold: keys that are no text,
    other types, half of a surrogate pair.
    """
    for member in _members(value):
        if isinstance(member, dict) and not all(isinstance(key, str) for key in member):
            raise BadInput("A key of canonical JSON is a text.")
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"This has no canonical JSON: {error}.") from error
    return text


def _members(value: object) -> Iterator[object]:
    waiting = [value]
    while waiting:
        member = waiting.pop()
        yield member
        if isinstance(member, dict):
            waiting.extend(member.values())
        elif isinstance(member, list | tuple):
            waiting.extend(member)


def arguments_hash(arguments: object) -> str:
    """SHA-256 (hex) of the canonical JSON of a tool's arguments.

    Raises BadInput for non-finite numbers, and for what looks like a raw secret: a hash of it
    would be kept where the secret must not be.
    """
    text = canonical_json(arguments)
    if _SECRET.search(text):
        raise BadInput("The arguments hold what looks like a raw secret.", "Pass a reference.")
    return hashlib.sha256(text.encode()).hexdigest()


def review_key(inputs: Mapping[str, Any]) -> str:
    """The key of a cached review: SHA-256 (hex) over REVIEW_FIELDS.

    The system text is trimmed and the files are sorted before. Raises BadInput where a field is
    missing, unknown or of another type.
    """
    given = _exactly(inputs, REVIEW_FIELDS)
    files = given.pop("files")
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise BadInput("files is a list of paths.")
    texts = _texts(given)
    texts["system"] = texts["system"].strip(BLANKS)
    return _sha256({**texts, "files": sorted(files)})


def completion_key(inputs: Mapping[str, Any]) -> str:
    """The key of a cached completion: SHA-256 (hex) over COMPLETION_FIELDS.

    Raises BadInput where a field is missing, unknown or no text.
    """
    return _sha256(_texts(_exactly(inputs, COMPLETION_FIELDS)))


def lease_key(repo: str, commit: str, config_hash: str) -> str:
    """The key of a lease on work: the first 16 hex digits of SHA-256 of
    `repo:commit:config_hash`. No clock is in it: two workers that see the same work see one key.
    Raises BadInput for a part that is empty."""
    if not (repo and commit and config_hash):
        raise BadInput("A lease key needs repo, commit and config_hash.")
    text = f"{repo}:{commit}:{config_hash}"
    return hashlib.sha256(text.encode()).hexdigest()[:LEASE_KEY_LENGTH]


def _exactly(inputs: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    lacking = [name for name in names if inputs.get(name) is None]
    unknown = sorted(set(inputs) - set(names))
    if lacking or unknown:
        what = f"lacks {', '.join(lacking)}" if lacking else f"has no field {', '.join(unknown)}"
        raise BadInput(f"The key {what}.", f"Its fields are {', '.join(names)}.")
    return dict(inputs)


def _texts(inputs: Mapping[str, Any]) -> dict[str, str]:
    wrong = [name for name, value in inputs.items() if not isinstance(value, str)]
    if wrong:
        raise BadInput(f"The key's {', '.join(wrong)} must be text.")
    return dict(inputs)


def _sha256(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
