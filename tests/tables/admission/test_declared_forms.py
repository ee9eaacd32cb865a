"""Everyday forms of numbers and times: read where a column declares them, as pandas reads them; NULL elsewhere."""

from __future__ import annotations

import math
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.tables import Source, Table
from discreet.tables.admission import admit
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.config import loads
from discreet.tables.schema.config_writer import dumps
from discreet.tables.schema.dataset import Dataset
from support.examples import examples

pytestmark = pytest.mark.usefixtures("kept_sessions")

MEMORY = Source(kind="memory", location="t")


def read(texts: list[Any], kind: Kind, source: Source | None = None, **form: Any) -> list[Any]:
    """What values become, each in a row of its own, of a frame's texts or numbers."""
    column = Column(name="x", kind=kind, **form)
    table = Table(name="t", source=source or MEMORY, columns=(column,), unit=dp.Unit.row())
    return admit([table], {"t": pa.table({"x": texts})}, None).tables["t"].whole()["x"].to_pylist()


@pytest.mark.parametrize(
    ("form", "texts", "values"),
    [
        ({"thousands": ","}, ["1,234", "12,345,678", "7", "-1,000.5"], [1234, 12345678, 7, -1000.5]),
        ({"thousands": ","}, ["1,23", "1,2345", ",123", "1234,567", "1,234,", "1,,234"], [None] * 6),
        ({"thousands": " "}, ["1 234", "1\u00a0234", "1\u202f234\u2009567.5", "1 23"], [1234, 1234, 1234567.5, None]),
        ({"thousands": "'"}, ["1'234", "1\u2019234.5"], [1234, 1234.5]),
        ({"strip": "$"}, ["$7", "-$7.5", "$ 7", "7$", "€7", "$"], [7, -7.5, 7, 7, None, None]),
        ({"strip": "%"}, ["45%", "4.5 %"], [45, 4.5]),
        ({"strip": "$", "thousands": ","}, ["$1,234.50", "-$1,000", "$1,00"], [1234.5, -1000, None]),
        ({"thousands": ","}, ["\u22127", "\u22121,000"], [-7, -1000]),
    ],
)
def test_numbers_of_a_form_are_read_and_no_others(form: dict[str, str], texts: list[str], values: list[Any]) -> None:
    """A mark between thousands stands before each third digit; elsewhere it makes no number."""
    assert read(texts, Kind.REAL, **form) == values


@given(st.integers(-(10**15), 10**15), st.sampled_from(", '"))
@examples(60)
def test_grouped_numbers_are_what_python_wrote(number: int, mark: str) -> None:
    """As integers and ids, too."""
    text = f"{number:,}".replace(",", mark)
    assert read([text], Kind.INTEGER, thousands=mark) == [number]


def test_a_point_between_thousands_and_a_decimal_comma(tmp_path: Path) -> None:
    """As most of Europe writes them; without a form a minus of typesetters is one."""
    path = tmp_path / "t.csv"
    path.write_text("x\n1.234,5\n\u22127,5\n1.23,5\n1.234.567\n")
    source = Source.of(path, delimiter=";", decimal=",")
    column = Column(name="x", kind=Kind.REAL, thousands=".")
    table = Table(name="t", source=source, columns=(column,), unit=dp.Unit.row())
    found = admit([table], {}, tmp_path)
    assert found.report["t"]["unreadable"] == {"x": 1}
    frame = pd.read_parquet(tmp_path / "0.parquet")
    assert [None if math.isnan(each) else each for each in frame["x"]] == [1234.5, -7.5, None, 1234567.0]


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("%d-%b-%Y", ["31-OCT-2023", "01-jan-1999", "29-Feb-2023", "2023-10-31"]),
        ("%B %d, %Y", ["March 1, 1984", "february 29, 1984", "Mär 1, 1984"]),
        ("%m/%d/%Y %I:%M %p", ["3/14/2024 2:05 PM", "12/1/2024 12:00 AM", "13/1/2024 1:00 AM", "3/14/2024"]),
        ("%d.%m.%y", ["01.02.68", "01.02.69", "31.02.99", "epoch", "infinity"]),
        ("%Y%m%d", ["19670907", "19671301"]),
    ],
)
def test_times_of_a_format_are_those_of_strptime(form: str, texts: list[str]) -> None:
    """What isn't of the format, or of the calendar, is NULL, as Python's own reader refuses it."""

    def by_python(text: str) -> datetime | None:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 — it has no zone
        except ValueError:
            return None

    assert read(texts, Kind.TIMESTAMP, format=form) == list(map(by_python, texts))
    if "%I" not in form:
        days = [found and found.date() for found in map(by_python, texts)]
        assert read(texts, Kind.DATE, format=form) == days


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_points_in_time_are_counted_from_1970(unit: str) -> None:
    """As pandas counts them, in the declared zone; of texts and numbers alike, and NULL beyond the calendar."""
    counts = [0, 1_700_000_000, -1, 951_782_400]
    true = list(
        pd.to_datetime(counts, unit=unit, utc=True).tz_convert("Europe/Paris").tz_localize(None).to_pydatetime()
    )
    for values in (counts, list(map(str, counts)), list(map(float, counts))):
        assert read(values, Kind.TIMESTAMP, epoch=unit, time_zone="Europe/Paris") == true
    far = [str(10**30), str(-(10**25)), "soon", "nan", "1e400", "99999999999999999999"]
    assert read(far, Kind.TIMESTAMP, epoch=unit, time_zone="UTC") == [None] * len(far)


