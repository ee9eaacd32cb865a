"""Parameters: of what type each is, where nobody says, and the text of a question with values in their places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from discreet.interfaces.wire.statements import Statement, Token, Written
from discreet.interfaces.wire.values import (
    ARRAY_OF,
    BOOL,
    DATE,
    FLOAT8,
    INT8,
    NUMERIC,
    OID,
    OID_OF,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    literal,
    quoted,
)

_COMPARED = {"=", "<>", "!=", "<", ">", "<=", ">=", "LIKE", "ILIKE"}

_NAMED: Mapping[str, int] = MappingProxyType(
    {
        "INT": INT8, "INTEGER": INT8, "BIGINT": INT8, "SMALLINT": INT8, "INT2": INT8, "INT4": INT8, "INT8": INT8,
        "FLOAT": FLOAT8, "FLOAT4": FLOAT8, "FLOAT8": FLOAT8, "REAL": FLOAT8, "DOUBLE": FLOAT8, "NUMERIC": NUMERIC,
        "DECIMAL": NUMERIC, "BOOLEAN": BOOL, "BOOL": BOOL, "DATE": DATE, "TIMESTAMP": TIMESTAMP,
        "TIMESTAMPTZ": TIMESTAMPTZ, "TEXT": TEXT, "VARCHAR": TEXT, "OID": OID,
    }
)  # fmt: skip
"""Types by the names that SQL casts to."""

_SAMPLES: Mapping[int, str] = MappingProxyType(
    {
        BOOL: "TRUE", DATE: "DATE '2000-01-01'", NUMERIC: "1.5", FLOAT8: "1.5", TEXT: "'a'",
        **dict.fromkeys((TIMESTAMP, TIMESTAMPTZ), "TIMESTAMP '2000-01-01 00:00:00'"),
    }
)  # fmt: skip
"""A value of each type, by which a question is described before there are values; of any other it is 1."""


class Declared(NamedTuple):
    """What is declared of a column, as far as its parameters need it.

    Args:
        oid: of its type.
        sample: a literal that it may be compared with; empty if none is declared.
    """

    oid: int
    sample: str = ""

    @classmethod
    def of(cls, column: Mapping[str, Any]) -> Declared:
        """Read it from the public schema."""
        kind, keys = str(column["kind"]), column["keys"]
        oid = OID_OF.get(kind.partition("(")[0], TEXT)
        return cls(oid, quoted(keys[0]) if oid == TEXT and keys and isinstance(keys[0], str) else "")


class Parameter(NamedTuple):
    """A parameter of a statement.

    Args:
        oid: of its type.
        sample: a literal of that type.
    """

    oid: int
    sample: str

    @property
    def is_instant(self) -> bool:
        """Whether it is a time with a zone, or a list of these."""
        return self.oid in {TIMESTAMPTZ, ARRAY_OF[TIMESTAMPTZ]}


def parameters(statement: Statement, said: Sequence[int], columns: Mapping[str, Declared]) -> list[Parameter]:
    """The parameters of a statement: of the type that the client says, or that of what each is compared with.

    Args:
        statement: that takes them.
        said: the OIDs of types, as far as the client says them; 0 where it doesn't.
        columns: of all tables, by their names in lower case.
    """
    found = [Declared(oid if oid != UNKNOWN else 0) for oid in said]
    found += [Declared(0)] * (statement.parameters - len(found))
    tokens, listed = statement.tokens, None
    for at, token in enumerate(tokens):
        if token.text == "(" and at > 1 and tokens[at - 1].word == "IN":
            listed = _column(tokens, at - 2 - (tokens[at - 2].word == "NOT"), columns)
        elif token.text == ")":
            listed = None
        place = int(token.text[1:]) - 1 if token.kind == "parameter" else -1
        if place >= 0 and not found[place].sample:
            guess = _guessed(tokens, at, columns) or listed
            if guess is not None:
                found[place] = Declared(found[place].oid or guess.oid, guess.sample)
    return [Parameter(oid or TEXT, sample or _sample(oid or TEXT)) for oid, sample in found]


def _guessed(  # noqa: PLR0911 — a table of what there is
    tokens: Sequence[Token], at: int, columns: Mapping[str, Declared]
) -> Declared | None:
    """What a parameter stands beside: a column, a cast, a LIMIT or a date's part; None for anything else."""
    before = [each.text.upper() for each in tokens[max(at - 3, 0) : at]][::-1] + [""] * 3
    after = [each.text.upper() for each in tokens[at + 1 : at + 5]] + [""] * 4
    if before[:2] in (["(", "DATE_TRUNC"], ["(", "DATE_PART"]):
        return Declared(TEXT, "'day'")
    if after[0] == "::" or (after[0] == "AS" and before[0] == "("):
        oid = _NAMED.get(after[1])
        return None if oid is None else Declared(ARRAY_OF[oid] if after[2:4] == ["[", "]"] else oid)
    if before[0] in {"LIMIT", "OFFSET"}:
        return Declared(INT8)
    if before[0] == "(" and before[1] in {"ANY", "ALL", "SOME"} and before[2] in _COMPARED:
        return _list_of(_column(tokens, at - 4, columns))
    if before[0] in _COMPARED | {"BETWEEN"}:
        return _column(tokens, at - 2, columns)
    if before[0] == "AND" and before[2] == "BETWEEN":
        return _column(tokens, at - 4, columns)
    if after[0] in _COMPARED:
        end = at + 2
        while end + 2 < len(tokens) and tokens[end + 1].text == ".":
            end += 2
        return _column(tokens, end, columns)
    return None


