"""Whose a row is: found in one way, along links, or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import Budget, Limits, Unit
from discreet.tables import Column, Dataset, Kind, Link, Owner, Source, Table, owner_of
from discreet.tables.schema.dataset import MOST_HOPS


def table(
    name: str, *columns: str, unit: Unit | None = None, public: bool = False, real: str = "", **links: str
) -> Table:
    """A table of whole numbers, with links from column to `table.column`."""
    return Table(
        name=name,
        source=Source.of(f"{name}.parquet"),
        columns=tuple(Column(name=each, kind=Kind.REAL if each == real else Kind.INTEGER) for each in columns),
        unit=unit,
        public=public,
        links=tuple(Link.of(column, target) for column, target in links.items()),
    )


CUSTOMERS = table("customers", "id", "nation_id", unit=Unit("id"))
ORDERS = table("orders", "id", "customer_id", customer_id="customers.id")
ITEMS = table("items", "order_id", "product_id", order_id="orders.id", product_id="products.id")
PRODUCTS = table("products", "id", "price", public=True)
SHOP = (CUSTOMERS, ORDERS, ITEMS, PRODUCTS)


def shop(*tables: Table) -> Dataset:
    """A dataset of these tables."""
    return Dataset(name="shop", tables=tables, budget=Budget(1), ledger="l")


def test_owners_are_found_along_links() -> None:
    """A table's own unit; the id in the row where a link ends at it; else over as many tables as it takes."""
    assert owner_of(CUSTOMERS, SHOP) == Owner(Unit("id"))
    assert owner_of(ORDERS, SHOP) == Owner(Unit("customer_id"))
    assert str(owner_of(ITEMS, SHOP)) == "order_id → orders.id → customer_id"
    assert owner_of(PRODUCTS, SHOP) is None
    dataset = shop(*SHOP)
    assert [str(dataset.owner(each)) for each in SHOP] == [str(owner_of(each, SHOP)) for each in SHOP]
    assert dataset.private == SHOP[:3]


def test_a_period_is_found_with_its_id() -> None:
    """A link to a table of person-days is followed, even from the id: the day is there only."""
    visits = Table(
        name="visits",
        source=Source.of("visits.parquet"),
        columns=(
            Column(name="id", kind=Kind.INTEGER),
            Column(name="person", kind=Kind.TEXT),
            Column(name="at", kind=Kind.DATE),
        ),
        unit=Unit("person", per="day", at="at"),
    )
    drugs = table("drugs", "visit", visit="visits.id")
    owner = owner_of(drugs, (visits, drugs))
    assert owner is not None
    assert str(owner) == "visit → visits.id → person per day of at"
    assert owner.signature(drugs) == Owner(Unit("person", per="day", at="at")).signature(visits) == (Kind.TEXT, "day")


def test_what_units_have_in_common_to_be_equal() -> None:
    """The kind of the id is that of the table where the hops end; a row has none."""
    for each in SHOP[:3]:
        owner = owner_of(each, SHOP)
        assert owner is not None
        assert owner.signature(each) == (Kind.INTEGER, None)
    rows = table("rows", "x", unit=Unit.row())
    assert Owner(Unit.row()).signature(rows) == (None, None)


def test_a_unit_beside_a_link_that_says_the_same() -> None:
    """Both may be declared, in any case of letters, as long as they agree."""
    both = table("orders", "Customer_ID", unit=Unit("customer_id"), CUSTOMER_ID="Customers.ID")
    assert owner_of(both, (CUSTOMERS, both)) == Owner(Unit("customer_id"))


def test_the_order_of_tables_and_links_does_not_matter() -> None:
    """One way only: whichever table is declared first."""
    ways = {tuple(str(owner_of(each, SHOP[::step])) for each in (ITEMS, ORDERS)) for step in (1, -1)}
    assert len(ways) == 1


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ((ORDERS,), "linked to 'customers', which isn't declared"),
        ((table("customers", "key", unit=Unit("key")), ORDERS), "column 'id', which table 'customers' doesn't have"),
        ((table("customers", "id", "u", unit=Unit("u"), real="id"), ORDERS), "from integer values to real values"),
        ((table("customers", "id", unit=Unit.row()), ORDERS), "each row of table 'customers' is a unit of its own"),
        ((CUSTOMERS, PRODUCTS, table("likes", "p", p="products.id")), "nothing says whose the rows of table 'likes'"),
        (
            (CUSTOMERS, table("mail", "sender", "receiver", sender="customers.id", receiver="customers.id")),
            "the links sender → customers.id and receiver → customers.id of table 'mail' both say whose the rows are",
        ),
        (
            (CUSTOMERS, table("mail", "sender", "to", unit=Unit("sender"), to="customers.id")),
            "the unit of table 'mail' is sender, but its link to → customers.id says that rows belong to another",
        ),
        ((CUSTOMERS, table("events", "who", unit=Unit.row(), who="customers.id")), "the unit of table 'events' is row"),
        ((table("staff", "id", "boss", unit=Unit("id"), boss="staff.id"),), "says that rows belong to another"),
        ((CUSTOMERS, table("staff", "id", "boss", boss="staff.id")), "the links of table 'staff' lead in a circle"),
        ((CUSTOMERS, table("a", "x", x="b.x"), table("b", "x", x="c.x"), table("c", "x", x="b.x")), "lead in a circle"),
        ((PRODUCTS,), "public tables only"),
        ((CUSTOMERS, CUSTOMERS), "two tables of one name"),
        ((CUSTOMERS, table("CUSTOMERS", "id", unit=Unit("id"))), "two tables of one name"),
        ((CUSTOMERS, table("nations", "id", public=True), table("x", "y", y="nations.z")), "doesn't have"),
    ],
)
def test_what_has_no_owner_or_two_is_refused(tables: tuple[Table, ...], message: str) -> None:
    """Each in words of its own, naming the table, when the dataset is made."""
    with pytest.raises(InvalidArgument, match=message):
        shop(*tables)


