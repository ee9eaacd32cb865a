"""What admission promises, tried on one format: nothing fails, each value is its own, and answers move as declared.

A table of ordinary rows is written in the format, and one with extreme rows of one person more; both are admitted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from discreet.privacy import Budget, Limits, Unit
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Table
from discreet.tables.admission import HeldColumn, HeldTable, Snapshot, admit
from discreet.tables.schema.column import LONGEST_TEXT
from support.engines import engine_on
from support.extremes import DECLARED, ORDINARY, Cells
from support.formats import MEMORY, Format, Rows
from support.neighbours import Found, check, exact

TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
ADMISSION = import_module("discreet.tables.admission.admit")
READING = import_module("discreet.tables.admission.reading")
ID = Column(name="id", kind=Kind.INTEGER)
MOST = 1 << 12
"""Rows of one person, at most."""


@dataclass(frozen=True)
class Admitted:
    """What was admitted of one format.

    Args:
        columns: what was written, by the name of the column.
        base: the ordinary rows.
        whole: all rows.
        turned: all rows, written and admitted in the opposite order.
        ids: all rows, where each column that may identify does.
    """

    columns: Mapping[str, Cells]
    base: pa.Table
    whole: pa.Table
    turned: pa.Table
    ids: pa.Table


def columns_of(of: Format) -> dict[str, Cells]:
    """Each physical type as often as it may be declared in another way."""
    return {f"{name} as {letter}": cells for name, cells in of.holds.items() for letter in cells.variants}


def declared(columns: Mapping[str, Cells]) -> tuple[Column, ...]:
    """The declarations of columns."""
    return (ID, *(replace(cells.variants[name[-1]], name=name) for name, cells in columns.items()))


def all_admitted(of: Format, folder: Path) -> Admitted:
    """Write a format's tables, and admit them together.

    Raises:
        AssertionError: admission failed, which it says of which columns.
    """
    columns = columns_of(of)
    whole = range(max(map(len, of.holds.values())))
    try:
        found = _admitted(of, columns, folder, {"base": whole[:ORDINARY], "whole": whole, "turned": whole[::-1]})
    except Exception as error:
        failing = [name for name in columns if _fails(of, {name: columns[name]}, folder, whole)]
        raise AssertionError(f"admission fails for {failing}") from error
    return Admitted(columns, **found)


def _fails(of: Format, columns: Mapping[str, Cells], folder: Path, rows: Rows) -> bool:
    """Whether these columns can't be admitted."""
    try:
        _admitted(of, columns, folder, {"alone": rows})
    except Exception:  # noqa: BLE001 — whatever it is
        return True
    return False


