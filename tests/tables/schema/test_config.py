"""discreet.toml says what it says: each key, each form of it, exactly, and relative to its own folder."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import ConfigError
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Bounds, Budget, Keys, Limits, MonthlyShare, Unit
from discreet.tables import Column, Dataset, Kind, Link, Source, Table, dumps, load_config, loads, save_config

EXAMPLE = """\
name = "adult"
ledger = "adult.ledger"
adjacency = "add_remove"

[budget]
epsilon = 3
delta = 1e-6

[analysts.alice]        # optional shares
epsilon = 1

[tables.adult]
source = "adult.csv"
missing = ["?"]
unit = { column = "person_id", per = "day", at = "visited_at" }
limits = { groups = 5, rows_per_group = 10 }
row_ceiling = 1_000_000

[tables.adult.columns]
person_id = { kind = "text", nullable = false }
visited_at = { kind = "date", bounds = [2020-01-01, 2029-12-31] }
age = { kind = "integer", bounds = [0, 110] }
sex = { kind = "text", keys = ["Female", "Male", { null = true }] }
"hours-per-week" = { kind = "real", bounds = [0.1, "1/3"] }
"""


def example(**tables: Table) -> Dataset:
    """What the example declares."""
    columns = (
        Column(name="person_id", kind=Kind.TEXT, nullable=False),
        Column(name="visited_at", kind=Kind.DATE, bounds=Bounds(date(2020, 1, 1), date(2029, 12, 31))),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110)),
        Column(name="sex", kind=Kind.TEXT, keys=Keys(["Female", "Male", None])),
        Column(name="hours-per-week", kind=Kind.REAL, bounds=Bounds(Fraction(1, 10), Fraction(1, 3))),
    )
    table = Table(
        name="adult",
        source=Source(kind="csv", location="adult.csv", missing=("?",)),
        columns=columns,
        unit=Unit("person_id", per="day", at="visited_at"),
        limits=Limits(groups=5, rows_per_group=10),
        row_ceiling=1_000_000,
    )
    return Dataset(
        name="adult",
        tables=tuple(tables.values()) or (table,),
        budget=Budget(epsilon=3, delta="1e-6"),
        ledger="adult.ledger",
        analysts={"alice": Budget(epsilon=1)},
        adjacency=ADD_REMOVE,
    )


def with_line(line: str, replacement: str) -> str:
    """The example with one of its lines replaced."""
    assert EXAMPLE.count(line) == 1
    return EXAMPLE.replace(line, replacement)


def column(declaration: str) -> Column:
    """A column as declared in a small configuration."""
    text = 'name = "t"\nledger = "l"\nadjacency = "add_remove"\nbudget = { epsilon = 1 }\n[tables.t]\nunit = "row"\n'
    return loads(f'{text}source = "t.parquet"\n[tables.t.columns]\nx = {declaration}').tables[0].columns[0]


def test_the_example_is_read_as_what_it_says() -> None:
    """Every key of the format is understood, and every amount is exact."""
    assert loads(EXAMPLE) == example()


SHOP = """\
name = "shop"
ledger = "shop.ledger"
adjacency = "add_remove"

[budget]
epsilon = 3

[tables.customers]
source = "customers.parquet"
unit = "id"
limits = { rows = 1 }

[tables.customers.columns]
id = { kind = "integer" }

[tables.orders]
source = "orders.parquet"
links = { customer = "customers.id", "paid in" = { table = "iso.4217", column = "code" } }
limits = { rows = 20 }

[tables.orders.columns]
customer = { kind = "integer" }
"paid in" = { kind = "text" }

[tables."iso.4217"]
source = "currencies.csv"
public = true
unique = ["code"]

