"""Looking at tables: which kinds are guessed, that admission reads what was guessed, and what is seen in columns."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.duckdb.session import Session
from discreet.errors import SourceMalformed
from discreet.tables import Column, Kind, Source
from discreet.tables.admission.column_casts import cast
from discreet.tables.proposals import DataProfile
from discreet.tables.proposals.data_profile import MOST_VALUES, profile_table
from discreet.tables.sources import Field
from discreet.tables.type_inference import narrowest
from support.tables import write_arrow

DMY = Source(kind="csv", location="t.csv", decimal=",", delimiter=";", dates="dmy")
MDY = Source(kind="csv", location="t.csv", dates="mdy")
YMD = Source(kind="csv", location="t.csv")


def seen(path: Path, cells: list[str], **declared: Any) -> tuple[Column, Any]:
    """A column of a CSV file with these cells, and what was seen in it."""
    path = path / "t.csv"
    path.write_text("\n".join(["x;n", *(f"{cell};1" for cell in cells), ""]), encoding="utf-8")
    columns, profile = profile_table(Source.of(path, delimiter=";", **declared), peek=True)
    assert profile is not None
    return columns[0], profile.of("x")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["+34", "-1", "0"], Kind.INTEGER),
        (["+1234567", "1234567"], Kind.INTEGER),
        (["+4722222222", "+12025550143"], Kind.TEXT),
        (["999999999999999999", "1"], Kind.INTEGER),
        (["1000000000000000000", "1"], Kind.TEXT),  # an id, of which doubles would make two one
        (["02139", "10001"], Kind.TEXT),
        (["007.5"], Kind.TEXT),
        ([".5", "34"], Kind.REAL),
        (["5.", "-1.5e-3", "2E+5"], Kind.REAL),
        (["1e400"], Kind.TEXT),
        (["1,5"], Kind.TEXT),
        ([".", "1"], Kind.TEXT),
        (["TRUE", "false"], Kind.BOOLEAN),
        (["true", "1"], Kind.TEXT),
        (["2024-02-29", "0001-01-01"], Kind.DATE),
        (["2023-02-29"], Kind.TEXT),
        (["0000-01-01"], Kind.TEXT),
        (["2024-02-29", "2024-02-29T12:30"], Kind.TIMESTAMP),
        (["2024-02-29 12:30:00.123456789", "2024-02-29 23:59:59Z"], Kind.TIMESTAMP),
        (["2024-02-29 24:30"], Kind.TEXT),
        (["2024-02-29", "12"], Kind.TEXT),
        (["1", "?", "NA", ""], Kind.INTEGER),
        (["?", ""], Kind.TEXT),
        (["34", "old"], Kind.TEXT),
    ],
)
def test_what_is_guessed(tmp_path: Path, cells: list[str], kind: Kind) -> None:
    """Whatever their order is, and in whichever part of the file they stand."""
    assert seen(tmp_path, cells)[0].kind is kind
    assert seen(tmp_path, cells[::-1])[0].kind is kind
    apart = [text for cell in cells for text in [cell] * 3]
    so_far: Kind | None = None
    for cell in apart:
        if cell not in ("?", "NA", ""):
            so_far, _ = narrowest(pa.array([cell]), YMD, so_far)
    assert (so_far or Kind.TEXT) is kind


def test_the_declared_words_count(tmp_path: Path) -> None:
    """A decimal comma makes numbers, and an order of days and months makes dates."""
    assert seen(tmp_path, ["1,5", ",25"], decimal=",")[1].hi == 1.5
    assert seen(tmp_path, ["1.5"], decimal=",")[0].kind is Kind.TEXT
    column, found = seen(tmp_path, ["31.1.2024", "01/02/2024", "2024-03-01"], dates="dmy")
    assert (column.kind, found.lo, found.hi) == (Kind.DATE, date(2024, 1, 31), date(2024, 3, 1))
    assert found.values == (date(2024, 1, 31), date(2024, 2, 1), date(2024, 3, 1))
    assert seen(tmp_path, ["1/31/2024 12:30"], dates="mdy")[1].hi == datetime(2024, 1, 31, 12, 30)
    assert seen(tmp_path, ["31.1.2024"], dates="mdy")[0].kind is Kind.TEXT
    assert seen(tmp_path, ["31.1.2024"])[0].kind is Kind.TEXT


SIGNS = st.sampled_from(["", "+", "-"])
DIGITS = st.text("0123456789", max_size=20)
NUMBERS = st.builds(
    lambda sign, whole, mark, rest, power: sign + whole + mark + rest + power,
    SIGNS,
    DIGITS,
    st.sampled_from(["", ".", ","]),
    DIGITS,
    st.sampled_from(["", "e5", "E-7", "e+308", "e400", "e"]),
)
TIMES = st.builds(
    lambda day, mark, clock, zone: day + mark + clock + zone,
    st.one_of(
        st.dates().map(str),
        st.builds("{}{}{}{}{}".format, *[st.integers(0, 32), st.sampled_from(list("./-"))] * 2, st.integers(0, 9999)),
        st.sampled_from(["0000-01-01", "9999-12-31", "2023-02-29", "0001-01-01", "31.12.9999", "01/01/0001"]),
    ),
    st.sampled_from([" ", "T", ""]),
    st.one_of(
        st.times().map(str), st.times().map(lambda time: str(time)[:5]), st.sampled_from(["", "24:00", "23:59:60"])
    ),
    st.sampled_from(["", "", "", "Z", "+02", "-0230", "+14:00", "789", " UTC"]),
)


@given(text=st.one_of(NUMBERS, TIMES, st.sampled_from(["True", "FALSE", "t", "yes", "nan", "inf", "0x1F", "1_000"])))
@pytest.mark.parametrize("source", [YMD, DMY, MDY], ids=["ymd", "dmy", "mdy"])
def test_admission_reads_what_was_guessed(text: str, source: Source) -> None:
    """As the same value, and never as NULL."""
    if not text.strip():
        return
    kind, values = narrowest(pa.array([text]), source)
    if kind is Kind.TEXT:
        return
    zone = getattr(values.type, "tz", None)
    column = Column(name="x", kind=kind, time_zone=zone)
    sql = cast(column, "s", Field(name="x", type=pa.string(), untyped=True), source, identifies=False)
    ((admitted,),) = ENGINE.execute(f"SELECT {sql} FROM (SELECT CAST(? AS VARCHAR) AS s)", [text])
    meant = values[0].as_py()
    assert admitted == (meant.astimezone(UTC).replace(tzinfo=None) if zone else meant)


ENGINE = Session(threads=1)
ENGINE.execute("SET TimeZone = 'UTC'")


def test_what_is_seen(tmp_path: Path) -> None:
    """Ends of what has an order; different values of all but reals and timestamps; None for NULL."""
    assert seen(tmp_path, ["3", "+3", "?", "1"])[1].values == (1, 3, None)
    assert seen(tmp_path, ["b", "a", "", "b"])[1].values == ("a", "b", None)
    assert seen(tmp_path, ["b", "?"])[1].values == ("?", "b")
    assert seen(tmp_path, ["y" * 5_000])[1].values == ("y" * 1_000,)
    assert seen(tmp_path, ["true", "false"])[1].values == (False, True)
    real = seen(tmp_path, ["0.5", "7"])[1]
    assert (real.lo, real.hi, real.values) == (0.5, 7, None)
    column, time = seen(tmp_path, ["2024-01-01T00:30:00+02:00"])
    assert (column.time_zone, time.lo) == ("UTC", datetime(2023, 12, 31, 22, 30))


@pytest.mark.parametrize("null", [False, True])
def test_many_values_are_not_listed(tmp_path: Path, *, null: bool) -> None:
    """A thousand are, NULL among them."""
    few = [str(number) for number in range(MOST_VALUES - null)] + [""] * null
    assert len(seen(tmp_path, few)[1].values) == MOST_VALUES
    found = seen(tmp_path, [*few, "5000"])[1]
    assert (found.values, found.lo, found.hi) == (None, 0, 5000)
    texts = [f"t{cell}" for cell in range(MOST_VALUES + 1)]
    assert seen(tmp_path, texts)[1].values is None


def test_types_are_taken_at_their_word() -> None:
    """Of sources that have them; what admission makes NULL isn't seen."""
    table = pa.table(
        {
            "real": pa.array([float("nan"), float("-inf"), -0.5], pa.float64()),
            "half": pa.array([0.5, None, 2], pa.float16()),
            "wide": pa.array([2**64 - 1, 0, None], pa.uint64()),
            "exact": pa.array([Decimal(5), Decimal(10**20), None], pa.decimal128(30, 0)),
            "money": pa.array([Decimal("0.05"), Decimal("1.25"), None], pa.decimal128(9, 2)),
            "day": pa.array([0, -(10**8) * 86_400_000, 86_400_000], pa.date64()),
            "far": pa.array([0, 9 * 10**18, None], pa.timestamp("ms")),
            "when": pa.array([datetime(2023, 12, 31, 23, 30)] * 3, pa.timestamp("s", "Europe/Paris")),
            "ahead": pa.array([datetime(2023, 12, 31, 23, 30)] * 3, pa.timestamp("ns", "+02:00")),
            "sex": pa.array(["b", "a", None]).dictionary_encode(),
            "text": pa.array(["1", "2", "x" * 5_000]),
            "raw": pa.array([b"1", b"2", b"3"]),
        }
    )
    columns, profile = profile_table(Source(kind="memory", location="t"), peek=True, data={"t": table})
    assert profile is not None
    assert {each.name: each.kind.value for each in columns} == {
        **dict.fromkeys(["real", "half", "money"], "real"),
        **dict.fromkeys(["wide", "exact"], "integer"),
        "day": "date",
        **dict.fromkeys(["far", "when", "ahead"], "timestamp"),
        **dict.fromkeys(["sex", "text"], "text"),
    }
    assert {each.name: each.time_zone for each in columns if each.time_zone} == {"when": "Europe/Paris", "ahead": "UTC"}
    assert {each.name: each.places for each in columns if each.places} == {"money": 2}
    ends = {each.name: (profile.of(each.name).lo, profile.of(each.name).hi) for each in columns}
    assert ends["real"] == (-0.5, -0.5)
    assert ends["half"] == (0.5, 2)
    assert ends["wide"] == (0, 2**64 - 1)
    assert ends["exact"] == (5, 10**20)
    assert ends["money"] == (Decimal("0.05"), Decimal("1.25"))
    assert ends["day"] == (date(1970, 1, 1), date(1970, 1, 2))
    assert ends["far"] == (datetime(1970, 1, 1),) * 2
    assert ends["when"] == (datetime(2024, 1, 1, 0, 30),) * 2
    assert ends["ahead"] == (datetime(2023, 12, 31, 23, 30),) * 2
    assert profile.of("wide").values == (0, 2**64 - 1, None)
    assert profile.of("exact").values == (5, 10**20, None)
    assert profile.of("sex").values == ("a", "b", None)
    assert profile.of("text").values == ("1", "2", "x" * 1_000)


