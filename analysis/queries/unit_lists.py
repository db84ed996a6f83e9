"""The units of experiments as lists that can be paged: their SQL, what they sort by, what a filter
can ask."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.attribution.cause import NO_FAILURE
from analysis.attribution.table import TABLE
from analysis.queries.paging import Column, Listing

ROWS = tuple(row.name for row in TABLE)
"""The rows of the decision table, in its order."""

_UNITS = """
SELECT u.experiment, u.patch_id, u.test_id, u.variant, u.judgement, j.class, j.class_rank, j."row",
    j.cause, j.p, j.failures, j.company_k, j.company_n, j.alone_k, j.alone_n, j.form
FROM units u
JOIN (
    SELECT *, json_extract_string(detail, '$.form') AS form FROM judgements
    WHERE list_contains($experiments, experiment)
) j USING (experiment, judgement)
WHERE list_contains($experiments, u.experiment)
"""

_FIELDS = {
    "class": "class",
    "row": '"row"',
    "patch": "patch_id",
    "test": "test_id",
    "soak": "experiment",
    "file": "split_part(test_id, '::', 1)",
    "signature": "form",
}
_TEXT = ("class", "patch_id", "test_id", "variant", "experiment", "cause")

_SHARE = "CASE WHEN {n} > 0 THEN {k} / {n} END"

# Deviation first, in every column that counts something.
_COUNTS = {
    "company": Column(_SHARE.format(k="company_k", n="company_n"), descending=True),
    "alone": Column(_SHARE.format(k="alone_k", n="alone_n"), descending=True),
    "failures": Column("failures", descending=True),
}

# Many units share a judgement: they are counted before anything is summed up.
_GROUPED = """
WITH counted AS (SELECT experiment, judgement{part}, count(*) AS units FROM matching GROUP BY ALL)
SELECT {label} AS label, min(class_rank) AS class_rank, sum(units)::BIGINT AS units,
    sum(units * failures)::BIGINT AS failures,
    sum(units * company_k)::BIGINT AS company_k, sum(units * company_n)::BIGINT AS company_n,
    sum(units * alone_k)::BIGINT AS alone_k, sum(units * alone_n)::BIGINT AS alone_n,
    max(p) AS p, min(list_position($rows, "row")) AS first_row,
    count(DISTINCT experiment) AS soaks, bool_and(cause = $no_failure) AS no_failure,
    min({{class_rank: class_rank, passes: -failures, experiment: experiment}}) AS foremost
FROM counted JOIN judgements USING (experiment, judgement)
GROUP BY {by}
"""

# The sample is the first unit in the order of the table. How many tests never failed takes long
# to count: only where the line says it.
_SAMPLED = """
WITH samples AS (
    SELECT cut.label, cut.class_rank, min({{
        patch: m.patch_id, test: m.test_id, lane: coalesce(m.variant, ''), variant: m.variant,
        judgement: m.judgement
    }}) AS sample
    FROM cut JOIN matching m ON m.{label} = cut.label AND m.experiment = cut.foremost.experiment
        AND m.class_rank = cut.foremost.class_rank AND -m.failures = cut.foremost.passes
    GROUP BY ALL
), quiet AS (
    SELECT cut.label, cut.class_rank, count(DISTINCT m.test_id) AS tests
    FROM cut JOIN matching m ON m.{label} = cut.label AND {same_class}
    WHERE cut.no_failure AND m.cause = $no_failure
    GROUP BY ALL
)
SELECT cut.*, s.sample, j.why, j.action, j.locus, coalesce(q.tests, 0) AS tests
FROM cut
JOIN samples s USING (label, class_rank)
JOIN judgements j ON j.experiment = cut.foremost.experiment AND j.judgement = s.sample.judgement
LEFT JOIN quiet q USING (label, class_rank)
"""

_BY_CAUSE = _GROUPED.format(label="cause", part="", by="class_rank, cause")
_CAUSES_SAMPLED = _SAMPLED.format(label="cause", same_class="m.class_rank = cut.class_rank")


def _grouped(label: str, *, part: str = "") -> Listing:
    """The units by a column of theirs."""
    return _groups(
        ("label",),
        _GROUPED.format(label=label, part=part, by=label),
        _SAMPLED.format(label=label, same_class="true"),
    )


def _groups(key: tuple[str, ...], shown: str, added: str) -> Listing:
    return Listing(
        sql=_UNITS,
        columns={
            "class": Column("class_rank"),
            "label": Column("label"),
            **_COUNTS,
            "units": Column("units", descending=True),
        },
        key=key,
        order=("class", "failures", "label"),
        fields=_FIELDS,
        text=_TEXT,
        shown=shown,
        added=added,
    )


CAUSES = f"""
WITH matching AS ({_UNITS}), cut AS MATERIALIZED ({_BY_CAUSE})
FROM ({_CAUSES_SAMPLED})
"""
"""All causes of the experiments in $experiments, in the columns that `causes.cause_row` takes."""

GROUPED_LISTS = {
    "cause": _groups(("class_rank", "label"), _BY_CAUSE, _CAUSES_SAMPLED),
    "patch": _grouped("patch_id", part=", patch_id"),
    "soak": _grouped("experiment"),
    "class": _grouped("class"),
}

UNIT_LIST = Listing(
    sql=_UNITS,
    columns={
        "class": Column("class_rank"),
        "test": Column("test_id"),
        "patch": Column("patch_id"),
        "soak": Column("experiment"),
        **_COUNTS,
        "variant": Column("coalesce(variant, '')"),
    },
    key=("experiment", "patch_id", "test_id", "variant"),
    order=("class", "failures", "soak", "patch", "test", "variant"),
    fields=_FIELDS,
    text=_TEXT,
    shown="""
    SELECT experiment, patch_id, test_id, variant, class_rank, failures, "row", cause,
        company_k, company_n, alone_k, alone_n, p, judgement
    FROM matching
    WHERE $grouping = 'none'
        OR ($grouping = 'cause' AND class = $class AND cause = $label)
        OR ($grouping = 'patch' AND patch_id = $label)
        OR ($grouping = 'soak' AND experiment = $label)
        OR ($grouping = 'class' AND class = $class)
    """,
    added="""
    SELECT cut.* EXCLUDE (judgement), j.why, j.action, j.locus
    FROM cut JOIN judgements j USING (experiment, judgement)
    """,
)


def asked(experiments: Sequence[str]) -> dict[str, object]:
    """The parameters of a grouped list."""
    return {"experiments": list(experiments), "rows": list(ROWS), "no_failure": NO_FAILURE}
