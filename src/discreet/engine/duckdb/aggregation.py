"""Adding up: what its SQL depends on, the statements where nothing is limited, and the result that is read off them.

The statements read two relations. `contributions` has one row per private row that counts: the columns about its unit
(see `unit_columns`), those that tell it from others never NULL; the keys `k0, k1, …` (its number in a public list, or
the value itself); and `v0, v1, …`, what the row contributes to each measure that needs it (see `Adds`). `source_rows`
is the same before rows whose key isn't public were left out, with the columns about units only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from discreet.engine.duckdb.clauses import group_by, key_lookup, listed, numbered
from discreet.engine.duckdb.many_groups import ManyBins, ManyGroups
from discreet.engine.duckdb.steps import constant_steps
from discreet.engine.interface import ExactResult
from discreet.engine.scan_view import listed_keys, units_of
from discreet.errors import unforeseen
from discreet.privacy import KeyValue, Limits
from discreet.query import ir

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")

SOURCE_ROWS = "source_rows"
CONTRIBUTIONS = "contributions"

MOST_ROWS = 2**48
"""More rows than any table has, so that a sum of 64-bit integers always fits in 128 bits."""

NOTHING = "0 * count(*)"
"""A measure's place in a query that adds up others: an aggregate, so that a group still has one row."""