def test_every_format_is_looked_at_alike(tmp_path: Path) -> None:
    """Numbers, dates and texts, in files with types and without."""
    table = pa.table({"age": [34, 7], "born": [date(1990, 1, 2), None], "sex": ["F", "M"], "share": [0.5, 2.25]})
    rows = [
        {name: str(value) if name == "born" and value else value for name, value in row.items()}
        for row in table.to_pylist()
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_arrow(table, tmp_path / "t.feather")
    parquet.write_table(table, tmp_path / "t.parquet")
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("CREATE TABLE t (age, born, sex, share)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [tuple(row.values()) for row in rows])
    connection.close()
    book = openpyxl.Workbook()
    for row in [list(table.column_names), *map(list, (row.values() for row in table.to_pylist()))]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    found = [profile_table(Source.of(path), peek=True) for path in sorted(tmp_path.iterdir())]
    assert len(found) == 5
    for columns, profile in found:
        assert [each.kind for each in columns] == [Kind.INTEGER, Kind.DATE, Kind.TEXT, Kind.REAL]
        assert profile is not None
        assert profile.columns == (found[0][1] or DataProfile()).columns


def test_without_a_peek_cells_change_nothing(tmp_path: Path) -> None:
    """Kinds are what is publicly known of the names."""
    results = []
    for cells in ("34,F,1", "x,y,z"):
        (tmp_path / "t.csv").write_text(f"age,sex,other\n{cells}\n")
        results.append(profile_table(Source.of(tmp_path / "t.csv"), peek=False))
    assert results[0] == results[1]
    assert [each.kind for each in results[0][0]] == [Kind.INTEGER, Kind.TEXT, Kind.TEXT]
    assert results[0][1] is None


def test_a_malformed_record_is_named_by_its_line(tmp_path: Path) -> None:
    """And nothing of it is quoted."""
    (tmp_path / "t.csv").write_text('a,b\n1,2\n1,"6" tall\n')
    with pytest.raises(SourceMalformed, match="line 3") as caught:
        profile_table(Source.of(tmp_path / "t.csv"), peek=True)
    assert "tall" not in str(caught.value)


def test_memory_does_not_grow_with_the_square_of_columns(tmp_path: Path) -> None:
    """Nor does it with the rows: what is held of a column is a thousand values at the most."""
    held = []
    for width in (100, 400):
        path = tmp_path / f"{width}.csv"
        header = ",".join(f"c{place}" for place in range(width))
        path.write_text("\n".join([header, *(",".join([str(row % 7)] * width) for row in range(1_200)), ""]))
        tracemalloc.start()
        before = pa.default_memory_pool().max_memory()
        profile_table(Source.of(path), peek=True)
        held.append(tracemalloc.get_traced_memory()[1] + pa.default_memory_pool().max_memory() - before)
        tracemalloc.stop()
    assert held[1] < 8 * max(held[0], 1 << 23)


def test_units_are_counted_not_rows(tmp_path: Path) -> None:
    """Of a table with ids, many rows of one unit are one; without, each row is somebody else's."""
    cells = "\n".join(["who,where", *["1,home"] * 20, *(f"{n},town" for n in range(20))])
    path = tmp_path / "t.csv"
    path.write_text(cells, encoding="utf-8")
    for unit, home in (("who", 1), ("row", 20)):
        profile = profile_table(Source.of(path), peek=True, unit=unit)[1]
        assert profile is not None
        assert profile.of("where").units == {"home": home, "town": 20}
    frame = pa.table({"user_id": [1, 1, 2], "where": pa.array(["a", "a", "a"]).dictionary_encode()})
    profile = profile_table(Source(kind="memory", location="t"), peek=True, data={"t": frame})[1]
    assert profile is not None
    assert profile.of("where").units == {"a": 2}  # by the name alone, `user_id` tells whose row it is


def test_whose_rows_are_is_seen_in_every_type() -> None:
    """Categories, decimals and dates, in parts and with missing values; and nothing is without a peek."""
    rng = np.random.default_rng()
    whose = rng.permutation(np.repeat(np.arange(300), 4))
    amounts, days = rng.integers(9, size=300)[whose], rng.integers(20_000, size=300)[whose]
    table = pa.table(
        {
            "k1": pa.array([f"k{n}" for n in whose], mask=np.arange(1_200) < 5).dictionary_encode(),
            "k2": pa.array(amounts).cast(pa.decimal128(20, 0)).cast(pa.decimal128(9, 2)),
            "k3": pa.array(days.astype(np.int32)).cast(pa.date32()),
            "k4": pa.array(rng.random(1_200) < 0.5),
            "k5": pa.nulls(1_200, pa.int64()),
            "k6": pa.array(rng.random(1_200)),
            "k7": pa.array(whose * 1.0, mask=np.arange(1_200) < 5),
        }
    )
    parts = pa.concat_tables([table.slice(start, 400) for start in (0, 400, 800)])
    for peek in (True, False):
        profile = profile_table(Source(kind="memory", location="t"), peek=peek, data={"t": parts})[1]
        found = () if profile is None else profile.candidates
        assert [(each.column, each.values, each.rows) for each in found] == (
            [("k1", 300, 1_195), ("k7", 300, 1_195)] if peek else []
        )
