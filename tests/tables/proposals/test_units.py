"""Links proposed by names alone: those that say whose a row is, never a circle, and no part of the data in them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import Unit
from discreet.tables import Column, Kind, Source, loads
from discreet.tables.proposals import (
    ColumnProfile,
    DataProfile,
    Proposal,
    ProposalInput,
    TableProposal,
    propose_together,
)
from discreet.tables.schema.database_schema import DatabaseSchema, ForeignKey


def look(name: str, columns: str, profile: DataProfile | None = None) -> ProposalInput:
    """A look at a table of whole numbers; columns apart by spaces, texts with a `$` behind."""
    kinds = [(column.rstrip("$"), Kind.TEXT if column.endswith("$") else Kind.INTEGER) for column in columns.split()]
    schema = tuple(Column(name=column, kind=kind) for column, kind in kinds)
    return ProposalInput(columns=schema, source=Source.of(f"/data/{name}.parquet"), profile=profile)


def proposed(unit: str | None = None, **tables: str) -> dict[str, TableProposal]:
    """What is proposed for tables of these columns."""
    proposal = propose_together([look(*table) for table in tables.items()], unit=unit)
    assert loads(proposal.to_toml()) == proposal.dataset
    return {each.table.name: each for each in proposal.tables}


def links(unit: str | None = None, **tables: str) -> list[str]:
    """The links that are proposed."""
    found = proposed(unit, **tables)
    return [f"{name}: {link}" for name, each in found.items() for link in each.table.links]


def test_a_shop() -> None:
    """Customers own orders, orders have items; what nobody owns is left as it is, with a word on what it may be."""
    found = proposed(
        customers="id name$ city$", orders="id customer_id total", items="order_id product_id qty", products="id price"
    )
    assert [str(link) for each in found.values() for link in each.table.links] == [
        "customer_id → customers.id",
        "order_id → orders.id",
    ]
    assert (found["customers"].table.unit, found["products"].table.unit) == (Unit("id"), Unit("id"))
    assert found["orders"].table.unit is None
    assert found["orders"].table.limits is None
    assert [str(link) for link in found["items"].choice.also] == ["product_id → products.id"]


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"orders": "id customer_id", "customers": "id age"}, ["orders: customer_id → customers.id"]),
        ({"customer": "customer_id", "orders": "customer_id"}, ["orders: customer_id → customer.customer_id"]),
        ({"Companies": "id", "Users": "ID companyId"}, []),
        ({"patients": "PatientID$", "Labs": "patientid$"}, ["Labs: patientid → patients.PatientID"]),
        ({"patients": "id$", "labs": "patient_id"}, []),
        ({"visits": "person_id", "labs": "person_id"}, []),
        ({"households": "id", "people": "household_id", "jobs": "person_id"}, ["people: household_id → households.id"]),
        ({"orders": "id total", "items": "order_id"}, ["items: order_id → orders.id"]),
        ({"products": "id category_id", "categories": "id"}, []),
        ({"a": "b_id", "b": "a_id"}, []),
        ({"a": "id b_id", "b": "id a_id"}, []),
        (
            {"users": "id", "messages": "user_id thread_id", "threads": "id user_id"},
            ["messages: user_id → users.id", "threads: user_id → users.id"],
        ),
    ],
)
def test_what_names_suggest(tables: dict[str, str], expected: list[str]) -> None:
    """A column called like a table and `id` leads there if that says more of whose a row is, and kinds agree."""
    assert links(**tables) == expected


@pytest.mark.parametrize(
    ("tables", "keys", "expected"),
    [
        ({"stays": "nr who", "patients": "id"}, ["stays.who patients.id"], ["stays: who → patients.id"]),
        ({"stays": "nr who", "patients": "id"}, [], []),
        # Of several, one that leads to people; names tell of no column that the database tells of.
        (
            {"stays": "nr ward who", "patients": "id", "wards": "id"},
            ["stays.ward wards.id", "stays.who patients.id"],
            ["stays: who → patients.id"],
        ),
        (
            {"stays": "nr patient_id", "patients": "id", "guests": "nr person_id"},
            ["stays.patient_id guests.nr"],
            ["stays: patient_id → guests.nr"],
        ),
        # A table of people may lead to itself or in a circle; a key to a table or of a kind that isn't there is none.
        (
            {"patients": "id mother stay", "stays": "nr who"},
            ["patients.mother patients.id", "patients.stay stays.nr", "stays.who patients.id"],
            ["stays: who → patients.id"],
        ),
        ({"stays": "nr who$", "patients": "id"}, ["stays.who patients.id"], []),
        ({"stays": "nr who", "patients": "id"}, ["stays.who people.id", "stays.he patients.id"], []),
    ],
)
def test_a_database_declares_links(tables: dict[str, str], keys: list[str], expected: list[str]) -> None:
    """Its foreign keys, whatever their columns are called."""
    looks = []
    for name, columns in tables.items():
        own = [key.partition(".")[2] for key in keys if key.partition(".")[0] == name]
        found = [(column, *there.split(".")) for column, there in (key.split(" ") for key in own)]
        schema = DatabaseSchema(links=tuple(ForeignKey(column=c, table=table, to=to) for c, table, to in found))
        source = Source.of("postgresql://localhost/clinic", table=name)
        looks.append(replace(look(name, columns), source=source, schema=schema))
    proposal = propose_together(looks)
    assert loads(proposal.to_toml()) == proposal.dataset
    assert [f"{each.name}: {link}" for each in proposal.dataset.tables for link in each.links] == expected


def test_a_custodian_names_the_unit_of_the_first_table() -> None:
    """Other tables are linked to it where a column is called like it; `row` is linked to by none."""
    tables = {"members": "nr age", "loans": "nr book", "books": "id"}
    assert links("nr", **tables) == ["loans: nr → members.nr"]
    assert links("row", **tables) == []
    with pytest.raises(InvalidArgument, match="no column 'isbn'"):
        links("isbn", **tables)


def test_the_file_says_that_a_link_is_a_guess() -> None:
    """Marked for review, with its reason; columns that links join are declared by their kind alone."""
    proposal = propose_together([look("customers", "id"), look("orders", "customer_id shop_id"), look("shops", "id")])
    text = proposal.to_toml()
    assert "# REVIEW: judging by its name alone, customer_id links to customers.id" in text
    assert 'links = { customer_id = "customers.id" }' in text
    assert "# shop_id looks like a link to shops.id: if everyone may know shops, declare it public = true" in text
    assert 'customer_id = { kind = "integer" }  # schema: the link: tells whose row it is' in text


def test_two_tables_of_one_name_are_refused() -> None:
    """Questions couldn't tell them apart."""
    with pytest.raises(InvalidArgument, match="two tables of one name"):
        propose_together([look("people", "id"), look("people", "id")])


