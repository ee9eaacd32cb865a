"""Uniqueness: how many rows share a value with nobody, with one other row, and so on; and special uniques.

Special uniques: how few columns it takes to single each unit out, and which columns do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, lgamma, log, log1p

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.classes import Classes, classes_of, regrouped, sizes_of
from discreet.anonymity.columns import Mask
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Missing, Records, Unit, read
from discreet.anonymity.words import Noun, percent
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uniqueness:
    """How well some columns tell units apart: rows, or the people or households that rows belong to.

    A unit with several rows may have several values. It is unique if it is alone with one of them, because an attacker
    who knows that one has found it.

    Args:
        columns: the columns, together one value per row.
        unit: the columns that say whose a row is; none if each row is a unit of its own.
        rows: how many rows there are.
        units: how many units there are.
        values: how many different values occur.
        held: how many pairs of a unit and a value of it there are: the units, if each has one value.
        alike: how many pairs of these have one value.
        sizes: how many units share a value with how many; of several values, that with the fewest.
    """

    columns: tuple[str, ...]
    unit: tuple[str, ...]
    rows: int
    units: int
    values: int
    held: int
    alike: int
    sizes: ClassSizes

    @property
    def unique(self) -> int:
        """How many units share a value with nobody."""
        return self.sizes.unique

    @property
    def unique_share(self) -> float:
        """The same as a share of the units; 0 if there are none."""
        return self.unique / self.units if self.units else 0.0

    @property
    def distinction(self) -> float:
        """Different values per unit, or rather per value that a unit has; 0 if there are no rows."""
        return self.values / self.held if self.held else 0.0

    @property
    def separation(self) -> float:
        """The share of pairs of units that are told apart, by each value that they have; 1 if there is no pair."""
        pairs = self.held * (self.held - 1) // 2
        return float(1 - Fraction(self.alike, pairs)) if pairs else 1.0

    def shared_by(self, size: int) -> int:
        """How many units have a value that exactly this many units share, and none that fewer share."""
        return self.sizes.of(size)

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "unit": list(self.unit),
            "rows": self.rows,
            "units": self.units,
            "values": self.values,
            "unique": self.unique,
            "unique_share": self.unique_share,
            "distinction": self.distinction,
            "separation": self.separation,
            "class_sizes": self.sizes.to_dict(),
        }

    def __str__(self) -> str:
        noun = Noun.of(self.unit)
        lines = {
            "columns": ", ".join(self.columns),
            **({"unit": f"{', '.join(self.unit)}: {self.units:,} units"} if self.unit else {}),
            "rows": f"{self.rows:,}, with {self.values:,} different values",
            "unique": f"{noun.counted(self.unique)} whose value nobody shares ({percent(self.unique_share)})",
            "in pairs": noun.counted(self.shared_by(2)),
            "told apart": f"{percent(self.separation)} of the pairs of {noun.many}",
        }
        return "\n".join(f"{name:<11} {text}" for name, text in lines.items())


def uniqueness(
    table: object,
    columns: Sequence[str] | None = None,
    *,
    unit: Unit = None,
    missing: Missing | str | None = None,
) -> Uniqueness:
    """How many units some columns single out: rows, or the people or households that rows belong to.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        columns: which, taken together; all of the table's if left out.
        unit: the column, or columns, that say whose a row is; as in `read`.
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is named, or one twice; or a row doesn't say whose it is.
        SchemaMismatch: the table lacks one.

    Source: Motwani, Xu (2007), "Efficient algorithms for masking and finding quasi-identifiers", the definitions of
    distinct ratio (here *distinction*) and separation ratio.

    Examples:
        >>> found = uniqueness({"zip": ["1", "1", "2", "3"]}, ["zip"])
        >>> found.unique, found.shared_by(2), found.distinction, round(found.separation, 4)
        (2, 2, 0.75, 0.8333)
        >>> visits = {"patient": [1, 1, 2, 3], "zip": ["1", "1", "2", "2"]}
        >>> uniqueness(visits, ["zip"], unit="patient").unique  # nobody else has been seen in 1
        1
    """
    records = read(table, columns=None if isinstance(columns, str) else columns, unit=unit, missing=missing)
    return uniqueness_of(records, classes_of(records, records.names if columns is None else columns))


def uniqueness_of(records: Records, classes: Classes) -> Uniqueness:
    """The same of a table's equivalence classes."""
    return Uniqueness(
        columns=classes.names,
        unit=() if records.units is None else records.units.names,
        rows=records.rows,
        units=classes.total,
        values=classes.number,
        held=int(classes.units.sum()),
        alike=classes.alike,
        sizes=sizes_of(classes),
    )