def _sample(oid: int) -> str:
    """A literal of a type."""
    return "ARRAY[NULL]" if oid in ARRAY_OF.values() else _SAMPLES.get(oid, "1")


def _list_of(declared: Declared | None) -> Declared:
    """A list of what is declared of a column; of texts, where nothing is."""
    oid = TEXT if declared is None else declared.oid
    sample = (declared.sample if declared is not None else "") or _SAMPLES.get(oid, "1")
    return Declared(ARRAY_OF[oid], f"ARRAY[{sample}]")


def _column(tokens: Sequence[Token], at: int, columns: Mapping[str, Declared]) -> Declared | None:
    """The column that a token names."""
    return columns.get(tokens[at].called.lower()) if 0 <= at < len(tokens) else None


def as_asked(statement: Statement, literals: Sequence[str]) -> Written:
    """A statement with literals in the places of its parameters, apart from what stands beside them.

    A cast to the type that a value has is left out, as drivers write it: DATE_TRUNC($1::text, x), LIMIT $2::integer and
    = ANY ($3::bigint[]) take a literal there, and no cast.
    """
    said: dict[int, str] = {}
    for at, token in enumerate(statement.tokens):
        if token.kind == "parameter":
            value = literals[int(token.text[1:]) - 1]
            said[token.start] = f" {value} "
            after = statement.tokens[at + 1 : at + 5]
            said |= {each.start: "" for each in after[: _needless(value, [each.text.upper() for each in after])]}
    return statement.written(lambda token: said.get(token.start))


_LITERALS: Mapping[int, str] = MappingProxyType({TEXT: r"'(?:[^']|'')*+'", INT8: r"\d++|\(-\d++\)"})
"""The literals of two types."""


def _needless(value: str, after: Sequence[str]) -> int:
    """How many tokens after a literal are a cast to the type that it has, without a length."""
    if after[:1] != ["::"] or len(after) == 1 or (one := _LITERALS.get(_NAMED.get(after[1], 0))) is None:
        return 0
    if after[2:] == ["[", "]"]:
        return 4 if re.fullmatch(rf"ARRAY\[(?:(?:{one}|NULL)(?:, )?)*+\]", value) else 0
    return 2 if after[2:3] not in (["("], ["["]) and re.fullmatch(one, value) else 0


def literals(found: Sequence[Parameter], values: Sequence[bytes | None], formats: Sequence[int]) -> list[str]:
    """Values as literals, by the types of the parameters that they are for.

    Args:
        found: the parameters.
        values: as many.
        formats: of each; one for all, or none for text.

    Raises:
        InvalidArgument: one isn't of its type.
        TypeMismatch: there are no parameters of that type.
    """
    each = formats_of(formats, len(values))
    return [literal(value, one.oid, form) for value, one, form in zip(values, found, each, strict=True)]


def formats_of(said: Sequence[int], count: int) -> list[int]:
    """The format of each of several values, where one may stand for all."""
    return [0] * count if not said else list(said) * count if len(said) == 1 else list(said)
