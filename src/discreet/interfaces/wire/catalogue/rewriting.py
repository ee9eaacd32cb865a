"""Rewriting: what PostgreSQL's tools ask of a catalogue, in the words of DuckDB, whose parser comes from PostgreSQL's.

Only tokens are exchanged, so a text grows by no more than a part of itself, and what isn't known goes on as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType

from discreet.errors import Unsupported
from discreet.interfaces.wire.statements import Statement, Token
from discreet.interfaces.wire.values import quoted

SCHEMAS: Mapping[str, str] = MappingProxyType({"pg_catalog": "pgc", "information_schema": "pgi"})
"""What the schemas of the catalogue are called in DuckDB, which has schemas of those names itself."""

PG_CLASS = 1259

OWN_RELATIONS: Mapping[int, str] = MappingProxyType(
    {
        1247: "pg_type", 1255: "pg_proc", PG_CLASS: "pg_class", 1262: "pg_database", 2604: "pg_attrdef",
        2606: "pg_constraint", 2610: "pg_index", 2615: "pg_namespace", 2620: "pg_trigger",
    }
)  # fmt: skip
"""Relations of the catalogue that are looked for by their OIDs."""

_OIDS = {name: oid for oid, name in OWN_RELATIONS.items()}

_GROUP = re.compile(r"(?<!\\)\((?!\?)")
"""A parenthesis of a pattern that takes what is in it, as none with a question mark does, nor one that is a sign."""

_HIDDEN = ("duckdb_", "pragma_", "read_", "sniff_", "parquet_", "sql_auto_complete", "which_secret")
"""How functions begin that are about DuckDB, its files and its settings, and not about tables."""

_REFUSED = {"getenv", "sleep_ms", "write_log", "current_query_id", "current_transaction_id", "current_connection_id"}
"""Functions that wait, or say what others do."""

TABLE_FUNCTIONS = {"generate_series", "range", "repeat", "unnest", "json_each", "pg_timezone_names"}
"""Functions of DuckDB's that give tables and may be called; all others are about files, settings or DuckDB itself."""

_OWN_SCHEMAS = {"system", "main"}
"""Where DuckDB's own functions are, in the place of which the catalogue has others."""

_RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "json_build_object": "json_object",
        "jsonb_build_object": "json_object",
        "array_to_json": "to_json",
        "format": "pg_format",  # DuckDB's has {} in the place of %s
    }
)
"""Functions that have another name in DuckDB."""

_NAMES_ELSEWHERE = {
    *("ANTI", "ASOF", "AT", "DESCRIBE", "GLOB", "LAMBDA", "PIVOT", "PIVOT_LONGER", "PIVOT_WIDER", "POSITIONAL"),
    *("QUALIFY", "SEMI", "SHOW", "SUMMARIZE", "UNPACK", "UNPIVOT"),
}
"""Keywords of DuckDB's that are names in PostgreSQL."""

_KEYWORDS = {"CURRENT_USER", "SESSION_USER", "CURRENT_CATALOG", "CURRENT_SCHEMA", "CURRENT_ROLE"}


def in_duckdb(statement: Statement, words: Mapping[str, str], refused: Container[str] = ()) -> str:
    """A statement in the words of DuckDB.

    Args:
        statement: that was sent, with literals in the places of its parameters.
        words: what `CURRENT_USER` and `CURRENT_CATALOG` stand for, and settings by name, as literals; and names of
            columns that are keywords of DuckDB's, in quotes.
        refused: functions that can't be called, in lower case.

    Raises:
        Unsupported: it calls a function that is about DuckDB itself.
    """
    tokens, parts, at = statement.tokens, list[str](), 0
    written = _around_calls(tokens) | _system_columns(tokens)
    while at < len(tokens):
        token = tokens[at]
        name = token.called.lower()
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        is_hidden = name.startswith(_HIDDEN) or name in _REFUSED
        if is_hidden or (after == "(" and name in refused) or (after == "." and name in _OWN_SCHEMAS):
            raise Unsupported(f"there is no function {name[:40]!r} in the catalogue")
        if at in written:
            parts.append(written[at])
            at += 1
        else:
            at += _taken(tokens, at, parts, words)
    return " ".join(each for each in parts if each)


def _around_calls(tokens: Sequence[Token]) -> dict[int, str]:
    """What is written for tokens of three kinds of calls, in one pass.

    CAST(x AS regclass) looks x up, generate_series in a list of columns gives a row for each value, and
    substring(x FROM 'pattern') takes what matches, or what is in the pattern's parentheses.
    """
    found: dict[int, str] = {}
    opened: list[int] = []
    clauses, series, group = [""], set[int](), dict[int, int]()
    for at, token in enumerate(tokens):
        if token.text == "(":
            opened.append(at)
            clauses.append("")
        elif token.text == ")" and opened:
            start = opened.pop()
            clauses.pop()
            kind = 3 if tokens[at - 2].text == "." else 1  # with pg_catalog before it, or without
            is_named = tokens[at - 1].called.lower() == "regclass" and tokens[at - kind - 1].word == "AS"
            if is_named and start and tokens[start - 1].word == "CAST" and tokens[start + 1].kind != "text":
                found |= {start - 1: "to_regclass"} | dict.fromkeys(range(at - kind - 1, at), "")
            if start in series:
                found[at] = ") )"
            elif start in group:
                found[at] = f", {group[start]} ) , '' )"
        elif (
            token.word == "FROM" and opened and tokens[opened[-1] - 1].word == "SUBSTRING" and _text_at(tokens, at + 1)
        ):
            found |= {opened[-1] - 1: "nullif ( regexp_extract", at: ","}
            group[opened[-1]] = int(_GROUP.search(tokens[at + 1].text) is not None)
        elif token.word in _CLAUSES:
            clauses[-1] = token.word
        elif token.called.lower() == "generate_series" and clauses[-1] == "SELECT":
            found[at] = "unnest ( generate_series"
            series.add(at + 1)
    return found


