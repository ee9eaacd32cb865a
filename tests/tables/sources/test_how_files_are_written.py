"""Files as other programs write them: each cause of malformed records is told by name, and read once it is declared.

What a file holds is judged by pandas, which reads it in its own way. Of each file, what a hint says is done, and done
again until nothing is said any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from discreet.errors import InvalidArgument, SourceError, SourceMalformed
from discreet.tables.schema.source import Source
from discreet.tables.sources import open_source

ROWS = [[str(number), str(20 + number % 50), f"C{number % 3}"] for number in range(60)]
HEADER = "id,age,city"


def lines(write: Callable[[list[str]], str] = ",".join) -> str:
    """The rows, each written by a function."""
    return "".join(f"{write(row)}\n" for row in ROWS)


class Case(NamedTuple):
    """A file that isn't as RFC 4180 has it.

    Args:
        text: of the file.
        said: what its refusal says.
        option: what the hint says to declare.
        pandas: how pandas reads it.
        encoding: in which it is written.
    """

    text: str
    said: str
    option: str
    pandas: dict[str, Any]
    encoding: str = "utf-8"


CASES = {
    "title line": Case(
        f"Report of 2024\n{HEADER}\n{lines()}", "60|61 with more cells", "header_line = 2", {"skiprows": 1}
    ),
    "title with commas": Case(
        f"Report,2024\n\n{HEADER},sex,income\n{lines(lambda row: ','.join([*row, 'm', '1']))}",
        "61 with more cells than the header's 2: 5",
        "header_line = 3",
        {"skiprows": 2},
    ),
    "trailing delimiter on rows": Case(
        f"{HEADER}\n{lines(lambda row: ','.join(row) + ',')}",
        "60 with one more delimiter at the end",
        "trailing_delimiter = true",
        {"skiprows": 1, "header": None, "usecols": [0, 1, 2]},
    ),
    "backslash before quotes": Case(
        f"{HEADER}\n{lines(lambda row: f'{row[0]},{row[1]},' + chr(34) + 'a ' + chr(92) + chr(34) + 'b' + chr(34))}",
        "60 with a backslash before a quotation mark",
        r'escape = "\\"',
        {"escapechar": "\\"},
    ),
    "single quotes": Case(
        f"{HEADER}\n{lines(lambda row: f'''{row[0]},{row[1]},'C, {row[2]}' '''.rstrip())}",
        "60 with delimiters inside single quotes",
        'quote = "\'"',
        {"quotechar": "'"},
    ),
    "comments above": Case(
        f"# made on Monday\n# by us\n{HEADER}\n{lines()}", "61 with more cells", 'comment = "#"', {"comment": "#"}
    ),
    "comments between": Case(
        f"{HEADER}\n{lines()}# half\n{lines()}", "1 beginning with #", 'comment = "#"', {"comment": "#"}
    ),
    "footer": Case(
        f"{HEADER}\n{lines()}Source: the registry\n",
        "1 with fewer cells than the header's 3: 1",
        "footer_lines = 1",
        {"skipfooter": 1, "engine": "python"},
    ),
    "stray quotes": Case(
        f"{HEADER}\n{lines(lambda row: f'{row[0]},{row[1]},6{chr(34)} tall')}",
        "60 with a quotation mark inside of a cell",
        'quote = ""',
        {"quoting": 3},
    ),
    "one byte of another encoding": Case(
        f"{HEADER}\n{lines()}99,20,café\n",
        "1 with bytes that aren't utf-8; 60 are whole",
        'encoding = "cp1252"',
        {"encoding": "cp1252"},
        "cp1252",
    ),
    "semicolons under a header of commas": Case(
        f"{HEADER}\n{lines(';'.join)}",
        "60 with a delimiter other than the header's",
        'delimiter = ";"',
        {"sep": ";", "names": ["id", "age", "city"], "header": 0},
    ),
}


def declared(hint: str) -> dict[str, Any]:
    """What a hint says to declare in discreet.toml."""
    import tomllib

    found = {}
    for name, value in re.findall(r'([a-z_]+) = ("(?:[^"\\]|\\.)*"|[0-9]+|true)', hint):
        found |= tomllib.loads(f"{name} = {value}")
    return found


def cells(source: Source) -> list[list[str | None]]:
    """All cells of a file."""
    with open_source(source) as opened:
        names = [each.name for each in opened.fields]
        return [list(row.values()) for batch in opened.batches(names) for row in batch.to_pylist()]


def by_pandas(text: bytes, how: dict[str, Any]) -> list[list[str | None]]:
    """The same, as pandas reads them."""
    frame = pd.read_csv(BytesIO(text), dtype=str, keep_default_na=False, **how)
    return [[cell.strip(" ") or None for cell in row] for row in frame.to_numpy().tolist()]


@pytest.mark.parametrize("name", CASES)
def test_a_file_says_how_it_is_written_and_is_read_so(tmp_path: Path, name: str) -> None:
    """Its own sentence with counts, the option that reads it, no offer to leave lines out; and every row is read."""
    case = CASES[name]
    path = tmp_path / "t.csv"
    path.write_bytes(case.text.encode(case.encoding))
    with pytest.raises(SourceMalformed, match=case.said) as caught:
        cells(Source.of(path))
    hint = caught.value.hint_at("file")
    assert case.option in hint
    assert "skip_malformed" not in hint
    said = declared(hint)
    if name == "semicolons under a header of commas":  # no one delimiter reads both; the header is to be mended
        path.write_text(case.text.replace(HEADER, HEADER.replace(",", ";")))
    assert cells(Source.of(path, **said)) == by_pandas(path.read_bytes(), case.pandas)


def test_each_file_gets_a_sentence_of_its_own(tmp_path: Path) -> None:
    """No two causes are told alike."""
    told = set()
    for case in CASES.values():
        path = tmp_path / "t.csv"
        path.write_bytes(case.text.encode(case.encoding))
        with pytest.raises(SourceMalformed) as caught:
            cells(Source.of(path))
        told.add((str(caught.value), caught.value.hint_at("file")))
    assert len(told) == len(CASES)


def test_leaving_lines_out_is_offered_for_a_few_damaged_ones_alone(tmp_path: Path) -> None:
    """With how many they are; where a tenth is malformed, there is more to it."""
    path = tmp_path / "t.csv"
    for damaged, offered in ((1, True), (6, True), (7, False), (60, False)):
        path.write_text(f"{HEADER}\n" + "1,2\n" * damaged + lines())
        with pytest.raises(SourceMalformed, match=rf"{damaged} with fewer cells than the header's 3: 2") as caught:
            cells(Source.of(path))
        assert ("skip_malformed = true" in caught.value.hint_at("file")) is offered
        assert not offered or f"{damaged} beside 60 records" in caught.value.hint


def test_a_line_of_a_spreadsheet_says_the_delimiter(tmp_path: Path) -> None:
    """`sep=;` is what Excel writes above the header, and says what stands between cells; a name so called is a name."""
    path = tmp_path / "t.csv"
    for line in ("sep=;", '"sep=;"'):
        path.write_text(f"{line}\r\nid;age\r\n1;2,5\r\n")
        assert cells(Source.of(path)) == [["1", "2,5"]]
    path.write_text("sep=a,b\n1,2\n")
    with open_source(Source.of(path)) as opened:
        assert [each.name for each in opened.fields] == ["sep=a", "b"]


def test_a_delimiter_ends_header_and_rows(tmp_path: Path) -> None:
    """Then there is no last column without a name; what stands behind the last delimiter is refused, not dropped."""
    path = tmp_path / "t.csv"
    path.write_text("id,age,\n1,20,\n2,30,\n")
    source = Source.of(path, trailing_delimiter=True)
    assert cells(source) == [["1", "20"], ["2", "30"]]
    for wrong in ("3,40,x", "3,40", "3,40,,"):
        path.write_text(f"id,age,\n1,20,\n{wrong}\n2,30,\n")
        with pytest.raises(SourceMalformed, match="on line 3"):
            cells(source)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1_000])
def test_what_is_declared_holds_wherever_a_block_ends(tmp_path: Path, block: int) -> None:
    """Title, comments, footer, escapes and quotes, in blocks of any size, with line numbers of the file."""
    from discreet.tables.sources.csv import OpenCsv

    path = tmp_path / "t.csv"
    path.write_bytes(
        b"Title, 1\r\n# x\r\nid,note,\r\n1,'a \\'b\\\\',\r\n# 'c\r\n2,'d\r\n# e',\r\n3\r\n4,f,\r\nTotal,2,\r\n\r\nend"
    )
    source = Source.of(
        path,
        header_line=2,
        comment="#",
        quote="'",
        escape="\\",
        footer_lines=3,
        trailing_delimiter=True,
        skip_malformed=True,
    )
    with OpenCsv(source, block=block) as opened:
        rows = [list(row.values()) for batch in opened.batches(["id", "note"]) for row in batch.to_pylist()]
        assert rows == [["1", "a 'b\\"], ["2", "d\r\n# e"], ["4", "f"]]
        assert opened.malformed.lines == [8]


def test_footers_are_lines_however_they_end(tmp_path: Path) -> None:
    """CR, LF or both, with or without one behind the last; and no more than there are."""
    path = tmp_path / "t.csv"
    for end in ("\n", "\r", "\r\n"):
        for last in ("", end):
            path.write_bytes(end.join(["id,x", "1,2", "3,4", "a,b", "c"]).encode() + last.encode())
            assert cells(Source.of(path, footer_lines=2)) == [["1", "2"], ["3", "4"]]
    path.write_text("id,x\n1,2\n")
    with pytest.raises(SourceError, match="no header line"):
        cells(Source.of(path, footer_lines=5))


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "ab"},
        {"quote": " "},
        {"escape": "é"},
        {"comment": "1"},
        {"comment": ""},
        {"header_line": 0},
        {"header_line": True},
        {"footer_lines": -1},
        {"footer_lines": 101},
        {"delimiter": ";", "comment": ";"},
        {"quote": "'", "escape": "'"},
        {"quote": "", "escape": "\\"},
    ],
)
def test_what_can_not_be_declared(wrong: dict[str, Any]) -> None:
    """Signs that can't be told from cells or from each other, and lines that no file has."""
    with pytest.raises(InvalidArgument):
        Source.of("t.csv", **wrong)


def test_sheets_have_titles_and_footers(tmp_path: Path) -> None:
    """Rows are counted as the sheet numbers them."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for place, row in {1: ["Report 2025"], 4: ["id", "age"], 5: [1, 20], 6: [2, 30], 7: ["Total", 50]}.items():
        for column, cell in enumerate(row, start=1):
            book.active.cell(place, column, cell)
    book.save(tmp_path / "t.xlsx")
    assert cells(Source.of(tmp_path / "t.xlsx", header_line=4, footer_lines=1)) == [["1", "20"], ["2", "30"]]


def test_json_says_what_is_wrong(tmp_path: Path) -> None:
    """An array over several lines is no file of JSON lines, nor are bytes of another encoding."""
    path = tmp_path / "t.jsonl"
    for text, said in {
        b'[{"a": 1},\n{"a": 2}]\n': "2 that aren't JSON",
        b"[1]\n[2]\n": "2 that are JSON, but not objects",
        b'{"a": "\xe9"}\n': "1 with bytes that aren't utf-8",
    }.items():
        path.write_bytes(text)
        with pytest.raises(SourceMalformed, match=said) as caught:
            cells(Source.of(path))
        assert "skip_malformed" not in caught.value.hint
