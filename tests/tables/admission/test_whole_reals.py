"""Whole numbers that are written as reals, as most programs write them where one is missing."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.tables import Source, Table
from discreet.tables.admission import admit, describe
from discreet.tables.schema.column import Column, Kind

pytestmark = pytest.mark.usefixtures("kept_sessions")

IDS = [1, 2, 2, 3, None, 60]


def admitted(data: object, source: Source, kind: Kind = Kind.INTEGER, **more: Any) -> tuple[list[Any], dict[str, Any]]:
    """The ids that are kept, and the report."""
    columns = (Column(name="pid", kind=kind, **more),)
    table = Table(name="t", source=source, columns=columns, unit=dp.Unit("pid"), limits=dp.Limits(rows=9))
    found = admit([table], {"t": data}, None)
    return found.tables["t"].whole()["pid"].to_pylist(), found.report["t"]


def sources(folder: Path) -> dict[str, tuple[object, Source]]:
    """The same ids as different programs write them."""
    (folder / "t.csv").write_text("pid\n" + "".join("\n" if each is None else f"{each}.0\n" for each in IDS))
    reals = pa.table({"pid": pa.array(IDS, pa.float64())})
    pq.write_table(reals, folder / "t.parquet")
    pq.write_table(pa.table({"pid": [float("nan") if each is None else each for each in IDS]}), folder / "nan.parquet")
    memory = Source(kind="memory", location="t")
    return {
        "pandas Int64": (pd.DataFrame({"pid": pd.array(IDS, "Int64")}), memory),
        "pandas float64": (pd.DataFrame({"pid": IDS}), memory),
        "pandas objects": (pd.DataFrame({"pid": pd.Series(IDS, dtype=object)}), memory),
        "Polars Int128": (pl.DataFrame({"pid": pl.Series(IDS, dtype=pl.Int128)}), memory),
        "Polars float": (pl.DataFrame({"pid": pl.Series(IDS, dtype=pl.Float64)}), memory),
        "Arrow float32": (pa.table({"pid": pa.array(IDS, pa.float32())}), memory),
        "Arrow decimals": (pa.table({"pid": pa.array(IDS, pa.int64()).cast(pa.decimal128(21, 2))}), memory),
        "Parquet": (None, Source.of(folder / "t.parquet")),
        "Parquet with NaN": (None, Source.of(folder / "nan.parquet")),
        "CSV with points": (None, Source.of(folder / "t.csv")),
    }


def test_an_id_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    """All sources admit the same rows, without the one that names nobody."""
    found = {name: admitted(*each)[0] for name, each in sources(tmp_path).items()}
    assert all(ids == [1, 2, 2, 3, 60] for ids in found.values()), found


def test_a_frame_with_a_missing_id_is_protected_as_it_is(tmp_path: Path) -> None:
    """Its column is of reals, and tells people apart without a declaration; a link to it, too."""
    people = pd.DataFrame({"pid": [*map(float, range(30)), np.nan], "age": [30.0] * 31})
    visits = pd.DataFrame({"pid": [*map(float, range(30)), np.nan] * 2})
    limits = dp.Limits(rows=2)
    with dp.protect(
        [
            dp.table(people, name="people", unit="pid", limits=dp.Limits(rows=1), columns={"age": (0, 110)}),
            dp.table(visits, name="visits", links={"pid": "people.pid"}, limits=limits),
        ],
        name="clinic",
        budget=10_000,
        ledger=tmp_path / "clinic.ledger",
    ) as clinic:
        for question, true in (("SELECT COUNT(*) AS n FROM people", 30), ("SELECT COUNT(*) AS n FROM visits", 60)):
            assert abs(clinic.ask(question, epsilon=1_000)["n"][0] - true) <= 1


@pytest.mark.parametrize(
    ("kind", "values", "kept"),
    [
        (pa.float64(), [2.0**53, 2.0**53 + 2, -(2.0**53), 7.5, float("inf"), -0.0], [2**53, -(2**53), 0]),
        (pa.float32(), [2.0**24, 2.0**24 + 2, 3.5], [2**24]),
        (pa.decimal128(20, 2), [Decimal("7.00"), Decimal("7.50"), Decimal(10**17)], [7, 10**17]),
    ],
)
def test_what_is_not_surely_whole_is_nobodys_id(kind: pa.DataType, values: list[Any], kept: list[int]) -> None:
    """Above its type's exact numbers, two ids may have become one; it is counted as an id that can't be read."""
    data = pa.table({"pid": pa.array(values, kind)})
    found, report = admitted(data, Source(kind="memory", location="t"))
    assert found == kept
    assert report["unreadable_ids"] == report["left_out"] == len(values) - len(kept)


def test_the_hint_for_a_real_id_leads_out_and_not_round() -> None:
    """Declared as real it identifies nobody, and the hint says as what it does."""
    source = Source(kind="memory", location="t")
    with pytest.raises(InvalidArgument, match="can't identify anyone: it is real") as caught:
        admitted(pd.DataFrame({"pid": IDS}), source, Kind.REAL)
    assert caught.value.hint_at("file") == 'kind = "integer" reads its whole numbers'
    assert describe(source, {"t": pd.DataFrame({"pid": IDS})}, frozenset({"pid"}))[0].kind is Kind.INTEGER


def test_bounds_say_that_objects_are_numbers(tmp_path: Path) -> None:
    """Decimals of a database's driver are read as the numbers that they are."""
    frame = pd.DataFrame({"paid": [Decimal("1.50"), Decimal("2.25"), None]})
    with dp.protect(
        frame, name="t", unit=dp.Unit.row(), columns={"paid": (0, 10)}, budget=10_000, ledger=tmp_path / "t.ledger"
    ) as table:
        assert abs(table.ask("SELECT SUM(paid) AS s FROM t", epsilon=5_000)["s"][0] - 3.75) < 0.1


def test_init_proposes_whole_numbers_for_ids_that_are_written_as_reals(tmp_path: Path) -> None:
    """By an id's name if all are whole; and where the custodian names the unit."""
    from discreet.tables.proposals import profile_table

    path = tmp_path / "t.csv"
    path.write_text("patient_id,who,paid\n" + "".join(f"{number}.0,{number}.0,{number}.5\n" for number in range(9)))
    for unit, whole in ((None, {"patient_id"}), ("who", {"patient_id", "who"})):
        columns, _ = profile_table(Source.of(path), peek=True, unit=unit)
        assert {each.name for each in columns if each.kind is Kind.INTEGER} == whole
