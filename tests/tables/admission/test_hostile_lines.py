"""Lines of a CSV file that somebody made on purpose: they cost nobody else a row, or the whole file is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from discreet.engine.duckdb import DuckDB
from discreet.errors import SourceMalformed
from discreet.privacy import Bounds, Limits, Unit
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Key, Literal, Scan, Sum, Type
from discreet.tables import Column, Kind, Owner, Source, Table
from discreet.tables.admission import admit
from support.engines import compiled_once, engine_over

pytestmark = pytest.mark.usefixtures("kept_sessions")

POISON: dict[str, bytes] = {
    "too few cells": b"77\n",
    "too many cells": b"77,1,2,3,4,5\n",
    "nothing but commas": b",,,,,,\n",
    "invalid UTF-8": b"77,\xff\xfe,1\n",
    "invalid UTF-8 in the id": b"\xc3\x28,a,1\n",
    "a NUL byte": b"77,a\x00b,1\n",
    "a quote inside": b'77,a"b,1\n',
    "a quote, and more": b'77,"a"b,1\n',
    "a quote in a quote": b'77,"6" tall" guy,1\n',
    "a line break in quotes": b'77,"a\nb",1\n',
    "a lone carriage return": b"77,a\rb,1\n",
    "a huge number": b"77,a," + b"9" * 400 + b"\n",
    "a huge text": b"77," + b"a" * 3_000_000 + b",1\n",
    "an infinity": b"77,a,inf\n",
    "no number": b"77,a,nan\n",
    "an overflow": b"77,a,1e999\n",
    "an id beyond 64 bits": b"99999999999999999999,a,1\n",
    "SQL": b"77,'; DROP TABLE raw; --,1\n",
    "a blank line": b"\n",
    "spaces": b"   \n",
    "a byte order mark": b"\xef\xbb\xbf77,a,1\n",
}
OPEN = b'77,"a,1\n'
"""A quotation mark that is never closed."""
OTHERS = b"".join(
    b"%d,%s,%d\n" % (number % 50, b"abc"[number % 3 : number % 3 + 1], number % 7) for number in range(500)
)
HEADER = b"id,g,x\n"
COLUMNS = (
    Column(name="id", kind=Kind.INTEGER),
    Column(name="g", kind=Kind.TEXT),
    Column(name="x", kind=Kind.REAL, bounds=Bounds(0, 6)),
)
Answer = dict[Any, tuple[int, int]]


LIMITS = (Limits(rows=4), Limits(groups=2, rows_per_group=3))


def ask(path: Path, content: bytes, **declared: Any) -> list[Answer]:
    """A count and a sum by group, private keys, of a CSV file that is admitted once; with each shape of limits."""
    path.write_bytes(content)
    table = Table(name="t", source=Source.of(path, **declared), columns=COLUMNS, unit=Unit("id"), limits=LIMITS[0])
    engine = engine_over([table])
    with compiled_once(COMPILED):
        return [answered(engine, question_of(table, limits)) for limits in LIMITS]


COMPILED: dict[Any, Any] = {}
"""What was compiled of these questions."""


@cache
def question_of(table: Table, limits: Limits) -> Exact:
    """The question with some limits."""
    return Exact(
        source=Scan(table=table, columns=("id", "g", "x"), owner=Owner(Unit("id")), alias=table.name),
        keys=(Key(name="g", expr=Reference("t", "g", Type(Kind.TEXT)), values=None),),
        measures=(
            Sum(name="n", value=Literal(1, Type(Kind.INTEGER)), grid=0, lo=0, hi=1),
            Sum(name="s", value=Reference("t", "x", Type(Kind.REAL)), grid=0, lo=0, hi=6),
        ),
        limits=limits,
        salt="",
    )


def answered(engine: DuckDB, question: Exact) -> Answer:
    """What is answered."""
    result = engine.run(question)
    return {group: (result.measures["n"][n], result.measures["s"][n]) for n, (group,) in enumerate(result.keys)}


def with_line(line: bytes) -> bytes:
    """The file with somebody's line in its middle."""
    half = len(OTHERS) // 2 + OTHERS[len(OTHERS) // 2 :].index(b"\n") + 1
    return HEADER + OTHERS[:half] + line + OTHERS[half:]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each file lies in its turn, so that the same table is asked."""
    return tmp_path_factory.mktemp("hostile") / "t.csv"


@pytest.fixture(scope="module")
def clean(path: Path) -> Callable[[bool], list[Answer]]:
    """What is answered of the file without any such line, asked once of each way to read it."""

    @cache
    def of(multiline: bool) -> list[Answer]:
        return ask(path, HEADER + OTHERS, multiline=multiline, skip_malformed=True)

    return of


def check(clean: list[Answer], poisoned: list[Answer]) -> None:
    """One person's line adds two rows of theirs at the most, and nobody else's change."""
    for before, after in zip(clean, poisoned, strict=True):
        added = {
            group: tuple(now - then for now, then in zip(both, before.get(group, (0, 0)), strict=True))
            for group, both in after.items()
        }
        assert before.keys() <= after.keys()
        assert all(rows >= 0 and 0 <= size <= 6 * rows for rows, size in added.values())
        assert sum(rows for rows, _ in added.values()) <= 2


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("poison", POISON)
def test_a_hostile_line_changes_nothing_for_others(
    poison: str, multiline: bool, clean: Callable[[bool], list[Answer]], path: Path
) -> None:
    """Whatever one person's line is made of, where malformed records are left out; each shape of limits."""
    wanted = clean(multiline)
    check(wanted, ask(path, with_line(POISON[poison]), multiline=multiline, skip_malformed=True))


def test_an_open_quotation_mark_costs_others_nothing_where_lines_stand_alone(path: Path) -> None:
    """With multiline = false. Else the cell may go on until the next mark, which the threat model says."""
    clean = ask(path, HEADER + OTHERS)
    check(clean, ask(path, with_line(OPEN), multiline=False, skip_malformed=True))
    taken = ask(path, with_line(OPEN + b'77,"a,1\n'), skip_malformed=True)
    with pytest.raises(AssertionError):
        check(clean, ask(path, with_line(OPEN) + b'1,"",1\n', skip_malformed=True))
    check(clean, taken)


def test_one_badly_quoted_cell_among_many_rows(tmp_path: Path) -> None:
    """The file is refused, by the number of the line; or the line alone is left out."""
    path = tmp_path / "t.csv"
    lines = [f"{number},guy" for number in range(20_000)]
    lines[12_344] = '1,"6" tall" guy'
    path.write_text("id,g\n" + "\n".join(lines) + "\n", encoding="utf-8")
    columns, limits = COLUMNS[:2], Limits(rows=1)
    table = Table(name="t", source=Source.of(path), columns=columns, unit=Unit("id"), limits=limits)
    with pytest.raises(SourceMalformed, match="line 12,346 ") as refusal:
        admit([table], {}, None)
    assert "tall" not in f"{refusal.value} {refusal.value.hint}"
    skipping = Table(
        name="t", source=Source.of(path, skip_malformed=True), columns=columns, unit=Unit("id"), limits=limits
    )
    snapshot = admit([skipping], {}, None)
    assert snapshot.tables["t"].rows == 19_999
    assert (snapshot.report["t"]["malformed"], snapshot.report["t"]["malformed_lines"]) == (1, [12_346])
