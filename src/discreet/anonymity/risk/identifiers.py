"""Which sets of columns single people out, and of these the smallest: no column of them can be spared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.anonymity.classes.classes import chosen
from discreet.anonymity.records.read import Unit, read
from discreet.anonymity.records.records import Missing, Records
from discreet.anonymity.risk.partition import Start, start
from discreet.anonymity.risk.search import Found, figures, search
from discreet.anonymity.risk.words import Noun, number_of, percent
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational

SHARE = Fraction(1, 10)
"""A set of columns identifies if it singles out more than this share of the units, unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSet:
    """What a set of columns tells apart.

    Args:
        columns: the set, in the table's order.
        unique: how many units it singles out: rows, or the people or households that rows belong to.
        unique_share: the same as a share of the units.
        distinction: different values per unit, or rather per value that a unit has.
        separation: the share of pairs of units that are told apart, by each value that they have; 1 if there is no
            pair.
    """

    columns: tuple[str, ...]
    unique: int
    unique_share: float
    distinction: float
    separation: float

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "unique": self.unique,
            "unique_share": self.unique_share,
            "distinction": self.distinction,
            "separation": self.separation,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifiers:
    """The minimal sets of columns that identify.

    Args:
        columns: of which all sets were considered.
        share: a set identifies if it singles out more than this share of the units.
        at_most: sets of more columns weren't considered; None if all were.
        unit: the columns that say whose a row is; none if each row is a unit of its own.
        units: how many units there are.
        minimal: every set that identifies while none of its subsets does: the smallest sets first, and among those
            of a size the most selective first.
        alone: each column by itself, the most selective first.
        counted: for how many sets it was counted who is alone; all others follow from these.
    """

    columns: tuple[str, ...]
    share: Fraction
    at_most: int | None
    unit: tuple[str, ...]
    units: int
    minimal: tuple[ColumnSet, ...]
    alone: tuple[ColumnSet, ...]
    counted: int

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "share": float(self.share),
            "at_most": self.at_most,
            "unit": list(self.unit),
            "units": self.units,
            "minimal": [each.to_dict() for each in self.minimal],
            "alone": [each.to_dict() for each in self.alone],
            "counted": self.counted,
        }

    def __str__(self) -> str:
        """The sets, for people."""
        sets = number_of(len(self.minimal), "minimal set of columns singles", "minimal sets of columns single")
        head = f"{sets} out more than {percent(float(self.share))} of the {Noun.of(self.unit).many}"
        lines = [f"{percent(each.unique_share):>8}  {', '.join(each.columns)}" for each in self.minimal]
        return "\n".join([head, *lines])


def minimal_identifiers(  # noqa: PLR0913 — a table, and what is sought in it
    table: object,
    columns: Sequence[str] | None = None,
    *,
    unit: Unit = None,
    share: Rationalizable = SHARE,
    at_most: int | None = None,
    missing: Missing | str | None = None,
) -> Identifiers:
    """All minimal sets of columns that single out more than a share of the units, exactly.

    Whoever is alone by some columns is alone by more of them, so the share grows with the set. A set that identifies
    settles all that contain it, and one that doesn't settles all its subsets; the rest are counted, each by dividing
    what a smaller set left undivided.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        columns: which columns to consider; all if left out.
        unit: the column, or columns, that say whose a row is; as in `read`. If left out, each row is a unit of its own.
        share: in [0, 1).
        at_most: consider no sets of more columns; all if left out, which can take time exponential in their number.
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is named, one twice, or a number is out of range.
        SchemaMismatch: the table lacks a column.

    Source: Motwani, Xu (2007), "Efficient algorithms for masking and finding quasi-identifiers", the definition of a
    quasi-identifier by its separation and distinct ratios; here by the share of rows that are alone.

    Examples:
        >>> table = {"sex": ["F", "M", "F", "M"], "zip": ["1", "1", "2", "2"], "car": ["a", "b", "c", "c"]}
        >>> for found in minimal_identifiers(table, share=0.4).minimal:
        ...     print(found.columns, found.unique_share)
        ('car',) 0.5
        ('sex', 'zip') 1.0
    """
    records = read(table, columns=None if isinstance(columns, str) else columns, unit=unit, missing=missing)
    return identifiers_of(records, records.names if columns is None else columns, share=share, at_most=at_most)


def identifiers_of(
    records: Records,
    columns: Sequence[str],
    *,
    share: Rationalizable = SHARE,
    at_most: int | None = None,
    begin: Start | None = None,
) -> Identifiers:
    """The same of records, and from where to begin dividing them by these columns if that is known already.

    Raises:
        InvalidArgument: no column is named, one twice, or a number is out of range.
        SchemaMismatch: the table lacks a column.
    """
    names = [column.name for column in chosen(records, columns)]
    limit = rational(share, "share")
    if not 0 <= limit < 1:
        raise InvalidArgument(f"share must be from 0 to below 1, not {share}")
    if at_most is not None and at_most < 1:
        raise InvalidArgument(f"at_most must be 1 or more, not {at_most}")
    begin = begin or start(records, names)
    ordered, whole = begin.names, begin.whole
    found = search(whole, len(ordered), least=int(limit * records.counted) + 1, at_most=at_most or len(ordered))
    place = {name: number for number, name in enumerate(names)}

    def described(each: Found) -> ColumnSet:
        """What one set tells apart, its columns in the order that was asked for."""
        columns = sorted((ordered[number] for number in each.columns), key=place.__getitem__)
        return _column_set(tuple(columns), each, records.counted)

    single = [described(figures(1 << each, whole.refined(each))) for each in range(len(ordered))]
    minimal = [described(each) for each in found.minimal]
    return Identifiers(
        columns=tuple(names),
        share=limit,
        at_most=at_most,
        unit=() if records.units is None else records.units.names,
        units=records.counted,
        minimal=tuple(sorted(minimal, key=lambda each: (len(each.columns), *_selective(each)))),
        alone=tuple(sorted(single, key=_selective)),
        counted=found.counted,
    )


def _column_set(columns: tuple[str, ...], found: Found, units: int) -> ColumnSet:
    """The figures of one set."""
    pairs = found.held * (found.held - 1) // 2
    return ColumnSet(
        columns=columns,
        unique=found.unique,
        unique_share=found.unique / units if units else 0.0,
        distinction=found.values / found.held if found.held else 0.0,
        separation=float(1 - Fraction(found.pairs, pairs)) if pairs else 1.0,
    )


def _selective(found: ColumnSet) -> tuple[float, ...]:
    """The most selective first."""
    return -found.unique, -found.distinction, -found.separation
