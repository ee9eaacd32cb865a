"""Published rows that are attacked: a table as it is, or one that was generalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Whole
from discreet.anonymity.grouping import Grouping, distinct, group, starts_of
from discreet.anonymity.records import Records, Units, read
from discreet.attacks.targets.candidates import Joined, Tally, expand, itself, join
from discreet.attacks.targets.compatible import CellsLike, relate
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

On: TypeAlias = Sequence[str] | Mapping[str, str]
"""The columns by which people are known: names, or names in what is known → names in what was released."""

_ENTRIES = 1 << 22  # entries of a tally that are added up at a time


@runtime_checkable
class Generalised(Protocol):
    """A release of generalised rows, such as `anonymity.Anonymized`."""

    @property
    def records(self) -> Records:
        """The released rows."""

    @property
    def cells(self) -> Mapping[str, CellsLike]:
        """The values that the cells of its generalised columns stand for."""

    @property
    def models(self) -> Sequence[object]:
        """The models that it promises."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidates:
    """For each known person, the released rows that may be theirs.

    People who are known alike form a kind, released rows that look alike a class; only kinds and classes are stored.
    Candidates are counted as units: rows of one unit are one candidate. Where no unit is named, each row is one.

    Args:
        of_person: person → kind.
        pairs: kind → the classes that go with it.
        of_row: released row → class.
        sizes: for each class, how many units have a row in it.
        whose: whose each released row is; None if every row is a unit of its own.
    """

    of_person: Whole
    pairs: Joined
    of_row: Whole
    sizes: Whole
    whose: Units | None = None

    @classmethod
    def among(cls, of_person: Whole, pairs: Joined, rows: Grouping, whose: Units | None) -> Candidates:
        """The candidates for people of some kinds, among rows in some classes."""
        of_row, sizes = rows.of_row(), rows.counts
        if whose is not None:
            sizes = np.bincount(_held(of_row, len(sizes), whose)[0], minlength=len(sizes))
        return cls(of_person=of_person, pairs=pairs, of_row=of_row, sizes=sizes, whose=whose)

    @property
    def kinds(self) -> int:
        """How many kinds of people there are."""
        return len(self.pairs.starts) - 1

    def by_kind(self) -> Whole:
        """For each kind, how many units may be theirs; one that is in several of their classes is counted once."""
        if self.whose is not None:
            classes, units = _held(self.of_row, len(self.sizes), self.whose)
            begins, number = np.searchsorted(classes, np.arange(len(self.sizes) + 1)), self.whose.number
            found = np.zeros(self.kinds, dtype=np.int64)
            for kind, entry in _entries(self.pairs, begins):
                found += np.bincount(distinct(kind * number + units[entry]) // number, minlength=self.kinds)
            return found
        sums = np.concatenate(([0], np.cumsum(self.sizes[self.pairs.right])))
        return np.asarray(sums[self.pairs.starts[1:]] - sums[self.pairs.starts[:-1]])

    def numbers(self) -> Whole:
        """For each person, how many units may be theirs."""
        return self.by_kind()[self.of_person]

    def of(self, person: int) -> Whole:
        """The rows that may be one person's."""
        kind = self.of_person[person]
        classes = self.pairs.right[self.pairs.starts[kind] : self.pairs.starts[kind + 1]]
        return np.flatnonzero(np.isin(self.of_row, classes))

    def hold(self, people: Whole, rows: Whole) -> Mask:
        """Whether each of these rows may be the person's beside it.

        Args:
            people: places of known people.
            rows: as many places of released rows.
        """
        kinds = np.repeat(np.arange(self.kinds), np.diff(self.pairs.starts))
        keys = kinds * max(len(self.sizes), 1) + self.pairs.right
        asked = self.of_person[people] * max(len(self.sizes), 1) + self.of_row[rows]
        return np.isin(asked, keys)

    def only(self) -> Whole:
        """For each person whom one unit alone may be, a row of that unit; else −1."""
        row_of = np.full(len(self.sizes), -1, dtype=np.int64)
        row_of[self.of_row[::-1]] = np.arange(len(self.of_row))[::-1]
        found = np.full(self.kinds, -1, dtype=np.int64)
        single = np.flatnonzero(self.by_kind() == 1)
        found[single] = row_of[self.pairs.right[self.pairs.starts[single]]]
        return found[self.of_person]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rows:
    """Published rows as an attacker has them.

    Args:
        records: the rows.
        name: what they are, in words.
        cells: of generalised columns, what the release says its cells stand for.
        original: the table before it was generalised, whose values `cells` means; None leaves cells to be read by
            their labels. Columns that `cells` doesn't name were released as they are, if it names any.

    Examples:
        >>> from discreet.anonymity import read
        >>> rows = Rows.of(read({"age": ["20-29", "20-29", "30-39"], "ill": ["flu", "cold", "flu"]}))
        >>> found = rows.candidates(read({"age": [25, 31, 55]}), ["age"])
        >>> found.numbers().tolist(), found.only().tolist()
        ([2, 1, 0], [-1, 2, -1])
        >>> rows.tally(found, "ill").surety().tolist()[:2]
        [0.5, 1.0]
    """

    records: Records
    name: str = "raw rows"
    cells: Mapping[str, CellsLike] = field(default_factory=dict)
    original: Records | None = None

    def __post_init__(self) -> None:
        """Keep the cells from being changed through the mapping that was handed in."""
        object.__setattr__(self, "cells", MappingProxyType(dict(self.cells)))

    @classmethod
    def of(cls, release: object, *, name: str | None = None, original: object | None = None) -> Rows:
        """Make rows of what was published.

        Args:
            release: a table as `anonymity.read` takes it, an `Anonymized`, or rows already.
            name: what they are, in words.
            original: the table that was generalised, as `anonymity.read` takes it.
        """
        from discreet.anonymity.hierarchies.texts import dated

        if isinstance(release, Rows):
            return release
        if isinstance(release, Generalised):
            promised = ", ".join(map(str, release.models))
            return cls(
                records=release.records,
                name=name or f"rows with {promised}",
                cells=release.cells,
                original=None if original is None else dated(read(original), getattr(release, "dated", ()))[0],
            )
        return cls(records=read(release), name=name or "raw rows")

    def covered(self, name: str) -> tuple[CellsLike, Coded] | None:
        """A column's cells, by the values they stand for, and the column before; None for one released as it is.

        Raises:
            InvalidArgument: its cells stand for several values, and the table that was generalised isn't there.
        """
        cells = self.cells.get(name)
        if cells is None:
            return None
        if self.original is None:
            raise InvalidArgument("cells stand for values of a table that wasn't handed in", hint="original=…")
        return cells, self.original.column(name)

    def candidates(self, known: Records, on: On) -> Candidates:
        """Which rows may be whose.

        Args:
            known: what is known of people, one row each.
            on: by which columns.

        Raises:
            InvalidArgument: there are no columns.
            SchemaMismatch: a table lacks one.
        """
        names = paired(on)
        left = [known.column(name) for name in names]
        right = [self.records.column(name) for name in names.values()]
        relations = [
            relate(
                one,
                other,
                cells=self.cells.get(other.name),
                original=self.original.column(other.name) if self.original and other.name in self.cells else None,
                kept=bool(self.cells) and other.name not in self.cells,
                missing=(known.missing, self.records.missing),
            )
            for one, other in zip(left, right, strict=True)
        ]
        order = sorted(range(len(relations)), key=lambda place: relations[place].breadth)  # the most telling first
        left, right = ([side[place] for place in order] for side in (left, right))
        people = group([column.codes for column in left], [column.size for column in left])
        rows = group([column.codes for column in right], [column.size for column in right])
        pairs = join(people.tuples(), rows.tuples(), [relations[place] for place in order])
        return Candidates.among(people.of_row(), pairs, rows, self.records.units)

    def tally(self, found: Candidates, sensitive: str) -> Tally:
        """How many candidates of each kind of people have which sensitive value: units, where rows have them.

        Args:
            found: which rows may be whose.
            sensitive: the column.

        Raises:
            SchemaMismatch: there is no such column.
        """
        column = self.records.column(sensitive)
        span = max(column.size, 1)
        of_row, sizes = found.of_row.astype(np.int32), [max(len(found.sizes), 1), span]
        units = self.records.units
        if units is None:
            held = group([of_row, column.codes], sizes)
            (classes, values), owners = held.tuples().T.astype(np.int64), None
        else:
            held = group([of_row, column.codes, units.codes], [*sizes, units.number])
            classes, values, owners = held.tuples().T.astype(np.int64)
        begins = np.searchsorted(classes, np.arange(len(found.sizes) + 1))
        parts = list(_added(found, begins, (values, held.counts, owners), span))
        keys = np.concatenate([part[0] for part in parts])
        kinds, codes = np.divmod(keys, span)
        return Tally(
            sensitive=sensitive,
            labels=column.labels(),
            of_person=found.of_person,
            starts=np.searchsorted(kinds, np.arange(found.kinds + 1)),
            values=codes,
            counts=np.concatenate([part[1] for part in parts]),
            priors=shares_of(self.records, sensitive),
            among=None if units is None else found.by_kind().astype(np.float64),
        )

    def itself(self, on: Sequence[str], sensitive: str) -> Tally:
        """The tally of the released rows themselves: each row is a person, known by its own cells.

        Args:
            on: by which columns.
            sensitive: the column.
        """
        columns = [self.records.column(name) for name in paired(on).values()]
        rows = group([column.codes for column in columns], [column.size for column in columns])
        return self.tally(Candidates.among(rows.of_row(), itself(rows.number), rows, self.records.units), sensitive)


def shares_of(records: Records, name: str) -> Reals:
    """For each value of a column, which share of the units have it.

    Examples:
        >>> from discreet.anonymity import read
        >>> shares_of(read({"id": [1, 1, 2, 2], "ill": ["flu", "flu", "flu", "gout"]}, unit="id"), "ill").tolist()
        [1.0, 0.5]
    """
    column, counts = records.column(name), records.column(name).counts()
    if records.units is not None:
        values = group([column.codes, records.units.codes], [max(column.size, 1), records.units.number]).tuples()[:, 0]
        counts = np.bincount(values, minlength=column.size)
    return np.asarray(counts / max(records.counted, 1))


def paired(on: On) -> dict[str, str]:
    """The columns as names in what is known → names in what was released.

    Raises:
        InvalidArgument: there are none, or a text was given for a list.
    """
    if isinstance(on, str):
        raise InvalidArgument("the columns to link on are a list of names", hint=f"[{on!r}]")
    pairs = dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    if not pairs:
        raise InvalidArgument("name one or more columns by which people are known")
    return pairs


def _held(of_row: Whole, classes: int, whose: Units) -> tuple[Whole, Whole]:
    """Which units have a row in which class: pairs of a class and a unit, each once, by class."""
    found = group([of_row.astype(np.int32), whose.codes], [max(classes, 1), whose.number]).tuples().T.astype(np.int64)
    return found[0], found[1]


def _entries(pairs: Joined, begins: Whole) -> Iterator[tuple[Whole, Whole]]:
    """The entries of the classes of each kind: as many kinds and entries, ascending by kind, some kinds at a time.

    Args:
        pairs: kind → classes.
        begins: classes + 1; the entries of class i are those from begins[i] to begins[i + 1].
    """
    kinds = len(pairs.starts) - 1
    work = np.concatenate(([0], np.cumsum(np.diff(begins)[pairs.right])))[pairs.starts]
    start = 0
    while start < kinds:
        end = max(int(np.searchsorted(work, work[start] + _ENTRIES, side="right")) - 1, start + 1)
        kind, pair = expand(pairs.starts, np.arange(start, end))
        owner, entry = expand(begins, pairs.right[pair])
        yield kind[owner] + start, entry
        start = end


def _added(
    found: Candidates, begins: Whole, entries: tuple[Whole, Whole, Whole | None], span: int
) -> Iterator[tuple[Whole, Reals]]:
    """The entries of the classes of each kind added up: keys kind × span + value, ascending, and counts; in parts.

    Args:
        found: which rows may be whose.
        begins: see `_entries`.
        entries: of each, the value, how many rows have it, and the unit that they are of; None instead of these if
            each row counts. A unit counts once for each value of a kind.
        span: how many values there are.
    """
    values, counts, owners = entries
    for kind, entry in _entries(found.pairs, begins):
        keys = kind * span + values[entry]
        if owners is None:
            order = np.argsort(keys, kind="stable")
            keys, weights = keys[order], counts[entry][order]
        else:
            order = np.lexsort((owners[entry], keys))
            keys, units = keys[order], owners[entry][order]
            new = np.flatnonzero(np.append(True, (np.diff(keys) != 0) | (np.diff(units) != 0))[: len(keys)])
            keys, weights = keys[new], np.ones(len(new), dtype=np.int64)
        firsts = starts_of(keys)
        sums = np.add.reduceat(weights, firsts) if len(firsts) else weights
        yield keys[firsts], sums.astype(np.float64)
    if not found.kinds:
        yield np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float64)
