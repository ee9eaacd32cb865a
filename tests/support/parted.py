"""Tables in parts, with notes, in plain Python: as admission leaves them, in memory.

It is told from the words of `Notes`, and shares nothing with admission. So what engines make of parts can be compared
with what they make of whole tables, on few rows and quickly; and a test of admission's own files has a judge.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any, Literal
from unittest.mock import patch

import pyarrow as pa
import pytest

from discreet.engine.duckdb import adding_up
from discreet.errors import InvalidArgument
from discreet.gateway import admissions
from discreet.tables import Owner, Table, owner_of
from discreet.tables.admission import HeldTable, Notes, Snapshot, admit
from support.relations import period

Row = Mapping[str, Any]

_MOST = 5_000
"""Larger tables are left whole: this is slow."""

_TYPES = {int: pa.int64(), str: pa.string()}

Mistake = Literal["", "split", "small", "shared"]
"""What wrong twins do: put a unit's rows in several parts, note a smaller size, or give two units one code."""

_now: tuple[int, Mistake] = (0, "")


@contextmanager
def in_parts(number: int, mistake: Mistake = "") -> Iterator[None]:
    """Within it, tests' tables in memory lie in this many parts, with notes; what parts find is added up two by two."""
    global _now  # noqa: PLW0603 — one test at a time
    before, _now = _now, (number, mistake)
    try:
        with patch.object(adding_up, "_TOGETHER", 2):
            yield
    finally:
        _now = before


def change_parts(patch: pytest.MonkeyPatch) -> None:
    """Let what accounts admit into memory lie in another number of parts each time, and sometimes whole.

    Args:
        patch: that undoes it.
    """
    numbers = cycle([2, 3, 0, 1])

    def admitted(tables: Sequence[Table], *rest: Any, **named: Any) -> Snapshot:
        snapshot, number = admit(tables, *rest, **named), next(numbers)
        return parted(snapshot, tables, number) if number else snapshot

    patch.setattr(admissions, "admit", admitted)


def as_declared(snapshot: Snapshot, tables: Sequence[Table]) -> Snapshot:
    """The snapshot in as many parts as `in_parts` says; as it is, outside of it."""
    parts, mistake = _now
    return parted(snapshot, tables, parts, mistake) if parts else snapshot


def parted(snapshot: Snapshot, tables: Sequence[Table], parts: int, mistake: Mistake = "") -> Snapshot:
    """A snapshot in memory, with its private tables in parts.

    Args:
        snapshot: of whole tables.
        tables: as declared.
        parts: how many.
        mistake: what is done wrong.
    """
    named = {table.name.casefold(): table for table in tables}
    rows = {
        name: held.whole().to_pylist() for name, held in snapshot.tables.items() if held.rows <= _MOST and name in named
    }
    found = dict(snapshot.tables)
    for name in rows:
        try:
            owner = owner_of(named[name], tables)
        except InvalidArgument:  # its links lead to tables that aren't here
            continue
        way = {hop.table.name.casefold() for hop in owner.hops} if owner is not None else set()
        if owner is not None and not owner.unit.is_row and way <= rows.keys():
            found[name] = _parted(snapshot.tables[name], named[name], owner, rows, parts)
            found[name] = _wrong(found[name], mistake)
    return replace(snapshot, tables=found)


