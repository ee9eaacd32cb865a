"""One part: the rows of some units, written as they lie in a snapshot; and whose rows are, by links.

Where the rows come from is for others to say: from pieces in a folder here, or over a cluster's shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import SQL_TYPES, parquet, string
from discreet.tables.admission.staging import place
from discreet.tables.admission.unit_ceiling import Beyond
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table


@dataclass(frozen=True, slots=True)
class OnePart:
    """The rows of some units of a table, on their way into the file of a part.

    Args:
        session: that may read and write what is named.
        table: as declared.
        owner: of its rows.
        repeats: whether a row of several units stands there once for each.
    """

    session: Session
    table: Table
    owner: Owner
    repeats: bool = False

    def write(self, rows: str, file: Path) -> Beyond:
        """Write a part, in the order of its units, without what these have too many of.

        Args:
            rows: of the part, in SQL: all of its units.
            file: in which.

        Returns:
            What was left out.
        """
        self._show_codes(rows)
        found = self._beyond()
        query = self._query(rows, is_cut=found.rows > 0)
        self.session.execute(f"COPY ({query}) TO {string(str(file))} (FORMAT parquet)")
        return found

    def unique(self, account: Sequence[Table], file: Path) -> frozenset[str]:
        """The columns that say which row is meant, by a link or as an id, that hold no value twice in a part.

        Args:
            account: all of its tables, which have links.
            file: of the part, which was written last.
        """
        key = self.table.name.casefold()
        entered = {link.to.casefold() for each in account for link in each.links if link.table.casefold() == key}
        if not self.owner.hops and self.owner.unit.column is not None:
            entered.add(self.owner.unit.column.casefold())
        return frozenset(each for each in entered if not self._is_twice(each, file))

    def _is_twice(self, column: str, file: Path) -> bool:
        """Whether the file that was written last has a value twice in a column."""
        unit = self.owner.unit
        if not self.owner.hops and unit.at is None and column == str(unit.column).casefold():
            return bool(self.session.execute("SELECT 1 FROM codes WHERE size > 1 LIMIT 1"))
        own = place(self.table, column)
        values = f"SELECT 1 FROM {read([file])} WHERE {own} IS NOT NULL"  # noqa: S608 — our own names
        return bool(self.session.execute(f"{values} GROUP BY {own} HAVING count(*) > 1 LIMIT 1"))

    def _show_codes(self, rows: str) -> None:
        """Make the units of a part readable as `codes`, with the rows `found` of each, and those that stay."""
        unit = unit_columns(self.table, self.owner)
        keys = [f"k{number}" for number in range(len(unit))]
        told = ", ".join(f"{sql} AS {key}" for sql, key in zip(unit, keys, strict=True))
        self.session.execute(
            "CREATE OR REPLACE TEMP TABLE codes AS SELECT *, "  # noqa: S608 — our own names
            f"CAST(row_number() OVER (ORDER BY size, hash(k0), {', '.join(keys)}) - 1 AS UINTEGER) AS code FROM ("
            f"SELECT *, CAST(least(found, {self.table.most_rows_per_unit}) AS UINTEGER) AS size FROM ("
            f"SELECT {told}, count(*) AS found FROM {rows} WHERE {unit[0]} IS NOT NULL GROUP BY ALL))"
        )

    def _beyond(self) -> Beyond:
        """What the units of a part have too much of."""
        ((units, rows),) = self.session.execute(
            "SELECT count(*), coalesce(sum(found - size), 0) FROM codes WHERE found > size"
        )
        return Beyond(units, int(rows))

    def _query(self, rows: str, *, is_cut: bool) -> str:
        """The rows of a part as they lie in its file.

        Args:
            rows: of the part.
            is_cut: whether units have too many: by a hash of them, as the ceiling on units has it, some stay.
        """
        own, unit = own_columns(self.table), unit_columns(self.table, self.owner)
        columns = [
            *own,
            *(unit if self.owner.hops else []),
            "code",
            "size",
            *(["again"] if self.repeats else []),
        ]
        same = " AND ".join(f"{sql} = k{number}" for number, sql in enumerate(unit))
        some = "LEFT " if self.owner.hops else ""  # some rows may be nobody's
        query = f"SELECT {', '.join(columns)} FROM {rows} {some}JOIN codes ON {same}"  # noqa: S608 — our own names
        if is_cut:
            place_of = f"row_number() OVER (PARTITION BY code ORDER BY hash({', '.join(own)}), {', '.join(own)})"
            query = (
                f"{query} WHERE found IS NOT DISTINCT FROM size UNION ALL "
                f"({query} WHERE found > size QUALIFY {place_of} <= {self.table.most_rows_per_unit})"
            )
        return f"FROM ({query}) ORDER BY code NULLS LAST"


def show_owned(session: Session, rows: str, link: str, ways: str, unit: Sequence[str]) -> bool:
    """Make the rows of a linked table readable as `owned`, once for each owner, with `u0` and, of a period, `u1`.

    Args:
        session: that may read them.
        rows: of the table, in SQL.
        link: their column that leads to owners.
        ways: in SQL, the values of that column as `link`, with the columns of a unit that each leads to.
        unit: the names of these.

    Returns:
        Whether a row has several: all but one of its copies are `again`.
    """
    units = ", ".join(unit)
    session.execute(
        "CREATE OR REPLACE TEMP TABLE ways AS "  # noqa: S608 — our own names
        f"SELECT *, row_number() OVER (PARTITION BY link ORDER BY hash(u0), {units}) > 1 AS again "
        f"FROM (SELECT DISTINCT link, {units} FROM {ways})"
    )
    same = f"r.{link} = w.link"
    session.execute(
        f"CREATE OR REPLACE TEMP VIEW owned AS SELECT r.*, {units}, coalesce(again, false) AS again "  # noqa: S608 — our own names
        f"FROM {rows} AS r LEFT JOIN ways AS w ON {same}"
    )
    several = f"FROM {rows} AS r SEMI JOIN (FROM ways WHERE again) AS w ON {same}"
    ((repeats,),) = session.execute(f"SELECT count(*) > 0 FROM ({several})")  # noqa: S608 — our own names
    return bool(repeats)


def unit_columns(table: Table, owner: Owner) -> list[str]:
    """The SQL of what tells the units of a table's rows apart."""
    if owner.hops:
        return ["u0"] if owner.unit.at is None else ["u0", "u1"]
    return told(owner, table)


