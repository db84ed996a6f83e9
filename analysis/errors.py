"""The errors that cross the border: one sentence, one hint, one kind each."""

from __future__ import annotations


class AnalysisError(Exception):
    """Something the person at the terminal can act on.

    message: one sentence that names the file, the field or the value.
    hint: what to do about it; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(AnalysisError):
    """What was given cannot be used: a file that is no log, a wrong key, a bad query."""


class EnvironmentFault(AnalysisError):
    """The machine refused: no permission, disk full, the index is held by another process."""
