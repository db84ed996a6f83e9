"""Whether a text is a JSON object that was cut: the beginning of one, and not a whole one."""

from __future__ import annotations

import re

_SPACE = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_CUT_STRING = re.compile(
    r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z'
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_CUT_NUMBER = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:(?<=[0-9])[eE][-+]?[0-9]*+)?)?\Z"
)
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")

_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _COLON, _COMMA_OR_END = range(6)
_CUT, _WRONG = -1, -2


def is_cut_short(text: str) -> bool:
    """Whether `text`, which starts with `{`, could still become an object.

    True when every token so far is right and the input ends before the object does.
    """
    closers: list[str] = []
    expect = _VALUE
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        if at == len(text):
            return True
        mark = text[at]
        if mark == "," and expect == _COMMA_OR_END:
            expect = _KEY if closers[-1] == "}" else _VALUE
        elif mark == ":" and expect == _COLON:
            expect = _VALUE
        elif mark in "]}" and expect in (_COMMA_OR_END, _KEY_OR_END, _VALUE_OR_END):
            if mark != closers.pop():
                return False
            if not closers:
                return False
            expect = _COMMA_OR_END
        elif mark in "[{" and expect in (_VALUE, _VALUE_OR_END):
            closers.append("}" if mark == "{" else "]")
            expect = _KEY_OR_END if mark == "{" else _VALUE_OR_END
        elif expect in (_KEY, _KEY_OR_END, _VALUE, _VALUE_OR_END):
            is_key = expect in (_KEY, _KEY_OR_END)
            at = _string(text, at) if mark == '"' or is_key else _plain(text, at)
            if at < 0:
                return at == _CUT
            expect = _COLON if is_key else _COMMA_OR_END
            continue
        else:
            return False
        at += 1


def _string(text: str, at: int) -> int:
    if whole := _STRING.match(text, at):
        return whole.end()
    return _CUT if _CUT_STRING.match(text, at) else _WRONG


def _plain(text: str, at: int) -> int:
    """The end of a number or a word, or what is wrong with it."""
    if _CUT_NUMBER.match(text, at):
        return _CUT
    for word in _WORDS:
        if text.startswith(word, at):
            return at + len(word)
        if word.startswith(text[at : at + len(word)]):
            return _CUT
    number = _NUMBER.match(text, at)
    return number.end() if number else _WRONG


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