def chain(length: int) -> tuple[Table, ...]:
    """Tables each linked to the one before."""
    linked = (table(f"t{n}", "id", "up", up=f"t{n - 1}.id") for n in range(1, length))
    return table("t0", "id", "person", unit=Unit("person")), *linked


def test_a_long_way_is_followed_and_an_endless_one_refused() -> None:
    """As many hops as are allowed, and no more; a chain of thousands is refused without being followed."""
    tables = chain(MOST_HOPS + 1)
    owner = owner_of(tables[-1], tables)
    assert owner is not None
    assert len(owner.hops) == MOST_HOPS
    assert shop(*tables)
    for length in (MOST_HOPS + 2, 5_000):
        with pytest.raises(InvalidArgument, match=f"further than {MOST_HOPS} tables"):
            shop(*chain(length))


@given(st.lists(st.lists(st.integers(0, 5), max_size=2, unique=True), min_size=2, max_size=6), st.integers(0, 5))
def test_any_links_have_one_way_or_are_refused(targets: list[list[int]], public: int) -> None:
    """Among any tables with any links: each private row's way ends at the unit, over links that are declared."""
    tables = [table("t0", "id", "person", unit=Unit("person"))]
    for n, leads in enumerate(targets[1:], start=1):
        links = {f"c{to}": f"t{to}.id" for to in leads}
        is_public = n == public and not links
        try:
            tables.append(table(f"t{n}", "id", *links, unit=None, public=is_public, **links))
        except InvalidArgument:
            assert not links
            return
    try:
        dataset = shop(*tables)
    except InvalidArgument as error:
        refused = error
    else:
        for each in dataset.private:
            owner = dataset.owner(each)
            assert owner is not None
            ways = [each.name, *(hop.table.name for hop in owner.hops)]
            assert ways[-1] == "t0"
            assert all(
                Link(hop.column, hop.table.name, hop.to)
                in dict(zip([t.name for t in tables], tables, strict=True))[at].links
                for at, hop in zip(ways, owner.hops, strict=False)
            )
        return
    assert refused.hint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: table("t", "x"), "nothing says whose the rows of table 't' are"),
        (lambda: table("t", "x", y="customers.id"), "has no column 'y'"),
        (lambda: table("t", "x", real="x", x="customers.id"), "column 'x' can't identify anyone"),
        (lambda: table("t", "x", x="customers.id", X="orders.id"), "two links from one column"),
        (lambda: table("t", "x", unit=Unit("x"), public=True), "is public, so it has no rows to protect"),
        (lambda: table("t", "x", public=True, x="customers.id"), "takes no links"),
        (lambda: Link.of("x", "customers"), "isn't a table and its column"),
        (lambda: Link.of("x", "a.b.c"), "isn't a table and its column"),
        (lambda: Link.of("x", ".id"), "isn't a table and its column"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(make: Callable[[], object], message: str) -> None:
    """Before any other table is known."""
    with pytest.raises(InvalidArgument, match=message):
        make()


def test_limits_and_unique_columns_belong_to_one_sort_of_table() -> None:
    """Limits to private tables; unique columns to public ones, where looking at the rows gives nothing away."""
    columns = (Column(name="id", kind=Kind.INTEGER),)
    source = Source.of("t.parquet")
    assert Table(name="t", source=source, columns=columns, unit=None, public=True, unique=("ID",)).unique == ("ID",)
    with pytest.raises(InvalidArgument, match="takes no limits"):
        Table(name="t", source=source, columns=columns, unit=None, public=True, limits=Limits(rows=2))
    with pytest.raises(InvalidArgument, match="would give something away"):
        Table(name="t", source=source, columns=columns, unit=Unit("id"), unique=("id",))
    with pytest.raises(InvalidArgument, match="has no column 'key'"):
        Table(name="t", source=source, columns=columns, unit=None, public=True, unique=("key",))
