"""Hierarchies that list each value with what it becomes, as ARX keeps them in CSV files, or as a tree of categories."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Whole
from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import TOP, is_number, is_time, present, same_day, same_number, text_of, texts
from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported

if TYPE_CHECKING:
    import pyarrow as pa

_DELIMITERS = ";\t|,"
"""Tried in this order: a comma may well be part of a label."""
_HEAD = 100
"""How many lines are looked at to find the delimiter."""
_NAMED = 5
"""How many unseen values are named in a message; a longer list would hide the rest of it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Listed:
    """A row for each value: the value, then its label at level 1, at level 2, and so on.

    Values are compared as texts. In a column of numbers, `7`, `7.0` and `07` are one value, and in one of timestamps a
    day is its midnight. Labels and texts are taken letter by letter, blanks included. Rows for values that don't occur
    are no harm.

    A missing value is the row of the text `missing`, if there is one. If not, it is a group of its own at each level,
    except at the last if that has one label for everything: then it shares that.

    Args:
        rows: one or more, of the same length, 2 or more; no two for the same value.
        source: where they are from, for messages.
        missing: the text that stands for a missing value.

    Raises:
        InvalidArgument: a row has another length than the first, a value is listed twice, or two values share a label
            and have different ones at a level above it, so that going up would tell more and not less.

    Examples:
        >>> from discreet.anonymity import read
        >>> europe = Listed(rows=[("Bern", "CH", "*"), ("Lyon", "FR", "*"), ("Genf", "CH", "*")])
        >>> europe.ladder(read({"city": ["Lyon", "Bern"]}).column("city")).labels
        (('Bern', 'Lyon'), ('CH', 'FR'), ('*',))
        >>> europe.ladder(read({"city": ["Rome"]}).column("city"))
        Traceback (most recent call last):
        ...
        discreet.errors.SchemaMismatch: the hierarchy lacks 1 value of column 'city': 'Rome' (add a row for each, ...
    """

    rows: Sequence[Sequence[str]]
    source: str = "the hierarchy"
    missing: str = ""

    def __post_init__(self) -> None:
        rows = tuple(tuple(row) for row in self.rows)
        if not rows or len(rows[0]) <= 1:
            raise InvalidArgument(f"{self.source} lists no values with a label", hint="a value;its label;a wider one;…")
        for place, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InvalidArgument(
                    f"row {place + 1} of {self.source} has {len(row)} cells; the first has {len(rows[0])}",
                    hint="repeat a label where a value has fewer levels",
                )
        object.__setattr__(self, "rows", rows)
        self._places(lambda text: text)
        for level in range(1, len(rows[0]) - 1):
            self._check_above(level)

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column has values that aren't listed; at most five are named.
            InvalidArgument: a number or day is listed twice, in two spellings.
        """
        import pyarrow as pa

        chosen = [self.rows[place] for place in self._rows_of(present(column), column.name)]
        levels = [[row[level] for row in chosen] for level in range(1, len(self.rows[0]))]
        if column.has_missing:
            for level, label in self._of_missing().items():
                levels[level - 1].append(label)
        ladder = build(column, [pa.array(labels, pa.string()) for labels in levels], top=False)
        extra = column.has_missing and not any(row[0] == self.missing for row in self.rows)
        return replace(ladder, leaves=self._leaves(ladder, extra=extra), domain=len(self.rows) + extra)

    def _leaves(self, ladder: Ladder, *, extra: bool) -> tuple[Whole, ...]:
        """For each group, how many values are listed with its label; a missing one that isn't listed is one more."""
        found = [ladder.sizes(0)]
        for level in range(1, ladder.height + 1):
            listed = Counter(row[level] for row in self.rows)
            leaves = np.array([listed[label] for label in ladder.labels[level]], dtype=np.int64)
            if extra:
                leaves[ladder.maps[level][-1]] += 1
            found.append(leaves)
        return tuple(found)

    def _of_missing(self) -> dict[int, str]:
        """The labels of a missing value, by level; it is a group of its own on levels that aren't here."""
        row = next((row for row in self.rows if row[0] == self.missing), None)
        if row is not None:
            return dict(enumerate(row[1:], start=1))
        last = {row[-1] for row in self.rows}
        return {len(self.rows[0]) - 1: last.pop()} if len(last) == 1 else {}

    def _rows_of(self, values: pa.Array, name: str) -> Sequence[int]:
        """The row of each value.

        Raises:
            SchemaMismatch: some have none.
        """
        spelling = same_number if is_number(values) else same_day if is_time(values) else str
        places = self._places(spelling)
        wanted = [places.get(spelling(text), -1) for text in texts(values).to_pylist()]
        unseen = np.flatnonzero(np.array(wanted, dtype=np.int64) < 0)
        if len(unseen):
            named = ", ".join(repr(text) for text in texts(values.take(unseen[:_NAMED])).to_pylist())
            more = f" and {len(unseen) - _NAMED:,} more" if len(unseen) > _NAMED else ""
            count = f"{len(unseen):,} value{'s' * (len(unseen) > 1)}"
            raise SchemaMismatch(
                f"{self.source} lacks {count} of column {name!r}: {named}{more}",
                hint="add a row for each, or read the column with a Source whose missing texts are named",
            )
        return wanted

    def _places(self, spelling: Callable[[str], str]) -> dict[str, int]:
        """The row of each listed value, in this spelling.

        Raises:
            InvalidArgument: two rows are for one value.
        """
        places = {spelling(row[0]): place for place, row in enumerate(self.rows)}
        if len(places) < len(self.rows):
            seen: dict[str, int] = {}
            for place, row in enumerate(self.rows):
                first = seen.setdefault(spelling(row[0]), place)
                if first != place:
                    raise InvalidArgument(
                        f"rows {first + 1} and {place + 1} of {self.source} are for one value",
                        hint="remove one of them",
                    )
        return places

    def _check_above(self, level: int) -> None:
        """All values with one label at this level have one label at the next.

        Raises:
            InvalidArgument: they haven't.
        """
        above: dict[str, str] = {}
        for row in self.rows:
            label, wider = row[level], row[level + 1]
            if above.setdefault(label, wider) != wider:
                raise InvalidArgument(
                    f"{self.source} isn't a coarsening: {label!r} at level {level} is both {above[label]!r} and "
                    f"{wider!r} at level {level + 1}",
                    hint="give the two groups different labels, or the same one above",
                )


