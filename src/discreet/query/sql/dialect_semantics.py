"""Dialect semantics: where dialects mean different things by the same words.

None marks what isn't known of a dialect. A question that depends on it is refused: a wrong answer is worse than none.
Sources are the dialects' own manuals; `sqlglot` has smoothed out the rest (quoting, order of arguments, NULLs in ORDER
BY, integer division) by the time these matter.

By default MySQL and SQL Server compare texts without case, and MySQL without accents. Questions here compare texts by
code points, so a question in such a dialect is taken only where both give the same: where all texts that can meet are
known, and the dialect takes no two of them for equal. Averages that a dialect would cut off are refused, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import Unsupported, unforeseen
from discreet.hints import Hint
from discreet.query import ir
from discreet.query.aggregates import AVG
from discreet.query.ir import listed
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

_EQUALITIES = {"eq", "ne", "in", "distinct"}

_ORDERS = {"lt", "le", "gt", "ge", "least", "greatest"}


class Rounding(StrEnum):
    """How a cast from real to whole numbers rounds."""

    HALF_EVEN = "half_even"
    HALF_AWAY = "half_away"
    TOWARDS_ZERO = "towards_zero"


_WIDTHS: Mapping[str, int] = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32}
"""How many bits types of whole numbers have, in most dialects."""

_REALS = frozenset({Kind.REAL})

_SINGLES = frozenset({"REAL", "FLOAT4"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectSemantics:
    """The meaning of one dialect where dialects differ.

    Args:
        sunday: the number that the day of the week has on Sundays: 0 or 1, where Saturday comes last, or 7.
        monday: the number that WEEKDAY has on Mondays; 0 or 1.
        iso_weeks: whether weeks are those of ISO 8601, which begin on Mondays.
        rounding: of casts from real to whole numbers.
        counts_boundaries: whether DATE_DIFF counts the boundaries of months and years between two dates, not how many
            whole ones fit.
        escapes: whether a backslash in a pattern of LIKE takes the meaning of the character behind it.
        folds_patterns: whether LIKE ignores case.
        folds_accents: whether LIKE ignores accents too.
        folds: whether texts that differ in case only are equal, by default.
        digits: how many a DECIMAL without parentheses keeps behind the point; −1 for all.
        population: whether VARIANCE and STDDEV divide by n.
        whole_averages: whether the average of whole numbers is one.
        real_parts: whether EXTRACT gives numbers that aren't divided as whole ones.
        fractions: whether the seconds of EXTRACT have a fraction.
        counts_bytes: whether LENGTH counts bytes.
        whole_decimals: whether a DECIMAL without digits behind the point is the dialect's whole number.
        utc: whether what it calls TIMESTAMP is a moment in UTC.
        trims_lengths: whether LENGTH leaves out blanks at the end.
        empty_is_null: whether a text without characters is NULL.
        classes: whether [ ] in a pattern of LIKE stand for one of several characters.
        extremes_skip: whether LEAST and GREATEST pass over NULLs, rather than be NULL.
        bits: whether truths are compared with 1 and 0.
        numeric_truths: whether TRUE and FALSE are the numbers 1 and 0, as texts and in arithmetic too.
        numeric_conditions: whether a number stands for a condition: that it isn't 0. DuckDB's do, but what is the
            language of most questions here takes one for a slip.
        truth_texts: whether texts such as 'true' and 'f' are read as truths beside truths.
        plus_joins: whether + joins texts, and BIT is the type of truths.
        plus_days: whether a date plus a whole number is that many days later.
        real_roundings: the functions, as the parser calls them, whose results are divided as real ones whatever they
            are given.
        truncates_dates: whether TRUNC of a timestamp is its day.
        timed_dates: whether what it calls DATE has a time of day.
        timed_texts: whether STR_TO_DATE or TO_DATE keeps the time of day that a text says.
        cuts_texts: whether a cast to VARCHAR(n) cuts longer texts off, rather than fail.
        other_texts: the kinds of values that it writes as texts in a way of its own, or in one that isn't known.
        reads_beginnings: whether a text that is cast to a number is the number that it begins with.
        concat_skips: whether CONCAT takes NULL for a text without characters, rather than be NULL.
        widths: how many bits its types of whole numbers have, by the parser's names; those that aren't here have 64.
        wraps: whether a number that is too large for a narrower type becomes another one, or what it becomes depends on
            a setting; else it is an error.
        singles: the names of its types of real numbers that have single precision.
        cuts_times: whether a text beside a date is read as one, without the time of day that it says; if not, the date
            is a midnight.
        exact_decimals: whether numbers with a point are decimals, whose halves are rounded away from 0, until they meet
            a real one.
        drops_zones: whether a text beside a timestamp without a time zone is read without the zone that it says.
        day_shifts: the functions, as the parser calls them, that leave off the time of day of what they move.
        trunc_periods: the names of periods that TRUNC of a moment takes, if it doesn't take DATE_TRUNC's.
        month_ends: whether ADD_MONTHS goes from the last day of a month to the last day of another.
    """

    sunday: int | None = None
    monday: int | None = None
    iso_weeks: bool = False
    rounding: Rounding | None = None
    counts_boundaries: bool = False
    escapes: bool = False
    folds_patterns: bool = False
    folds_accents: bool = False
    folds: bool = False
    digits: int | None = None
    population: bool = False
    whole_averages: bool = False
    real_parts: bool = False
    fractions: bool = False
    counts_bytes: bool = False
    whole_decimals: bool = False
    utc: bool = False
    trims_lengths: bool = False
    empty_is_null: bool = False
    classes: bool = False
    extremes_skip: bool | None = None
    bits: bool = False
    numeric_truths: bool = False
    numeric_conditions: bool = False
    truth_texts: bool = False
    plus_joins: bool = False
    plus_days: bool = False
    real_roundings: frozenset[str] = frozenset()
    truncates_dates: bool = False
    timed_dates: bool = False
    timed_texts: bool = False
    cuts_texts: bool = False
    other_texts: frozenset[Kind] = frozenset({Kind.REAL, Kind.TIMESTAMP})
    reads_beginnings: bool = False
    concat_skips: bool | None = None
    widths: Mapping[str, int] = field(default_factory=lambda: _WIDTHS)
    wraps: bool = False
    singles: frozenset[str] = frozenset()
    cuts_times: bool | None = None
    exact_decimals: bool = False
    drops_zones: bool = False
    day_shifts: frozenset[str] = frozenset()
    trunc_periods: frozenset[str] | None = None
    month_ends: bool | None = None


_ORACLE_PERIODS = frozenset({"YYYY", "YEAR", "YY", "Q", "MM", "MON", "MONTH", "DD"})
"""In Oracle, DAY and D are weeks."""

_POSTGRES = DialectSemantics(
    sunday=0, iso_weeks=True, rounding=Rounding.HALF_EVEN, escapes=True, digits=-1, real_parts=True, fractions=True,
    extremes_skip=True, truth_texts=True, plus_days=True, cuts_texts=True, cuts_times=True, drops_zones=True,
    exact_decimals=True, concat_skips=True, singles=_SINGLES, other_texts=_REALS,
    real_roundings=frozenset({"Floor", "Ceil", "Round", "Trunc"}),
)  # fmt: skip
_SPARK = DialectSemantics(
    sunday=1, monday=0, iso_weeks=True, rounding=Rounding.TOWARDS_ZERO, escapes=True, digits=0, fractions=True,
    utc=True, extremes_skip=True, plus_days=True, day_shifts=frozenset({"TsOrDsAdd", "AddMonths"}), month_ends=False,
    concat_skips=False, wraps=True, singles=frozenset({"FLOAT", "REAL", "FLOAT4"}), other_texts=_REALS,
    trunc_periods=frozenset({"YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MM", "MON", "WEEK"}),
)  # fmt: skip
_MYSQL = DialectSemantics(
    sunday=1, monday=0, rounding=Rounding.HALF_AWAY, escapes=True, digits=0, folds=True, folds_patterns=True,
    folds_accents=True, counts_bytes=True, utc=True, extremes_skip=False, bits=True, numeric_truths=True,
    numeric_conditions=True, timed_texts=True, cuts_texts=True, cuts_times=False,
    concat_skips=False, singles=frozenset({"FLOAT", "FLOAT4"}), other_texts=_REALS, reads_beginnings=True,
)  # fmt: skip
_DORIS = replace(
    _MYSQL, folds=False, folds_patterns=False, rounding=None, cuts_times=None, month_ends=False, reads_beginnings=False
)
_TSQL = DialectSemantics(
    rounding=Rounding.TOWARDS_ZERO, counts_boundaries=True, digits=0, whole_averages=True, trims_lengths=True,
    classes=True, extremes_skip=True, bits=True, numeric_truths=True, truth_texts=True, plus_joins=True,
    cuts_texts=True, concat_skips=True, singles=_SINGLES,
)  # fmt: skip
_PRESTO = DialectSemantics(
    sunday=7, iso_weeks=True, extremes_skip=False, cuts_texts=True, concat_skips=False, singles=_SINGLES
)
_DUCKDB = DialectSemantics(
    sunday=0, monday=1, iso_weeks=True, rounding=Rounding.HALF_EVEN, counts_boundaries=True, extremes_skip=True,
    bits=True, truth_texts=True, plus_days=True, cuts_times=True, concat_skips=True,
    singles=frozenset({"FLOAT", "REAL", "FLOAT4"}), other_texts=frozenset(),
)  # fmt: skip


SEMANTICS: Mapping[str, DialectSemantics] = {
    "duckdb": _DUCKDB,
    "postgres": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "redshift": DialectSemantics(
        sunday=0, iso_weeks=True, counts_boundaries=True, escapes=True, digits=0, extremes_skip=True, truth_texts=True,
        plus_days=True, truncates_dates=True, cuts_texts=True, cuts_times=True, month_ends=True,
        concat_skips=False, singles=_SINGLES, other_texts=_REALS,
    ),
    "bigquery": DialectSemantics(
        sunday=1, rounding=Rounding.HALF_AWAY, counts_boundaries=True, escapes=True, digits=9, utc=True,
        extremes_skip=False, plus_days=True, concat_skips=False, widths={},
    ),
    "snowflake": DialectSemantics(
        sunday=0, iso_weeks=True, rounding=Rounding.HALF_AWAY, counts_boundaries=True, digits=0, whole_decimals=True,
        extremes_skip=False, bits=True, truth_texts=True, plus_days=True, month_ends=True,
        concat_skips=False, widths={},
    ),
    "spark": _SPARK,
    "spark2": replace(_SPARK, month_ends=True),
    "databricks": replace(_SPARK, wraps=False),
    "hive": replace(
        _SPARK, monday=None, population=True, extremes_skip=False, plus_days=False, month_ends=True,
        other_texts=_REALS | {Kind.TIMESTAMP},
    ),
    "mysql": _MYSQL,
    "singlestore": _MYSQL,
    "doris": _DORIS,
    "starrocks": _DORIS,
    "tsql": replace(_TSQL, folds=True, folds_patterns=True),
    "fabric": _TSQL,
    "presto": _PRESTO,
    "trino": _PRESTO,
    "athena": _PRESTO,
    "sqlite": DialectSemantics(
        rounding=Rounding.TOWARDS_ZERO, folds_patterns=True, extremes_skip=False, bits=True, numeric_truths=True,
        numeric_conditions=True, real_roundings=frozenset({"Round"}), concat_skips=True, widths={},
        reads_beginnings=True,
    ),
    "oracle": DialectSemantics(
        rounding=Rounding.HALF_AWAY, digits=-1, whole_decimals=True, empty_is_null=True, extremes_skip=False, bits=True,
        numeric_truths=True, plus_days=True, truncates_dates=True, timed_dates=True, timed_texts=True, cuts_texts=True,
        trunc_periods=_ORACLE_PERIODS, month_ends=True, concat_skips=True, widths={},
        singles=frozenset({"BINARY_FLOAT"}), other_texts=_REALS | {Kind.DATE, Kind.TIMESTAMP},
    ),
    "exasol": DialectSemantics(
        empty_is_null=True, extremes_skip=False, plus_days=True, truncates_dates=True, trunc_periods=_ORACLE_PERIODS,
        month_ends=True,
    ),
    "teradata": DialectSemantics(
        folds=True, folds_patterns=True, extremes_skip=False, bits=True, numeric_truths=True, plus_days=True,
        month_ends=False, other_texts=_REALS | {Kind.DATE, Kind.TIMESTAMP},
    ),
    "clickhouse": DialectSemantics(
        escapes=True, bits=True, plus_days=True, concat_skips=False, wraps=True,
        singles=frozenset({"FLOAT", "REAL", "FLOAT32", "FLOAT4"}),
    ),
}  # fmt: skip
_UNKNOWN = DialectSemantics(escapes=True)

MEANING = "meaning"
"""Where a node keeps the name of its dialect, because its meaning can depend on the kinds of values too."""


Node: TypeAlias = Any
"""A node of the parser's. Its class decides which parts it has, and which rule applies."""

