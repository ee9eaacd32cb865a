"""The rows that a look at a table keeps, to see how its columns depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.type_inference import values_of
from discreet.tables.unit_candidates import Codes, UnitCandidate, unit_candidates

if TYPE_CHECKING:
    import pyarrow as pa

_CELLS = 20_000_000
"""How many cells are kept: those of the first rows of a larger table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Coded:
    """A column as `unit_candidates` looks at it, and of which kind its values are; the rest are its protocol's."""

    kind: Kind
    codes: Codes
    size: int
    has_missing: bool

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.codes)


class KeptRows:
    """The first rows of a table, as places in the lists of different values.

    Args:
        number: of columns.

    Examples:
        >>> import pyarrow as pa
        >>> kept = KeptRows(2)
        >>> whose = np.arange(600) // 3
        >>> kept.add([pa.array(whose), pa.array(whose * 7 % 11)])
        >>> columns = [Column(name=name, kind=Kind.INTEGER) for name in ("a", "b")]
        >>> [each.column for each in kept.candidates(columns, Source.of("t.parquet"))]
        ['a']
    """

    def __init__(self, number: int) -> None:
        self._parts: list[list[pa.Array]] = [[] for _ in range(number)]
        self._left = _CELLS // max(number, 1)

    def add(self, cells: Sequence[pa.Array]) -> None:
        """Keep the rows of a part, as many as there is room for."""
        import pyarrow as pa

        for parts, each in zip(self._parts, cells, strict=True):
            part = each.slice(0, self._left)
            parts.append(part if pa.types.is_dictionary(part.type) else part.dictionary_encode())
        self._left -= min(self._left, len(cells[0]))

    def candidates(self, columns: Sequence[Column], source: Source) -> tuple[UnitCandidate, ...]:
        """The columns that may say whose a row is.

        Args:
            columns: of the kinds that they were found to be.
            source: how texts are written.
        """
        if not all(self._parts):
            return ()
        coded = {
            column.name: _coded(parts, column.kind, source) for column, parts in zip(columns, self._parts, strict=True)
        }
        return unit_candidates(coded, {name: each.kind for name, each in coded.items()})


def _coded(parts: Sequence[pa.Array], kind: Kind, source: Source) -> _Coded:
    """A column from its parts, its values in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.chunked_array(parts).unify_dictionaries()
    listed = whole.chunk(0).dictionary
    if pa.types.is_float16(listed.type):  # which Arrow has no order of
        listed = listed.cast(pa.float32())
    meant = values_of(listed, kind, source) if pa.types.is_string(listed.type) else None
    places = np.asarray(pc.rank(listed if meant is None else meant, tiebreaker="dense")).astype(np.int32) - 1
    size = int(places.max()) + 1 if len(places) else 0
    rows = np.concatenate([np.asarray(pc.fill_null(each.indices, len(places))) for each in whole.chunks])
    has_missing = whole.null_count > 0
    if kind is Kind.REAL and pa.types.is_floating(listed.type) and pc.all(pc.equal(listed, pc.floor(listed))).as_py():
        kind = Kind.INTEGER  # a library made room for a missing number
    return _Coded(kind=kind, codes=np.append(places, size)[rows], size=size + has_missing, has_missing=has_missing)
