"""An envelope that can prove that it is whole: `MC1 <bytes> <sha256>`, a newline, the body.

    from analysis.evidence.envelope import seal, unseal

bytes and sha256 are of the body, which ends in a line END. Whatever is cut off or changed, in the
header or in the body, is refused.
"""

from __future__ import annotations

import hashlib
import re

from analysis.evidence.refusal import Refusal

_HEADER = re.compile(rb"MC1 (0|[1-9][0-9]{0,18}) ([0-9a-f]{64})\n")
_END = b"\nEND\n"


def seal(content: bytes) -> bytes:
    """`content` in an envelope."""
    body = content + _END
    return b"MC1 %d %s\n" % (len(body), hashlib.sha256(body).hexdigest().encode()) + body


def unseal(envelope: bytes) -> bytes:
    """What was sealed. Raises Refusal, with the rule on responses that it breaks."""
    if not envelope:
        raise Refusal("response-empty", "the envelope is empty")
    header = _HEADER.match(envelope)
    if header is None:
        raise Refusal("response-truncated", "it does not begin with a whole MC1 header")
    body = envelope[header.end() :]
    if len(body) != int(header[1]):
        raise Refusal("response-truncated", f"its body has {len(body)} bytes, not {int(header[1])}")
    if hashlib.sha256(body).hexdigest().encode() != header[2]:
        raise Refusal("response-digest-mismatch", "its body is not the one that was sealed")
    if not body.endswith(_END):
        raise Refusal("response-sentinel-missing", "its body does not end in a line END")
    return body[: -len(_END)]
