"""Whatever can be declared can be saved, and is loaded as what it was."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from discreet.errors import ConfigError
from discreet.privacy import Adjacency, Bounds, Budget, Keys, Limits, MonthlyShare, Period, Unit
from discreet.tables import (
    Column,
    Dataset,
    Kind,
    Link,
    Source,
    Table,
    dumps,
    load_config,
    loads,
    save_config,
)
from discreet.tables.formats import FORMATS
from discreet.tables.schema.config_writer import Note

ODD_NAMES = [
    "a.b",
    'say "hi"',
    "it's",
    "back\\slash",
    "tab\there",
    "new\nline",
    "x = 1\n[budget]\nepsilon = 1000 #",
    " ",
    " padded ",
    "#",
    "[tables]",
    "naïve",
    "年齢",
    "🐈",
    "\u202eright to left",
    "\x00",
    "\x7f",
    "\u2028",
    "e\u0301",
    "\r\n",
    '"""',
    "'''",
    "true",
    "row",
    "2020-01-01",
    "\U0010ffff",
]

names = st.text(min_size=1, max_size=8) | st.sampled_from(ODD_NAMES)
numbers: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(2**70), 2**70),
    st.fractions(max_denominator=10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=6),
)
dates = st.dates()
times = st.datetimes().map(lambda time: time.replace(fold=0))  # a table's timestamps have no second chance
amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=100)
deltas = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(99, 100)).filter(bool)


def intervals(ends: st.SearchStrategy[Any]) -> st.SearchStrategy[Bounds]:
    """Bounds from two ends in the right order."""
    return st.tuples(ends, ends).map(lambda two: Bounds(min(two), max(two)))


@st.composite
def columns(draw: st.DrawFn, name: str, *, csv: bool) -> Column:
    """A column of any kind, with bounds, keys or neither."""
    kind = draw(st.sampled_from(Kind))
    nullable = draw(st.booleans())
    # What a CSV file can't hold isn't accepted as a key of one.
    texts = st.text(max_size=6).filter(lambda text: not csv or (text == text.strip(" ") and text not in {"", "?"}))
    ends = {Kind.INTEGER: numbers, Kind.REAL: numbers, Kind.DATE: dates, Kind.TIMESTAMP: times}
    values: dict[Kind, st.SearchStrategy[Any]] = {
        Kind.TEXT: texts,
        Kind.INTEGER: st.integers(-(2**70), 2**70),
        Kind.BOOLEAN: st.booleans(),
        Kind.DATE: dates,
    }
    choice = draw(st.sampled_from(["bounds", "keys", "neither"]))
    if choice == "bounds" and kind in ends:
        places = draw(st.none() | st.integers(1, 18)) if kind is Kind.REAL else None
        return Column(name=name, kind=kind, bounds=draw(intervals(ends[kind])), nullable=nullable, places=places)
    if choice == "keys":
        keys = draw(st.lists(st.none() | values.get(kind, st.none()), min_size=1, max_size=9, unique=True))
        return Column(name=name, kind=kind, keys=Keys(keys), nullable=nullable)
    return Column(name=name, kind=kind, nullable=nullable)


UNTYPED = {"csv", "jsonl", "sqlite", "xlsx"}
"""Kinds of sources in which cells are texts."""