[tables."iso.4217".columns]
code = { kind = "text" }
"""


def test_many_tables_are_read_as_what_they_say() -> None:
    """A unit in one, links to it in another, and one that is public; what was read is written as it was."""
    customers, orders, currencies = loads(SHOP).tables
    assert (customers.unit, customers.links, customers.public) == (Unit("id"), (), False)
    assert (orders.unit, orders.public, orders.limits) == (None, False, Limits(rows=20))
    assert orders.links == (Link("customer", "customers", "id"), Link("paid in", "iso.4217", "code"))
    assert (currencies.unit, currencies.public, currencies.unique) == (None, True, ("code",))
    assert dumps(loads(SHOP)) == SHOP
    assert str(loads(SHOP).owner(orders)) == "customer"


def test_links_in_other_forms() -> None:
    """A link in two words; links in a table of their own; `public = false`, and nothing unique."""
    apart = SHOP.replace('"customers.id"', '{ table = "customers", column = "id" }')
    assert loads(apart) == loads(SHOP)
    inline = 'links = { customer = "customers.id", "paid in" = { table = "iso.4217", column = "code" } }\n'
    headed = '[tables.orders.links]\ncustomer = "customers.id"\n"paid in" = { table = "iso.4217", column = "code" }\n'
    assert loads(SHOP.replace(inline, "") + headed) == loads(SHOP)
    assert loads(SHOP.replace("limits = { rows = 1 }", "limits = { rows = 1 }\npublic = false")) == loads(SHOP)
    assert loads(SHOP.replace('unique = ["code"]', "unique = []")).tables[2].unique == ()


def test_numbers_that_carry_privacy_are_the_ones_typed() -> None:
    """0.1 is one tenth and 1e-6 one millionth, not the binary numbers beside them."""
    assert loads(with_line("epsilon = 3", "epsilon = 3.1")).budget.epsilon == Fraction(31, 10)
    assert loads(EXAMPLE).budget.delta == Fraction(1, 1_000_000)
    assert loads(with_line("epsilon = 3", 'epsilon = "10/3"')).budget.epsilon == Fraction(10, 3)
    assert loads(with_line("epsilon = 3", "epsilon = 2.000000000000000000000000000001")).budget.epsilon == Fraction(
        2 * 10**30 + 1, 10**30
    )


def test_the_other_ways_to_say_it() -> None:
    """Budgets in rho, substitution, tables of a database, and units of one word."""
    budget = with_line("epsilon = 3\n", "rho = 0.2\n")
    assert loads(budget).budget == Budget(rho="0.2", delta="1e-6")
    assert loads(with_line('"add_remove"', '"substitution"')).adjacency is SUBSTITUTION
    text = with_line('unit = { column = "person_id", per = "day", at = "visited_at" }', 'unit = "person_id"')
    assert loads(text).tables[0].unit == Unit("person_id")
    text = with_line('missing = ["?"]\n', "").replace(
        '"adult.csv"', '{ kind = "duckdb", path = "x", table = "people" }'
    )
    assert loads(text).tables[0].source == Source(kind="duckdb", location="x", table="people")
    text = with_line("limits = { groups = 5, rows_per_group = 10 }", "limits = { rows = 50 }")
    assert loads(text).tables[0].limits == Limits(rows=50)


def test_a_column_called_row_is_not_each_row() -> None:
    """`unit = "row"` is each row; a column of that name takes the longer form, and is written in it."""
    text = EXAMPLE.replace("person_id", "row")
    assert loads(text).tables[0].unit == Unit("row", per="day", at="visited_at")
    named = text.replace(', per = "day", at = "visited_at"', "")
    assert loads(named).tables[0].unit == Unit("row")
    assert loads(dumps(loads(named))).tables[0].unit == Unit("row")
    short = with_line('unit = { column = "person_id", per = "day", at = "visited_at" }', 'unit = "row"')
    assert loads(short.replace("limits = { groups = 5, rows_per_group = 10 }\n", "")).tables[0].unit.is_row


@pytest.mark.parametrize(
    ("declaration", "kind", "keys"),
    [
        ('{ kind = "text", keys = ["a", ""] }', Kind.TEXT, ["a", ""]),
        ('{ kind = "integer", keys = [3, -1, 0x10] }', Kind.INTEGER, [3, -1, 16]),
        ('{ kind = "boolean", keys = [true, { null = true }, false] }', Kind.BOOLEAN, [True, None, False]),
        ('{ kind = "date", keys = [2020-02-29] }', Kind.DATE, [date(2020, 2, 29)]),
        ('{ kind = "real", keys = [{ null = true }] }', Kind.REAL, [None]),
    ],
)
def test_keys_of_each_kind(declaration: str, kind: Kind, keys: list[str | int | date | None]) -> None:
    """Keys keep their type and their order, NULL wherever it stands; 1 isn't true and dates aren't texts."""
    read = column(declaration)
    assert read.kind is kind
    assert [(type(key), key) for key in read.keys or ()] == [(type(key), key) for key in keys]


@pytest.mark.parametrize(
    ("declaration", "bounds"),
    [
        ('{ kind = "integer", bounds = [-1_000, 1_000] }', Bounds(-1000, 1000)),
        ('{ kind = "real", bounds = [0.1, 1e3] }', Bounds("0.1", 1000)),
        ('{ kind = "date", bounds = [1900-01-01, 2099-12-31] }', Bounds(date(1900, 1, 1), date(2099, 12, 31))),
        (
            '{ kind = "timestamp", bounds = [2020-01-01T00:00:00, 2020-01-01 00:00:00.000001] }',
            Bounds(datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1)),
        ),
    ],
)
def test_bounds_of_each_kind(declaration: str, bounds: Bounds) -> None:
    """Numbers are exact, dates and timestamps are TOML's own."""
    assert column(declaration).bounds == bounds


