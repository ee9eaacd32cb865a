"""Files as strangers write them: read as meant, or refused with the place and without a cell."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.anonymity import read
from discreet.errors import DiscreetError, InvalidArgument, SchemaMismatch, SourceError, SourceMalformed
from discreet.tables import Source

CELL = "Zebulon"
"""A value that no message may hold."""


def written(folder: Path, data: str | bytes) -> Path:
    """A file that holds this."""
    path = folder / "people.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_delimiter_is_found_out(delimiter: str, end: str, tmp_path: Path) -> None:
    """Also where quoted cells hold the others."""
    text = end.join(delimiter.join(row) for row in (["name", "age"], ['"Miller, A; B|C"', "41"], ["Smith", "7"]))
    found = read(written(tmp_path, text))
    assert found.column("age").labels() == (7, 41)
    assert "Miller, A; B|C" in found.column("name").labels()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["41", " 7", "0"], (0, 7, 41)),
        (["-3", "12"], (-3, 12)),
        (["02139", "10001"], ("02139", "10001")),
        (["1.5", "2"], (1.5, 2.0)),
        (["2021-02-28", "2020-01-01"], None),
        (["2021-02-30", "2020-01-01"], ("2020-01-01", "2021-02-30")),
        (["true", "False"], (False, True)),
        (["yes", "no"], ("no", "yes")),
        (["41", "forty"], ("41", "forty")),
        (["123456789012345678901", "1"], ("1", "123456789012345678901")),
        (["41", ""], (41, None)),
        (["NA", "41"], (41, None)),
        (["NA", "?"], ("?", "NA")),
        (["+34", ".5"], (0.5, 34.0)),
        (["2021-02-28T10:00:00.5", "2020-01-01"], (datetime(2020, 1, 1), datetime(2021, 2, 28, 10, 0, 0, 500_000))),
        (["2021-02-28 10:00+02:00"], (datetime(2021, 2, 28, 8, tzinfo=UTC),)),
        (['"a', 'b"'], None),
    ],
)
def test_texts_become_what_all_of_them_are(cells: list[str], values: tuple[object, ...] | None, tmp_path: Path) -> None:
    """Numbers, dates or truth values; a ZIP code keeps its zeros, and one word keeps all of them texts."""
    found = read(written(tmp_path, "key;x\n" + "\n".join(f"k;{cell}" for cell in cells) + "\n"))
    column = found.column("x")
    if values is not None:
        assert column.labels() == values
    assert column.rows == found.rows


def test_line_ends_within_quotes_are_part_of_a_cell(tmp_path: Path) -> None:
    """In names as well as in cells."""
    found = read(written(tmp_path, '"first\nname",age\n"a\nb",1\nc,2\n'))
    assert found.names == ("first\nname", "age")
    assert found.column("first\nname").labels() == ("a\nb", "c")


def test_what_stands_for_missing_can_be_said(tmp_path: Path) -> None:
    """By default nothing at all does."""
    path = written(tmp_path, "age,job\n41,?\n,cook\n")
    assert read(path).column("job").labels() == ("?", "cook")
    assert read(Source.of(path, missing=("?",))).column("job").labels() == ("cook", None)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    """Spreadsheets write one."""
    assert read(written(tmp_path, b"\xef\xbb\xbfage,sex\n1,F\n")).names == ("age", "sex")


def test_unnamed_columns_get_their_place_for_a_name(tmp_path: Path) -> None:
    """As the index that pandas writes has none."""
    assert read(written(tmp_path, ",age\n0,41\n")).names == ("column 1", "age")


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    """It has columns, and no values."""
    found = read(written(tmp_path, "age,sex\n"))
    assert (found.rows, found.names, found.column("age").labels()) == (0, ("age", "sex"), ())


MALFORMED = {
    "empty": ("", "no header"),
    "blank": ("\n\n", "no header"),
    "ragged, short": (f"name,age\nA,1\n{CELL}\n", "on line 3 of"),
    "ragged, long": (f"name,age\nA,1\n{CELL},2,3\n", "on line 3 of"),
    "names twice": (f"age,Age\n1,{CELL}\n", "the name of column 1 again for column 2"),
    "UTF-16": ("name,age\nZebulon,1\n".encode("utf-16"), "is UTF-16"),
    "compressed": (gzip.compress(b"name,age\nZebulon,1\n" * 100), "is packed"),
    "a spreadsheet": (b"PK\x03\x04\x14\0\x06\0Zebulon", "spreadsheet"),
    "Parquet by another name": (b"PAR1\x15\0Zebulon", "is Parquet"),
    "Latin-1": ("name,age\nZebulon Müller,1\n".encode("latin-1"), "on line 2 of"),
    "Latin-1 header": ("näme,age\nZebulon,1\n".encode("latin-1"), "isn't utf-8 text"),
    "quotation mark never closed": ('name,age\n"' + CELL + " and so on\n" * 200_000, "on line 2 of"),
    "huge cell": ("name,age\n" + CELL * ((1 << 20) // 7 + 1) + ",1\n", "on line 2 of"),
    "too many columns": (",".join(f"c{i}" for i in range(200_000)) + "\n", "has 200,000 columns"),
}


@pytest.mark.parametrize(("data", "match"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_files_are_refused(data: str | bytes, match: str, tmp_path: Path) -> None:
    """With what is wrong and where, and no cell in the message."""
    with pytest.raises(SourceError, match=match) as caught:
        read(written(tmp_path, data))
    assert CELL not in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("name", ["people.csv", "people.jsonl"])
def test_malformed_records_can_be_left_out(name: str, tmp_path: Path) -> None:
    """And are counted."""
    path = tmp_path / name
    lines = {"people.csv": ["age,zip", "1,2", "3", "4,5", '"6'], "people.jsonl": ['{"age": 1}', "{", '{"age": 4}', "x"]}
    path.write_text("\n".join(lines[name]) + "\n")
    with pytest.raises(SourceMalformed):
        read(path)
    found = read(Source.of(path, skip_malformed=True), columns=["age"])
    assert (found.column("age").labels(), found.unread.lines) == ((1, 4), 2)
    assert found.unread.words() == ("2 malformed lines were left out",)
    assert found.take(np.array([0])).unread.lines == 2


@pytest.mark.parametrize("wrong", ["", ";;", '"', "\n"])
def test_a_delimiter_is_one_sign(wrong: str, tmp_path: Path) -> None:
    """Which a source says once and for all."""
    path = written(tmp_path, f"name;age\n{CELL};1\n")
    assert read(Source.of(path, delimiter=";")).names == ("name", "age")
    with pytest.raises(SourceError, match="there is no ',' in the header"):
        read(Source.of(path, delimiter=","))
    with pytest.raises(InvalidArgument, match="one ASCII character"):
        Source.of(path, delimiter=wrong)


def test_how_a_file_is_written_is_declared(tmp_path: Path) -> None:
    """As `discreet.toml` does."""
    path = written(tmp_path, "größe;geboren\n1,80;03.04.1984\n".encode("cp1252"))
    found = read(Source.of(path, encoding="cp1252", decimal=",", dates="dmy"))
    assert found.to_arrow().to_pylist() == [{"größe": 1.8, "geboren": date(1984, 4, 3)}]


def test_a_folder_is_one_of_parquet_files(tmp_path: Path) -> None:
    """Others are refused."""
    written(tmp_path, "age\n1\n")
    with pytest.raises(DiscreetError, match=r"aren't called \.parquet"):
        read(tmp_path)


def test_columns_that_hold_no_single_values_are_left_out(tmp_path: Path) -> None:
    """It is said, and one that is asked for is refused."""
    table = pa.table({"age": [40], "photo": [b"1"], "visits": [[1, 2]], "born at": pa.array([1], pa.time64("us"))})
    path = tmp_path / "people.parquet"
    pa.parquet.write_table(table, path)
    for source in (path, table):
        found = read(source)
        assert (found.names, list(found.unread.columns)) == (("age",), ["photo", "visits", "born at"])
        assert found.unread.words()[0] == "the column 'photo' was left out: it holds binary"
        assert read(source, columns=["age"]).unread.words() == ()
        with pytest.raises(SchemaMismatch, match=r"'photo'.*holds binary"):
            read(source, columns=["age", "photo"])


def test_values_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    """They are missing ones, in a file as in a frame."""
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 1}\n{"age": [2]}\n{"age": 3}\n')
    for source in (path, pd.DataFrame({"age": pd.Series([1, [2], 3], dtype=object)})):
        found = read(source)
        assert (found.column("age").labels(), dict(found.unread.values)) == ((1, 3, None), {"age": 1})
        assert found.unread.words() == ("of 'age', 1 can't be read, and count as missing",)


OBJECTS: dict[str, tuple[Callable[[], object], tuple[object, ...]]] = {
    "texts stay texts": (lambda: ["12345", None, "2020-01-01"], ("12345", "2020-01-01", None)),
    "texts of numbers, too": (lambda: ["12345", None], ("12345", None)),
    "dates": (lambda: [date(2020, 2, 29), None], (date(2020, 2, 29), None)),
    "numbers": (lambda: [7, 0.5, None], (0.5, 7.0, None)),
    "a mixture": (lambda: [7, "seven"], ("7", "seven")),
}


@pytest.mark.parametrize(("cells", "labels"), OBJECTS.values(), ids=OBJECTS)
def test_python_objects_are_what_they_say(cells: Callable[[], object], labels: tuple[object, ...]) -> None:
    """In a pandas table, each is read by itself."""
    frame = pd.DataFrame({"x": pd.Series(cells(), dtype=object)})
    assert read(frame).column("x").labels() == labels


def test_what_ibis_has_is_read() -> None:
    """Of the columns that are wanted alone."""
    import ibis

    table = ibis.memtable(pa.table({"age": [40, 7], "zip": ["1", "2"]}))
    assert read(table).to_arrow().to_pydict() == {"age": [40, 7], "zip": ["1", "2"]}
    assert read(table.mutate(never=table.zip.cast("int64")), columns=["age"]).names == ("age",)


def test_wide_files_are_read(tmp_path: Path) -> None:
    """In memory that grows with the file, not with the square of its columns."""
    path = written(
        tmp_path, ",".join(f"c{place}" for place in range(1_000)) + "\n" + (",".join(["7"] * 1_000) + "\n") * 200
    )
    found = read(path)
    assert (len(found.names), found.rows, found.column("c999").labels()) == (1_000, 200, (7,))


def test_a_codebook_says_what_stands_for_missing(trial_data: Path) -> None:
    """UCI Adult writes a question mark."""
    adult = read(trial_data / "adult.csv")
    assert adult.rows == 32_561
    assert {name for name, column in adult.columns.items() if column.has_missing} == {
        "workclass",
        "occupation",
        "native-country",
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_line_is_a_row_if_there_is_one_column(end: str, tmp_path: Path) -> None:
    """Its missing value is unique; dropping it would make the table 2-anonymous. Of more columns, it is nothing."""
    one = read(written(tmp_path, end.join(["age", "40", "", "40", ""])))
    assert one.column("age").labels() == (40, None)
    assert one.column("age").counts().tolist() == [2, 1]
    assert read(written(tmp_path, end.join(["age,zip", "40,1", "", "40,2", "", ""]))).rows == 2


def test_numbers_that_doubles_do_not_tell_apart_stay_texts(tmp_path: Path) -> None:
    """Else two rows would look alike that don't. Other numbers are read, however many digits they have."""
    near = read(written(tmp_path, "x\n122.419415512345678\n122.419415512345679\n")).column("x")
    assert near.labels() == ("122.419415512345678", "122.419415512345679")
    far = read(written(tmp_path, "x\n0.6666666666666666\n0.50\n0.5\n")).column("x")
    assert far.labels() == (0.5, 0.6666666666666666)