def expected_rows(rows: int, values: int, *, shared_by: int = 1) -> float:
    """How many rows are expected to have a value that exactly this many share, if all values are alike.

    N rows are each given one of D values, independently and evenly. Then N·C(N−1, s−1)·(1/D)^(s−1)·(1−1/D)^(N−s) of
    them have a value that s rows share: for s = 1 about N·exp(−(N−1)/D).

    Args:
        rows: N; 0 or more.
        values: D; 1 or more.
        shared_by: s; 1 or more.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> round(expected_rows(32_563, 22_640)), round(expected_rows(32_563, 22_640, shared_by=2))
        (7728, 11116)
    """
    if rows < 0 or values < 1 or shared_by < 1:
        raise InvalidArgument("rows must be 0 or more, values and shared_by 1 or more")
    if shared_by > rows:
        return 0.0
    if values == 1:
        return float(rows) if shared_by == rows else 0.0
    others, rest = shared_by - 1, rows - shared_by
    ways = lgamma(rows) - lgamma(shared_by) - lgamma(rest + 1)
    return rows * exp(ways - others * log(values) + rest * log1p(-1 / values))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialUniques:
    """How small the sets of columns are that single units out: rows, or whom rows belong to.

    A unit is singled out by a set minimally if it is alone by the set and by none of its subsets.

    Args:
        columns: of which sets were tried.
        units: how many units there are.
        at_most: sets had no more columns.
        smallest: of 1, 2, … columns: how many units have a smallest set of that size.
        uses: of each column: in how many of all units' minimal sets it is.
        sets: how many minimal sets all units have together.
    """

    columns: tuple[str, ...]
    units: int
    at_most: int
    smallest: tuple[int, ...]
    uses: tuple[int, ...]
    sets: int

    @property
    def never(self) -> int:
        """How many units no set of so few columns singles out."""
        return self.units - sum(self.smallest)

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "units": self.units,
            "at_most": self.at_most,
            "smallest": list(self.smallest),
            "never": self.never,
            "uses": dict(zip(self.columns, self.uses, strict=True)),
            "sets": self.sets,
        }


def special_uniques(
    table: object,
    columns: Sequence[str] | None = None,
    *,
    unit: Unit = None,
    at_most: int = 3,
    missing: Missing | str | None = None,
) -> SpecialUniques:
    """The fewest columns that single out each unit.

    Someone unique by two columns stays so in most releases; someone who takes eight may not be unique in the population
    at all. All sets of up to `at_most` columns are counted.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        columns: which columns to consider; all if left out.
        unit: the column, or columns, that say whose a row is; as in `read`. If left out, each row is a unit of its own.
        at_most: of how many columns sets are at most; 1 or more.
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is named, one twice, or `at_most` is below 1.
        SchemaMismatch: the table lacks a column.

    Source: Elliot, Manning, Ford (2002), "A computational algorithm for handling the special uniques problem", the
    definition of minimal sample uniques; the search here is a plain one.

    Examples:
        >>> table = {"sex": ["F", "M", "M", "M"], "zip": ["1", "1", "2", "2"], "car": ["a", "a", "b", "c"]}
        >>> found = special_uniques(table)
        >>> found.smallest, found.never, found.uses
        ((3, 1, 0), 0, (3, 1, 3))
    """
    if at_most < 1:
        raise InvalidArgument(f"at_most must be 1 or more, not {at_most}")
    records = read(table, columns=None if isinstance(columns, str) else columns, unit=unit, missing=missing)
    classes = classes_of(records, records.names if columns is None else columns)
    number, most = len(classes.columns), min(at_most, len(classes.columns))
    done: Mask | None = None
    smallest, uses, sets = [0] * at_most, [0] * number, 0
    below: dict[tuple[int, ...], Mask] = {}
    for size in range(1, most + 1):
        level = {}
        for chosen in combinations(range(number), size):
            alone = _alone(classes, chosen, records.missing)
            level[chosen] = alone
            already = np.zeros_like(alone)
            for subset in combinations(chosen, size - 1):
                already |= below.get(subset, False)
            minimal = _number(classes, alone & ~already)
            sets += minimal
            for column in chosen:
                uses[column] += minimal
        found = np.logical_or.reduce(list(level.values()))
        smallest[size - 1] = _number(classes, found if done is None else found & ~done)
        done = found if done is None else found | done
        below = level
    return SpecialUniques(
        columns=classes.names,
        units=classes.total,
        at_most=at_most,
        smallest=tuple(smallest),
        uses=tuple(uses),
        sets=sets,
    )


def _alone(classes: Classes, chosen: tuple[int, ...], missing: Missing) -> Mask:
    """Which classes have one unit by some of the columns; or which units, where they have several rows."""
    columns = [classes.columns[place] for place in chosen]
    codes = classes.tuples[:, list(chosen)]
    left = regrouped(classes, columns, codes, missing)
    if left.members is not None:
        return np.asarray(left.members.smallest(left.sizes) == 1)
    of_class = group([np.ascontiguousarray(column) for column in codes.T], [column.size for column in columns]).of_row()
    return np.asarray((left.sizes == 1)[of_class], dtype=np.bool_)


def _number(classes: Classes, alone: Mask) -> int:
    """How many units are meant by what `_alone` says."""
    return int(classes.units[alone].sum() if classes.members is None else np.count_nonzero(alone))