def _system_columns(tokens: Sequence[Token]) -> dict[int, str]:
    """What is written for `c.tableoid`: the OID of the relation of the catalogue that c is."""
    called = [each.called.lower() for each in tokens]
    oids: dict[str, int] = {}
    for at, name in enumerate(called):
        if name in _OIDS:
            alias = called[at + 1 + (called[at + 1 : at + 2] == ["as"]) :][:1]
            oids |= dict.fromkeys((name, *alias), _OIDS[name])
    found: dict[int, str] = {}
    for at, name in enumerate(called):
        if name == "tableoid" and at > 1 and tokens[at - 1].text == "." and called[at - 2] in oids:
            found |= {at - 2: "", at - 1: "", at: str(oids[called[at - 2]])}
    return found


_CLAUSES = {"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION"}


_MATCHES = {"~", "!~", "~*", "!~*"}


def _matched(sign: str, pattern: Token, parts: list[str]) -> int:
    """Write a match: DuckDB's is of the whole text, and PostgreSQL's of any part; how many tokens of it follow."""
    parts.append(sign.rstrip("*"))
    if pattern.kind != "text" or not pattern.text.startswith("'"):
        return 0
    ignoring = "(?i)" if sign.endswith("*") else ""
    parts.append(f"'{ignoring}(?s:.*)(?:{pattern.text[1:-1]})(?s:.*)'")
    return 1


def _text_at(tokens: Sequence[Token], at: int) -> str:
    """The literal of a text that is here; empty if none is."""
    return tokens[at].text if at < len(tokens) and tokens[at].kind == "text" else ""


_QUANTIFIED = [["ANY", "("], ["ALL", "("], ["SOME", "("]]


def _list(said: str) -> str:
    """The elements of an array that is written as a text, as a list.

    Examples:
        >>> _list('public,"a b"')
        "['public', 'a b']"
    """
    return f"[{', '.join(quoted(each.strip().strip(chr(34))) for each in said.split(',') if each)}]"


def _taken(  # noqa: C901, PLR0911, PLR0912 — a table of what there is
    tokens: Sequence[Token], at: int, parts: list[str], words: Mapping[str, str]
) -> int:
    """Write what stands for the next tokens; how many that were."""
    token, after = tokens[at], [each.called.lower() or each.text for each in tokens[at + 1 : at + 6]] + [""] * 5
    name = token.called.lower()
    if name == "operator" and after[:3] == ["(", "pg_catalog", "."]:
        sign, following = after[3], tokens[at + 6 : at + 7]
        if sign in _MATCHES and following:
            return 6 + _matched(sign, following[0], parts)
        parts.append(sign)
        return 6
    if token.word == "COLLATE" and parts[-1:] != ["AS"]:
        return 4 if after[1] == "." else 2
    if token.text in _MATCHES and at + 1 < len(tokens):
        return 1 + _matched(token.text, tokens[at + 1], parts)
    if token.word in {"LIKE", "ILIKE"} and "\\" in (pattern := _text_at(tokens, at + 1)) and after[1] != "escape":
        parts += (token.text, pattern, "ESCAPE '\\'")  # which PostgreSQL takes for said
        return 2
    if name == "current_setting" and after[0] == "(" and after[2] == ")":
        asked = _text_at(tokens, at + 2)[1:-1].lower()
        if asked in words:
            parts.append(words[asked])
            return 4
    if name in SCHEMAS and after[0] == ".":
        is_type = bool(parts) and parts[-1] in {"::", "AS"} and after[2] != "("
        if not is_type and after[2] != "(":
            parts += (SCHEMAS[name], ".")
        return 2
    if token.kind == "text" and after[0] == "::" and "regclass" in {after[1], after[3] if after[2] == "." else ""}:
        parts.append(f"to_regclass({token.text})")
        return 3 if after[1] == "regclass" else 5
    if token.kind == "text" and after[:2] == ["::", "regproc"]:
        parts.append(token.text.replace("pg_catalog.", ""))
        return 1
    if token.kind == "text" and after[:2] == ["as", "regclass"]:
        parts += (f"to_regclass({token.text})", "AS", "UINTEGER")
        return 3
    if token.kind == "text" and token.text.startswith("'{") and [each.upper() for each in parts[-2:]] in _QUANTIFIED:
        parts.append(_list(token.text[2:-2]))
        return 1
    if name in _RENAMED and after[0] == "(":
        parts.append(_RENAMED[name])
        return 1
    if token.word in _NAMES_ELSEWHERE and after[0] not in {"(", "time"}:
        parts.append(words.get(token.word, f'"{name}"'))
        return 1
    if token.word in _KEYWORDS and after[0] != "(" and (not parts or parts[-1] != "."):
        parts.append(words[token.word])
        return 1
    parts.append(token.text.upper() if token.word == "AS" else token.text)
    return 1
