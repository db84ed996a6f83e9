-- How the rules on proofs read a block: it may hold anything, of any type.

-- A field of a block as text; NULL where it is missing, null, or nothing but blanks.
CREATE OR REPLACE TEMP MACRO proof_text(b, field) AS
    nullif(trim(json_extract_string(b, '$.' || field), ' ' || chr(9) || chr(10) || chr(13)), '');

CREATE OR REPLACE TEMP MACRO finite_number(t) AS
    CASE WHEN isfinite(try_cast(t AS DOUBLE)) THEN try_cast(t AS DOUBLE) END;

CREATE OR REPLACE TEMP MACRO proof_number(b, field) AS finite_number(proof_text(b, field));

-- Whatever is not plainly no is yes: unknown never helps a verdict.
CREATE OR REPLACE TEMP MACRO proof_flag(b, field) AS
    coalesce(lower(proof_text(b, field)), 'false') NOT IN ('false', '0');

-- Seconds since the epoch. Without a zone a time is UTC, whatever the zone of this process.
CREATE OR REPLACE TEMP MACRO moment_of(t) AS coalesce(
    finite_number(t),
    CASE WHEN isfinite(try_cast(t AS TIMESTAMP)) THEN epoch(try_cast(
        CASE WHEN regexp_matches(t, '([zZ]|[-+][0-9]{2}:?[0-9]{2})$') THEN t ELSE t || 'Z' END
    AS TIMESTAMPTZ)) END
);

CREATE OR REPLACE TEMP MACRO proof_moment(b, field) AS moment_of(proof_text(b, field));

-- Digests may be shortened to 8 characters, commits to 7.
CREATE OR REPLACE TEMP MACRO same_prefix(a, c, shortest) AS coalesce(
    least(length(a), length(c)) >= shortest
        AND (starts_with(lower(a), lower(c)) OR starts_with(lower(c), lower(a))),
    false
);

CREATE OR REPLACE TEMP MACRO verdict_of(word) AS CASE
    WHEN lower(word) IN ('pass', 'passed', 'ok', 'green', 'approve') THEN 'pass'
    WHEN lower(word) IN ('fail', 'failed', 'red', 'block', 'reject') THEN 'fail'
    ELSE 'none'
END;

-- A list of a block; an empty one where it is none.
CREATE OR REPLACE TEMP MACRO proof_list(b, field) AS
    CASE WHEN json_type(b, '$.' || field) = 'ARRAY'
        THEN coalesce(json_extract(b, '$.' || field || '[*]'), []) ELSE [] END;

-- What a text body says as JSON; NULL where it is none. A body may stand there unpacked, too.
CREATE OR REPLACE TEMP MACRO body_json(b, field) AS CASE
    WHEN json_type(b, '$.' || field) = 'VARCHAR' THEN
        CASE WHEN json_valid(json_extract_string(b, '$.' || field))
            THEN json_extract_string(b, '$.' || field)::JSON END
    WHEN json_type(b, '$.' || field) = 'NULL' THEN NULL
    ELSE json_extract(b, '$.' || field)
END;

CREATE OR REPLACE TEMP MACRO body_text(b, field) AS
    CASE WHEN json_type(b, '$.' || field) = 'VARCHAR'
        THEN json_extract_string(b, '$.' || field) END;

-- Canonical JSON has small hexadecimal digits; DuckDB writes capital ones. A backslash that is
-- escaped escapes nothing: what stands between two such is looked at by itself.
CREATE OR REPLACE TEMP MACRO canonical_text(t) AS CASE WHEN NOT contains(t, '\u00') THEN t ELSE
    array_to_string(list_transform(string_split(t, '\\'), lambda piece:
        replace(replace(replace(replace(replace(replace(replace(replace(replace(piece,
            '\u000B', '\u000b'),
            '\u000E', '\u000e'),
            '\u000F', '\u000f'),
            '\u001A', '\u001a'),
            '\u001B', '\u001b'),
            '\u001C', '\u001c'),
            '\u001D', '\u001d'),
            '\u001E', '\u001e'),
            '\u001F', '\u001f')
    ), '\\')
END;