Rule: TypeAlias = Callable[[Node, DialectSemantics], Node]
"""From a node to the one that takes its place; None leaves it as it is, or as the rule has marked it."""


def semantics_of(dialect: str) -> DialectSemantics:
    """The meaning of a dialect, as far as it is known."""
    return SEMANTICS.get(dialect, _UNKNOWN)


def meaning_of(node: exp.Expression) -> DialectSemantics:
    """The meaning of the dialect that a node was written in."""
    return semantics_of(node.meta.get(MEANING, "duckdb"))


def undivided(node: exp.Expression) -> Iterator[exp.Expr]:
    """The parts of a number that decide, as far as syntax tells, whether it is divided as a whole number."""
    settled = {"Cast", "TryCast", "Div", "IntDiv", "Count", "CountIf", "Extract", "Length"}
    return node.walk(prune=lambda part: type(part).__name__ in settled)


def check_meaning(question: ir.Question) -> None:
    """Refuse what the question's dialect would compute differently.

    Raises:
        Unsupported: with the fix.
    """
    semantics = semantics_of(question.dialect)
    if semantics.whole_averages:
        _check_averages(question)
    if not semantics.folds:
        return
    shown = [output.expr for output in question.outputs] + [order.expr for order in question.order]
    arguments = [argument for one in question.aggregates for argument in (one.argument, one.other) if argument]
    having = [] if question.having is None else [question.having]
    groups, others = [expr for _, expr in question.keys], list[ir.Expr]()
    for relation in _relations(question.source):
        groups += _groups(relation)
        others += _expressions(relation)
    compared = [one.argument for one in question.aggregates if one.argument and one.function.compares]
    for expr in (*groups, *compared):
        _check([expr], ordered=False)
    for order in question.order:
        _check([order.expr], ordered=True)
    for expr in (*groups, *others, *arguments, *shown, *having):
        for call in _calls(expr):
            if call.function.name in _EQUALITIES | _ORDERS:
                _check(call.args, ordered=call.function.name in _ORDERS)


