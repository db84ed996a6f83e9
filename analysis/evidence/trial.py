"""One record put before the audit: what would it find?

    from analysis.evidence.trial import faults_of_proof

A gate asks beforehand what the audit asks afterwards, by the same rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from analysis.config import Config
from analysis.evidence.audit import PROOF_RULES, assign_experiments, audit, headers
from analysis.evidence.keys import canonical_json
from analysis.store import query
from analysis.store.index import open_memory
from analysis.store.loader import Ingest, ingest

Fault = tuple[str, str]
"""The name of a rule, and its sentence."""


def faults_of_proof(
    proof: Mapping[str, Any], run: Mapping[str, Any], config: Config | None = None
) -> list[Fault]:
    """What the rules on proofs find in a record that says now what `run` says, with this proof.

    proof: blocks as in a log; run: the run's own values under the names of a log's fields. In the
    order of the rules; [] where all of it holds. Raises BadInput for what no log can say.
    """
    now = datetime.now(UTC)
    record = {"run_id": "now", "finished": now.timestamp(), **run, "proof": dict(proof)}
    line = canonical_json({"kind": "verdict", "verdict": "none", **record})
    with tempfile.TemporaryDirectory() as folder, open_memory() as index:
        log = Path(folder) / "record.jsonl"
        log.write_text(line + "\n", "utf-8")
        ingest(index.connection, [(str(log), log)], Ingest(now, True, None))
        assign_experiments(index.connection)
        names = headers(index.connection)
        audit(index.connection, dict.fromkeys(names, config or Config()))
        found = query.rows(index.connection, "SELECT rule, sentence FROM findings")
    order = [rule.name for rule in PROOF_RULES]
    return sorted(
        ((rule, sentence) for rule, sentence in found if rule in order),
        key=lambda fault: order.index(fault[0]),
    )
