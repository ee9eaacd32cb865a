"""CSV files as strangers write them: read as meant, or refused with the place and without a cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from discreet.anonymity import read
from discreet.anonymity.records.csv import LONGEST_CELL, MOST_COLUMNS
from discreet.errors import DiscreetError, InvalidArgument, SourceUnsupported

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
        (["NA", "41"], ("41", "NA")),
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
    assert read(path, null_texts=["?", ""]).column("job").labels() == ("cook", None)


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
    "ragged, short": (f"name,age\nA,1\n{CELL}\n", "line 3 .* has 1 cell, the header 2"),
    "ragged, long": (f"name,age\nA,1\n{CELL},2,3\n", "line 3 .* has 3 cells, the header 2"),
    "names twice": (f"age,age\n1,{CELL}\n", "two columns are called 'age'"),
    "NUL bytes": (b"name,age\nZebulon\0,1\n", "NUL bytes"),
    "UTF-16": ("name,age\nZebulon,1\n".encode("utf-16"), "NUL bytes"),
    "compressed": (gzip.compress(b"name,age\nZebulon,1\n" * 100), "is compressed"),
    "a spreadsheet": (b"PK\x03\x04\x14\0\x06\0Zebulon", "spreadsheet"),
    "Parquet by another name": (b"PAR1\x15\0Zebulon", "is Parquet"),
    "Latin-1": ("name,age\nZebulon Müller,1\n".encode("latin-1"), "isn't UTF-8"),
    "Latin-1 header": ("näme,age\nZebulon,1\n".encode("latin-1"), "isn't UTF-8"),
    "quotation mark never closed": ('name,age\n"' + CELL + " and so on\n" * 200_000, "."),
    "huge cell": ("name,age\n" + CELL * (LONGEST_CELL // 7 + 1) + ",1\n", "column 'name' has .* bytes"),
    "huge row": ("name,age\n" + (CELL * 100_000 + ",") * 60 + "\n", "has more than|cells, the header 2"),
    "too many columns": (",".join(f"c{i}" for i in range(100_000)) + "\n", f"{MOST_COLUMNS:,} are allowed"),
    "huge name": ("x" * 200_000 + ",age\n1,2\n", "name in it is too long"),
}


@pytest.mark.parametrize(("data", "match"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_files_are_refused(data: str | bytes, match: str, tmp_path: Path) -> None:
    """With what is wrong and where, and no cell in the message."""
    with pytest.raises(SourceUnsupported, match=match) as caught:
        read(written(tmp_path, data))
    assert CELL not in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_a_wrong_delimiter_is_named(tmp_path: Path) -> None:
    """And which one seems right."""
    path = written(tmp_path, f"name;age\n{CELL};1\n")
    with pytest.raises(SourceUnsupported, match="';' seems right"):
        read(path, delimiter=",")
    for wrong in ("", ";;", '"', "\n"):
        with pytest.raises(InvalidArgument, match="one character"):
            read(path, delimiter=wrong)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """Nor is it read as one."""
    with pytest.raises(DiscreetError, match="is a folder"):
        read(tmp_path)


def test_names_may_begin_as_other_files_do(tmp_path: Path) -> None:
    """A text is read, whatever its first letters."""
    assert read(written(tmp_path, "PAR1,PAR2\n1,2\n")).names == ("PAR1", "PAR2")


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
