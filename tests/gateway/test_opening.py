"""Putting tables behind an account: one or several, in code or by a file, each declared in full or refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import discreet as dp
from discreet.errors import ConfigError, InvalidArgument, SchemaMismatch, SourceError, SourceUnsupported, Unsupported

pytestmark = pytest.mark.usefixtures("kept_sessions")

CUSTOMERS = pa.table({"id": [1, 2, 3], "nation": ["FR", "IT", "FR"], "age": [20, 40, 60]})
ORDERS = pa.table({"id": [10, 11, 12], "customer_id": [1, 1, 2], "total": [5.0, 7.5, 1.25]})
NATIONS = pa.table({"code": ["FR", "IT"], "continent": ["Europe", "Europe"]})
ROWS = dp.Limits(rows=10)


def customers(data: object = CUSTOMERS, **others: Any) -> dp.DeclaredTable:
    """The table with the unit."""
    declared: dict[str, Any] = {"name": "customers", "unit": dp.Unit("id"), "limits": dp.Limits(rows=1)}
    return dp.table(data, **declared | others)


def orders(data: object = ORDERS, **others: Any) -> dp.DeclaredTable:
    """A table that is linked to it."""
    declared: dict[str, Any] = {"name": "orders", "links": {"customer_id": "customers.id"}, "limits": ROWS}
    return dp.table(data, **declared | others)


def nations(data: object = NATIONS, **others: Any) -> dp.DeclaredTable:
    """A public table."""
    return dp.table(data, **{"name": "nations", "public": True, "unique": ["code"]} | others)


def shop(tmp_path: Path, *tables: dp.DeclaredTable) -> dp.Protected:
    """These tables behind one account."""
    return dp.protect(list(tables), name="shop", budget=dp.Budget(epsilon=10), ledger=tmp_path / "shop.ledger")


def test_several_tables_share_one_account(tmp_path: Path) -> None:
    """Each is declared in full, whatever it is held in; the dataset knows whose rows are whose."""
    parquet.write_table(ORDERS, tmp_path / "orders.parquet")
    csv.write_csv(NATIONS, tmp_path / "nations.csv")
    with shop(
        tmp_path,
        customers(columns={"age": dp.Bounds(0, 125)}),
        orders(tmp_path / "orders.parquet", row_ceiling=1000),
        nations(tmp_path / "nations.csv"),
    ) as protected:
        dataset = protected.dataset
        assert (dataset.name, [table.name for table in dataset.tables]) == ("shop", ["customers", "orders", "nations"])
        assert [str(dataset.owner(table)) for table in dataset.tables] == ["id", "customer_id", "None"]
        assert [table.source.kind for table in dataset.tables] == ["memory", "parquet", "csv"]
        assert dataset.tables[0].column("age").bounds == dp.Bounds(0, 125)
        assert (dataset.tables[1].row_ceiling, dataset.tables[2].unique) == (1000, ("code",))
        assert protected.remaining


def test_a_list_of_one_is_the_one_table(tmp_path: Path) -> None:
    """Declared either way, the tables are equal, and so is what protects them."""
    with (
        dp.protect(
            CUSTOMERS,
            name="customers",
            unit=dp.Unit("id"),
            limits=dp.Limits(rows=1),
            columns={"age": dp.Bounds(0, 125)},
            budget=dp.Budget(epsilon=10),
            ledger=tmp_path / "one.ledger",
        ) as alone,
        shop(tmp_path, customers(columns={"age": dp.Bounds(0, 125)})) as listed,
        dp.protect(
            customers(columns={"age": dp.Bounds(0, 125)}),
            name="shop",
            budget=dp.Budget(epsilon=10),
            ledger=tmp_path / "bare.ledger",
        ) as bare,
    ):
        assert alone.dataset.tables == listed.dataset.tables == bare.dataset.tables
        question = "SELECT SUM(age) AS s FROM customers"
        assert alone.plan(question, epsilon=1).cost == listed.plan(question, epsilon=1).cost


def test_names_with_points_are_linked_apart(tmp_path: Path) -> None:
    """A pair says which part is the table's name."""
    renamed = CUSTOMERS.rename_columns(["c.id", "nation", "age"])
    linked = orders(links={"customer_id": ("our.customers", "c.id")})
    with shop(tmp_path, customers(renamed, name="our.customers", unit=dp.Unit("c.id")), linked) as protected:
        assert str(protected.dataset.owner(protected.dataset.tables[1])) == "customer_id"


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (list, "a list of tables holds what table"),
        (lambda: [customers(), ORDERS], "a list of tables holds what table"),
        (lambda: [orders()], "linked to 'customers', which isn't declared"),
        (lambda: [customers(), orders(links={"customer_id": "customers"})], "isn't a table and its column"),
        (lambda: [customers(), orders(links={"who": "customers.id"})], "has no column 'who'"),
        (lambda: [customers(), orders(links={"customer_id": "customers.nation"})], "from integer values to text"),
        (lambda: [customers(), orders(links={})], "nothing says whose the rows of table 'orders' are"),
        (lambda: [customers(), orders(unit=dp.Unit("id"))], "says that rows belong to another"),
        (lambda: [customers(unit=dp.Unit.row()), orders()], "each row of table 'customers' is a unit of its own"),
        (lambda: [customers(), customers()], "two tables of one name"),
        (lambda: [nations()], "public tables only"),
        (lambda: [customers(), nations(unit=dp.Unit("code"))], "is public"),
        (lambda: [customers(), nations(limits=ROWS)], "takes no limits"),
        (lambda: [customers(), nations(unique=["name"])], "has no column 'name'"),
        (lambda: [customers(), orders(unique=["id"])], "is private"),
        (lambda: [customers(columns={"agee": None})], "'agee'"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(
    tmp_path: Path, declare: Callable[[], list[Any]], message: str
) -> None:
    """Before an account is opened, in words that name the table and the cause."""
    with pytest.raises(InvalidArgument, match=message) as caught:
        shop(tmp_path, *declare())
    assert not list(tmp_path.iterdir())
    assert caught.value.message


def test_what_belongs_to_a_table_is_not_said_of_the_list(tmp_path: Path) -> None:
    """A unit, columns, limits or ceiling beside a list would be ignored, so they're refused."""
    for extra in ({"unit": dp.Unit("id")}, {"columns": {}}, {"limits": ROWS}, {"row_ceiling": 5}):
        with pytest.raises(InvalidArgument, match="belong to each table"):
            dp.protect([customers()], name="s", budget=dp.Budget(1), ledger=tmp_path / "l", **extra)


def test_one_table_needs_a_unit(tmp_path: Path) -> None:
    """Whose presence is hidden has no default."""
    with pytest.raises(InvalidArgument, match="whose presence should be hidden") as caught:
        dp.protect(CUSTOMERS, name="c", budget=dp.Budget(1), ledger=tmp_path / "l")
    assert "Unit.row()" in caught.value.hint


def test_declarations_can_be_said_in_short(tmp_path: Path) -> None:
    """A pair is bounds, a list keys, a number ε, a text the column of the unit: the same tables and the same budget."""
    data = pa.table({"id": [1, 1, 2], "age": [30, 31, 50], "sex": ["f", "f", "m"], "on": [date(2024, 1, 1)] * 3})
    limits, days = dp.Limits(rows=5), (date(2024, 1, 1), date(2024, 12, 31))
    short = dp.protect(
        data,
        name="t",
        unit="id",
        columns={"age": (0, 110), "sex": ["f", "m"], "on": days},
        budget=3,
        analysts={"ann": "0.5"},
        limits=limits,
        ledger=tmp_path / "short.ledger",
    )
    long = dp.protect(
        data,
        name="t",
        unit=dp.Unit("id"),
        columns={"age": dp.Bounds(0, 110), "sex": dp.Keys(["f", "m"]), "on": dp.Bounds(*days)},
        budget=dp.Budget(epsilon=3),
        analysts={"ann": dp.Budget(epsilon="0.5")},
        limits=limits,
        ledger=tmp_path / "long.ledger",
    )
    assert short.dataset.tables == long.dataset.tables
    assert (short.dataset.budget, short.dataset.analysts) == (long.dataset.budget, long.dataset.analysts)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"unit": 3}, "a unit must be a Unit or the name of a column, not int"),
        ({"unit": "who"}, "table 't' has no column 'who'"),
        ({"unit": "row"}, "table 't' has no column 'row'"),
        ({"budget": [3]}, "a budget must be a number, not list"),
        ({"budget": True}, "a budget must be a number, not bool"),
        ({"budget": np.True_}, "a budget must be a number, not bool"),
        ({"budget": -1}, "epsilon must be above 0"),
        ({"analysts": {"ann": None}}, "a budget must be a number, not NoneType"),
        ({"analysts": ["ann"]}, "analysts are declared by name, not by a list"),
        ({"analysts": {3: 1}}, "names, which are strings, not int"),
        ({"limits": 50}, "limits must be Limits, not int"),
        ({"columns": ["id"]}, "columns are declared by name, not by a list"),
        ({"columns": {3: (0, 1)}}, "names, which are strings, not int"),
        ({"columns": {"id": (0, 1), "ID": (0, 2)}}, "columns name 'ID' twice, as 'id' too"),
        ({"columns": {"idd": (0, 1)}}, "no column 'idd'"),
        ({"columns": {"id": (0, 1, 2)}}, "column 'id' is declared by a tuple of 3"),
        ({"columns": {"id": ("a", "b")}}, "column 'id': lo must be a number"),
        ({"columns": {"id": ("2024-01-01", "2024-12-31")}}, "column 'id': lo must be a number"),
        ({"columns": {"id": (pd.NaT, pd.NaT)}}, "column 'id': bounds must be two dates"),
        ({"columns": {"id": (9, 0)}}, "column 'id': bounds are in the wrong order"),
        ({"columns": {"id": (True, False)}}, "column 'id': lo must be a number"),
        ({"columns": {"id": {1, 2}}}, "column 'id' is declared by a set"),
        ({"columns": {"id": range(9)}}, "column 'id' is declared by a range"),
        ({"columns": {"id": {1: 2}}}, "column 'id' is declared by a dict"),
        ({"columns": {"id": np.array([1, 2])}}, "column 'id' is declared by a ndarray"),
        ({"columns": {"id": pd.Index([1, 2])}}, "column 'id' is declared by a Index"),
        ({"columns": {"id": "0-100"}}, "column 'id' is declared by a str"),
        ({"columns": {"id": []}}, "column 'id': keys must not be empty"),
        ({"columns": {"id": [1, "a"]}}, "column 'id': keys must be of one kind"),
        ({"adjacency": "bounded"}, "there is no adjacency 'bounded'"),
        ({"row_ceiling": 1e6}, "row_ceiling must be a whole number from 1 to 2⁴⁸"),
        ({"time_zone": 1}, "time_zone must be a string, not int"),
        ({"ledger": 3}, "ledger must be a path, not int"),
        ({"snapshots": 3}, "snapshots must be a path, not int"),
        ({"name": 3}, "name must be a string, not int"),
        ({"colums": {"id": (0, 1)}}, "protect takes no argument 'colums'"),
        ({"columns": {"id": (0,)}}, "column 'id' is declared by a tuple of 1"),
    ],
    ids=str,
)
def test_what_says_nothing_is_refused(tmp_path: Path, changed: dict[str, Any], cause: str) -> None:
    """By a typed error that says what would do; nothing is ignored."""
    declared = {"name": "t", "unit": "id", "limits": dp.Limits(rows=1), "budget": 1, "ledger": tmp_path / "l"}
    with pytest.raises(InvalidArgument, match=cause) as caught:
        dp.protect(pa.table({"id": [1, 2]}), **declared | changed)
    assert caught.value.hint
    assert not (tmp_path / "l").exists()