def test_what_may_be_left_out() -> None:
    """A row unit needs no limits, a column no bounds or keys, a dataset no shares, a budget no delta."""
    text = """
        name = "t"
        ledger = "l"
        adjacency = "add_remove"
        [budget]
        epsilon = 1
        [tables.t]
        source = "t.parquet"
        unit = "row"
        [tables.t.columns]
        x = { kind = "text" }
    """
    table = Table(name="t", source=Source.of("t.parquet"), columns=(Column(name="x", kind=Kind.TEXT),), unit=Unit.row())
    assert loads(text) == Dataset(name="t", tables=(table,), budget=Budget(1), ledger="l")


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths come out absolute wherever the process stands; absolute ones and URLs stay."""
    (tmp_path / "discreet.toml").write_text(EXAMPLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path.parent)
    for path in (tmp_path / "discreet.toml", Path(tmp_path.name) / "discreet.toml", str(tmp_path / "discreet.toml")):
        dataset = load_config(path)
        assert dataset.tables[0].source.location == str(tmp_path / "adult.csv")
        assert dataset.ledger == str(tmp_path / "adult.ledger")
    text = with_line('"adult.ledger"', '"postgresql://ledger/x"').replace('"adult.csv"', '"/data/adult.csv"')
    (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
    dataset = load_config(tmp_path / "discreet.toml")
    assert (dataset.tables[0].source.location, dataset.ledger) == ("/data/adult.csv", "postgresql://ledger/x")


def test_a_delta_table_is_found_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the process stands; saved, its kind is written down, and is known where the table isn't."""
    for place in ("here/visits", "here/v.parquet", "adult.csv"):
        (tmp_path / place / "_delta_log").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for name in ("visits", "v.parquet"):
        text = with_line('"adult.csv"', f'"{name}"').replace('missing = ["?"]\n', "")
        (tmp_path / "here" / "discreet.toml").write_text(text, encoding="utf-8")
        dataset = load_config(tmp_path / "here" / "discreet.toml")
        assert dataset.tables[0].source == Source(kind="delta", location=str(tmp_path / "here" / name))
        save_config(dataset, tmp_path / "there.toml")
        (tmp_path / "here" / name).rename(tmp_path / f"gone {name}")
        assert load_config(tmp_path / "there.toml").tables[0].source == dataset.tables[0].source
    (tmp_path / "here" / "discreet.toml").write_text(EXAMPLE, encoding="utf-8")
    assert load_config(tmp_path / "here" / "discreet.toml").tables[0].source.kind == "csv"