words = st.sampled_from(
    ["id", "a_id", "b_id", "c_id", "person_id", "user", "age$", "a_id$", "id$", "household_id", "nr"]
)
shapes = st.lists(st.lists(words, min_size=1, max_size=5, unique=True).map(" ".join), min_size=1, max_size=5)
called = ["a", "b", "person", "users", "households"]


def together(
    shape: list[str], profile: DataProfile | None = None, unit: str | None = None
) -> Proposal | InvalidArgument:
    """The proposal for tables of these columns."""
    looks = [look(name, columns, profile) for name, columns in zip(called, shape, strict=False)]
    try:
        return propose_together(looks, unit=unit)
    except InvalidArgument as error:
        return error


@given(shapes, st.sampled_from([None, "row", "nr", "id"]))
def test_any_names_lead_to_a_file_that_loads(shape: list[str], unit: str | None) -> None:
    """Whatever tables and columns are called: the dataset stands, each row has an owner, and the text says it all."""
    found = together(shape, unit=unit)
    if isinstance(found, InvalidArgument):
        assert any(words in found.message for words in ("two columns named", "no column", "can't identify"))
        return
    assert loads(found.to_toml()) == found.dataset
    assert all(found.dataset.owner(table) is not None for table in found.dataset.tables)
    assert not any(table.public for table in found.dataset.tables)


@given(shapes, st.integers(-9, 9))
def test_the_data_has_no_part_in_links(shape: list[str], value: int) -> None:
    """Whatever is in the columns, the same links and units are proposed."""
    seen = DataProfile(
        columns={name: ColumnProfile(lo=value, hi=value, values=(value,)) for name in ("id", "a_id", "person_id", "nr")}
    )
    blind, looked = together(shape), together(shape, seen)
    assert isinstance(blind, Proposal) == isinstance(looked, Proposal)
    if isinstance(blind, Proposal) and isinstance(looked, Proposal):
        assert [each.choice for each in blind.tables] == [each.choice for each in looked.tables]
