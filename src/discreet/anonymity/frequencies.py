"""The frequency table that everything is computed from: classes × sensitive values, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.classes import Classes, changes, chosen, classes_of
from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.grouping import group, grouped, starts_of
from discreet.anonymity.matching import places_of
from discreet.anonymity.records import Missing, Records
from discreet.anonymity.wildcards import Held, hiding_places, pooled
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Holders:
    """Which units have a sensitive value in which class: those that may have it in several.

    Args:
        pairs: for each entry, the pair of a class and a value; ascending.
        units: for each entry, the number of the unit; once per pair.
    """

    pairs: Whole
    units: Codes

    def only(self, pairs: Mask) -> Holders:
        """The holders of some pairs, which are renumbered."""
        kept = pairs[self.pairs]
        return Holders(pairs=(np.cumsum(pairs) - 1)[self.pairs[kept]], units=self.units[kept])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """The shares that values have of a whole table: of its units, how many have each.

    This is the one place where a table's shares are defined. A unit has a value, and is in the table, once, in however
    many classes, as an attacker sees it who guesses the commonest value of all.

    Args:
        totals: for each value, how many units have it.
        whole: how many units there are.
    """

    totals: Whole
    whole: int

    @classmethod
    def of(  # noqa: PLR0913 — the pairs of a frequency table
        cls, *, units: Whole, starts: Whole, values: Codes, counts: Whole, size: int, holders: Holders | None
    ) -> Shares:
        """The frequencies of a table.

        Args:
            units: for each class, how many units are in it.
            starts: where the pairs of each class begin, and where the last ends.
            values: for each pair, the code of the value.
            counts: for each pair, how many units have it.
            size: codes are below this.
            holders: the units that may be in several classes; None if none is.

        Examples:
            >>> both = Holders(pairs=np.array([0, 1]), units=np.array([0, 0], np.int32))
            >>> found = Shares.of(
            ...     units=np.array([1, 2]), starts=np.array([0, 1, 2]), values=np.array([0, 0], np.int32),
            ...     counts=np.array([1, 2]), size=1, holders=both,
            ... )
            >>> found.totals.tolist(), found.whole
            ([2], 2)
        """
        totals, whole = summed(values, counts, size), int(units.sum())
        if holders is None or not len(holders.pairs):
            return cls(totals=totals, whole=whole)
        number = int(holders.units.max()) + 1
        held = values[holders.pairs]
        once = group([held, holders.units], [max(size, 1), number]).tuples()[:, 0]
        more = np.bincount(held, minlength=size) - np.bincount(once, minlength=size)
        of_pair = np.repeat(np.arange(len(units), dtype=np.int32), np.diff(starts))
        entries = group([of_pair[holders.pairs], holders.units], [len(units), number]).number
        several = entries - int(np.count_nonzero(np.bincount(holders.units)))
        return cls(totals=totals - more, whole=whole - several)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Frequencies:
    """How often each sensitive value occurs in each equivalence class.

    Only what occurs is stored: the pairs of class i are those from `starts[i]` to `starts[i + 1]`, in the order of
    their values. Units are counted, not rows: one that has a value several times in a class has it once, one that has
    several values there counts for each of them, and one that is in several classes counts in each of them, but once
    in the table.

    Args:
        rows: for each class, how many rows are in it.
        units: for each class, how many units have a row in it: its rows, where every row is a unit of its own.
        sizes: of each class, among how many units one of its units hides; the same number, or more where missing values
            are wildcards.
        starts: where the pairs of each class begin, and where the last ends: classes + 1 places.
        values: for each pair, the code of the sensitive value.
        counts: for each pair, how many of the `sizes` units have it.
        totals: of each sensitive value, how many units of the whole table have it; see `Shares`.
        whole: how many units the whole table has.
        sensitive: the attribute; None if there is none, and then no pairs and no totals.
        population: for each class, how many units of a population table have the same quasi-identifiers; None if there
            is no such table.
        classes: where the table came from; None for one that a search merged.
        holders: the units of each pair that may be in several classes; None if none is.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"zip": ["1", "2", "1"], "ill": ["flu", "flu", "cold"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> found.starts.tolist(), found.values.tolist(), found.totals.tolist()
        ([0, 2, 3], [0, 1, 1], [1, 2])
    """

    rows: Whole
    units: Whole
    sizes: Whole
    starts: Whole
    values: Codes
    counts: Whole
    totals: Whole
    whole: int
    sensitive: Coded | None = None
    population: Whole | None = None
    classes: Classes | None = None
    holders: Holders | None = None

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def total(self) -> int:
        """How many units the table has; those that are in several classes are counted in each if that isn't known."""
        return int(self.units.sum()) if self.classes is None else self.classes.total

    def within(self, which: Mask) -> int:
        """How many units have a row in one of these classes; as `total`."""
        return int(self.units[which].sum()) if self.classes is None else self.classes.within(which)

    def only(self, kept: Mask) -> Frequencies:
        """The frequencies of a release of these classes alone: the whole table is then what is released."""
        pairs = np.repeat(kept, np.diff(self.starts))
        lengths = np.diff(self.starts)[kept]
        values, counts = self.values[pairs], self.counts[pairs]
        units, starts = self.units[kept], np.append(0, np.cumsum(lengths))
        holders = None if self.holders is None else self.holders.only(pairs)
        shares = Shares.of(
            units=units, starts=starts, values=values, counts=counts, size=len(self.totals), holders=holders
        )
        return replace(
            self,
            rows=self.rows[kept],
            units=units,
            sizes=self.sizes[kept],
            starts=starts,
            values=values,
            counts=counts,
            totals=shares.totals,
            whole=shares.whole,
            population=None if self.population is None else self.population[kept],
            classes=None,
            holders=holders,
        )


def frequencies_of(
    records: Records,
    quasi_identifiers: Sequence[str],
    sensitive: str | None = None,
    population: Records | None = None,
) -> Frequencies:
    """The frequency table of a table's rows.

    Args:
        records: the table.
        quasi_identifiers: one or more of its columns.
        sensitive: another of its columns; None for the classes alone.
        population: a table of everyone the rows were drawn from, with the same quasi-identifiers.

    Raises:
        InvalidArgument: no quasi-identifier is named, one twice, or the sensitive column among them.
        SchemaMismatch: a table lacks one of the columns, or the population holds values of another kind in it.
    """
    if sensitive is None:
        found = classes_of(records, quasi_identifiers)
        people = None if population is None else counted(found, records, population)
        return bare(rows=found.rows, units=found.units, sizes=found.sizes, population=people, classes=found)
    columns = chosen(records, quasi_identifiers)
    attribute = records.column(sensitive)
    if attribute.name in {column.name for column in columns}:
        raise InvalidArgument(f"the column {sensitive!r} can't be both quasi-identifying and sensitive")
    if records.units is not None:
        return _frequencies_by_unit(records, quasi_identifiers, attribute, population)
    every = [*columns, attribute]
    pairs = grouped(every)
    tuples, values = np.split(pairs.tuples(), [len(columns)], axis=1)
    begins = changes(tuples)
    first = np.flatnonzero(begins)
    held = Held(
        classes=np.cumsum(begins) - 1, values=values[:, 0].copy(), counts=pairs.counts, span=max(attribute.size, 1)
    )
    rows = np.add.reduceat(pairs.counts, first) if len(first) else pairs.counts
    own, sizes = tuples[first], rows
    if records.missing is Missing.WILDCARD:
        held, sizes = pooled(columns, own, held), hiding_places(columns, own, rows)
    classes = Classes(columns=columns, tuples=own, rows=rows, units=rows, sizes=sizes)
    return Frequencies(
        rows=rows,
        units=rows,
        sizes=sizes,
        starts=np.append(starts_of(held.classes), len(held.values)),
        values=held.values,
        counts=held.counts,
        totals=attribute.counts(),
        whole=records.rows,
        sensitive=attribute,
        population=None if population is None else counted(classes, records, population),
        classes=classes,
    )


def _frequencies_by_unit(
    records: Records, quasi_identifiers: Sequence[str], attribute: Coded, population: Records | None
) -> Frequencies:
    """The frequencies of a table whose units have several rows."""
    units = records.units
    assert units is not None  # noqa: S101 — the caller looked
    classes = classes_of(records, quasi_identifiers)
    every = [*classes.columns, attribute]
    entries = group([*(c.stored for c in every), units.codes], [*(c.size for c in every), units.number]).tuples()
    begins = np.flatnonzero(changes(entries[:, :-1]))
    pairs, counts = entries[begins, :-1], np.diff(begins, append=len(entries))
    starts = np.append(np.flatnonzero(changes(pairs[:, :-1])), len(pairs))
    values = pairs[:, -1].copy()
    holders = Holders(pairs=np.repeat(np.arange(len(pairs)), counts), units=entries[:, -1].copy())
    shares = Shares.of(
        units=classes.units, starts=starts, values=values, counts=counts, size=attribute.size, holders=holders
    )
    return Frequencies(
        rows=classes.rows,
        units=classes.units,
        sizes=classes.sizes,
        starts=starts,
        values=values,
        counts=counts,
        totals=shares.totals,
        whole=shares.whole,
        sensitive=attribute,
        population=None if population is None else counted(classes, records, population),
        classes=classes,
        holders=holders,
    )


def summed(values: Codes, counts: Whole, number: int) -> Whole:
    """For each value up to this number, the sum of its counts. Sums of integers below 2^53 are exact in doubles."""
    return np.bincount(values, weights=counts, minlength=number).astype(np.int64)


def counted(classes: Classes, records: Records, others: Records) -> Whole:
    """For each class, how many units of another table have the same quasi-identifiers.

    A value that isn't among the classes' is no row's of theirs, so such rows count nowhere.

    Raises:
        SchemaMismatch: the other table lacks a quasi-identifier, or holds values of another kind in it.
        InvalidArgument: missing values are wildcards: which rows agree is then said only within a table.
    """
    if Missing.WILDCARD in {records.missing, others.missing}:
        raise InvalidArgument(
            "a population can't be compared with while missing values are wildcards", hint="read both as own values"
        )
    theirs = [others.column(column.name) for column in classes.columns]
    places = [places_of(mine, other)[other.codes] for mine, other in zip(classes.columns, theirs, strict=True)]
    known = np.ones(others.rows, dtype=np.bool_)
    for codes in places:
        known &= codes >= 0
    sizes = [column.size for column in classes.columns]
    if others.units is not None:
        once = group([*(codes[known] for codes in places), others.units.codes[known]], [*sizes, others.units.number])
        places = list(once.tuples()[:, :-1].T)
        known = np.ones(once.number, dtype=np.bool_)
    both = [np.concatenate((classes.tuples[:, place], codes[known])) for place, codes in enumerate(places)]
    weights = np.concatenate((np.zeros(classes.number, dtype=np.int64), np.ones(int(known.sum()), dtype=np.int64)))
    found = group(both, sizes, weights)
    of_row = found.of_row()  # first: the same sort adds up the weights
    return found.counts[of_row[: classes.number]]


def bare(
    *, rows: Whole, units: Whole, sizes: Whole, population: Whole | None, classes: Classes | None = None
) -> Frequencies:
    """The frequency table of classes alone, without a sensitive attribute; see `Frequencies`."""
    return Frequencies(
        rows=rows,
        units=units,
        sizes=sizes,
        starts=np.zeros(len(rows) + 1, dtype=np.int64),
        values=np.zeros(0, dtype=np.int32),
        counts=np.zeros(0, dtype=np.int64),
        totals=np.zeros(0, dtype=np.int64),
        whole=int(units.sum()),
        population=population,
        classes=classes,
    )
