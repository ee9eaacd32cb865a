"""Sheets on the screen and in files: nothing is cut, lost or obeyed."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.show import sheets
from discreet.cli.show.answers import with_errors
from discreet.cli.show.declared import show_declared
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import Sheet, show_table
from discreet.printable import printable
from discreet.results import AnswerColumn, plain

SHEET = Sheet(
    ("group", "n", "share", "day"),
    [("a, b", 2**70, 0.5, date(2020, 4, 1)), (None, -3, None, None), ('quoted "x"\nline', 0, 2.0, date(1999, 1, 1))],
)


def test_as_json_a_sheet_is_a_list_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers of any size stay whole, dates are ISO texts, NULL is null."""
    SHEET.show(Format.JSON)
    assert json.loads(capsys.readouterr().out) == [
        {"group": "a, b", "n": 2**70, "share": 0.5, "day": "2020-04-01"},
        {"group": None, "n": -3, "share": None, "day": None},
        {"group": 'quoted "x"\nline', "n": 0, "share": 2.0, "day": "1999-01-01"},
    ]


def test_as_csv_a_sheet_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Commas, quotes and line ends inside of values survive; NULL is empty."""
    SHEET.show(Format.CSV)
    assert list(csv.reader(io.StringIO(capsys.readouterr().out, newline=""))) == [
        ["group", "n", "share", "day"],
        ["a, b", str(2**70), "0.5", "2020-04-01"],
        ["", "-3", "", ""],
        ['quoted "x"\nline', "0", "2.0", "1999-01-01"],
    ]


def test_as_arrow_a_sheet_reads_back(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Types are kept; whole numbers beyond 64 bits become text, so that none is lost or rounded."""
    SHEET.show(Format.ARROW)
    table = pa.ipc.open_stream(capfdbinary.readouterr().out).read_all()
    assert table.column_names == list(SHEET.names)
    assert table.column("n").to_pylist() == [str(2**70), "-3", "0"]
    assert table.column("share").to_pylist() == [0.5, None, 2.0]
    assert table.column("day").to_pylist() == [date(2020, 4, 1), None, date(1999, 1, 1)]


def test_an_arrow_column_may_mix_whole_and_real_numbers(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A result that is sometimes whole doesn't break the stream."""
    Sheet(("x",), [(1,), (0.5,), (None,)]).show(Format.ARROW)
    assert pa.ipc.open_stream(capfdbinary.readouterr().out).read_all().column("x").to_pylist() == [1.0, 0.5, None]


def test_a_table_sets_numbers_right_and_text_left(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns are aligned, NULL has a name, and no colours reach a pipe."""
    show_table(("who", "n"), [("Ada", 7), ("Grace", 1234), (None, None)])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [lines[0], *lines[2:5]] == ["who       n", "Ada       7", "Grace  1234", "NULL   NULL"]
    assert "\x1b" not in "".join(lines)


def test_a_wide_table_is_not_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the width, each value is whole and each row is one line."""
    names = [f"column_{place}" for place in range(30)]
    show_table(names, [[10**15 + place for place in range(30)]])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[-1].split() == [str(10**15 + place) for place in range(30)]
    assert "…" not in "".join(lines)


def test_a_wide_table_becomes_blocks_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal that is too narrow each value has a line of its own."""
    from rich.console import Console

    monkeypatch.setattr(sheets, "console", lambda: Console(force_terminal=True, width=40, color_system=None))
    show_table(["first", "second"], [["x" * 30, 10**20], ["y", 2]])
    assert capsys.readouterr().out.splitlines() == [
        f"first   {'x' * 30}",
        f"second  {10**20}",
        "",
        "first   y",
        "second  2",
        "",
    ]


def test_a_table_obeys_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    """Terminal commands and markup in values are shown, not obeyed."""
    show_table(["[red]x"], [["\x1b[2Jgone"], ["[bold]b[/bold]"], [":smile:"]])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert all(text in out for text in ("[red]x", "�[2Jgone", "[bold]b[/bold]", ":smile:"))


@given(st.text())
def test_printable_keeps_what_prints(text: str) -> None:
    """The result has as many characters, none of them a control, and printable text is unchanged."""
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    if text.isprintable():
        assert shown == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(), st.lists))
def test_plain_is_always_json(value: object) -> None:
    """Whatever comes, strict JSON goes out."""
    json.dumps(plain(value), allow_nan=False)


def test_plain_keeps_amounts_exact() -> None:
    """A rational is written as p/q."""
    assert plain({"epsilon": Fraction(1, 3)}) == {"epsilon": "1/3"}


@pytest.mark.parametrize(
    ("value", "ends", "expected"),
    [
        (14230, (14201, 14259), "14230 ± 29"),
        (14230, (14200.5, 14259.5), "14230 ± 30"),
        (38.58164, (38.34, 38.82), "38.58 ± 0.24"),
        (38.58164, (38.58, 38.58328), "38.5816 ± 0.0016"),
        (123456.7, (123000.0, 123913.4), "123457 ± 457"),
        (3.0, (2.5, 4.5), "3.0 (2.5 to 4.5)"),
        (5, (5, 5), "5 ± 0"),
        (4, (-5, 14), "4 ± 10"),
        (None, None, "NULL"),
        ("Female", None, "Female"),
        (2 / 3, None, "0.666667"),
    ],
)
def test_a_value_is_shown_to_the_digits_its_error_leaves(
    value: object, ends: tuple[float, float] | None, expected: str
) -> None:
    """± where the interval is even, its ends where it isn't, and no digits that say nothing."""
    assert with_errors(AnswerColumn("x", "real", (value,)), [ends]) == [expected]


def test_a_table_without_limits_says_who_chooses_them(capsys: pytest.CaptureFixture[str]) -> None:
    """And a limit of one row is in the singular."""
    table = {"name": "visits", "public": False, "unit": "who", "links": [], "columns": []}
    show_declared([{**table, "limits": None}, {**table, "limits": "1 rows"}])
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("visits")]
    assert shown == ["visits  unit who, limits chosen for each question", "visits  unit who, limits 1 row"]