def read_hierarchy(
    source: str | Path | Mapping[object, str | Sequence[str]] | Sequence[Sequence[object]],
    *,
    delimiter: str | None = None,
    missing: str = "",
) -> Listed:
    r"""Read a hierarchy: a row for each value, which stands first, followed by its label at each level.

    Args:
        source: the path of a CSV file without header, as ARX writes them; or rows; or a mapping from each value to its
            labels, or to its one label.
        delimiter: of a file, one character; if not given, whichever of `;`, tab, `|` and `,` splits its lines evenly.
        missing: the text that stands for a missing value, also None in rows and mappings.

    Raises:
        SourceMissing: the file isn't there.
        SourceUnsupported: it isn't text in UTF-8, or its quotes don't end.
        InvalidArgument: the rows don't make a hierarchy, see `Listed`.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("city.csv").write_text("Bern;CH;*\nLyon;FR;*\n")
        >>> read_hierarchy("city.csv").rows
        (('Bern', 'CH', '*'), ('Lyon', 'FR', '*'))
        >>> read_hierarchy({10: "low", 90: "high"}).rows
        (('10', 'low'), ('90', 'high'))
    """
    if isinstance(source, str | Path):
        return Listed(rows=_parsed(Path(source), delimiter), source=f"the hierarchy {str(source)!r}", missing=missing)
    if isinstance(source, Mapping):
        source = [(value, labels) if isinstance(labels, str) else (value, *labels) for value, labels in source.items()]
    rows = [[missing if cell is None else text_of(cell) for cell in row] for row in source]
    return Listed(rows=rows, missing=missing)


def _parsed(path: Path, delimiter: str | None) -> list[list[str]]:
    """The rows of a file, without empty lines.

    Raises:
        SourceMissing: the file isn't there.
        SourceUnsupported: it can't be read.
    """
    if not path.is_file():
        raise SourceMissing(
            f"there is no file {str(path)!r}", hint="a hierarchy is a CSV file: value;label;wider label"
        )
    try:
        # Lines end where CSV says; splitlines() would also cut at signs that a label may well have inside.
        lines = list(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
        return _split(lines, delimiter or _likely(lines))
    except (UnicodeDecodeError, csv.Error):
        raise SourceUnsupported(f"the file {str(path)!r} isn't a CSV file in UTF-8") from None
    except TypeError:
        raise InvalidArgument("delimiter must be one character") from None


def _likely(lines: Sequence[str]) -> str:
    """The first delimiter that splits the first lines into equally many cells, or else that is there at all."""
    head = lines[:_HEAD]
    for sign in _DELIMITERS:
        try:
            lengths = {len(row) for row in _split(head, sign)}
        except csv.Error:  # a quote inside of a cell, so that this isn't where cells end
            continue
        if len(lengths) == 1 and lengths.pop() > 1:
            return sign
    return next((sign for sign in _DELIMITERS if any(sign in line for line in head)), _DELIMITERS[0])


def _split(lines: Sequence[str], sign: str) -> list[list[str]]:
    """The cells of each line that isn't empty."""
    return [row for row in csv.reader(lines, delimiter=sign, strict=True) if row]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Taxonomy:
    """A tree: mappings from a category to what is in it, lists of values at the ends.

    Levels count from the root: the highest is the root, the next its children, and so on down. A value that is nearer
    to the root than others stays itself until its parent's level.

    Args:
        tree: category → a mapping again, or values.
        root: the label of everything.

    Raises:
        InvalidArgument: a value is listed twice, two categories on one level share a name, or there is nothing.

    Examples:
        >>> from discreet.anonymity import read
        >>> world = Taxonomy(tree={"Europe": {"west": ["France", "Spain"], "north": ["Norway"]}, "Asia": ["Japan"]})
        >>> for labels in world.ladder(read({"land": ["France", "Japan", "Norway", "Spain"]}).column("land")).labels:
        ...     print(*labels)
        France Japan Norway Spain
        west Japan north
        Europe Asia
        *
    """

    tree: Mapping[str, object]
    root: str = TOP

    def __post_init__(self) -> None:
        self._listed()

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column has values that aren't in the tree; at most five are named.
        """
        return self._listed().ladder(column)

    def _listed(self) -> Listed:
        """The tree as a row for each value."""
        paths = [(*path, text_of(value)) for path, value in _leaves(self.tree, (self.root,))]
        depth = max(map(len, paths), default=0)
        rows = [(path[-1:] * (depth - len(path)) + path[::-1]) for path in paths]
        return Listed(rows=rows, source="the taxonomy")


def _leaves(tree: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The values at the ends of a tree, each after the categories that lead to it.

    Raises:
        InvalidArgument: something is neither a mapping nor a list.
    """
    if isinstance(tree, Mapping):
        for category, inside in tree.items():
            yield from _leaves(inside, (*path, str(category)))
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for value in tree:
            yield path, value
    else:
        raise InvalidArgument(f"{path[-1]!r} must hold categories (a mapping) or values (a list)")