@st.composite
def sources(draw: st.DrawFn) -> Source:
    """Any source that a file can name."""
    kind = draw(st.sampled_from(list(FORMATS)))
    ending = draw(st.sampled_from([".csv", ".CSV.gz", ".ndjson.zst", ".parquet", ".db", ".sqlite", "", ".xlsx"]))
    location = "/data/" + draw(st.text(st.characters(exclude_characters="/.\0", exclude_categories=["Cs"]))) + ending
    if kind == "postgres":
        name = draw(names.filter(lambda name: "\0" not in name))
        location = "postgresql://reader@db.example.org/" + quote(name, safe="")
    declared: dict[str, object] = {}
    if kind in UNTYPED:
        declared["missing"] = tuple(draw(st.lists(st.sampled_from(["?", ""]), max_size=2)))
        declared |= {"decimal": draw(st.sampled_from(".,")), "dates": draw(st.sampled_from(["ymd", "dmy", "mdy"]))}
    if kind in {"duckdb", "sqlite", "xlsx", "postgres"}:
        declared["table"] = draw(st.none() | names)
    if kind in {"csv", "jsonl"}:
        declared |= {
            "encoding": draw(st.sampled_from(["utf-8", "latin-1", "utf-16"])),
            "skip_malformed": draw(st.booleans()),
        }
    if kind == "csv":
        declared |= {
            "delimiter": draw(st.sampled_from([None, ";", "\t", "|", "\x1f"])),
            "multiline": draw(st.booleans()),
            "trailing_delimiter": draw(st.booleans()),
            "quote": draw(st.sampled_from(['"', "'"])),
            "escape": draw(st.sampled_from([None, "\\"])),
            "comment": draw(st.sampled_from([None, "#"])),
        }
    if kind in {"csv", "xlsx"}:
        declared |= {"header_line": draw(st.integers(1, 9)), "footer_lines": draw(st.integers(0, 9))}
    if kind == "parquet":
        declared["in_place"] = draw(st.booleans())
    return Source(kind=kind, location=location.rstrip("/"), **declared)


@st.composite
def units(draw: st.DrawFn, declared: list[Column]) -> Unit:
    """A unit that these columns allow."""
    ids = [column.name for column in declared if column.kind not in {Kind.REAL, Kind.BOOLEAN}]
    clocks = [column.name for column in declared if column.kind.is_time]
    choices = [st.just(Unit.row())]
    if ids:
        choices.append(st.sampled_from(ids).map(Unit))
    if ids and clocks:
        periods = st.sampled_from(get_args(Period))
        choices.append(st.builds(Unit, st.sampled_from(ids), periods, st.sampled_from(clocks)))
    return draw(st.one_of(choices))


limits = st.builds(Limits, groups=st.integers(1, 2**31), rows_per_group=st.integers(1, 2**31)) | st.builds(
    Limits, rows=st.integers(1, 2**31), groups=st.none() | st.integers(1, 2**31)
)


@st.composite
def tables(draw: st.DrawFn, name: str) -> Table:
    """A table of that name."""
    source = draw(sources())
    chosen = draw(st.lists(names, min_size=1, max_size=5, unique_by=str.casefold))
    declared = [draw(columns(column, csv=source.kind in UNTYPED)) for column in chosen]
    if draw(st.integers(0, 4)) == 0:
        unique = draw(st.lists(st.sampled_from(chosen), max_size=2, unique=True))
        ceiling = draw(st.integers(1, 2**48))
        return Table(
            name=name,
            source=source,
            columns=tuple(declared),
            unit=None,
            public=True,
            unique=tuple(unique),
            row_ceiling=ceiling,
            refresh=draw(st.sampled_from(["", "daily", "every_2-years"])),
        )
    unit = draw(units(declared))
    one_row = st.sampled_from([Limits(rows=1), Limits(groups=1, rows_per_group=1)])
    return Table(
        name=name,
        source=source,
        columns=tuple(declared),
        unit=unit,
        limits=draw(one_row if unit.is_row else limits),
        row_ceiling=draw(st.integers(1, 2**48)),
        most_left_out=draw(st.fractions(0, 1, max_denominator=1_000)),
    )


def has_private(found: Iterable[Table]) -> bool:
    """Whether there is something to protect."""
    return not all(table.public for table in found)