def _parted(held: HeldTable, table: Table, owner: Owner, rows: Mapping[str, Sequence[Row]], parts: int) -> HeldTable:
    """One table, with notes."""
    units = [sorted(_owners(table, owner, row, rows), key=repr) for row in rows[table.name.casefold()]]
    sizes = Counter(unit for each in units for unit in each)
    codes = [
        {
            unit: code
            for code, unit in enumerate(sorted(own, key=lambda each: (sizes[each], zlib.crc32(repr(each).encode()))))
        }
        for own in _by_part(sizes, parts)
    ]
    repeats = any(len(each) > 1 for each in units)
    whole, pieces = held.whole(), []
    for part in range(parts):
        kept: list[tuple[int, int, Any, bool]] = []
        for place, each in enumerate(units):
            kept += ((codes[part][unit], place, unit, unit != each[0]) for unit in each if unit in codes[part])
        nobodys = [place for place, each in enumerate(units) if not each] if part == 0 else []
        kept.sort(key=lambda one: one[:2])
        data = whole.take(pa.array([place for _, place, _, _ in kept] + nobodys, pa.int64()))
        data = data.rename_columns([f"c{number}" for number in range(len(held.columns))])
        nothing = [None] * len(nobodys)
        if owner.hops:
            last = owner.hops[-1].table
            at = rows[last.name.casefold()]
            kind = pa.array([row[owner.unit.column or ""] for row in at] or [None]).type
            data = data.append_column("u0", pa.array([unit[0] for _, _, unit, _ in kept] + nothing, kind))
            if owner.unit.at is not None:
                data = data.append_column(
                    "u1", pa.array([unit[1] for _, _, unit, _ in kept] + nothing, pa.timestamp("us"))
                )
        data = data.append_column("code", pa.array([code for code, _, _, _ in kept] + nothing, pa.uint32()))
        data = data.append_column("size", pa.array([sizes[unit] for _, _, unit, _ in kept] + nothing, pa.uint32()))
        if repeats:
            data = data.append_column("again", pa.array([again for *_, again in kept] + [False] * len(nobodys)))
        pieces.append(data)
    once = [
        column.name.casefold()
        for number, column in enumerate(held.columns)
        if all(max(Counter(each[f"c{number}"].drop_null().to_pylist()).values(), default=0) <= 1 for each in pieces)
    ]
    return replace(held, data=tuple(pieces), notes=Notes(owner.words(table), "crc32", repeats, tuple(once)))


def _by_part(sizes: Mapping[Hashable, int], parts: int) -> list[list[Hashable]]:
    """The units of each part; all periods of one id in one."""
    found: dict[int, list[Hashable]] = defaultdict(list)
    for unit in sizes:
        found[zlib.crc32(repr(unit[0]).encode()) % parts].append(unit)  # type: ignore[index]  # the id, and a period
    return [found[part] for part in range(parts)]


def _owners(table: Table, owner: Owner, row: Row, rows: Mapping[str, Sequence[Row]]) -> set[tuple[Any, ...]]:
    """The units that a row's links lead to, by equal values alone."""
    if not owner.hops:
        unit = owner.unit
        found = [row[table.column(name).name] for name in (unit.column, unit.at) if name is not None]
        if None in found:
            return set()
        return {(found[0], *(period(unit.per or "", at) for at in found[1:]))}
    hop, *further = owner.hops
    link = row[table.column(hop.column).name]
    return {
        unit
        for other in rows[hop.table.name.casefold()]
        if link is not None and other[hop.table.column(hop.to).name] == link
        for unit in _owners(hop.table, Owner(owner.unit, tuple(further)), other, rows)
    }


def _wrong(held: HeldTable, mistake: Mistake) -> HeldTable:
    """What a wrong twin makes of a table."""
    if mistake == "split":
        rows = pa.concat_tables(held.data)
        places = [pa.array(range(part, len(rows), held.parts), pa.int64()) for part in range(held.parts)]
        return replace(held, data=tuple(map(rows.take, places)))
    column, make = {"small": ("size", _halved), "shared": ("code", _halved), "": ("code", list)}[mistake]
    data = tuple(
        each.set_column(each.column_names.index(column), column, pa.array(make(each[column].to_pylist()), pa.uint32()))
        for each in held.data
    )
    return replace(held, data=data)


def _halved(numbers: Sequence[int | None]) -> list[int | None]:
    """Half of each, rounded down."""
    return [None if number is None else number // 2 for number in numbers]
