"""How many rows units have, as an admission reports it: what counting them one by one gives, and never an id."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.gateway import admissions_of
from discreet.tables import load_config

pytestmark = pytest.mark.usefixtures("kept_sessions")

CONFIG = """
name = "shop"
ledger = "shop.ledger"
adjacency = "add_remove"
budget = {{ epsilon = 1 }}

[tables.customers]
source = {source}
unit = {unit}
limits = {{ rows = 1 }}
columns = {{ nr = {{ kind = "text" }}, seen = {{ kind = "date" }} }}

[tables.orders]
source = "orders.parquet"
links = {{ customer = "customers.nr" }}
columns = {{ order = {{ kind = "integer" }}, customer = {{ kind = "text" }} }}

[tables.items]
source = "items.parquet"
links = {{ order = "orders.order" }}
columns = {{ order = {{ kind = "integer" }}, price = {{ kind = "integer" }} }}
"""
START = date(2025, 1, 30)
CUSTOMERS = [("unknown", START)] * 40 + [(f"c{n}", START + timedelta(days=n)) for n in range(60) for _ in range(n % 4)]
ORDERS = [(n, f"c{n % 37}" if n % 11 else " N/A") for n in range(500)]
ITEMS = [(n % 450, n) for n in range(3_000)]


def write(folder: Path, name: str, columns: Mapping[str, Iterable[object]]) -> None:
    """A table as a file."""
    pq.write_table(pa.table({key: list(values) for key, values in columns.items()}), folder / f"{name}.parquet")


def reported(folder: Path, *, unit: str = '"nr"', source: str = '"customers.parquet"') -> Mapping[str, Any]:
    """What an admission of the shop reports of its units, by table; the same whether it is put in force or not."""
    write(folder, "customers", {"nr": [who for who, _ in CUSTOMERS], "seen": [day for _, day in CUSTOMERS]})
    write(folder, "orders", {"order": [order for order, _ in ORDERS], "customer": [who for _, who in ORDERS]})
    write(folder, "items", {"order": [order for order, _ in ITEMS], "price": [price for _, price in ITEMS]})
    (folder / "discreet.toml").write_text(CONFIG.format(unit=unit, source=source), encoding="utf-8")
    dp.load(folder / "discreet.toml", create_ledger=True).close()
    with admissions_of(load_config(folder / "discreet.toml")) as admissions:
        assert not any("units" in each for each in admissions.check().tables.values())
        tried, done = admissions.check(sized=True).tables, admissions.admit(sized=True).tables
    assert {name: each["units"] for name, each in tried.items()} == {name: each["units"] for name, each in done.items()}
    assert json.loads(json.dumps(done)) == done
    return {name: each["units"] for name, each in done.items()}


def counted(owners: Iterable[object]) -> dict[str, Any]:
    """The same of a list of owners, a row each, counted one by one."""
    sizes = sorted(Counter(owners).values())
    return {
        "units": len(sizes),
        "quantiles": {str(part): sizes[-(-len(sizes) * part // 100) - 1] for part in (50, 90, 99)},
        "greatest": sizes[-1],
        "cut_off": {str(limit): sum(max(size - limit, 0) for size in sizes) for limit in (1, 2, 5, 10, 20, 50)},
    }


def test_rows_of_units_are_counted_along_links(tmp_path: Path) -> None:
    """Of a table with the id itself, of one with a link to it, and of one whose link leads there in two steps."""
    found = reported(tmp_path)
    owner = dict(ORDERS)
    expected = {
        "customers": [who for who, _ in CUSTOMERS],
        "orders": [who for _, who in ORDERS],
        "items": [owner[order] for order, _ in ITEMS],
    }
    for table, owners in expected.items():
        assert {**found[table], "placeholders": None} == {**counted(owners), "placeholders": None}


def test_periods_are_units_of_their_own(tmp_path: Path) -> None:
    """A person in a month; what is linked to a person belongs to each of their months."""
    found = reported(tmp_path, unit='{ column = "nr", per = "month", at = "seen" }')
    months = [(who, day.year, day.month) for who, day in CUSTOMERS]
    assert {**found["customers"], "placeholders": None} == {**counted(months), "placeholders": None}


def test_a_table_in_place_is_looked_at_where_it_lies(tmp_path: Path) -> None:
    """It has no file in the snapshot."""
    folder = tmp_path / "place"
    folder.mkdir()
    found = reported(folder, source='{ path = "customers.parquet", in_place = true }')
    assert {**found["customers"], "placeholders": None} == {
        **counted(who for who, _ in CUSTOMERS),
        "placeholders": None,
    }


def test_place_holders_are_told_by_their_form(tmp_path: Path) -> None:
    """How many ids and rows there are of each form; spaces and capitals hide none."""
    found = reported(tmp_path)
    word = "a word for nobody, such as unknown or n/a"
    assert found["customers"]["placeholders"] == {word: {"ids": 1, "rows": 40}}
    assert found["orders"]["placeholders"] == {word: {"ids": 1, "rows": sum(who == " N/A" for _, who in ORDERS)}}


def test_numbers_that_an_honest_id_may_be_are_told_only_where_rows_hang_on_them(tmp_path: Path) -> None:
    """The first of ids that are counted from 0, and 9999 among ten thousand, are people like all others."""
    write(tmp_path, "t", {"who": [number for number in range(10_000) for _ in range(3)]})
    people = dp.protect(
        tmp_path / "t.parquet",
        name="t",
        unit=dp.Unit("who"),
        limits=dp.Limits(rows=3),
        budget=dp.Budget(epsilon=1),
        ledger=tmp_path / "t.ledger",
    )
    with people:
        assert people.admissions.check(sized=True).tables["t"]["units"]["placeholders"] == {}