@st.composite
def linked(draw: st.DrawFn, found: list[Table]) -> list[Table]:
    """The tables, and perhaps one that is linked to some of them, over columns of any names."""
    others = [table for table in found if table.unit is not None and not table.unit.is_row]
    name = draw(names.filter(lambda name: name.casefold() not in {table.name.casefold() for table in found}))
    if not others or draw(st.booleans()):
        return found
    owner = draw(st.sampled_from(others))
    targets = [
        owner,
        *draw(st.lists(st.sampled_from([table for table in found if table.public] or [owner]), max_size=2)),
    ]
    columns, links = [], []
    for number, target in enumerate(dict.fromkeys(table.name for table in targets)):
        table = next(each for each in found if each.name == target)
        ids = [column for column in table.columns if column.kind not in {Kind.REAL, Kind.BOOLEAN}]
        if ids:
            to = draw(st.sampled_from(ids))
            columns.append(Column(name=f"{draw(names)}{number}", kind=to.kind))
            links.append(Link(columns[-1].name, target, to.name))
    again = Table(
        name=name,
        source=draw(sources().filter(lambda source: source.kind not in UNTYPED)),
        columns=tuple(columns),
        unit=None,
        limits=draw(limits),
        links=tuple(links),
    )
    return [*found, again]


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any dataset that can be saved."""
    epsilon = draw(st.none() | amounts)
    rho, delta = (draw(amounts), draw(deltas)) if epsilon is None else (None, draw(st.none() | deltas))
    parts = st.sampled_from([Fraction(1), Fraction(1, 3)])
    kinds = st.sampled_from([Budget, MonthlyShare])
    shares = st.builds(
        lambda kind, part: kind(epsilon and epsilon * part, delta and delta * part, rho=rho and rho * part),
        kinds,
        parts,
    )
    called = st.lists(names, min_size=1, max_size=3, unique_by=str.casefold)
    found = draw(called.flatmap(lambda each: st.tuples(*map(tables, each))).filter(has_private))
    return Dataset(
        name=draw(names),
        tables=tuple(draw(linked(list(found)))),
        budget=Budget(epsilon, delta, rho=rho),
        ledger=draw(st.sampled_from(["/var/l.ledger", "sqlite:///l.db", "postgresql://h/d?x=1#y"])),
        analysts=draw(st.dictionaries(names, shares, max_size=3)),
        adjacency=draw(st.sampled_from(Adjacency)),
        engine=draw(st.just("duckdb") | names),
        least_units=draw(st.just(0) | st.integers(0, 10**6)),
    )


@given(datasets())
def test_a_dataset_is_read_back_as_it_was(dataset: Dataset) -> None:
    """Text and back is the same dataset, to the types of its values and the order of its parts."""
    again = loads(dumps(dataset))
    assert again == dataset
    assert repr(again) == repr(dataset)  # tells True from 1


@given(datasets())
def test_a_dataset_survives_a_file(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset) -> None:
    """File and back is the same dataset."""
    file = tmp_path_factory.mktemp("config") / "discreet.toml"
    save_config(dataset, file)
    assert repr(load_config(file)) == repr(dataset)


@given(datasets(), st.text() | st.sampled_from(ODD_NAMES))
def test_comments_change_nothing(dataset: Dataset, words: str) -> None:
    """Whatever a comment says, and wherever it stands, the dataset is the same: comments can't be broken out of."""
    note = Note(above=(words, words), beside=words, below=(words,))
    paths = [(), ("name",), ("ledger",), ("budget",), ("budget", "epsilon")]
    for table in dataset.tables:
        head = ("tables", table.name)
        paths += [head, (*head, "source"), (*head, "unit"), (*head, "columns")]
        paths += [(*head, "links"), (*head, "public"), (*head, "unique")]
        paths += [(*head, "columns", column.name) for column in table.columns]
    text = dumps(dataset, notes=dict.fromkeys(paths, note))
    assert repr(loads(text)) == repr(dataset)
    assert not words.strip() or text != dumps(dataset)


