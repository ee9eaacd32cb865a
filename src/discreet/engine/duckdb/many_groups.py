"""Many groups: their keys and integers in Arrow's columns, of which Python objects are made only in passing.

Private keys may have millions of values. As Python objects, a group takes ten times the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