def test_what_numpy_and_pandas_make_is_as_good_as_pythons(tmp_path: Path) -> None:
    """Frames are full of their numbers, texts and times; a word for the adjacency is the relation that it names."""
    frame = pd.DataFrame({"id": [1, 2], "at": pd.to_datetime(["2024-01-01", "2024-06-01"]), "sex": ["f", "m"]})
    with dp.protect(
        frame,
        name="t",
        unit=dp.Unit.row(),
        columns={
            "id": (np.int64(0), np.float64(9)),
            "at": (frame["at"].min(), pd.Timestamp(2025, 1, 1)),
            "sex": list(np.array(["f", "m"])),
        },
        budget=np.int64(3),
        adjacency="substitution",  # type: ignore[arg-type]  # as the configuration has it
        ledger=tmp_path / "l",
    ) as tables:
        assert tables.dataset.adjacency is dp.SUBSTITUTION
        assert tables.dataset.budget == dp.Budget(epsilon=3)
        declared = [tables.dataset.tables[0].column(name) for name in ("id", "at", "sex")]
        assert [each.bounds for each in declared[:2]] == [
            dp.Bounds(0, 9),
            dp.Bounds(datetime(2024, 1, 1), datetime(2025, 1, 1)),
        ]
        assert declared[2].keys == dp.Keys(["f", "m"])


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        (lambda: dp.load(3), "path must be a path, not int"),  # type: ignore[arg-type]  # — what is refused
        (lambda: dp.load("t.toml", create=True), "load takes no argument 'create'"),  # type: ignore[call-arg]  # — as above
        (lambda: dp.protect(CUSTOMERS), "protect needs name"),  # type: ignore[call-arg]  # — as above
        (lambda: customers(unique=3), "unique columns are named by strings"),
        (lambda: customers(links=["id"]), "links are declared by name, not by a list"),
        (lambda: customers(links={"id": ("a",)}), "must be a table and its column"),
        (lambda: dp.Keys(3), "keys must be a list of values, not int"),  # type: ignore[arg-type]  # — as above
        (lambda: dp.Unit(3), "a unit's column must be a name, not int"),  # type: ignore[arg-type]  # — as above
    ],
)
def test_other_calls_are_refused_alike(wrong: Callable[[], object], cause: str) -> None:
    """Where nothing is opened yet, too."""
    with pytest.raises(InvalidArgument, match=cause) as caught:
        wrong()
    assert caught.value.hint