@dataclass(frozen=True, slots=True)
class Adds:
    """The integers that a measure adds up.

    Args:
        what: which of these.
            units: one for each unit.
            constant: the same integer for each row.
            present: the same integer for each row whose `v` column isn't NULL.
            values: what the `v` column says, a BIGINT or NULL.
            rest: what another measure's values leave of the constant, for each row that has one.
            distinct: one for each different value of the `v` column, of any type but real; NULL is none.
            histogram: the same integer for each row, 2^-grid, in the bin whose number is in the `v` column, a BIGINT;
                NULL is in none.
        greatest: the most that a row adds, up to sign.
        constant: the same integer, where it is one; from 1 to 2^62 for a histogram.
        of: the number of the measure that leaves the rest.
    """

    what: Literal["units", "constant", "present", "values", "rest", "distinct", "histogram"]
    greatest: int
    constant: int = 0
    of: int | None = None

    @property
    def is_summed(self) -> bool:
        """Whether a unit's rows in a group come down to one integer, which limits scale."""
        return self.what in {"constant", "present", "values", "rest"}

    @property
    def has_column(self) -> bool:
        """Whether each row brings something to the measure, as a `v` column of its own."""
        return self.what in {"present", "values", "distinct", "histogram"}

    @property
    def is_of_values(self) -> bool:
        """Whether it matters how often a unit has each value."""
        return self.what in {"distinct", "histogram"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of a question: all that its SQL depends on, which is numbers and limits, no names and no values.

    Args:
        units: how many columns say whose a row is, where there are no codes; none, if each row is a unit.
        keys: how many columns say which group a row is in.
        measures: what each adds up.
        groups: how many groups there can be, if all keys are public.
        early: keys that are looked up before rows are joined, see `ScanView.numbered`.
        late: keys that are looked up in their lists only after adding up, where a column's declared keys promise few
            groups: of rows that are units, and of sums by codes, which limits on groups don't touch.
        scans: views that the rows come from, each with `u0, u1`, and with a twin that has all rows (see `all_units`):
            they may be narrowed to some units, so that nothing is computed of the others. None, if that makes no
            difference.
        limits: the shape in force; a unit that is a row needs none.
        salt: public text.
        contributions: where the rows come from: a relation of that name.
        rows: how many rows the table has, or more. It decides how wide integers must be, not what they are.
        is_coded: whether a code stands for each unit, and the size beside it is at least the number of its rows. Then
            units of which that says that they are within the limits aren't looked at. The integers are the same.
    """

    units: int
    keys: int
    measures: tuple[Adds, ...]
    groups: int | None
    limits: Limits
    salt: str
    early: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    scans: tuple[str, ...] = ()
    contributions: str = CONTRIBUTIONS
    rows: int = MOST_ROWS
    is_coded: bool = False

    @property
    def unit(self) -> list[str]:
        """The columns that tell one unit from another."""
        return ["u0"] if self.is_coded else self.ids

    @property
    def ids(self) -> list[str]:
        """The columns with which a unit's choices are hashed: its id and period, which no one else has."""
        return numbered("i" if self.is_coded else "u", self.units)

    @property
    def reads_source_rows(self) -> bool:
        """Whether units over a limit are found among `source_rows`, since no size is noted beside them."""
        return bool(self.units) and not self.is_coded and self.limits.rows is not None

    def width(self, greatest: int) -> Literal["BIGINT", "HUGEINT"] | None:
        """The type that holds a sum, over all rows, of integers up to `greatest`; None if there is none."""
        return "BIGINT" if greatest * self.rows < 2**62 else "HUGEINT" if greatest * self.rows < 2**126 else None


def shape_of(exact: ir.Exact, *, is_coded: bool = False) -> Shape:
    """The shape of a question.

    Args:
        exact: the question.
        is_coded: whether its units have codes.
    """
    groups: int | None = 1
    for key in exact.keys:
        groups = None if groups is None or key.values is None else groups * len(key.values)
    measures = adds_of(exact.measures)
    by_rows = is_coded and exact.limits.rows is not None and exact.limits.groups is None
    is_late = exact.owner.unit.is_row or (by_rows and all(adds.is_summed for adds in measures))
    late = (number for number, key in enumerate(exact.keys) if is_late and listed_keys(key, exact) is not None)
    return Shape(
        units=units_of(exact.owner),
        keys=len(exact.keys),
        measures=measures,
        groups=groups,
        late=tuple(late),
        limits=exact.limits,
        salt=exact.salt,
        is_coded=is_coded,
    )


def adds_of(measures: Sequence[ir.Measure]) -> tuple[Adds, ...]:
    """How measures are added up; what values leave, from the sum of these, if that is asked for, too."""
    places = {
        replace(each, name=""): place
        for place, each in enumerate(measures)
        if isinstance(each, ir.Sum) and _adds(each).what == "values"  # of a constant no row brings a value
    }
    return tuple(
        Adds("rest", greatest=each.hi, constant=each.hi, of=places[replace(each.rest, name="")])
        if isinstance(each, ir.Sum) and each.is_rest and replace(each.rest, name="") in places
        else _adds(each)
        for each in measures
    )


def _adds(measure: ir.Measure) -> Adds:
    """How a measure is added up by itself."""
    match measure:
        case ir.Sum():
            steps = constant_steps(measure)
            if steps is None:
                return Adds("values", greatest=max(abs(measure.lo), abs(measure.hi)))
            what: Literal["constant", "present"] = "constant" if isinstance(measure.value, ir.Literal) else "present"
            return Adds(what, greatest=abs(steps), constant=steps)
        case ir.Units():
            return Adds("units", greatest=1)
        case ir.DistinctValues():
            return Adds("distinct", greatest=1)
        case ir.Histogram(grid=grid):
            return Adds("histogram", greatest=2**-grid, constant=2**-grid)
        case _:
            raise unforeseen(measure)


def rows_at_most(relation: ir.Relation, counts: Mapping[str, int]) -> int:
    """An upper bound on the rows of a relation; never more than any table has.

    A join of relations with that many pairs of rows would end long after its sums could overflow.

    Args:
        relation: whose rows.
        counts: the rows of each scan, or more, by its alias.
    """
    match relation:
        case ir.Scan(alias=alias):
            return counts[alias]
        case ir.Join(left=left, kind=kind) if not kind.has_both_sides:
            return rows_at_most(left, counts)
        case ir.Join(left=left, right=right):
            return min(MOST_ROWS, rows_at_most(left, counts) * max(1, rows_at_most(right, counts)))
        case ir.Union(parts=parts):
            return min(MOST_ROWS, sum(rows_at_most(part, counts) for part in parts))
        case ir.Where(source=below) | ir.Project(source=below) | ir.Distinct(source=below):
            return max(1, rows_at_most(below, counts))
        case ir.PerUnit(source=below) | ir.Window(source=below):
            return max(1, rows_at_most(below, counts))
        case _:
            raise unforeseen(relation)


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements that make temporary tables, and the queries of what is added up of several parts.

    Args:
        setup: to be run first, in this order.
        query: `k0, k1, …`, then `m0, m1, …`, one column per measure; 0 for a histogram, and for distinct values. All
            groups are here.
        values: one query for each measure of distinct values, in the order of the measures: `k0, k1, …, value`, each
            value of a group once; of no groups but those of `query`.
        histograms: one query for each histogram, in the order of the measures: `k0, k1, …, bin, count`; in no order,
            of no groups but those of `query`, and with several rows for a bin, whose counts add up to 0 or more. A
            count is in steps, so a row within the limits counts 2^-grid. Keys are as in `query`.
    """

    setup: tuple[str, ...]
    query: str
    values: tuple[str, ...] = ()
    histograms: tuple[str, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """All queries: the one of the groups, those of values, those of histograms."""
        return (self.query, *self.values, *self.histograms)


def each_row(shape: Shape) -> Statements:
    """The statements that add up where each row is a unit, so that there is nothing to limit."""
    by_value = (f"{whole_values(shape, number)} GROUP BY ALL" for number, _ in of_values(shape, "distinct"))
    counted = (whole_histogram(shape, number, adds) for number, adds in of_values(shape, "histogram"))
    return Statements(
        (),
        looked_up(shape, plain(shape, units="count(*)"), numbered("m", len(shape.measures))),
        tuple(looked_up(shape, each, ["value"]) for each in by_value),
        tuple(looked_up(shape, each, ["bin", "count"]) for each in counted),
    )


def plain(shape: Shape, *columns: str, units: str) -> str:
    """The sums of all contributions per group, without any limit; values are counted elsewhere.

    Args:
        shape: of the question.
        columns: further ones.
        units: the number of units, in SQL.
    """
    keys = numbered("k", shape.keys)
    measures = []
    for number, adds in enumerate(shape.measures):
        by_kind = {
            "units": units,
            "constant": f"count(*) * CAST({adds.constant} AS HUGEINT)",
            "present": f"count(v{number}) * CAST({adds.constant} AS HUGEINT)",
            "values": f"coalesce(sum(v{number}), 0)",
            "rest": f"count(v{adds.of}) * CAST({adds.constant} AS HUGEINT) - coalesce(sum(v{adds.of}), 0)",
            "distinct": NOTHING,
            "histogram": NOTHING,
        }
        measures.append(f"{by_kind[adds.what]} AS m{number}")
    return f"SELECT {listed(keys, measures, columns)} FROM {shape.contributions} {group_by(keys)}"


def of_values(shape: Shape, what: Literal["distinct", "histogram"]) -> Iterator[tuple[int, Adds]]:
    """The measures that count values in one way or the other, with their numbers."""
    return ((number, adds) for number, adds in enumerate(shape.measures) if adds.what == what)


def whole_values(shape: Shape, number: int, *columns: str) -> str:
    """The values of all contributions to a measure, with their groups, and what more is to be read of them."""
    read = listed(numbered("k", shape.keys), [f"v{number} AS value"], columns)
    return f"SELECT {read} FROM {shape.contributions} WHERE v{number} IS NOT NULL"


def whole_histogram(shape: Shape, number: int, adds: Adds) -> str:
    """A histogram of all contributions, without any limit."""
    bins = listed(numbered("k", shape.keys), [f"v{number} AS bin"])
    count = weighed("count(*)", adds, shape)
    return f"SELECT {bins}, {count} AS count FROM {shape.contributions} WHERE v{number} IS NOT NULL GROUP BY ALL"


def weighed(rows: str, adds: Adds, shape: Shape) -> str:
    """A number of rows, times what each of them adds."""
    return f"CAST({rows} AS {shape.width(adds.greatest)}) * {adds.constant}"


def looked_up(shape: Shape, query: str, columns: list[str]) -> str:
    """The query's rows with late keys looked up; `columns` are those beside the keys."""
    if not shape.late:
        return query
    keys = (f"keys{number}.i AS k{number}" if number in shape.late else f"k{number}" for number in range(shape.keys))
    return f"SELECT {listed(keys, columns)} FROM ({query}) {' '.join(map(key_lookup, shape.late))}"


def result_of(exact: ir.Exact, groups: Sequence[tuple[Any, ...]], counts: Sequence[pa.Table]) -> ExactResult:
    """The result of a question, from its groups and counts, as `added_up` has them; a group may be there twice."""
    width = len(exact.keys)
    histograms = {}
    places = {group[:width]: place for place, group in enumerate(groups)} if counts else {}
    for measure, table in zip((each for each in exact.measures if isinstance(each, ir.Histogram)), counts, strict=True):
        rows: list[list[int]] = [[] for _ in groups]
        for row in range(table.num_rows):
            rows[places[tuple(column[row].as_py() for column in table.columns[:width])]].append(row)
        histograms[measure.name] = ManyBins(table, rows)
    return ExactResult(
        keys=_each(groups, slice(width), lambda row: _key_values(exact.keys, row)),
        measures={
            measure.name: _each(groups, slice(width + number, width + number + 1), lambda row: int(*row))
            for number, measure in enumerate(exact.measures)
            if not isinstance(measure, ir.Histogram)
        },
        histograms=histograms,
    )


def _each(groups: Sequence[tuple[Any, ...]], columns: slice, made: Callable[[tuple[Any, ...]], _T]) -> Sequence[_T]:
    """Something of each group, made from some of its columns."""
    if isinstance(groups, ManyGroups):
        return groups.of(columns, made)
    return [made(group[columns]) for group in groups]


def _key_values(keys: Sequence[ir.Key], row: tuple[Any, ...]) -> tuple[KeyValue, ...]:
    """A group's key: public ones come as their number in the list, others as they are."""
    return tuple(value if key.values is None else key.values[value] for key, value in zip(keys, row, strict=True))
