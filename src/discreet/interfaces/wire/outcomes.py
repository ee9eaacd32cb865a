"""Outcomes: what a statement gives, whoever answered it, with the columns and the words of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from discreet.interfaces.wire.replies import Field
from discreet.interfaces.wire.values import field_of
from discreet.results import Answer, cell_texts
from discreet.service import Planned


class Refused(Exception):
    """A statement is refused by the protocol, before it concerns anyone else.

    Args:
        sqlstate: that says why.
        message: in words.
        hint: what to do about it.
    """

    def __init__(self, sqlstate: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.sqlstate, self.message, self.hint = sqlstate, message, hint


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement gives.

    Args:
        tag: what is said of it at its end; of rows, the word before their number.
        fields: the columns of its rows; None where it gives none.
        rows: the values.
        notices: what is said beside it: message and detail of each.
        warning: a SQLSTATE and a text, where it had nothing to do.
        copied: the lines that COPY sends in the place of rows; None for anything else.
        settings: of which the client is told, by name.
    """

    tag: str
    fields: Sequence[Field] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notices: Sequence[tuple[str, str]] = ()
    warning: tuple[str, str] | None = None
    copied: Sequence[bytes] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


_CALL = re.compile(r"([a-z_]+)\(.*\)", re.DOTALL)
_PLAIN = re.compile(r"[^\W\d][^()'\"]*")
_TABLES = re.compile(r"(?:\w++\.)*+")
_TYPE = re.compile(r"[^()]++(?:\([\d,]++\))?")
_RENAMED: Mapping[str, str] = MappingProxyType({"count_star": "count"})


def named(name: str) -> str:
    """What PostgreSQL calls a column that nobody named: after its function.

    Examples:
        >>> named("count_star()"), named("avg(age)"), named("n")
        ('count', 'avg', 'n')
    """
    found = _CALL.fullmatch(name)
    return name if found is None else _RENAMED.get(found[1], found[1])


def shown_as(name: str) -> str:
    """What PostgreSQL calls a column of the catalogue: a cast as what is cast, and an expression nothing.

    Examples:
        >>> shown_as("relname"), shown_as('"version"()'), shown_as("(1 + 2)"), shown_as("CASE  WHEN (a) THEN (1) END")
        ('relname', 'version', '?column?', 'case')
        >>> shown_as("CAST(CAST(c.oid AS regtype) AS VARCHAR(5))"), shown_as('CAST("version"() AS text)')
        ('oid', 'version')
    """
    for _ in range(2):
        name = _what_is_cast(name)
    if name.startswith("CASE "):
        return "case"
    found = named(name.replace('"', ""))
    return found if _PLAIN.fullmatch(found) else "?column?"


def _what_is_cast(name: str) -> str:
    """What is cast, or else the name as it is. It may be of any length: each sign is looked at a few times at most."""
    if not (name.startswith("CAST(") and name.endswith(")")):
        return name
    found, _, kind = name[len("CAST(") : -1].rpartition(" AS ")
    return _TABLES.sub("", found, count=1) if found and _TYPE.fullmatch(kind) else name


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of an answer, as a plan says them before there is one.

    Args:
        columns: each name in the answer, with its kind.
        ends: the columns beside which the ends of intervals stand.
        unquoted: names that are shown in small letters.
    """

    columns: Sequence[tuple[str, str]]
    ends: frozenset[str] = frozenset()
    unquoted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Planned, unquoted: frozenset[str] = frozenset(), *, intervals: bool) -> Shape:
        """That of the answer to one question.

        Args:
            plan: of it.
            unquoted: names that are shown in small letters.
            intervals: whether the ends of intervals are wanted.
        """
        (columns,), (expected,) = plan.columns, plan.expected
        ends = frozenset(each.column for each in expected) if intervals else frozenset()
        return cls([(each.name, each.kind) for each in columns], ends, unquoted)

    @property
    def fields(self) -> list[Field]:
        """The columns, as a client is told of them: the ends beside each, as `n_low` and `n_high`."""
        found: list[Field] = []
        for name, kind in self.columns:
            shown = name.lower() if name in self.unquoted else named(name)
            found.append(field_of(shown, kind))
            if name in self.ends:
                of_ends = kind if kind in {"date", "timestamp"} else "real"
                found += [field_of(f"{shown}_{end}", of_ends) for end in ("low", "high")]
        return found

    def rows(self, answer: Answer) -> list[tuple[Any, ...]]:
        """The values of an answer, row by row."""
        columns: list[Sequence[Any]] = []
        for name, kind in self.columns:
            columns.append(answer[name])
            if name in self.ends:
                ends = answer.interval(name)
                convert = (lambda end: end) if kind in {"date", "timestamp"} else float
                columns += [[None if each is None else convert(each[at]) for each in ends] for at in (0, 1)]
        return list(zip(*columns, strict=True))


def notice_of(answer: Answer) -> tuple[str, str]:
    """What is said beside an answer: how exact it is and what it cost; and what else belongs under it."""
    errors = [words for column in answer.names if (words := _error(answer, column))]
    level = f" at {float(answer.confidence) * 100:.6g} %" if errors else ""
    said = [f"{', '.join(errors)}{level}"] if errors else []
    detail = [f"{each.title}: {each.words}" for each in answer.notes() if each.title not in {"±", "cost", "limits"}]
    if answer.limits and answer.cut_off is None:
        detail.insert(0, f"limits: {answer.limits}; SET discreet.cut_off = on measures how much that leaves out")
    if answer.coverage and errors:
        detail.insert(0, answer.coverage)
    return "; ".join([*said, f"cost {answer.price}"]), "\n".join(detail)


def _error(answer: Answer, name: str) -> str:
    """How exact a column is, in a few words; empty where nothing is known of it."""
    column, ends = answer.column(name), answer.interval(name)
    if not any(ends):
        return ""
    words, shown = cell_texts(column, ends), named(name)
    if len(words) == 1:
        return f"{shown} = {words[0]}"
    errors = sorted({each.rpartition(" ± ")[2] for each in words if " ± " in each}, key=float)
    if not errors:
        return ""
    return f"{shown} ± {errors[0]}" if len(errors) == 1 else f"{shown} ± {errors[0]} to {errors[-1]}"