def test_a_saved_folder_can_be_moved(tmp_path: Path) -> None:
    """What lies beside the file is named relative to it, so the folder works elsewhere; what doesn't is absolute."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    dataset = load_example(here)
    save_config(dataset, here / "discreet.toml")
    assert load_config(here / "discreet.toml") == dataset
    assert str(here) not in (here / "discreet.toml").read_text(encoding="utf-8")
    here.rename(there)
    assert load_config(there / "discreet.toml").ledger == str(there / "adult.ledger")
    save_config(dataset, there / "discreet.toml")
    assert load_config(there / "discreet.toml") == dataset


def load_example(folder: Path) -> Dataset:
    """The example, as loaded from a folder."""
    (folder / "example.toml").write_text(EXAMPLE, encoding="utf-8")
    return load_config(folder / "example.toml")


def test_saving_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    """A longer file that was there is gone, and so is the part file."""
    file = tmp_path / "discreet.toml"
    file.write_text("x" * 100_000, encoding="utf-8")
    save_config(example(), file)
    assert [entry.name for entry in tmp_path.iterdir()] == ["discreet.toml"]
    assert file.read_text(encoding="utf-8") == dumps(load_config(file), folder=tmp_path)


def test_a_memory_table_cannot_be_saved(tmp_path: Path) -> None:
    """A table that lives in one process can't be named in a file; nothing is written."""
    (table,) = example().tables
    memory = Table(
        name="live", source=Source(kind="memory", location="frame"), columns=table.columns, unit=Unit("person_id")
    )
    with pytest.raises(ConfigError, match="'live' exists in memory only") as caught:
        save_config(example(adult=table, live=memory), tmp_path / "discreet.toml")
    assert "Parquet" in caught.value.hint
    assert [entry.name for entry in tmp_path.iterdir()] == []


def test_a_file_that_cannot_be_written_is_a_config_error(tmp_path: Path) -> None:
    """No folder, or a folder in its place: a typed error, and no part file."""
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "discreet.toml", tmp_path / "folder", tmp_path / "nul\0"):
        with pytest.raises(ConfigError, match="can't be written"):
            save_config(example(), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_the_written_form_is_stable() -> None:
    """The same dataset gives the same text, in the order of the format, and writing what was read changes nothing."""
    text = dumps(loads(EXAMPLE))
    assert dumps(loads(text)) == text
    assert text == (EXAMPLE.replace("        # optional shares", "").replace('"hours-per-week"', "hours-per-week"))


def test_a_share_may_renew_and_the_budget_of_all_may_not() -> None:
    """It is written as it was read; what it could mean for all is refused where it stands."""
    monthly = EXAMPLE.replace("epsilon = 1\n", 'epsilon = 1\nrenews = "monthly"\n')
    declared = loads(monthly)
    assert declared.analysts == {"alice": MonthlyShare(epsilon=1)}
    assert declared.analysts != {"alice": Budget(epsilon=1)}
    assert loads(dumps(declared)) == declared
    for wrong, message in (
        (EXAMPLE.replace("delta = 1e-6\n", 'delta = 1e-6\nrenews = "monthly"\n'), "budget: the budget itself never"),
        (
            EXAMPLE.replace("epsilon = 1\n", 'epsilon = 1\nrenews = "yearly"\n'),
            "analysts.alice.renews: expected one of",
        ),
        (EXAMPLE.replace("epsilon = 1\n", 'epsilon = 4\nrenews = "monthly"\n'), "has more epsilon than the budget"),
    ):
        with pytest.raises(ConfigError, match=message):
            loads(wrong)
