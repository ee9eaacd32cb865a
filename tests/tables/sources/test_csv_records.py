"""Records of CSV files: strictly those of RFC 4180, wherever a block of the file ends."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.errors import SourceMalformed, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.csv import OpenCsv
from discreet.tables.sources.csv_records import Grammar
from support.slow_csv import Rules, read_slowly

SIGNS = [
    b"a",
    b"b",
    b" ",
    b"1",
    b",",
    b",",
    b'"',
    b'"',
    b'""',
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xc3\xa9",
    b"\xff",
    b"\0",
]
"""What decides how a file is cut, and a little that doesn't."""
TEXTS = st.lists(st.sampled_from(SIGNS), max_size=40).map(b"".join)
LIMITS = st.tuples(st.integers(1, 8), st.integers(1, 12))
PER_FUNCTION = settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def read(
    path: Path, block: int, limits: tuple[int, int] | None = None, **declared: object
) -> tuple[list[object], list[int]]:
    """The cells of a file, and the lines of malformed records."""
    source = Source(kind="csv", location=str(path), skip_malformed=True, **declared)  # type: ignore[arg-type]  # — as the test says
    with OpenCsv(source, block=block) as opened:
        if limits:
            opened.limits = limits
        rows = [
            list(row.values()) for batch in opened.batches([f.name for f in opened.fields]) for row in batch.to_pylist()
        ]
        assert opened.malformed.count == len(opened.malformed.lines)
        return rows, opened.malformed.lines


def shown(rows: list[list[str]]) -> list[list[str | None]]:
    """Cells as they are handed out."""
    return [[cell.strip(" ") or None for cell in row] for row in rows]


@PER_FUNCTION
@given(text=TEXTS, width=st.integers(1, 3), multiline=st.booleans(), block=st.integers(1, 50))
@example(text=b'"a\nb"x\n1,"2', width=2, multiline=True, block=3)
@example(text=b"\xff\n\r\n\r", width=1, multiline=True, block=1)
@example(text=b"\r\xff\n\n", width=1, multiline=True, block=4)
@example(text=b"\xef\xbb\xbfa", width=1, multiline=True, block=1)
def test_any_text_is_read_as_the_slow_reader_does(
    tmp_path: Path, text: bytes, width: int, multiline: bool, block: int
) -> None:
    """The same records and the same malformed lines, in blocks of any size."""
    path = tmp_path / "t.csv"
    path.write_bytes(b",".join(b"h%d" % number for number in range(width)) + b"\n" + text)
    rows, malformed = read_slowly(text, Rules(width, multiline=multiline), line=2)
    assert read(path, block, multiline=multiline) == (shown(rows), malformed)


@PER_FUNCTION
@given(text=TEXTS, width=st.integers(1, 3), block=st.integers(1, 50), limits=LIMITS)
@example(text=b"\raa\n\n", width=1, block=4, limits=(1, 1))
def test_long_cells_and_records_are_malformed(
    tmp_path: Path, text: bytes, width: int, block: int, limits: tuple[int, int]
) -> None:
    """So are cells and records above the limits, whether or not they fit into a block."""
    path = tmp_path / "t.csv"
    path.write_bytes(b",".join(b"h%d" % number for number in range(width)) + b"\n" + text)
    rows, malformed = read_slowly(text, Rules(width, longest_cell=limits[0], longest_record=limits[1]), line=2)
    assert read(path, block, limits) == (shown(rows), malformed)


def quoted(cell: str, always: bool) -> str:
    """A cell as it is written, quoted where it must be, or always."""
    return '"' + cell.replace('"', '""') + '"' if always or set(cell) & set('",\r\n') else cell


@PER_FUNCTION
@given(
    rows=st.lists(st.lists(st.text(st.sampled_from('ab" ,;\n\ré\0'), max_size=5), min_size=2, max_size=2), max_size=8),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    always=st.booleans(),
    block=st.integers(1, 60),
)
def test_well_formed_files_are_read_as_python_does(
    tmp_path: Path, rows: list[list[str]], ending: str, always: bool, block: int
) -> None:
    """What is quoted as it should be is read back, all of it, as Python's strict reader has it."""
    written = "".join(",".join(quoted(cell, always) for cell in row) + ending for row in [["h1", "h2"], *rows])
    path = tmp_path / "t.csv"
    path.write_bytes(written.encode())
    assert list(csv.reader(io.StringIO(written, newline=""), strict=True))[1:] == rows
    assert read(path, block) == (shown(rows), [])


