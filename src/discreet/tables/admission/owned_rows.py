"""Owned rows: whose each row of an admitted table is, along the links, exactly. A row may have several owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name
from discreet.tables.admission.raw_views import lock_to, raw_views_of
from discreet.tables.admission.snapshot import HeldTable, Snapshot
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table


def show_owned_rows(
    session: Session, snapshot: Snapshot, table: Table, owner: Owner, *, writes: Sequence[str] = ()
) -> str:
    """Make the rows of a table readable, with their units; from here on, the session reads nothing else.

    The view `t0` has the columns `c0, c1, …` in the order in which they are held, and the `number` of each row; `owned`
    has the number of each row with each of its units, once.

    Args:
        session: that reads nothing yet.
        snapshot: with the table, and those that its links lead to.
        table: whose rows.
        owner: how their units are found.
        writes: the files that the session may write.

    Returns:
        The columns of `owned` that tell units apart: `u0`, the id, and of a period also `u1`.
    """
    tables = {each.name.casefold(): each for each in (table, *(hop.table for hop in owner.hops))}
    lock_to(session, list(tables.values()), snapshot, writes=writes)
    raw = raw_views_of(session, list(tables.values()), snapshot)
    read = {key: snapshot.tables[key] for key in raw}
    for number, (key, held) in enumerate(read.items()):
        session.execute(f"CREATE TEMP VIEW t{number} AS {_numbered(held, raw[key].sql)}")
    session.execute(f"CREATE TEMP VIEW owned AS {_owned(table, owner, read)}")
    return "u0" if owner.unit.at is None else "u0, u1"


def _numbered(held: HeldTable, source: str) -> str:
    """The SQL of a table's rows under names of ours: its columns `c0, c1, …`, and the `number` of each row."""
    columns = ", ".join(f"{name(column)} AS c{number}" for number, column in enumerate(held.names.values()))
    return f"SELECT {columns}, row_number() OVER () AS number FROM {source}"  # noqa: S608 — names are quoted


def _owned(table: Table, owner: Owner, read: Mapping[str, HeldTable]) -> str:
    """The SQL of each row's number with each of its units, `u0` and, of a period, `u1`."""
    last, held, joins = "h0", read[table.name.casefold()], ["t0 AS h0"]
    for number, hop in enumerate(owner.hops, start=1):
        key = hop.table.name.casefold()
        entered = read[key]
        link = f"{last}.{_place(held, hop.column)} = h{number}.{_place(entered, hop.to)}"
        joins.append(f"JOIN t{list(read).index(key)} AS h{number} ON {link}")
        last, held = f"h{number}", entered
    unit = [f"{last}.{_place(held, owner.unit.column or '')} AS u0"]
    if owner.unit.at is not None:
        at = f"CAST({last}.{_place(held, owner.unit.at)} AS TIMESTAMP)"
        unit.append(f"date_trunc('{owner.unit.per}', {at}) AS u1")
    once = "DISTINCT" if owner.hops else ""  # several rows on the way may lead to one owner
    return f"SELECT {once} h0.number, {', '.join(unit)} FROM {' '.join(joins)}"  # noqa: S608 — our own names


def _place(held: HeldTable, column: str) -> str:
    """The name of a column in our view of its table."""
    return f"c{[each.name.casefold() for each in held.columns].index(column.casefold())}"
