"""Oracle: the patch rewrote the golden file it is judged by."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analysis.evidence.rules import Family, ProofRule, Told
from analysis.model import Standing

LABEL = "oracle-update-approved"
"""What the commit of a reviewer says who approves of a changed golden file."""

_CHANGED = """list_filter(list_concat(
        list_transform(proof_list(b, 'changed'), lambda one: CASE WHEN json_type(one) = 'OBJECT'
            THEN coalesce(one ->> '$.to', one ->> '$.path') ELSE one ->> '$' END),
        list_transform(proof_list(b, 'changed'), lambda one: one ->> '$.from')
    ), lambda path: regexp_matches(replace(path, '\\', '/'), r.golden))"""
_MAIL = "lower(coalesce(nullif(regexp_extract({0}, '<([^<>]*)>\\s*$', 1), ''), trim({0})))"
_LABELLING = f"""list_transform(list_filter(proof_list(b, 'label_commits'),
        lambda one: contains(coalesce(one ->> '$.message', ''), '{LABEL}')),
        lambda one: {_MAIL.format("coalesce(one ->> '$.author', '')")})"""
_OWN = _MAIL.format("coalesce(b ->> '$.author', '')")
_APPROVING = f"""list_filter({_LABELLING}, lambda mail: list_contains(r.reviewers, mail)
        AND NOT list_contains(r.bots, mail) AND NOT contains(mail, '[bot]') AND mail <> {_OWN})"""
_SELF = f"""list_filter({_LABELLING}, lambda mail: list_contains(r.bots, mail)
        OR contains(mail, '[bot]') OR mail = {_OWN})"""


def golden_pattern(globs: Sequence[str]) -> str:
    """What a golden file's path matches, as a regular expression that Python and DuckDB share.

    A path with suffix `.golden`, one with a part `__snapshots__`, or one that a glob names: `*`
    and `?` stay in a part, `**` does not; a glob without a slash is held against the name.
    """
    return "|".join([r"\.golden$", r"(^|/)__snapshots__/", *map(_translated, globs)])


def _translated(glob: str) -> str:
    lead = "^" if "/" in glob else "(^|/)"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("/"))
    words = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "": ""}
    return lead + "".join(words.get(part, re.escape(part)) for part in parts) + "$"


def _rule(name: str, condition: str, sentence: str, fooled: str) -> ProofRule:
    told = Told(fooled, "proof.oracle.changed, label_commits, author; [oracle] reviewers, bots")
    changed = f"len({_CHANGED}) > 0 AND len({_APPROVING}) = 0 AND "
    return ProofRule(
        name, Family.ORACLE, Standing.VOID, told, "oracle", changed + condition, sentence
    )


RULES = (
    _rule(
        "golden-unlabelled",
        f"(len({_LABELLING}) = 0 OR len({_SELF}) < len({_LABELLING}))",
        f"""format('changed golden file {{}} without {LABEL} from a configured reviewer',
            list_min({_CHANGED}))""",
        "the patch rewrote the golden file it is judged by",
    ),
    _rule(
        "golden-self-labelled",
        f"len({_LABELLING}) > 0 AND len({_SELF}) = len({_LABELLING})",
        f"""format('changed golden file {{}}, and only its own author or a bot approved',
            list_min({_CHANGED}))""",
        "the author approved of the new golden file",
    ),
)
