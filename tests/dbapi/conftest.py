"""Tables for all who connect to them: people, their visits, and public cities."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlalchemy as sa

import discreet as dp
from discreet import dbapi
from support.dialect import register

PEOPLE = pa.table(
    {
        "id": range(60),
        "age": [20 + n for n in range(60)],
        "sex": ["f", "m", "o'"] * 20,
        "born": pa.array([0, 10_000] * 30, pa.date32()),
    }
)
VISITS = pa.table({"person": range(60), "cost": pa.array([Decimal("1.50")] * 60), "city": ["a", "b"] * 30})
CITIES = pa.table({"name": ["a", "b"], "big": [True, False]})


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """The tables, with a budget that no test uses up."""
    folder = tmp_path_factory.mktemp("dbapi")
    people = dp.table(
        PEOPLE,
        name="people",
        unit=dp.Unit("id"),
        limits=dp.Limits(rows=1),
        columns={"age": dp.Bounds(0, 120), "sex": dp.Keys(["f", "m", "o'"])},
    )
    visits = dp.table(
        VISITS,
        name="visits",
        links={"person": "people.id"},
        limits=dp.Limits(rows=1),
        columns={"cost": dp.Bounds(0, 100), "city": dp.Keys(list("abcdefghijklm"))},
    )
    with dp.protect(
        [people, visits, dp.table(CITIES, name="cities", public=True)],
        name="clinic",
        budget=dp.Budget(epsilon=10**6),
        ledger=folder / "clinic.ledger",
    ) as found:
        yield found


@pytest.fixture
def connection(tables: dp.Protected) -> Iterator[dbapi.Connection]:
    """A connection that pays well, so that answers are exact but for a chance below e⁻¹⁰⁰."""
    with dbapi.connect(tables, epsilon=200) as found:
        yield found


@pytest.fixture
def engine(tables: dp.Protected) -> Iterator[sa.Engine]:
    """The same for SQLAlchemy."""
    register()
    found = sa.create_engine("discreet://", creator=lambda: dbapi.connect(tables, epsilon=200))
    yield found
    found.dispose()
