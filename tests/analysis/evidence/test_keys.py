"""Canonical JSON and keys: the same for the same inputs, another for any other."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib import resources
from typing import Any

import duckdb
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput
from analysis.evidence.audit import _spell_numbers
from analysis.evidence.cache import _KEY
from analysis.evidence.grant import ARGUMENTS_HASH
from analysis.evidence.keys import (
    COMPLETION_FIELDS,
    REVIEW_FIELDS,
    arguments_hash,
    canonical_json,
    completion_key,
    lease_key,
    review_key,
)
from analysis.store import query
from analysis.store.index import open_memory

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
REVIEWS = st.fixed_dictionaries(
    {name: st.lists(TEXT, max_size=3) if name == "files" else TEXT for name in REVIEW_FIELDS}
)
COMPLETIONS = st.fixed_dictionaries(dict.fromkeys(COMPLETION_FIELDS, TEXT))


def turned(value: Any) -> Any:
    """The same value with the keys of every object in the other order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(member) for member in value] if isinstance(value, list) else value


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    assert canonical_json(value) == canonical_json(turned(value))


@given(VALUES)
def test_canonical_json_says_what_was_said(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
    assert json.loads(text) == value


@given(VALUES, VALUES)
def test_other_values_have_other_canonical_json(one: Any, other: Any) -> None:
    # JSON tells 1, 1.0 and true apart, Python does not.
    assume(repr(turned(turned(one))) != repr(turned(turned(other))))
    assume(json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True))
    assert canonical_json(one) != canonical_json(other)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": {1: 2}}, {1}, "\ud800"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(BadInput):
        canonical_json(value)


@pytest.mark.parametrize(
    "secret", ["ghp_" + "a1" * 12, "AKIA" + "A" * 16, "Bearer " + "x" * 20, "sk-" + "a" * 24]
)
def test_a_raw_secret_is_not_hashed(secret: str) -> None:
    with pytest.raises(BadInput, match="secret"):
        arguments_hash({"headers": [secret]})
    assert len(arguments_hash({"headers": ["$TOKEN"]})) == 64


@given(REVIEWS)
def test_a_review_key_ignores_the_order_of_keys_and_files_and_blanks_around(
    inputs: dict[str, Any],
) -> None:
    again = {**turned(inputs), "files": inputs["files"][::-1]}
    again["system"] = f"\n {inputs['system']}\t"
    assert review_key(inputs) == review_key(again)


@given(REVIEWS, st.sampled_from(REVIEW_FIELDS))
def test_every_field_is_in_a_review_key(inputs: dict[str, Any], name: str) -> None:
    other = [*inputs["files"], "more"] if name == "files" else inputs[name] + "x"
    assert review_key(inputs) != review_key({**inputs, name: other})


@given(COMPLETIONS, st.sampled_from(COMPLETION_FIELDS))
def test_every_field_is_in_a_completion_key(inputs: dict[str, Any], name: str) -> None:
    assert completion_key(inputs) == completion_key(turned(inputs))
    assert completion_key(inputs) != completion_key({**inputs, name: inputs[name] + " "})


def test_a_key_has_its_fields_and_no_others() -> None:
    inputs = dict.fromkeys(COMPLETION_FIELDS, "x")
    for wrong in ({**inputs, "more": "x"}, {**inputs, COMPLETION_FIELDS[0]: None}, {}):
        with pytest.raises(BadInput):
            completion_key(wrong)
    with pytest.raises(BadInput):
        completion_key({**inputs, COMPLETION_FIELDS[0]: 1})


def test_a_lease_key_is_made_of_the_work_alone() -> None:
    assert lease_key("r", "c", "h") == sha256(b"r:c:h").hexdigest()[:16]
    assert len({lease_key("r", "c", "h"), lease_key("r", "c", "i"), lease_key("r", "d", "h")}) == 3
    with pytest.raises(BadInput):
        lease_key("r", "", "h")


@settings(max_examples=50, deadline=None)
@given(REVIEWS | COMPLETIONS)
def test_the_audit_computes_the_same_keys(inputs: dict[str, Any]) -> None:
    macros = resources.files("analysis.evidence").joinpath("macros.sql").read_text("utf-8")
    with duckdb.connect() as connection:
        connection.execute(macros)
        found = connection.execute(
            f"SELECT {_KEY} FROM (SELECT $block::JSON AS b)",
            {"block": canonical_json({"inputs": inputs})},
        ).fetchone()
    make = review_key if "files" in inputs else completion_key
    assert found == (make(inputs),)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=3))
@example({"a": [1e16, 1.5e-07, 1.0, -0.0, "\x0f\\\\u000F", 10**25]})
def test_the_audit_computes_the_same_hash_of_arguments(arguments: dict[str, Any]) -> None:
    text = canonical_json(arguments)
    with open_memory() as index:
        connection = index.connection
        query.script(
            connection, resources.files("analysis.evidence").joinpath("macros.sql").read_text()
        )
        query.write(
            connection,
            "CREATE TEMP TABLE proved AS SELECT $proof::JSON AS proof",
            {"proof": f'{{"grant": {{}}, "route": {{"args": {text}}}}}'},
        )
        _spell_numbers(connection)
        ((found,),) = query.rows(connection, f"SELECT {ARGUMENTS_HASH} FROM proved r")
    assert found == sha256(text.encode()).hexdigest()
