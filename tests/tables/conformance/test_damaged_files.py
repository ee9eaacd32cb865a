"""Files that are cut, damaged or written in other ways: admitted as they are meant, or refused without a quotation."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.errors import DiscreetError
from discreet.tables import Source, Table
from discreet.tables.admission import admit
from support.conformance import TYPES, columns_of, declared, is_of_kind
from support.extremes import CANARY, Cells
from support.formats import FORMATS, Format, csv_text

pytestmark = pytest.mark.usefixtures("kept_sessions")

FILES = ("parquet", "feather", "arrow stream", "duckdb", "csv", "csv.gz", "csv.zst", "json lines", "sqlite", "xlsx")
SHOWN = {
    "int64", "float64", "text", "categories", "decimal(38, 0)", "date32", "timestamp[us, tz=UTC]", "number", "when",
    "BIGINT", "VARCHAR", "HUGEINT", "TIMESTAMPTZ", "DECIMAL(9, 2)",
}  # fmt: skip
CUTS = (0.0, 0.3, 0.7, 0.95, 0.999)
FLIPS = (0.0, 0.02, 0.2, 0.4, 0.6, 0.8, 0.97)


def narrow(of: Format) -> dict[str, Cells]:
    """A few columns, each as its own kind."""
    holds = {name: cells for name, cells in of.holds.items() if name in SHOWN}
    return columns_of(replace(of, holds=holds))


def admitted_or_refused(table: Table) -> bool:
    """Whether it is admitted, and then as values of their kinds; if not, it is refused in words of ours."""
    try:
        held = admit([table], {}, None).tables["t"].whole()
    except DiscreetError as error:
        said = f"{error!r} {error.hint} {error.__cause__!r} {error.__context__!r}"
        assert CANARY not in said
        return False
    assert held is not None
    for column, spec in zip(held.columns, table.columns, strict=True):
        assert column.type == TYPES[spec.kind]
        assert is_of_kind(column, spec.kind)
    return True


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_as_far_as_it_means_something(name: str, tmp_path: Path) -> None:
    """Cut anywhere, or with a few bytes turned over; whole, it is admitted."""
    columns = narrow(FORMATS[name])
    source, _ = FORMATS[name].write(tmp_path, columns, range(20))
    table = Table(name="t", source=source, columns=declared(columns), unit=None, public=True)
    assert admitted_or_refused(table)
    whole = Path(source.location).read_bytes()
    for part in CUTS:
        Path(source.location).write_bytes(whole[: int(len(whole) * part)])
        admitted_or_refused(table)
    for part in FLIPS:
        damaged = bytearray(whole)
        place = int(len(whole) * part)
        damaged[place : place + 3] = bytes(each ^ 0xFF for each in damaged[place : place + 3])
        Path(source.location).write_bytes(damaged)
        admitted_or_refused(table)


ENCODINGS = {
    "utf-8": b"", "utf-8-sig": b"", "utf-16": b"", "utf-16-le": b"", "utf-16-be": codecs.BOM_UTF16_BE, "utf-32": b"",
}  # fmt: skip
ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_file_is_read_alike_however_it_is_written(encoding: str, tmp_path: Path) -> None:
    """In every encoding, with every line end, with a byte order mark, with all cells in quotation marks."""
    of = FORMATS["csv"]
    columns = {name: cells for name, cells in columns_of(of).items() if not name.startswith("text")}
    text = csv_text(columns, range(40)).decode()
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    table = Table(
        name="t", source=Source.of(tmp_path / "t.csv"), columns=declared(columns), unit=None, public=True
    )  # fmt: skip
    reference = admit([table], {}, None).tables["t"].whole()
    told = replace(table.source, encoding="utf-16" if ENCODINGS[encoding] else encoding)
    for end in ENDS:
        quoted = end.join(",".join(f'"{cell}"' for cell in _cells(line)) for line in text.splitlines()) + end
        for written in (text.replace("\n", end), quoted):
            (tmp_path / "t.csv").write_bytes(ENCODINGS[encoding] + written.encode(encoding))
            found = admit([replace(table, source=told)], {}, None).tables["t"].whole()
            assert found is not None
            assert found.equals(reference)


def _cells(line: str) -> list[str]:
    """The cells of a line of which only whole cells are quoted, and none has a quotation mark in it."""
    quoted = line.split('"')
    parts = [part.replace(",", "\0") if place % 2 else part for place, part in enumerate(quoted)]
    return [cell.replace("\0", ",") for cell in "".join(parts).split(",")]