def test_terms_are_read_as_declarations_are(tmp_path: Path) -> None:
    """A pair is bounds beside a question, too; what isn't said by column is refused before anything is charged."""
    with shop(tmp_path, customers(columns={"age": (0, 125)})) as protected:
        question = "SELECT SUM(age) AS s FROM customers"
        pair, bounds = (protected.plan(question, epsilon=1, bounds={"age": each}) for each in ((0, 9), dp.Bounds(0, 9)))
        assert pair.digest == bounds.digest
        for wrong in ({"bounds": [("age", (0, 9))]}, {"weights": 3}, {"bounds": {"age": 9}}, {"bounds": {"age": (0,)}}):
            with pytest.raises(InvalidArgument) as caught:
                protected.plan(question, epsilon=1, **wrong)  # type: ignore[arg-type]  # — what is refused
            assert caught.value.hint


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ({"kind": "number"}, "there is no kind 'number'"),
        ({"kind": "integer", "bounds": (0, 1)}, "bounds of the column must be Bounds, not tuple"),
        ({"kind": "integer", "keys": [1]}, "keys of the column must be Keys, not list"),
        ({"kind": "timestamp", "time_zone": 1}, "time_zone of the column must be a text, not int"),
    ],
    ids=str,
)
def test_a_column_is_declared_in_words_of_ours(said: dict[str, Any], cause: str) -> None:
    """One that says everything is checked where it is made."""
    with pytest.raises(InvalidArgument, match=cause) as caught:
        dp.Column(**said)
    assert caught.value.hint