def _check(args: Sequence[ir.Expr], *, ordered: bool) -> None:
    """Refuse comparisons of texts that the dialect may take for equal.

    Args:
        args: what is compared with each other.
        ordered: whether their order matters too.
    """
    if all(arg.type.kind is not Kind.TEXT for arg in args):
        return
    lists = [listed(arg).type.values if any(True for _ in ir.columns_in(arg)) else arg.type.values for arg in args]
    known = {str(value) for values in lists for value in values or () if value is not None}
    folded = {_folded(value) for value in known}
    in_order = [_folded(value) for value in sorted(known)]
    if None in lists or len(folded) < len(known) or (ordered and in_order != sorted(in_order)):
        raise Unsupported(
            "texts are compared without case in this dialect, and by code points here",
            hint=Hint.of(
                "declare the keys of the column and write them as declared, or ask with {dialect}", dialect="duckdb"
            ),
        )


def _folded(text: str) -> str:
    """A text without case, accents and blanks at its end."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return plain.casefold().rstrip(" ")


def _check_averages(question: ir.Question) -> None:
    """Refuse averages of whole numbers where the dialect cuts off their fractions."""
    found: Iterable[ir.Expr | None] = (
        *(one.argument for one in question.aggregates if one.function is AVG),
        *(
            column.argument
            for relation in _relations(question.source)
            if isinstance(relation, (ir.PerUnit, ir.Window))
            for column in relation.columns
            if (column.summary if isinstance(column, ir.Summarized) else column.function) is ir.Summary.AVG
        ),
    )
    if any(argument is not None and argument.type.kind is Kind.INTEGER for argument in found):
        raise Unsupported(
            "this dialect cuts the average of whole numbers off to a whole number", hint="AVG(CAST(x AS FLOAT))"
        )


def _relations(relation: ir.Relation) -> Iterator[ir.Relation]:
    """The relation and all below it."""
    yield relation
    for below in ir.sources(relation):
        yield from _relations(below)


def _groups(relation: ir.Relation) -> list[ir.Expr]:
    """The expressions by whose equal values a relation brings rows together."""
    match relation:
        case ir.PerUnit(keys=keys, columns=columns):
            distinct = [each.argument for each in columns if each.summary is ir.Summary.COUNT_DISTINCT]
            return [expr for _, expr in keys] + [each for each in distinct if each is not None]
        case ir.Window(partition=partition, columns=columns):
            return [*partition, *(sorting.expr for each in columns for sorting in each.order)]
        case ir.Distinct(source=ir.Project(columns=columns)):
            return [expr for _, expr in columns]
        case ir.Scan() | ir.Where() | ir.Project() | ir.Join() | ir.Union() | ir.Distinct():
            return []
        case _:
            raise unforeseen(relation)


def _expressions(relation: ir.Relation) -> list[ir.Expr]:
    """The expressions that a relation computes of its rows."""
    match relation:
        case ir.Where(predicate=predicate):
            return [predicate]
        case ir.Join(predicate=predicate):
            return [] if predicate is None else [predicate]
        case ir.Project(columns=columns):
            return [expr for _, expr in columns]
        case ir.PerUnit(columns=columns) | ir.Window(columns=columns):
            return [each.argument for each in columns if each.argument is not None]
        case ir.Scan() | ir.Union() | ir.Distinct():
            return []
        case _:
            raise unforeseen(relation)


def _calls(expr: ir.Expr) -> Iterator[ir.Call]:
    """All calls in an expression, each once."""
    waiting, seen = [expr], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, ir.Margin):
            waiting.append(part.of)
        elif isinstance(part, ir.Call):
            waiting += part.args
            yield part
