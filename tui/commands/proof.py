"""`tui proof`: a gate refuses beforehand what the audit would find afterwards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tui.exit_codes import ExitCode, epilog
from tui.text import safe

STDIN = "-"
_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_NO = "no: refused, with the rule"


@click.group(epilog=epilog(_NO))
def command() -> None:
    """Write proofs and hold them against a run, for gates in any language.

    Each verb prints one line and never retries.
    """


def _answer(allowed: str, faults: Sequence[tuple[str, str]]) -> ExitCode:
    """Print the one line: what holds, or the rules that do not with the first sentence."""
    if not faults:
        click.echo(safe(allowed))
        return ExitCode.YES
    names = ", ".join(dict.fromkeys(rule for rule, _ in faults))
    click.echo(safe(f"refused: {names}: {faults[0][1]}"))
    return ExitCode.NO


def _bytes(path: Path) -> bytes:
    from analysis.evidence.given import bytes_of

    return sys.stdin.buffer.read() if str(path) == STDIN else bytes_of(path)


def _write(path: Path, content: bytes) -> None:
    from analysis.errors import EnvironmentFault
    from analysis.evidence.manifest import write_whole

    try:
        write_whole(path, content)
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be written: {error.strerror}.") from error


@command.command(epilog=epilog())
@click.argument("content", type=_FILE)
@click.argument("envelope", type=_FILE)
def seal(content: Path, envelope: Path) -> ExitCode:
    """Put CONTENT (a file, or - for standard input) into the file ENVELOPE."""
    from analysis.evidence import envelope as format_

    sealed = format_.seal(_bytes(content))
    _write(envelope, sealed)
    return _answer(f"sealed: {envelope} ({len(sealed)} bytes)", [])


@command.command("open", epilog=epilog(_NO))
@click.argument("envelope", type=_FILE)
@click.argument("content", type=_FILE, required=False)
def open_(envelope: Path, content: Path | None) -> ExitCode:
    """Say whether ENVELOPE (a file or -) is whole, and write what is in it to CONTENT."""
    from analysis.evidence.envelope import unseal
    from analysis.evidence.refusal import Refusal

    try:
        found = unseal(_bytes(envelope))
    except Refusal as refusal:
        return _answer("", [(refusal.rule, refusal.sentence)])
    if content is not None:
        _write(content, found)
    return _answer(f"whole: {len(found)} bytes", [])


@command.command(epilog=epilog(_NO))
@click.argument("target", type=_FILE)
@click.option("--write", "body", type=_FILE, metavar="BODY", help="Write BODY (a file or -).")
@click.option("--patch", "patch_id", metavar="ID", help="The patch it is evidence for.")
def manifest(target: Path, body: Path | None, patch_id: str | None) -> ExitCode:
    """Verify the manifest TARGET, or with --write write evidence to TARGET, its manifest last."""
    from analysis.evidence.manifest import faults_of, write_evidence

    if body is None:
        faults = faults_of(target.parent, target.name)
        return _answer(f"holds: {target}", faults)
    if not patch_id:
        raise click.UsageError("--write needs --patch.")
    written = write_evidence(_bytes(body), target, patch_id)
    return _answer(f"written: {written.path} ({written.bytes} bytes, {written.sha256})", [])


def _bound(function: Any) -> Any:
    """The values that bind a receipt to a run."""
    for option in reversed(
        (
            click.option("--diff", type=_FILE, required=True, help="The diff."),
            click.option("--prompt", type=_FILE, required=True, help="The prompt."),
            click.option("--model", "model_id", required=True, metavar="ID", help="The model."),
            click.option("--generation", required=True, metavar="G", help="The workspace's."),
            click.option(
                "--image", metavar="DIGEST", help="Of the runtime that applies the patch."
            ),
        )
    ):
        function = option(function)
    return function


@command.command(epilog=epilog())
@click.argument("target", type=_FILE)
@_bound
@click.option("--verdict", required=True, help="What was said: pass or fail.")
@click.option("--reason", "reasons", multiple=True, required=True, help="Why; may be repeated.")
@click.option("--verifier", required=True, metavar="NAME", help="Who said so.")
@click.option("--artifact", type=_FILE, help="What was made.")
@click.option("--log", type=_FILE, help="The log of it.")
def receipt(
    target: Path,
    diff: Path,
    prompt: Path,
    model_id: str,
    generation: str,
    image: str | None,
    verdict: str,
    reasons: tuple[str, ...],
    verifier: str,
    artifact: Path | None,
    log: Path | None,
) -> ExitCode:
    """Write the receipt TARGET: an approval that is bound to diff, prompt, model and workspace."""
    from datetime import UTC, datetime

    from analysis.evidence.given import sha256_of
    from analysis.evidence.keys import canonical_json

    said = {
        "diff_sha256": sha256_of(diff),
        "prompt_sha256": sha256_of(prompt),
        "model_id": model_id,
        "workspace_generation": generation,
        "image_digest": image,
        "verdict": verdict,
        "reasons": list(reasons),
        "artifact_sha256": None if artifact is None else sha256_of(artifact),
        "log_sha256": None if log is None else sha256_of(log),
        "verifier": verifier,
        "checked_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    text = canonical_json({name: value for name, value in said.items() if value is not None})
    _write(target, text.encode() + b"\n")
    return _answer(f"written: {target}", [])


@command.command(epilog=epilog(_NO))
@click.argument("receipt", type=_FILE)
@_bound
def verify(
    receipt: Path, diff: Path, prompt: Path, model_id: str, generation: str, image: str | None
) -> ExitCode:
    """Hold RECEIPT against diff, prompt, model and workspace; prints the fields that differ."""
    from analysis.errors import BadInput
    from analysis.evidence.given import object_in, sha256_of
    from analysis.evidence.trial import faults_of_proof

    run = {
        "verdict": "pass",
        "patch_digest": sha256_of(diff),
        "prompt_sha256": sha256_of(prompt),
        "model_id": model_id,
        "workspace_generation": generation,
        "image_digest": image,
    }
    if not receipt.exists():
        return _answer("", [("receipt-missing", f"{receipt} is not there")])
    try:
        said = object_in(receipt)
    except BadInput as error:
        return _answer("", [("receipt-unreadable", error.message)])
    return _answer(f"holds: {receipt}", faults_of_proof({"receipt": said}, run))


@command.command(epilog=epilog(_NO))
@click.argument("grant", type=_FILE)
@click.argument("route", type=_FILE)
@click.option("--used", type=_FOLDER, metavar="DIR", help="Remembers grants; else beside GRANT.")
def grant(grant: Path, route: Path, used: Path | None) -> ExitCode:
    """Hold the grant in the file GRANT against the file ROUTE: allow it, once, or say why not."""
    from analysis.config import load_config
    from analysis.evidence.claims import claim
    from analysis.evidence.given import object_in
    from analysis.evidence.trial import faults_of_proof

    given, taken = object_in(grant), object_in(route)
    proof = {"grant": given, "route": taken}
    faults = faults_of_proof(proof, {}, load_config(Path.cwd()))[:1]
    if not faults and not claim(given, used or grant.parent):
        faults = [("grant-reused", "the grant was used before")]
    return _answer(f"allowed: {taken['tool']}, once" if not faults else "", faults)


@command.command(epilog=epilog())
@click.argument("kind", type=click.Choice(["review", "completion", "lease", "arguments"]))
@click.argument("inputs", type=_FILE)
def key(kind: str, inputs: Path) -> ExitCode:
    """Print the key of the JSON in the file INPUTS (or -)."""
    import json

    from analysis.errors import BadInput
    from analysis.evidence import keys

    try:
        said = json.loads(_bytes(inputs))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{inputs} is no JSON.") from error
    if kind == "arguments":
        return _answer(keys.arguments_hash(said), [])
    if not isinstance(said, dict):
        raise BadInput(f"{inputs} is no JSON object.")
    if kind == "lease":
        parts = [said.get(name) for name in keys.LEASE_FIELDS]
        if not all(isinstance(part, str) for part in parts):
            raise BadInput(f"{inputs} lacks one of {', '.join(keys.LEASE_FIELDS)}.")
        return _answer(keys.lease_key(*map(str, parts)), [])
    make = keys.review_key if kind == "review" else keys.completion_key
    return _answer(make(said), [])


@command.command(epilog=epilog(_NO))
@click.option("--base", required=True, metavar="REV", help="Where the patch begins.")
@click.option("--repository", type=_FOLDER, default=Path(), metavar="DIR")
def oracle(base: str, repository: Path) -> ExitCode:
    """Say whether the commits since --base change a golden file that no reviewer approved."""
    from analysis.config import load_config
    from analysis.evidence.changes import oracle_block
    from analysis.evidence.trial import faults_of_proof

    block = oracle_block(repository, base)
    faults = faults_of_proof({"oracle": block}, {}, load_config(repository))
    return _answer(f"holds: {len(block['changed'])} changed files", faults)


@command.command(epilog=epilog(_NO))
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.option("--generation", required=True, metavar="G", help="Of the disk.")
@click.option("--attempt", required=True, metavar="N", help="That the disk was made for.")
@click.option("--state", type=_FILE, help="Remembers generations; otherwise a file in DIR.")
def workspace(folder: Path, generation: str, attempt: str, state: Path | None) -> ExitCode:
    """Say whether an attempt may run in DIR: fresh, clean, locked; remembers it for next time."""
    from analysis.evidence.disk import admit

    return _answer(f"fresh: {folder}", admit(folder, generation, attempt, state))


@command.command(epilog=epilog(_NO))
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.option("--floor", type=click.FloatRange(0), default=2048, metavar="MIB", show_default=True)
@click.option("--budget", type=click.FloatRange(0), default=512, metavar="MIB", show_default=True)
def preflight(folder: Path, floor: float, budget: float) -> ExitCode:
    """Measure DIR before a batch: free space, what its files take, a write that is read back."""
    from analysis.evidence import preflight as disk

    found = disk.preflight(folder, floor, budget)
    probe = "failed" if found.probe_s is None else f"{found.probe_s * 1000:.0f} ms"
    figures = (
        f"free {found.free_mib:.0f} MiB (floor {floor:.0f}), files {found.used_mib:.1f} MiB "
        f"(budget {budget:.0f}), probe {probe}"
    )
    return _answer(f"ready: {figures}", [(name, figures) for name in found.refusals])


@command.command(epilog=epilog(_NO))
@click.argument("collected", type=_FILE)
@click.option("--inventory", "file", type=_FILE, metavar="FILE", help="Else the configured one.")
@click.option("--write", is_flag=True, help="Pin what was collected.")
def inventory(collected: Path, file: Path | None, write: bool) -> ExitCode:
    """Hold what a runner COLLECTED (a list of ids, a file or -) against the inventory."""
    from analysis.config import listed_ids, load_config, read_inventory
    from analysis.errors import BadInput
    from analysis.evidence.pinning import compare

    target = file or load_config(Path.cwd()).inventory_file
    if target is None:
        raise BadInput("No inventory is configured.", "Name one with --inventory FILE.")
    try:
        ids = listed_ids(_bytes(collected).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{collected} is not UTF-8 at byte {error.start}.") from error
    if write:
        if not ids:
            return _answer("", [("no-tests-collected", f"{collected} lists no test to pin")])
        _write(target, "".join(f"{one}\n" for one in sorted(ids)).encode())
        return _answer(f"written: {target} ({len(ids)} tests)", [])
    found = compare(read_inventory(target, Path("--inventory")), ids)
    grown = f", {len(found.grown)} new" if found.grown else ""
    missing = found.missing
    sentence = f"{len(missing)} tests missing, e.g. {missing[0]}{grown}" if missing else ""
    faults = [("inventory-missing", sentence)] if missing else []
    return _answer(f"holds: {found.pinned} pinned{grown}", faults)
