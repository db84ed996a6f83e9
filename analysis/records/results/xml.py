"""XML as a stream of elements: bounded, repaired where nothing is invented, never resolving.

Parsed by expat. A document that declares entities is refused; nothing outside the file is read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO, Protocol
from xml.parsers import expat

MAX_DEPTH = 200
MOST_TAG_BYTES = 8 * 1024 * 1024
"""A tag that is longer is no result: its attributes would have to be held whole."""

_CHUNK = 256 * 1024
_DECLARED = re.compile(rb"""^<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ILLEGAL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    "|&#(?:x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2})"
    "|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)
_LONGEST_REFERENCE = 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Handler(Protocol):
    """Takes a document part by part. Names are without their namespace prefix."""

    takes_text: bool

    def start(self, name: str, attributes: dict[str, str], line: int, offset: int) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, text: str) -> None: ...


class Hostile(Exception):
    """The document is not read any further. Its words say why."""


class Walk:
    """What became of a document: damage, why it ended early; repairs: what was mended."""

    def __init__(self) -> None:
        self.damage = ""
        self.repairs: list[str] = []


def walk(stream: BinaryIO, handler: Handler) -> Walk:
    """Give the elements of a document to `handler`, as far as it is well-formed."""
    made = Walk()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise Hostile(f"elements are nested deeper than {MAX_DEPTH}")
        local = name.rpartition(":")[2]
        handler.start(local, attributes, parser.CurrentLineNumber, parser.CurrentByteIndex)
        parser.CharacterDataHandler = handler.text if handler.takes_text else None

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(name.rpartition(":")[2])
        parser.CharacterDataHandler = handler.text if handler.takes_text else None

    def entity(*_: object) -> None:
        raise Hostile("it declares entities, which are never resolved")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    fed = 0
    try:
        for text in _texts(stream, made):
            data = text.encode("utf-8")
            fed += len(data)
            parser.Parse(data, False)
            if fed - parser.CurrentByteIndex > MOST_TAG_BYTES:
                raise Hostile(f"a tag is longer than {MOST_TAG_BYTES // 2**20} MiB")
        parser.Parse(b"", True)
    except Hostile as error:
        made.damage = str(error)
    except expat.ExpatError as error:
        words = expat.ErrorString(error.code) or "not well-formed"
        made.damage = f"{words} in line {error.lineno}"
    return made


def _texts(stream: BinaryIO, made: Walk) -> Iterator[str]:
    """The characters of a document, those that XML does not allow replaced."""
    head = stream.read(_CHUNK)
    encoding = "utf-8"
    for bom, name in _BOMS:
        if head.startswith(bom):
            head, encoding = head[len(bom) :], name
            break
    else:
        declared = _DECLARED.match(head)
        if declared is not None:
            encoding = _known(declared[1].decode("ascii"))
    # Expat is told the encoding that it gets.
    rest = ""
    first = True
    for text in _decoded(stream, head, encoding, made):
        whole = rest + text
        cut = whole.rfind("&", max(0, len(whole) - _LONGEST_REFERENCE))
        rest = whole[cut:] if cut >= 0 else ""
        whole = whole[:cut] if cut >= 0 else whole
        if first:
            whole = re.sub(r"""^(<\?xml[^>]*?)\s+encoding\s*=\s*["'][^"']*["']""", r"\1", whole)
            first = False
        yield _mended(whole, made)
    yield _mended(rest, made)


def _known(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


def _decoded(stream: BinaryIO, head: bytes, encoding: str, made: Walk) -> Iterator[str]:
    strict = codecs.getincrementaldecoder(encoding)("strict")
    lax = codecs.getincrementaldecoder(encoding)("replace")
    broken = False
    chunk = head
    while True:
        final = not chunk
        if not broken:
            before = strict.getstate()
            try:
                yield strict.decode(chunk, final)
            except UnicodeDecodeError:
                broken = True
                made.repairs.append(f"its bytes are not {encoding}, which it says they are")
                lax.setstate(before)
        if broken:
            yield lax.decode(chunk, final)
        if final:
            return
        chunk = stream.read(_CHUNK)


def _mended(text: str, made: Walk) -> str:
    mended, times = _ILLEGAL.subn("\ufffd", text)
    if times and "characters that XML does not allow were replaced" not in made.repairs:
        made.repairs.append("characters that XML does not allow were replaced")
    return mended
