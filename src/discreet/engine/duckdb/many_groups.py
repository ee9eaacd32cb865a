"""Many groups, and many bins: keys and integers in Arrow's columns, of which Python objects are made only in passing.

Private keys may have millions of values, and so may a real number. As Python objects, they take ten times the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

_AT_A_TIME = 2**16


class ManyGroups(Sequence[T], Generic[T]):
    """Something of each group, made of some of its columns whenever it is looked at. Its repr shows nothing.

    Args:
        table: with a row for each group.
        made: from the values of a row.
    """

    __slots__ = ("_made", "_table")

    def __init__(self, table: pa.Table, made: Callable[[tuple[Any, ...]], T]) -> None:
        self._table = table
        self._made = made

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, int):
            (one,) = self._read(range(len(self))[place], 1)
            return one
        places = range(len(self))[place]
        if places.step != 1:
            raise ValueError("groups are read in their order")
        return self._read(places.start, len(places))

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _AT_A_TIME):
            yield from self._read(start, _AT_A_TIME)

    def __repr__(self) -> str:
        return "<groups: private>"

    def of(self, columns: slice, made: Callable[[tuple[Any, ...]], T]) -> ManyGroups[T]:
        """Something else of the same groups, from some of their columns."""
        return ManyGroups(self._table.select(range(self._table.num_columns)[columns]), made)

    def _read(self, start: int, number: int) -> list[T]:
        columns = self._table.slice(start, number).columns
        return [self._made(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


class ManyBins(Sequence[Mapping[int, int]]):
    """The bins of each group, made when they are looked at. Its repr shows nothing.

    Args:
        table: whose last two columns are lists: the numbers of bins, and their counts.
        rows: of each group; several have different bins.
    """

    __slots__ = ("_counts", "_numbers", "_rows")

    def __init__(self, table: pa.Table, rows: Sequence[Sequence[int]]) -> None:
        *_, self._numbers, self._counts = table.columns
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Mapping[int, int]: ...
    @overload
    def __getitem__(self, place: slice) -> list[Mapping[int, int]]: ...
    def __getitem__(self, place: int | slice) -> Mapping[int, int] | list[Mapping[int, int]]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        found: dict[int, int] = {}
        for row in self._rows[place]:
            found |= zip(_integers(self._numbers[row].values), _integers(self._counts[row].values), strict=True)
        return found

    def __repr__(self) -> str:
        return "<bins: private>"


def _integers(column: pa.Array) -> list[int]:
    """A column of integers, or of decimals without places."""
    import pyarrow as pa

    try:
        found: list[int] = column.cast(pa.int64()).to_numpy().tolist()
    except pa.ArrowInvalid:  # beyond 64 bits
        return [int(each) for each in column.to_pylist()]
    return found
