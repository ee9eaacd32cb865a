"""Damaged and cut files: read as far as they are sound, or refused in words of our own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import SourceError, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources import arrow_ipc, open_source, source_of, tables_in
from discreet.tables.sources.reader import is_delivered
from support.tables import write_arrow

CANARY = "CANARY-7f3a"
TABLE = pa.table(
    {
        "id": pa.array(range(200), pa.int64()),
        "note": pa.array([f"{CANARY} {number}" for number in range(200)], pa.string()),
        "city": pa.array([CANARY, "b", None, "c"] * 50, pa.string()).dictionary_encode(),
        "price": pa.array([number / 4 for number in range(200)]).cast(pa.decimal128(9, 2)),
    }
)


def by_parquet(path: Path) -> Path:
    """Packed, with checksums."""
    parquet.write_table(TABLE, path / "t.parquet", write_page_checksum=True, compression="zstd")
    return path / "t.parquet"


def by_plain_parquet(path: Path) -> Path:
    """Neither packed nor with checksums."""
    parquet.write_table(TABLE, path / "p.parquet", compression="none", use_dictionary=["city"])
    return path / "p.parquet"


def by_feather(path: Path) -> Path:
    """Packed."""
    write_arrow(TABLE, path / "t.feather")
    return path / "t.feather"


def by_plain_arrow(path: Path) -> Path:
    """Not packed."""
    write_arrow(TABLE, path / "t.arrow", compression=None)
    return path / "t.arrow"


def by_stream(path: Path) -> Path:
    """A stream."""
    with pa.OSFile(str(path / "t.ipc"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return path / "t.ipc"


def by_sqlite(path: Path) -> Path:
    """A database in which each cell has a type."""
    connection = sqlite3.connect(path / "t.sqlite")
    connection.execute("CREATE TABLE t (id, note, city)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row.values())[:3] for row in TABLE.to_pylist()])
    connection.commit()
    connection.close()
    return path / "t.sqlite"


def by_duckdb(path: Path) -> Path:
    """A database of typed columns."""
    with duckdb.connect(str(path / "t.duckdb")) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE t AS FROM given")
    return path / "t.duckdb"


def by_xlsx(path: Path) -> Path:
    """A spreadsheet."""
    book = openpyxl.Workbook()
    book.active.append(["id", "note"])
    for row in TABLE.to_pylist():
        book.active.append([row["id"], row["note"]])
    book.save(path / "t.xlsx")
    return path / "t.xlsx"


def by_packed_csv(path: Path) -> Path:
    """A packed text file."""
    text = "id,note\n" + "".join(f"{row['id']},{row['note']}\n" for row in TABLE.to_pylist())
    (path / "t.csv.zst").write_bytes(pa.compress(text.encode(), "zstd", asbytes=True))
    return path / "t.csv.zst"


WRITERS: list[Callable[[Path], Path]] = [
    by_parquet,
    by_plain_parquet,
    by_feather,
    by_plain_arrow,
    by_stream,
    by_sqlite,
    by_xlsx,
    by_packed_csv,
    by_duckdb,
]


def rows_read(path: Path) -> int | None:
    """How many rows a file gives; None if it is refused. Any other error fails the test, and so does a quoted cell."""
    error: BaseException | None = None
    try:
        with open_source(source_of(path, "t")) as opened:
            names = [each.name for each in opened.fields if is_delivered(each.type)]
            return sum(batch.num_rows for batch in opened.batches(names) if batch.validate(full=True) is None)
    except SourceError as caught:
        error = caught
    while error is not None:
        assert CANARY not in str(error)
        error = error.__cause__ or error.__context__
    return None


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_cut_files(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """A file that ends too early is refused, wherever it ends; what a database doesn't need may be cut off."""
    path = write(tmp_path)
    whole = path.read_bytes()
    places = 20 if write is by_duckdb else 60
    refused = 0
    for size in [*range(0, len(whole), len(whole) // places), len(whole) - 1]:
        path.write_bytes(whole[:size])
        rows = rows_read(path)
        assert rows in (None, 200)
        refused += rows is None
    assert refused > places * 2 / 3
    path.write_bytes(whole)
    assert rows_read(path) == 200


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_damaged_files(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """A file of which some bytes are wrong is refused, or gives sound batches; no error quotes a cell."""
    path = write(tmp_path)
    whole = path.read_bytes()
    step = max(1, len(whole) // (20 if write is by_duckdb else 150))
    for place in range(0, len(whole), step):
        damaged = bytearray(whole)
        damaged[place : place + 4] = bytes(each ^ 0xFF for each in damaged[place : place + 4])
        path.write_bytes(damaged)
        rows_read(path)


def test_a_damaged_page_is_found_by_its_checksum(tmp_path: Path) -> None:
    """A page that can be read, but isn't what was written, is refused where there is a checksum."""
    table = pa.table({"a": pa.array(range(10_000), pa.int64())})
    parquet.write_table(
        table, tmp_path / "t.parquet", write_page_checksum=True, compression="none", use_dictionary=False
    )
    raw = bytearray((tmp_path / "t.parquet").read_bytes())
    raw[20_000] ^= 1
    (tmp_path / "t.parquet").write_bytes(raw)
    with open_source(Source.of(tmp_path / "t.parquet")) as opened, pytest.raises(SourceUnsupported, match="damaged"):
        list(opened.batches(["a"]))


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow", ".duckdb", ".sqlite", ".xlsx", ".db"])
@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"PAR1", b"PK\x03\x04", b"\xff\xfe\x00\x01 CANARY-7f3a", b"SQLite format 3\0"]
)
def test_what_is_no_file_of_its_kind(ending: str, content: bytes, tmp_path: Path) -> None:
    """A file that isn't what its name says is refused, or has no rows."""
    path = tmp_path / f"t{ending}"
    path.write_bytes(content)
    assert not rows_read(path)


def test_a_folder_or_link_in_place_of_a_file(tmp_path: Path) -> None:
    """Neither is opened; a link to a file is."""
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(SourceError):
        open_source(Source(kind="csv", location=str(tmp_path / "t.csv")))
    with pytest.raises(SourceError):
        tables_in(tmp_path / "t.csv")
    (tmp_path / "real").write_bytes(b"a\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real")
    assert rows_read(tmp_path / "link.csv") == 1


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    """Whether it grows, or a byte of it changes; and what has changed already isn't read."""
    for write in WRITERS:
        path = write(tmp_path)
        with open_source(source_of(path, "t")) as opened:
            assert opened.is_unchanged()
            with open_source(source_of(path, "t")) as again:
                assert opened.identity == again.identity
            with path.open("ab") as file:
                file.write(b" ")
            assert not opened.is_unchanged()


def test_a_replaced_file_is_read_as_it_was(tmp_path: Path) -> None:
    """Where another file takes the name of an open one, either the old rows are read, or the change is noticed."""
    for write in WRITERS:
        path = write(tmp_path)
        with open_source(source_of(path, "t")) as opened:
            (tmp_path / "other").write_bytes(path.read_bytes()[:-50])
            (tmp_path / "other").replace(path)
            try:
                rows = sum(batch.num_rows for batch in opened.batches(["id"]))
            except SourceUnsupported:
                rows = 0
            assert rows == 200 or not opened.is_unchanged()


def test_a_batch_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't be read in parts; the error says what would help."""
    source = source_of(by_feather(tmp_path), "t")
    monkeypatch.setattr(arrow_ipc, "MOST_IN_BATCH", 100)
    with open_source(source) as opened, pytest.raises(SourceUnsupported, match="100 are allowed") as refusal:
        list(opened.batches(["id"]))
    assert "smaller batches" in refusal.value.hint


def test_a_folder_that_is_named_by_a_value_is_in_no_error(tmp_path: Path) -> None:
    """A file in one is called by its own name."""
    folder = tmp_path / "t" / f"name={CANARY}"
    folder.mkdir(parents=True)
    file = folder / "1.parquet"
    file.symlink_to("gone")
    with pytest.raises(SourceError, match=r"'1\.parquet' in ") as missing:
        open_source(source_of(tmp_path / "t", "t"))
    assert CANARY not in f"{missing.value} {missing.value.__cause__} {missing.value.__context__}"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(SourceUnsupported, match=r"'1\.parquet' in .* isn't a regular file") as pipe:
        open_source(source_of(tmp_path / "t", "t"))
    assert CANARY not in f"{pipe.value} {pipe.value.__cause__} {pipe.value.__context__}"
