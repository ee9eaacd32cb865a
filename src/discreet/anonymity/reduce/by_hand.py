"""Generalising by hand: each column at a level that was chosen, and the k that this reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.classes import classes_of, sizes_of
from discreet.anonymity.columns import Codes
from discreet.anonymity.hierarchies.ladder import Hierarchy
from discreet.anonymity.records import Missing, read
from discreet.anonymity.reduce.deidentify import released
from discreet.anonymity.words import Noun, percent
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Generalized:
    """A table with columns at chosen levels.

    Args:
        table: sorted by all columns, so that nothing of the rows' order is left.
        columns: the quasi-identifiers, by which rows look alike.
        sizes: among how many rows each hides by them.
    """

    table: pa.Table
    columns: tuple[str, ...]
    sizes: ClassSizes

    @property
    def k(self) -> int:
        """The k of k-anonymity that is reached: the size of the smallest class; 0 without rows."""
        return self.sizes.smallest

    def is_anonymous(self, k: int) -> bool:
        """Whether every row hides among k or more."""
        return self.sizes.below(k) == 0

    def to_arrow(self) -> pa.Table:
        """The table."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The same as pandas has it."""
        return self.table.to_pandas()

    def __str__(self) -> str:
        noun, rows = Noun.of(()), self.table.num_rows
        alone = percent(self.sizes.unique / rows) if rows else "0 %"
        classes = f"{self.sizes.number:,} {'class' if self.sizes.number == 1 else 'classes'}"
        return f"k = {self.k} by {', '.join(self.columns)}: {noun.counted(rows)} in {classes}, {alone} of them unique"


def generalize(
    table: object,
    quasi_identifiers: Sequence[str],
    levels: Mapping[str, tuple[Hierarchy, int]] | None = None,
    *,
    keep: Sequence[str] = (),
    missing: Missing | str | None = None,
) -> Generalized:
    """Show columns at levels of their hierarchies, and count among how many rows each row then hides.

    It promises nothing: `anonymize` searches for levels that keep a promise. Without levels it checks the table as it
    is, with one count by group; comparing all rows with each other would take as long as their number squared.

    Args:
        table: whatever `read` reads.
        quasi_identifiers: the columns that others may know, one or more.
        levels: of some of these, a hierarchy and how high to go; beyond its highest level, the highest.
        keep: other columns that the result has too, as they are.
        missing: what `read` is to make of missing values.

    Raises:
        SchemaMismatch: the table lacks a column, or a hierarchy doesn't fit one.
        InvalidArgument: no column is named, one twice, or a level is below 0 or of another column.

    Examples:
        >>> from discreet.anonymity.hierarchies import Digits
        >>> scores = {"age": [42, 52, 36, 24, 73], "before": [4, 24, 31, 2, 3]}
        >>> for level in (0, 1, 2):
        ...     print(generalize(scores, ["age", "before"], dict.fromkeys(scores, (Digits(), level))))
        k = 1 by age, before: 5 rows in 5 classes, 100 % of them unique
        k = 1 by age, before: 5 rows in 5 classes, 100 % of them unique
        k = 5 by age, before: 5 rows in 1 class, 0 % of them unique
    """
    quasi, kept = tuple(quasi_identifiers), tuple(keep)
    if isinstance(quasi_identifiers, str) or isinstance(keep, str) or not quasi:
        raise InvalidArgument('names of columns go into a list: ["age", "zip"]')
    chosen = dict(levels or {})
    if (strange := next((name for name in chosen if name not in quasi), None)) is not None:
        raise InvalidArgument(f"the column {strange!r} has a level, but isn't a quasi-identifier")
    records = read(table, columns=[*quasi, *kept], missing=missing)
    columns: dict[str, tuple[Codes, Sequence[str] | pa.Array]] = {}
    for name, column in records.columns.items():
        if name not in chosen:
            columns[name] = (column.codes, column.values)  # noqa: PD011 — a field of ours, not of pandas
            continue
        hierarchy, level = chosen[name]
        if level < 0:
            raise InvalidArgument(f"levels are 0 or more, not {level}")
        ladder = hierarchy.ladder(column)
        at = min(level, ladder.height)
        columns[name] = (np.asarray(ladder.maps[at][column.codes], dtype=np.int32), ladder.labels[at])
    shown = released(columns)
    return Generalized(table=shown, columns=quasi, sizes=sizes_of(classes_of(read(shown, missing=missing), quasi)))