def told(owner: Owner, table: Table, rows: str = "") -> list[str]:
    """The SQL of what tells units apart: the id, and of a period when it begins.

    Args:
        owner: whose unit it is.
        table: that has its columns.
        rows: what comes before their names.
    """
    ids = f"{rows}{place(table, owner.unit.column or '')}"
    if owner.unit.at is None:
        return [ids]
    return [ids, f"date_trunc('{owner.unit.per}', CAST({rows}{place(table, owner.unit.at)} AS TIMESTAMP))"]


def nothing_of(table: Table, owner: Owner) -> str:
    """No row of a table, in SQL, with the columns that its rows have before they are a part."""
    kinds = {f"c{number}": SQL_TYPES[column.kind] for number, column in enumerate(table.columns)}
    if owner.hops:
        ids = owner.hops[-1].table.column(owner.unit.column or "").kind
        kinds |= {"u0": SQL_TYPES[ids], "u1": "TIMESTAMP", "again": "BOOLEAN"}
    return f"(SELECT {', '.join(f'CAST(NULL AS {kind}) AS {each}' for each, kind in kinds.items())} WHERE false)"


def own_columns(table: Table) -> list[str]:
    """What the declared columns of a table are called in files with notes."""
    return [f"c{number}" for number in range(len(table.columns))]


def read(files: Sequence[Path]) -> str:
    """The rows of files, in SQL."""
    return parquet(list(map(str, files)))