def test_a_day_that_no_calendar_has_stays_a_text(tmp_path: Path) -> None:
    """The year 0 can't be shown as a date."""
    days = read(written(tmp_path, "born\n0000-01-01\n2020-02-29\n")).column("born")
    assert days.labels() == ("0000-01-01", "2020-02-29")


def test_a_negative_zero_hides_no_merged_numbers(tmp_path: Path) -> None:
    """Numbers that doubles can't tell apart stay texts, also beside 0 and −0, which are one number."""
    path = tmp_path / "a.csv"
    path.write_text("x\n0\n-0\n0.1\n0.10000000000000000555\n")
    assert len(read(path).column("x").labels()) == 4
    path.write_text("x\n0\n-0\n1\n1.00\n")
    assert read(path).column("x").labels() == (0.0, 1.0)


def test_times_that_microseconds_do_not_tell_apart_stay_texts(tmp_path: Path) -> None:
    """As do those that are released with more places than they came with."""
    fine = ["2024-01-01 10:00:00.1234561", "2024-01-01 10:00:00.1234562"]
    assert read(written(tmp_path, "\n".join(["at", *fine]))).column("at").labels() == tuple(fine)
    whole = read(written(tmp_path, "at\n2024-01-01T10:00\n2024-01-01 10:00:00.000\n")).column("at")
    assert whole.labels() == (datetime(2024, 1, 1, 10),)
    assert whole.values.type == pa.timestamp("s")  # noqa: PD011 — a field of ours, not of pandas
