"""Records: the bytes of a log in, typed batches and rejects out."""

from analysis.records.arrays import array_of, numbers
from analysis.records.batch import Batch, Tail
from analysis.records.identity import is_unstable, normal_form
from analysis.records.reader import read
from analysis.records.source import SourceStream, decoded, find_logs, open_source

__all__ = [
    "Batch",
    "SourceStream",
    "Tail",
    "array_of",
    "decoded",
    "find_logs",
    "is_unstable",
    "normal_form",
    "numbers",
    "open_source",
    "read",
]