def test_sources_that_are_none_are_refused(tmp_path: Path) -> None:
    """Something that isn't a table, or a file that isn't there, in any place of the list."""
    with pytest.raises(SourceUnsupported):
        shop(tmp_path, customers(), orders({"id": [1]}))
    with pytest.raises(SourceError):
        shop(tmp_path, customers(), orders(tmp_path / "nothing.parquet"))


def counted(protected: dp.Protected, sql: str) -> int:
    """What a count gives; without noise, in these tests."""
    return int(protected.ask(sql, epsilon=1)["n"][0])


@pytest.mark.usefixtures("noiseless")
def test_whose_rows_count(tmp_path: Path) -> None:
    """Rows of nobody don't count; those of two owners count for each; an id needs no row in the table it names."""
    bought = pa.table({"id": [10, 11, 11, 13, 14], "customer_id": [1, 1, 2, 99, None]})
    items = pa.table({"order_id": [10, 11, 12, 13, 14, None], "quantity": [1, 2, 3, 4, 5, 6]})
    parts = dp.table(items, name="items", links={"order_id": "orders.id"}, limits=ROWS)
    with shop(tmp_path, customers(), orders(bought), parts) as protected:
        assert counted(protected, "SELECT COUNT(*) AS n FROM orders") == 4  # 99 is somebody, NULL is nobody
        assert counted(protected, "SELECT COUNT(*) AS n FROM items") == 4  # order 11 is of two, 12 and 14 of nobody
        assert counted(protected, "SELECT COUNT(*) AS n FROM items WHERE quantity = 2") == 2
        assert counted(protected, "SELECT COUNT(*) AS n FROM items WHERE quantity IN (3, 5, 6)") == 0
        joined = "SELECT COUNT(*) AS n FROM items JOIN orders ON items.order_id = orders.id"
        assert counted(protected, joined) == 4  # units meet their own rows only


