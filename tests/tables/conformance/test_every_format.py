"""Every format, with every physical type that it has, at its extremes: admitted, and then nothing can fail or tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.errors import SchemaMismatch
from discreet.privacy import Unit
from discreet.tables import Column, Kind, Table
from discreet.tables.admission import column_casts
from discreet.tables.admission.validation import check_schema
from discreet.tables.sources import open_source
from support.conformance import ID, READING, Admitted, all_admitted, check_answers, check_ids, check_values, plans
from support.engines import admitted, compiled_once
from support.extremes import CANARY, POSTGRES_REFUSED, REFUSED, SQL_REFUSED, Cells
from support.formats import ALIKE, FORMATS

pytestmark = pytest.mark.usefixtures("kept_sessions")


@pytest.fixture(scope="module", autouse=True)
def _compiled_once() -> Iterator[None]:
    """The same questions are asked of every format."""
    with compiled_once():
        yield


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Admitted:
    """What is admitted of Arrow tables in memory."""
    return all_admitted(FORMATS["arrow"], tmp_path_factory.mktemp("reference"))


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
@pytest.mark.parametrize("name", FORMATS)
def test_extreme_values_are_admitted_and_harm_nobody(name: str, reference: Admitted, tmp_path: Path) -> None:
    """Admission reads each by itself, as a value of its kind or as NULL; ids stay apart; questions are answered.

    Formats of the same types are read alike: in a file or in memory, in one piece or in many; so answers are the same.
    """
    found = reference if name == "arrow" else all_admitted(FORMATS[name], tmp_path)
    check_values(found)
    check_ids(found, trims=FORMATS[name].trims)
    if name not in ALIKE:
        assert check_answers(found) == len(plans())
        return
    for column in found.whole.column_names:
        assert found.whole[column].equals(reference.whole[column]), column
        assert found.ids[column].equals(reference.ids[column]), column


# ── Wrong twins: admission without a cast ────────────────────────────────────────────────────────────────────────────


def _plainly(column: Column, value: str, *_: Any, **__: Any) -> str:
    """No more than a cast."""
    return f"TRY_CAST({value} AS {column_casts.SQL_TYPES[column.kind]})"


def _as_no_id(*given: Any, identifies: bool) -> str:
    """The cast of a column that identifies nobody."""
    return column_casts.cast(*given, identifies=identifies and False)


def _by_others(column: Column, value: str, *given: Any, **how: Any) -> str:
    """Values that are read where there are many."""
    return f"CASE WHEN count(*) OVER () > 2 THEN {column_casts.cast(column, value, *given, **how)} END"


def _by_place(column: Column, value: str, *given: Any, **how: Any) -> str:
    """Values that are read but in the first row."""
    return f"CASE WHEN row_number() OVER () > 1 THEN {column_casts.cast(column, value, *given, **how)} END"


def _in_one(times: pa.Array, *, exactly: bool) -> pa.Array:
    """Times, converted as a whole column."""
    return times.cast(pa.timestamp("us", times.type.tz), safe=exactly)


TWINS: dict[str, tuple[str, dict[str, Any], str]] = {
    "infinite reals": ("csv", {"cast": _plainly}, "number as r"),
    "texts without end": ("csv", {"cast": _plainly}, "text as t"),
    "times in any year": ("csv", {"cast": _plainly}, "when as u"),
    "rounded ids": ("arrow", {"cast": _as_no_id}, "uint64 as i"),
    "broken ids": ("arrow", {"cast": _as_no_id}, "text of wrong bytes as t"),
    "ids of a repeated hour": ("arrow", {"cast": _as_no_id}, "timestamp[ms, tz=Europe/Paris] as u"),
    "others have a say": ("csv", {"cast": _by_others}, "number as j"),
    "the order has a say": ("csv", {"cast": _by_place}, "number as j"),
    "whole columns": ("arrow", {"microseconds": _in_one}, "timestamp[ms] as u"),
    "integers as they are": ("arrow", {"_MOST_DIGITS": 0, "passed_as": lambda kind: kind}, "decimal(76, 0) as i"),
}
"""By what is wrong: a format, what takes the place of what, and a column in which that must be found."""


@pytest.mark.parametrize("twin", TWINS)
def test_admission_without_a_cast_is_caught(twin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one column, so that nothing else can be what is caught."""
    name, wrong, column = TWINS[twin]
    physical, _, letter = column.rpartition(" as ")
    of = FORMATS[name]
    alone = replace(of, holds={physical: replace(of.holds[physical], letters=letter)})

    def checked(folder: str) -> None:
        (tmp_path / folder).mkdir()
        found = all_admitted(alone, tmp_path / folder)
        check_values(found)
        check_ids(found, trims=of.trims)

    checked("right")
    for attribute, stands in wrong.items():
        monkeypatch.setattr(READING, attribute, stands)
    with pytest.raises(AssertionError):
        checked("wrong")


# ── What no kind of column is ────────────────────────────────────────────────────────────────────────────────────────

_NESTED = {name: Cells(Kind.TEXT, array, letters="t") for name, array in REFUSED.items()}
_IN_SQL, _IN_POSTGRES = (
    {name: Cells(Kind.TEXT, (cell, None), letters="t") for name, cell in refused.items()}
    for refused in (SQL_REFUSED, POSTGRES_REFUSED)
)
_HOLDING: dict[str, dict[str, Cells]] = {
    **dict.fromkeys(("arrow", "feather", "arrow stream", "pandas on arrow"), _NESTED),
    "parquet": {name: cells for name, cells in _NESTED.items() if name != "duration"},
    "polars": {name: cells for name, cells in _NESTED.items() if name != "map"},
    **dict.fromkeys(("duckdb", "ibis"), _IN_SQL),
    "postgres": _IN_POSTGRES,
}


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
@pytest.mark.parametrize("name", _HOLDING)
def test_columns_of_other_types_are_refused_by_the_schema(name: str, tmp_path: Path) -> None:
    """In words that quote nothing; a column beside them is admitted."""
    columns = {f"{kind} as t": cells for kind, cells in _HOLDING[name].items()}
    source, data = FORMATS[name].write(tmp_path, columns, range(2))
    with open_source(source, {source.location: data}) as opened:
        for column in columns:
            declared = Column(name=column, kind=Kind.TEXT)
            with pytest.raises(SchemaMismatch) as refusal:
                check_schema(Table(name="t", source=source, columns=(declared,), unit=Unit.row()), opened.fields)
            error = refusal.value
            assert CANARY not in f"{error} {error.hint}".replace(repr(column), "")
            assert (error.__cause__, error.__context__) == (None, None)
    table = Table(name="t", source=source, columns=(ID,), unit=Unit.row())
    assert admitted(table, data) == {"id": [0, 1]}