def all_named(name: str) -> Dataset:
    """A dataset in which that name is used for everything."""
    columns = (Column(name=name, kind=Kind.TEXT, keys=Keys([name, "?"])), Column(name=f"{name}2", kind=Kind.DATE))
    table = Table(
        name=name,
        source=Source(kind="duckdb", location=name, table=name),
        columns=columns,
        unit=Unit(name, per="day", at=f"{name}2"),
    )
    names = Column(name=name, kind=Kind.TEXT)
    public = Table(name=f"{name}3", source=table.source, columns=(names,), unit=None, public=True, unique=(name,))
    links = (Link(name, name, name),)
    linked = Table(name=f"{name}4", source=table.source, columns=(names,), unit=None, links=links)
    return Dataset(name=name, tables=(table, public, linked), budget=Budget(1), ledger=name, analysts={name: Budget(1)})


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_names_are_kept_and_shown(name: str) -> None:
    """Any signs survive as dataset, analyst, table, column, unit, link, key and path; what can't be seen is shown."""
    dataset = all_named(name)
    text = dumps(dataset)
    assert loads(text) == dataset
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.count("\n") == dumps(all_named("plain")).count("\n")


def test_half_a_surrogate_pair_cannot_be_written() -> None:
    """What no UTF-8 file can hold is a typed error, not a broken file."""
    table = Table(
        name="t", source=Source.of("t.csv"), columns=(Column(name="\udc80", kind=Kind.TEXT),), unit=Unit.row()
    )
    with pytest.raises(ConfigError, match="surrogate"):
        dumps(Dataset(name="t", tables=(table,), budget=Budget(1), ledger="l"))


def test_the_strategies_reach_what_they_should() -> None:
    """Every kind, both limits, every unit and budget come up, or the tests above would show less than they say."""
    seen: set[str] = set()
    wanted = {"rho", "pure", "approximate", "shares", "anyone", "row", "id", "period", "rows", "groups"}
    wanted |= {"public", "unique", "0 links", "1 links", "2 links"}
    wanted |= {f"{kind} keys" for kind in Kind}
    wanted |= {f"{kind} bounds" for kind in Kind if kind.is_number or kind.is_time}

    def all_came_up(dataset: Dataset) -> bool:
        seen.add("rho" if dataset.budget.rho else "pure" if dataset.budget.is_pure else "approximate")
        seen.add("shares" if dataset.analysts else "anyone")
        for table in dataset.tables:
            if table.unit is not None:
                seen.add("row" if table.unit.is_row else "id" if table.unit.per is None else "period")
            seen.add("public" if table.public else f"{len(table.links)} links")
            seen.update({"unique"} if table.unique else ())
            seen.add("rows" if table.limits.rows else "groups")
            for column in table.columns:
                seen.add(f"{column.kind} {'bounds' if column.bounds else 'keys' if column.keys else ''}")
        return seen >= wanted

    find(datasets(), all_came_up, settings=settings(max_examples=1_000, phases=[Phase.generate]))


def test_times_are_kept_to_the_microsecond() -> None:
    """Timestamps survive with their fraction, dates with years before 1000."""
    bounds = [Bounds(datetime(1, 1, 1, microsecond=1), datetime(9999, 12, 31, 23, 59, 59, 999_999))]
    bounds += [Bounds(date(1, 1, 1), date(9999, 12, 31))]
    declared = tuple(
        Column(name=f"x{n}", kind=kind, bounds=bound)
        for n, (kind, bound) in enumerate(zip([Kind.TIMESTAMP, Kind.DATE], bounds, strict=True))
    )
    table = Table(name="t", source=Source.of("t.csv"), columns=declared, unit=Unit.row())
    dataset = Dataset(name="t", tables=(table,), budget=Budget(1), ledger="l")
    assert loads(dumps(dataset)) == dataset


def test_paths_are_kept_as_they_are_without_a_folder() -> None:
    """`dumps` alone moves nothing."""
    table = Table(
        name="t", source=Source.of("../x/t.csv"), columns=(Column(name="x", kind=Kind.TEXT),), unit=Unit.row()
    )
    text = dumps(Dataset(name="t", tables=(table,), budget=Budget(1), ledger="l"))
    assert 'source = "../x/t.csv"' in text
    assert 'ledger = "l"' in text
    assert f'source = "{Path.cwd() / "../x/t.csv"}"' in dumps(loads(text), folder="elsewhere")