@pytest.mark.usefixtures("noiseless")
def test_the_greatest_limits_are_in_force(tmp_path: Path) -> None:
    """Of one table its own limits hold, of several the greatest: what is beyond weighs no more."""
    many = pa.table({"id": range(40), "customer_id": [1] * 40})
    with shop(tmp_path, customers(limits=dp.Limits(rows=20)), orders(many)) as protected:
        assert counted(protected, "SELECT COUNT(*) AS n FROM orders") == 10
        joined = "SELECT COUNT(*) AS n FROM orders JOIN customers ON orders.customer_id = customers.id"
        assert counted(protected, joined) == 20


def test_units_of_different_kinds_never_meet(tmp_path: Path) -> None:
    """Ids that are numbers and ids that are texts can't be one unit: refused when planned, for it costs to fail."""
    doctors = pa.table({"code": ["1", "2", "x"], "age": [30, 40, 50]})
    staff = dp.table(doctors, name="doctors", unit=dp.Unit("code"), limits=ROWS)
    with shop(tmp_path, customers(), staff) as protected:
        both = "SELECT COUNT(*) AS n FROM (SELECT age FROM customers UNION ALL SELECT age FROM doctors) AS people"
        with pytest.raises(Unsupported, match="different units"):
            protected.plan(both, epsilon=1)
        assert protected.plan("SELECT COUNT(*) AS n FROM doctors", epsilon=1).cost


def test_a_public_table_that_is_not_unique_as_declared(tmp_path: Path) -> None:
    """Found out by its custodian, when it is admitted."""
    twice = pa.table({"code": ["FR", "FR"], "continent": ["Europe", "Asia"]})
    with pytest.raises(SchemaMismatch, match="occurs in it twice"):
        shop(tmp_path, customers(), nations(twice))


