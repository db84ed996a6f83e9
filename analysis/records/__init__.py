"""Records: the bytes of a log in, typed batches and rejects out."""

from analysis.records.batch import Batch, Tail
from analysis.records.identity import is_unstable, normal_form
from analysis.records.reader import read
from analysis.records.source import SourceStream, decoded, find_logs, open_source

__all__ = [
    "Batch",
    "SourceStream",
    "Tail",
    "decoded",
    "find_logs",
    "is_unstable",
    "normal_form",
    "open_source",
    "read",
]
