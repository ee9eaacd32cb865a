"""Tables: what is public about one private table."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.dataset.column import Column, Kind
from discreet.dataset.source import Source
from discreet.errors import InvalidArgument
from discreet.privacy import Limits, Unit

_ONE_ROW = Limits(rows=1)
ROW_CEILING = 2**40
"""How many rows a table may have if nothing is declared: generous, so that the safety it buys is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What is public about one private table.

    Args:
        name: what questions call it.
        source: where it lies.
        columns: every column a question may use.
        unit: whose presence is hidden.
        limits: how much a unit may contribute to one question. A unit that is a row contributes one row, so it
            takes no other limit than that.
        row_ceiling: more rows than the table will ever have, declared in public: it excludes overflow at plan time.

    Raises:
        InvalidArgument: no name, no columns, two of one name (names differ in more than case), a key that the
            source can't hold, a unit that names no column or one that can't identify, limits where each row is a
            unit, or a ceiling out of range.
    """

    name: str
    source: Source
    columns: tuple[Column, ...]
    unit: Unit
    limits: Limits = _ONE_ROW
    row_ceiling: int = ROW_CEILING

    def __post_init__(self) -> None:
        """Check the declaration as a whole."""
        if not self.name:
            raise InvalidArgument("a table needs a name")
        names = [column.name.casefold() for column in self.columns]
        if not names:
            raise InvalidArgument(f"table {self.name!r} has no columns")
        if len(set(names)) < len(names):
            twice = next(name for n, name in enumerate(names) if name in names[:n])
            raise InvalidArgument(f"table {self.name!r} has two columns named {twice!r}")
        if not 1 <= self.row_ceiling <= 2**48:
            raise InvalidArgument("row_ceiling must be from 1 to 2⁴⁸")
        for column in self.columns:
            self._check_keys(column)
        self._check_unit()

    def _check_keys(self, column: Column) -> None:
        """Refuse keys that no row could have: every row would silently be read as NULL.

        Texts of CSV files are trimmed of spaces when read, and the empty one, like those in `missing`, is NULL.
        """
        if self.source.kind != "csv":
            return
        for key in column.keys or ():
            if isinstance(key, str) and key != key.strip(" "):
                raise InvalidArgument(
                    f"no value of column {column.name!r} can be {key!r}: texts of CSV files are trimmed of spaces",
                    hint=f"write {key.strip(' ')!r}",
                )
            if key in ("", *self.source.missing):
                raise InvalidArgument(
                    f"the key {key!r} of column {column.name!r} is read as NULL",
                    hint="make NULL a group of its own by listing it: None here, { null = true } in discreet.toml",
                )

    def _check_unit(self) -> None:
        """Check that the unit can be found in the rows."""
        if self.unit.column is None:
            one_row = self.limits in (_ONE_ROW, Limits(groups=1, rows_per_group=1))
            if not one_row:
                raise InvalidArgument(
                    f"each row of table {self.name!r} is a unit of its own, so no limit but one row applies",
                    hint="name an id column as the unit, or leave the limits out",
                )
            return
        if self.column(self.unit.column).kind in {Kind.REAL, Kind.BOOLEAN}:
            raise InvalidArgument(
                f"column {self.unit.column!r} can't identify anyone: it is {self.column(self.unit.column).kind}"
            )
        if self.unit.at is not None and not self.column(self.unit.at).kind.is_time:
            raise InvalidArgument(f"column {self.unit.at!r} isn't a date or timestamp, so it can't tell periods")

    def column(self, name: str) -> Column:
        """The column of that name; case doesn't matter.

        Raises:
            InvalidArgument: there is none.
        """
        for column in self.columns:
            if column.name.casefold() == name.casefold():
                return column
        raise InvalidArgument(f"table {self.name!r} has no column {name!r}")
