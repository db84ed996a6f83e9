"""The columns of a record batch: what a reader hands to the store.

Every reader, whatever its speed, produces these tables; `store/schema.sql` has the
same columns plus `source_id`. `line` counts from 1, `byte_offset` is the position of the
line's first byte in the (decompressed) source. `line_hash` is 64 bits of the line's bytes
without its line ending; of a `test` line it is 64 bits of what the line says of its run, and
what it says of the execution stands in its row. Times are UTC in microseconds without a zone.
"""

from __future__ import annotations

import pyarrow as pa

_POSITION = [("line", pa.int64()), ("byte_offset", pa.int64()), ("line_hash", pa.int64())]
_TIME = pa.timestamp("us")
_WORD = pa.dictionary(pa.int32(), pa.string())
_RESOURCE = pa.struct([("kind", pa.string()), ("id", pa.string()), ("op", pa.string())])

CONTEXT_TEXT = (
    "experiment",
    "patch_id",
    "patch_digest",
    "base_sha",
    "role",
    "variant",
    "phase",
    "ns",
    "ns_root",
    "isolation",
    "runner",
    "image_digest",
    "worker",
    "order",
    "command",
    "model_id",
    "prompt_sha256",
    "workspace_generation",
    "runner_digest",
    "seed",
    "source",
)
CONTEXT_INTEGER = (
    "round",
    "attempt",
    "concurrency",
    "cpu_load",
    "cpus",
    "rng_seed",
    "order_seed",
)
CONTEXT_FLOAT = ("switch_interval",)
CONTEXT_BOOLEAN = ("merged",)
CONTEXT_JSON = ("env",)
CONTEXT = CONTEXT_TEXT + CONTEXT_INTEGER + CONTEXT_FLOAT + CONTEXT_BOOLEAN + CONTEXT_JSON

COUNTS = (
    "exit_code",
    "collected",
    "passed",
    "failed",
    "errors",
    "skipped",
    "inventory_missing",
    "steps",
)

_CONTEXT_FIELDS = (
    [(name, pa.string()) for name in CONTEXT_TEXT]
    + [(name, pa.int64()) for name in CONTEXT_INTEGER]
    + [(name, pa.float64()) for name in CONTEXT_FLOAT]
    + [(name, pa.bool_()) for name in CONTEXT_BOOLEAN]
    + [(name, pa.string()) for name in CONTEXT_JSON]
)

RUN_LINES = pa.schema(
    [
        *_POSITION,
        ("kind", pa.string()),
        ("run_id", pa.string()),
        *_CONTEXT_FIELDS,
        *[(name, pa.int64()) for name in COUNTS],
        ("verdict", pa.string()),
        ("complete", pa.bool_()),
        ("started", _TIME),
        ("finished", _TIME),
        ("timed_out", pa.bool_()),
        ("crashed", pa.bool_()),
        ("host", pa.string()),
        ("proof", pa.string()),
        ("extra", pa.string()),
    ]
)
"""One row a run_start, run_end or verdict line, and one row (kind `test`) for each
context that `test` lines of a run carry and no earlier row of the batch had."""

TEST_LINES = pa.schema(
    [
        *_POSITION,
        ("item", pa.int32()),
        ("run_id", _WORD),
        ("test_id", _WORD),
        ("test_norm", _WORD),
        ("unstable_id", pa.bool_()),
        ("variant", _WORD),
        ("attempt", pa.int64()),
        ("iteration", pa.int64()),
        ("outcome", _WORD),
        ("failed", pa.bool_()),
        ("started", _TIME),
        ("finished", _TIME),
        ("duration_s", pa.float64()),
        ("log", pa.string()),
        ("exc", pa.string()),
        ("errno", pa.string()),
        ("message", pa.string()),
        ("where", pa.string()),
        ("before", pa.list_(pa.string())),
        ("resources", pa.list_(_RESOURCE)),
        ("extra", pa.string()),
    ]
)
"""One row an execution: a `test` line (item 0) or an item of a verdict line's `tests`.
`failed` is null where the test was not executed (skipped, xfailed)."""

EXPERIMENT_LINES = pa.schema(
    [
        *_POSITION,
        ("experiment", pa.string()),
        ("canaries", pa.string()),
        ("inventory", pa.list_(pa.string())),
        ("policy", pa.string()),
        ("extra", pa.string()),
    ]
)

REJECTS = pa.schema(
    [
        ("line", pa.int64()),
        ("byte_offset", pa.int64()),
        ("reason", pa.string()),
        ("length", pa.int64()),
        ("raw", pa.binary()),
    ]
)
"""`length` is the line's size in bytes; `raw` its bytes, all of them except for `too-long`."""

NOTES = pa.schema(
    [
        ("line", pa.int64()),
        ("byte_offset", pa.int64()),
        ("run_id", pa.string()),
        ("rule", pa.string()),
        ("detail", pa.string()),
    ]
)
"""What a good line has that a reader should know: alias-conflict, unlabelled-zone,
clock-suspect, log-run-mismatch."""