def test_a_file_cut_at_every_place_in_every_block(tmp_path: Path) -> None:
    """No place at which a block ends, or at which the file does, changes what a record is."""
    text = b'1,"a ""b"""\r\n2,"l\r\nm"\n\n"",\r3,x"y\n4,\xff\n5,"\xc3\xa9"\n6,7,8\n"9" ,1\n'
    path = tmp_path / "t.csv"
    for end in range(len(text) + 1):
        path.write_bytes(b"a,b\n" + text[:end])
        rows, malformed = read_slowly(text[:end], Rules(2), line=2)
        for block in (1, 2, 3, 5, 7, 11, end + 4):
            assert read(path, block) == (shown(rows), malformed)


def test_malformed_records_are_refused_by_line(tmp_path: Path) -> None:
    """The error names the lines, how many there are, and the fix; and no cell."""
    path = tmp_path / "t.csv"
    path.write_bytes(b'id,note\n1,ok\n2,"6" CANARY\n3,ok\nCANARY\n' + b"4,ok\n" * 20)
    with OpenCsv(Source(kind="csv", location=str(path))) as opened:
        with pytest.raises(SourceMalformed, match=r"line 3 of .*, and on 1 other line: 5") as caught:
            list(opened.batches(["id"]))
        assert "CANARY" not in str(caught.value)
        assert "skip_malformed=True" in caught.value.hint
        assert "skip_malformed = true" in caught.value.hint_at("file")
        assert (opened.malformed.count, opened.malformed.lines) == (2, [3, 5])


def test_a_header_with_spaces_outside_of_its_quotes(tmp_path: Path) -> None:
    """It is refused as a record would be, and the hint says what is wrong."""
    path = tmp_path / "t.csv"
    for header in (b' "a" ,b\n', b'"a" ,b\n', b'a, "b"\n'):
        path.write_bytes(header + b"1,2\n")
        with pytest.raises(SourceUnsupported, match="quoted") as refusal:
            OpenCsv(Source(kind="csv", location=str(path)))
        assert "no spaces outside" in refusal.value.hint
    path.write_bytes(b" a , b\n1,2\n")
    assert read(path, 100) == ([["1", "2"]], [])


def test_counting_ends_somewhere(tmp_path: Path) -> None:
    """A file of nothing but malformed records is refused after a thousand of them."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x\n" * 100_000)
    with OpenCsv(Source(kind="csv", location=str(path)), block=1 << 12) as opened:
        with pytest.raises(SourceMalformed, match="at least"):
            list(opened.batches(["a"]))
        assert 1_000 <= opened.malformed.count < 10_000


def test_one_line_takes_no_others_where_lines_stand_alone(tmp_path: Path) -> None:
    """With multiline=False, a quotation mark that is never closed costs its own line; else those up to the next."""
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,"x\n2,y\n3,"z"\n4,w\n')
    assert read(path, 1 << 20, multiline=False) == ([["2", "y"], ["3", "z"], ["4", "w"]], [2])
    path.write_bytes(b'a,b\n1,"x\n2,"\n3,z\n')
    assert read(path, 1 << 20, multiline=False) == ([["3", "z"]], [2, 3])
    assert read(path, 1 << 20) == ([["1", "x\n2,"], ["3", "z"]], [])


def test_an_endless_cell_takes_no_memory(tmp_path: Path) -> None:
    """A line without end is dropped as it is read."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1," + b"x" * 40_000_000 + b"\n2,y\n")
    rows, malformed = read(path, 1 << 16)
    assert (rows, malformed) == ([["2", "y"]], [2])


def test_the_grammar_waits_for_what_it_has_not_seen() -> None:
    """Nothing is said of a record before enough of it is there."""
    grammar = Grammar(delimiter=b",", width=2)
    text = b'1,"a""b"\r\n2'
    first = grammar.record(text, 0, at_end=True)
    assert first is not None
    assert first.end == 10
    assert all(grammar.record(text[:size], 0, at_end=False) is None for size in range(1, 10))