def test_days_are_counted_as_spreadsheets_and_from_1970() -> None:
    """As pandas counts them. Before March 1900 a spreadsheet's number doesn't say which day it is."""
    for origin, epoch, numbers in (("1899-12-30", "excel", [61, 45_000]), ("1970-01-01", "days", [0, -1, 19_000])):
        true = [(pd.Timestamp(origin) + pd.Timedelta(days=each)).date() for each in numbers]
        for values in (numbers, list(map(str, numbers))):
            assert read(values, Kind.DATE, epoch=epoch) == true
    assert read([2_958_465, 2_958_466], Kind.DATE, epoch="excel") == [date(9999, 12, 31), None]
    assert read([60, 0, -1, 10**9], Kind.DATE, epoch="excel") == [None] * 4
    assert read([45_000.604166666664], Kind.TIMESTAMP, epoch="excel") == [datetime(2023, 3, 15, 14, 30)]


def test_an_id_of_a_form_loses_nothing() -> None:
    """A part of a day, or of a second, is dropped elsewhere; two ids might become one."""
    for kind, form, values, kept in (
        (Kind.DATE, {"epoch": "excel"}, [45_000.0, 45_000.5], 1),
        (Kind.INTEGER, {"thousands": ","}, ["1,000", "1,000.5"], 1),
    ):
        column = Column(name="x", kind=kind, **form)
        table = Table(name="t", source=MEMORY, columns=(column,), unit=dp.Unit("x"), limits=dp.Limits(rows=1))
        assert admit([table], {"t": pa.table({"x": values})}, None).tables["t"].rows == kept


def test_forms_are_written_and_read_back() -> None:
    """In a configuration, and by the snapshot: another form needs another admission."""
    columns = (
        Column(name="a", kind=Kind.REAL, thousands=" ", strip="$%"),
        Column(name="b", kind=Kind.DATE, format="%d-%b-%Y"),
        Column(name="c", kind=Kind.TIMESTAMP, epoch="ms", time_zone="UTC"),
    )
    table = Table(name="t", source=Source.of("t.csv"), columns=columns, unit=dp.Unit.row())
    dataset = Dataset(name="t", tables=(table,), budget=dp.Budget(1), ledger="t.ledger")
    assert loads(dumps(dataset)) == dataset
    memory = Table(name="t", source=MEMORY, columns=columns[:1], unit=dp.Unit.row())
    held = admit([memory], {"t": pa.table({"a": ["$1"]})}, None).tables["t"]
    plain = Table(name="t", source=MEMORY, columns=(Column(name="a", kind=Kind.REAL),), unit=dp.Unit.row())
    assert (held.covers(memory, frozenset()), held.covers(plain, frozenset())) == (True, False)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Kind.TEXT, {"thousands": ","}),
        (Kind.DATE, {"strip": "$"}),
        (Kind.REAL, {"format": "%d-%b-%Y"}),
        (Kind.REAL, {"epoch": "s"}),
        (Kind.REAL, {"thousands": ";"}),
        (Kind.REAL, {"thousands": "."}),
        (Kind.REAL, {"strip": "-"}),
        (Kind.REAL, {"strip": "\n"}),
        (Kind.DATE, {"format": "%d-%b"}),
        (Kind.DATE, {"format": "%d-%b-%Y-%y"}),
        (Kind.DATE, {"format": "%d-%b-%Y %H"}),
        (Kind.TIMESTAMP, {"format": "%d-%b-%Y %z"}),
        (Kind.TIMESTAMP, {"format": "%d-%b-%Y %"}),
        (Kind.TIMESTAMP, {"format": "%d-%b-%Y", "epoch": "excel"}),
        (Kind.TIMESTAMP, {"epoch": "s"}),
        (Kind.DATE, {"epoch": "s"}),
        (Kind.DATE, {"epoch": "weeks"}),
    ],
)
def test_forms_that_values_do_not_have(kind: Kind, form: dict[str, Any]) -> None:
    """Each is refused where it is declared."""
    with pytest.raises(InvalidArgument):
        read(["1"], kind, **form)


def test_a_form_of_what_has_a_type_is_refused() -> None:
    """Dates of a database aren't written in any format; numbers count time if that is declared."""
    for values, kind, form in (
        ([date(2024, 1, 5)], Kind.DATE, {"format": "%d-%b-%Y"}),
        ([datetime(2024, 1, 5)], Kind.TIMESTAMP, {"epoch": "excel"}),
        ([1_234], Kind.INTEGER, {"thousands": ","}),
    ):
        with pytest.raises(SchemaMismatch, match="to which no written form applies") as caught:
            read(values, kind, **form)
        assert caught.value.hint == f"leave {next(iter(form))} out"
