"""The minimal sets of columns that single people out: no column of theirs can be spared.

Sets of columns are visited by their first column, then their second, and so on; each divides what the set before left
undivided. Two facts spare most of them, both because more columns never single out fewer units:

- A set that contains one that identifies isn't minimal, nor is any that continues it.
- If a set with all columns that may still follow doesn't identify, then nothing that continues the set does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.anonymity.classes import chosen
from discreet.anonymity.records import Missing, Records, Unit, read
from discreet.anonymity.risk.partition import Partition, Start, start
from discreet.anonymity.words import Noun, percent
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """The units that a set of columns tells apart.

    Args:
        columns: their places.
        unique: how many units are alone.
        values: how many different combinations of values occur.
        held: how many pairs of a unit and a combination that it has there are: the units, if each has one.
        pairs: how many pairs of units aren't told apart.
    """

    columns: frozenset[int]
    unique: int
    values: int
    held: int
    pairs: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Searched:
    """The outcome of a search.

    Args:
        minimal: the sets that identify while none of their subsets does.
        counted: for how many sets it was counted who is alone.
    """

    minimal: tuple[Found, ...]
    counted: int


@dataclass(slots=True, eq=False, kw_only=True)
class _Search:
    """A search under way; sets of columns are the bits of a number.

    Args:
        columns: how many columns there are.
        least: how many units a set must single out to identify.
        at_most: sets have no more columns.
        identifying: sets that identify, none of which was known to contain another when it was found.
        harmless: sets that don't identify, and so neither does any subset.
        counted: for how many sets it was counted who is alone.
    """

    columns: int
    least: int
    at_most: int
    identifying: dict[int, Found] = field(default_factory=dict)
    harmless: list[int] = field(default_factory=list)
    counted: int = 0

    def below(self, chosen: int, start: int, part: Partition) -> None:
        """Visit every set that continues `chosen` with columns from `start` on."""
        if start == self.columns or chosen.bit_count() == self.at_most or self._ruled_out(chosen, start, part):
            return
        for column in range(start, self.columns):
            extended = chosen | 1 << column
            if any(known & extended == known for known in self.identifying):
                continue
            if self._known_harmless(self._with_rest(extended, column + 1)):
                continue
            refined = part.refined(column)
            self.counted += 1
            if refined.unique >= self.least:
                self.identifying[extended] = figures(extended, refined)
            else:
                self.below(extended, column + 1, refined)

    def _ruled_out(self, chosen: int, start: int, part: Partition) -> bool:
        """Whether not even all remaining columns together identify."""
        everything = self._with_rest(chosen, start)
        if self._known_harmless(everything):
            return True
        self.counted += 1
        if part.unique_with_rest(start) >= self.least:
            return False
        self.harmless.append(everything)
        return True

    def _with_rest(self, chosen: int, start: int) -> int:
        """A set with all columns from `start` on."""
        return chosen | ((1 << self.columns) - 1) >> start << start

    def _known_harmless(self, chosen: int) -> bool:
        """Whether a set is part of one that doesn't identify."""
        return any(chosen & known == chosen for known in self.harmless)


def search(whole: Partition, columns: int, *, least: int, at_most: int) -> Searched:
    """All minimal sets of columns that single out at least this many units.

    Every minimal set M is found: what is skipped either contains a set that identifies, and isn't minimal unless it is
    that set; or is part of a set that doesn't identify, and M isn't. A set that was found before one of its subsets
    was is dropped at the end.

    Args:
        whole: the table, not divided yet.
        columns: how many columns there are; 1 or more.
        least: 1 or more.
        at_most: sets of more columns aren't considered.
    """
    state = _Search(columns=columns, least=least, at_most=at_most)
    state.below(0, 0, whole)
    found = sorted(state.identifying, key=int.bit_count)
    minimal: list[int] = []
    for each in found:
        if not any(known & each == known for known in minimal):
            minimal.append(each)
    return Searched(
        minimal=tuple(state.identifying[each] for each in minimal),
        counted=state.counted,
    )


def figures(chosen: int, part: Partition) -> Found:
    """The figures of a set, without the partition, which is as large as the table.

    Args:
        chosen: the set's columns as bits.
        part: the table divided by it.
    """
    places = frozenset(place for place in range(chosen.bit_length()) if chosen >> place & 1)
    return Found(columns=places, unique=part.unique, values=part.values, held=part.held, pairs=part.pairs)


SHARE = Fraction(1, 10)
"""A set of columns identifies if it singles out more than this share of the units, unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSet:
    """The units that a set of columns tells apart.

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
        alone: each column alone, the most selective first.
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
        sets = Noun("minimal set of columns singles", "minimal sets of columns single").counted(len(self.minimal))
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

    A unit that is alone by some columns is alone by more of them, so the share grows with the set. A set that
    identifies settles all that contain it, and one that doesn't settles all its subsets; the rest are counted, each by
    dividing what a smaller set left undivided.

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
        """The figures of one set; its columns are in the order that was asked for."""
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