def _admitted(of: Format, columns: Mapping[str, Cells], folder: Path, parts: Mapping[str, Rows]) -> dict[str, pa.Table]:
    """Tables of some rows each, as they are admitted; and the last one of `whole` once more, with ids."""
    tables, data = [], {}
    for part, rows in parts.items():
        (folder / part).mkdir(exist_ok=True)
        source, in_memory = of.write(folder / part, columns, rows)
        if in_memory is not None:
            source = replace(source, location=part)
            data[part] = in_memory
        table = Table(name=part, source=source, columns=declared(columns), unit=Unit("id"), limits=Limits(rows=MOST))
        tables.append(table)
        if part in {"whole", "alone"}:
            tables.append(replace(table, name="ids"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ADMISSION, "identifying", _identifying)
        snapshot = admit(tables, data, None)
    found = {}
    for name, held in snapshot.tables.items():
        found[name] = held.whole()
    return found


def _identifying(table: Table, _: Sequence[Table]) -> frozenset[str]:
    """The columns that are taken for ids: in one of the tables all that may be."""
    names = [each.name for each in table.columns if each is ID or (table.name == "ids" and may_identify(each))]
    return frozenset(name.casefold() for name in names)


def may_identify(column: Column) -> bool:
    """Whether a column's values may tell units apart."""
    return column.kind not in {Kind.REAL, Kind.BOOLEAN}


# ── What must hold ───────────────────────────────────────────────────────────────────────────────────────────────────


def check_values(found: Admitted) -> None:
    """Each value is one of its column's kind, and no row has a say in how another is read."""
    for table in (found.base, found.whole, found.ids):
        for column, spec in zip(table.columns, declared(found.columns), strict=True):
            assert column.type == TYPES[spec.kind], spec
            assert is_of_kind(column, spec.kind), spec
            assert spec is not ID or column.null_count == 0
    back = pa.array(range(len(found.turned)))[::-1]
    for name in found.whole.column_names:
        whole = found.whole[name]
        assert found.base[name].equals(whole[:ORDINARY]), f"{name}: others change how ordinary rows are read"
        assert found.turned[name].take(back).equals(whole), f"{name}: the order of rows changes how they are read"


def is_of_kind(column: pa.ChunkedArray, kind: Kind) -> bool:
    """Whether values are in the range of their kind: what questions rely on."""
    match kind:
        case Kind.REAL:
            signs = [str(each) for each in column.to_pylist()]
            return bool(pc.all(pc.is_finite(column.drop_null())).as_py() is not False) and "-0.0" not in signs
        case Kind.TEXT:
            column.validate(full=True)
            return (pc.max(pc.utf8_length(column)).as_py() or 0) <= LONGEST_TEXT
        case Kind.DATE | Kind.TIMESTAMP:
            first, last = (date.min, date.max) if kind is Kind.DATE else (datetime.min, datetime.max)
            inside = pc.and_(pc.greater_equal(column, pa.scalar(first)), pc.less_equal(column, pa.scalar(last)))
            return pc.all(inside.drop_null()).as_py() is not False
    return True


def check_ids(found: Admitted, *, trims: bool) -> None:
    """No two cells that mean different things are read as one id."""
    for spec in declared(found.columns)[1:]:
        if not may_identify(spec):
            continue
        meant: dict[object, Hashable] = {}
        cells = meanings(found.columns[spec.name])
        for meaning, value in zip(cells, found.ids[spec.name].to_pylist(), strict=False):
            said = meaning.strip(" ") if trims and isinstance(meaning, str) else meaning
            if value is not None:
                assert meant.setdefault(value, said) == said, f"{spec.name}: {meant[value]!r} and {said!r} are one id"


def meanings(cells: Cells) -> Sequence[Hashable]:
    """What cells mean, each as something that tells it from all others."""
    if cells.meanings:
        return cells.meanings
    if not isinstance(cells.cells, pa.Array):
        return [repr(each) for each in cells.cells]
    return _said(cells.cells)


def _said(array: pa.Array) -> list[Hashable]:
    """The same of an Arrow array, by its bytes: some values are beyond what Python has."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _said(array.storage)
    if pa.types.is_dictionary(kind):
        return _said(array.dictionary.take(array.indices))
    if kind == pa.string_view():
        array = array.cast(pa.binary_view())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = array.view(pa.binary() if pa.types.is_string(kind) else pa.large_binary())
    elif pa.types.is_decimal(kind):
        array = array.view(pa.binary(kind.bit_width // 8))
    elif pa.types.is_temporal(kind):
        array = array.view(pa.int32() if kind == pa.date32() else pa.int64())
    return list(array.to_pylist())


QUESTIONS = (
    """SELECT COUNT(*), COUNT(j), COUNT(q), SUM(i), AVG(i), SUM(r), AVG(r), COUNT(DISTINCT t), COUNT(DISTINCT j),
        COUNT(DISTINCT id), COUNT(*) FILTER (WHERE j > 3 AND q < 2 OR b) FROM t""",
    "SELECT t, COUNT(*) FROM t GROUP BY t",
    "SELECT k, SUM(r), SUM(LEAST(LENGTH(t), 9)), COUNT(*) FILTER (WHERE UPPER(t) LIKE '%A%') FROM t GROUP BY k",
    """SELECT SUM(EXTRACT(YEAR FROM d)), SUM(EXTRACT(MONTH FROM u)), COUNT(DISTINCT DATE_TRUNC('day', u)),
        COUNT(*) FILTER (WHERE e < DATE '2024-03-19'), COUNT(DISTINCT CAST(TRIM(t) AS INTEGER)),
        COUNT(*) FILTER (WHERE EXTRACT(HOUR FROM s) > 3) FROM t""",
    "SELECT MEDIAN(i), MAX(r), MIN(GREATEST(LEAST(j, 9), 0) % 5) FROM t",
)
"""What is asked of every format: all columns, texts and their functions, parts of dates, filters, groups."""
LAYOUT = (ID, *DECLARED.values())
ASKED = Table(name="t", source=MEMORY, columns=LAYOUT, unit=Unit("id"), limits=Limits(rows=MOST))


@cache
def plans() -> tuple[Plan, ...]:
    """The plans of all questions."""
    dataset = Dataset(name="t", tables=(ASKED,), budget=Budget(epsilon=1), ledger="none")
    request = Request.of(epsilon=1, delta="1/1000")
    return tuple(make_plan(question(text, dataset.tables), request, dataset) for text in QUESTIONS)


def assembled(parts: Sequence[tuple[int, pa.Table]]) -> pa.Table:
    """All values that were admitted, once each, in the columns that questions know; each part is one person's."""
    made = []
    for person, table in parts:
        values = {
            letter: pc.unique(
                pa.chunked_array(
                    [chunk for name in table.column_names[1:] if name[-1] == letter for chunk in table[name].chunks],
                    TYPES[column.kind],
                )
            )
            for letter, column in DECLARED.items()
        }
        size = max(map(len, values.values()))
        padded = {
            letter: pa.concat_arrays([each, pa.nulls(size - len(each), each.type)]) for letter, each in values.items()
        }
        made.append(pa.table({"id": pa.array([person] * size, pa.int64()), **padded}))
    return pa.concat_tables(made)


@cache
def _answers(contents: bytes) -> tuple[list[Found], ...]:
    """What the engine answers to all questions of a table, which is handed over as an Arrow stream."""
    table = pa.ipc.open_stream(contents).read_all()
    columns = tuple(HeldColumn(name=each.name, kind=each.kind, identifies=each is ID) for each in LAYOUT)
    held = HeldTable(columns=columns, rows=len(table), digest="", data=(table,))
    engine = engine_on(Snapshot(tables={"t": held}), threads=1)
    return tuple(exact(engine, plan) for plan in plans())


def answers(table: pa.Table) -> tuple[list[Found], ...]:
    """What the engine answers to all questions of a table; the same table isn't asked twice."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return _answers(sink.getvalue().to_pybytes())


def check_answers(found: Admitted) -> int:
    """No question fails, and the person with the extreme rows moves none by more than is declared; how many do move."""
    ordinary = [(0, found.base.slice(0, 1)), (1, found.base.slice(1, 1))]
    rest, moved = found.whole.slice(ORDINARY), 0
    for plan, here, there in zip(
        plans(), answers(assembled(ordinary)), answers(assembled([*ordinary, (7, rest)])), strict=True
    ):
        check(plan, here, there)
        moved += here != there
    return moved