CONFIG = """
name = "shop"
ledger = "shop.ledger"
adjacency = "add_remove"
budget = { epsilon = 10 }

[tables.nations]
source = "nations.csv"
public = true
unique = ["code"]
columns = { code = { kind = "text" }, continent = { kind = "text" } }

[tables.customers]
source = "customers.parquet"
unit = "id"
limits = { rows = 1 }
columns = { id = { kind = "integer" }, age = { kind = "integer", bounds = [0, 125] } }

[tables.orders]
source = "orders.parquet"
links = { customer_id = "customers.id" }
limits = { rows = 10 }
columns = { customer_id = { kind = "integer" }, total = { kind = "real", bounds = [0, 100] } }
"""


def config(tmp_path: Path, text: str = CONFIG) -> Path:
    """A configuration with its files beside it."""
    csv.write_csv(NATIONS, tmp_path / "nations.csv")
    parquet.write_table(CUSTOMERS, tmp_path / "customers.parquet")
    parquet.write_table(ORDERS, tmp_path / "orders.parquet")
    file = tmp_path / "discreet.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_opens_its_private_tables_by_name(tmp_path: Path) -> None:
    """All of them are one account; public ones can be named in questions, and aren't opened on their own."""
    shop = dp.load(config(tmp_path), create_ledger=True)
    assert shop["customers"] is shop["orders"] is shop
    for missing in ("nations", "nobody"):
        with pytest.raises(InvalidArgument, match="there is no private table"):
            shop[missing]
    with pytest.raises(TypeError):
        list(shop)  # type: ignore[call-overload]  # which is the point
    with shop as protected:
        for question in ("SELECT SUM(age) AS s FROM customers", "SELECT SUM(total) AS s FROM orders"):
            assert protected.ask(question, epsilon=1).entry
        assert protected.spent.epsilon == 2


def test_a_file_that_contradicts_itself_opens_nothing(tmp_path: Path) -> None:
    """The error names the key, and no account is begun."""
    with pytest.raises(ConfigError, match=r"tables\.orders\.links\.customer_id: "):
        dp.load(config(tmp_path, CONFIG.replace("customers.id", "customers.nr")), create_ledger=True)
    assert not (tmp_path / "shop.ledger").exists()


def test_a_declared_column_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    """What the schema of any table in the question lacks is found out before anything is charged."""
    text = CONFIG.replace("total =", "sum =")
    with dp.load(config(tmp_path, text), create_ledger=True)["orders"] as protected:
        with pytest.raises(SchemaMismatch):
            protected.ask("SELECT SUM(sum) AS s FROM orders", epsilon=1)
        assert protected.spent.epsilon == 0


def test_a_column_is_named_once(tmp_path: Path) -> None:
    """By its key; a `Column` may say it again, in any case, and nothing else."""

    def opened(column: dp.Column) -> dp.Protected:
        return dp.protect(
            pa.table({"Pay": [1.5, 2.5]}),
            name="t",
            unit=dp.Unit.row(),
            columns={"pay": column},
            budget=dp.Budget(epsilon=10),
            ledger=tmp_path / "l",
        )

    for name in ("", "Pay", "PAY"):
        with opened(dp.Column(name=name, kind=dp.Kind.REAL, bounds=dp.Bounds(0, 9))) as protected:
            assert [str(column) for column in protected.dataset.tables[0].columns] == ["Pay real in [0, 9]"]
    with pytest.raises(InvalidArgument, match="declared as one called 'age'"):
        opened(dp.Column(name="age", kind=dp.Kind.REAL))


def test_tables_without_limits_leave_them_to_each_question(tmp_path: Path) -> None:
    """One row isn't a guess that is made for them."""
    with shop(tmp_path, customers(limits=None), orders(limits=None)) as protected:
        assert [table.limits for table in protected.dataset.tables] == [None, None]
        assert protected.plan("SELECT COUNT(*) AS n FROM orders", epsilon=1).profiles
