"""Joins along a link: owners that the other side tells aren't looked up, and no answer differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from discreet.engine.duckdb import contributions
from discreet.engine.rewrites import eliminate_owner_joins
from discreet.privacy import Bounds, Keys, Limits
from discreet.query.ir import Column as Reference
from discreet.query.ir import Exact, Expr, Join, JoinKind, Key, Relation, Scan, Type, Where
from discreet.tables import Column, Kind
from support.engines import compiled_once
from support.hashes import HashOrder
from support.questions import AT_LEAST, BOTH, EQUAL, by_group, call, count, literal
from support.reference import answer
from support.shop import COLUMNS, Rows, Shop, data, engine, shop

LIMITS = Limits(rows=3)


def column(table: str, name: str) -> Reference:
    """A column of the shop."""
    return Reference(table, name, Type(COLUMNS[table][name]))


def scan(whose: Shop, name: str, *columns: str) -> Scan:
    """A table of the shop."""
    return Scan(whose.tables[name], columns, whose.owners[name], name)


def equal(one: tuple[str, str], other: tuple[str, str]) -> Expr:
    """Where two columns are equal."""
    return call(EQUAL, column(*one), column(*other))


ALONG = equal(("items", "order"), ("orders", "id"))


def items(whose: Shop) -> Relation:
    """Items with their parts; some of them filtered out."""
    beside = Join(
        scan(whose, "items", "order", "part", "qty"),
        scan(whose, "parts", "id", "kind"),
        JoinKind.LEFT,
        equal(("items", "part"), ("parts", "id")),
    )
    return Where(beside, call(AT_LEAST, column("items", "qty"), literal(0)))


def chain(whose: Shop, predicate: Expr = ALONG, *, turned: bool = False, kind: JoinKind = JoinKind.INNER) -> Exact:
    """Items, orders and, if they are anybody's, customers: joined along their links."""
    sides = [items(whose), scan(whose, "orders", "id", "customer", "status")]
    joined: Relation = Join(*(sides[::-1] if turned else sides), kind, predicate)
    if "customers" in whose.private:
        customers = scan(whose, "customers", "id", "region")
        joined = Join(joined, customers, JoinKind.INNER, equal(("orders", "customer"), ("customers", "id")))
    keys = (Key(name="kind", expr=column("parts", "kind"), values=("a", "b", None)),)
    return Exact(source=joined, keys=keys, measures=(count(),), limits=LIMITS, salt="")


def owned(asked: Exact) -> list[str]:
    """The tables whose owners are looked up."""
    return [scan.alias for scan in eliminate_owner_joins(asked).scans if scan.owner is not None]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("whose", ["household", "month", "customer"])
def test_owners_are_looked_up_once(whose: str, turned: bool) -> None:
    """In the table where they stand; those that a table says itself stay."""
    left = {"household": ["customers"], "month": ["orders"], "customer": ["orders", "customers"]}
    assert owned(chain(shop(whose, LIMITS), turned=turned)) == left[whose]


def test_elsewhere_they_are_looked_up_as_ever() -> None:
    """Where the join isn't along the link, keeps rows without partners, or may read ids otherwise than links do."""
    whose = shop("month", LIMITS)
    assert owned(chain(whose, call(BOTH, ALONG, column("items", "qty")))) == ["orders"]
    assert owned(chain(whose, equal(("items", "part"), ("orders", "id")))) == ["items", "orders"]
    assert owned(chain(whose, call(AT_LEAST, column("items", "order"), column("orders", "id")))) == ["items", "orders"]
    assert owned(chain(whose, kind=JoinKind.LEFT)) == ["items", "orders"]
    bounded = shop("month", LIMITS, {"orders.id": Column(name="id", kind=Kind.INTEGER, bounds=Bounds(1, 3))})
    assert owned(chain(bounded)) == ["items", "orders"]
    listed = shop("month", LIMITS, {"orders.id": Column(name="id", kind=Kind.INTEGER, keys=Keys([1, 3]))})
    assert owned(chain(listed)) == ["orders"]


QUESTIONS = {whose: chain(shop(whose, LIMITS)) for whose in ("household", "month", "customer")}
WITH: dict[int, Any] = {}
WITHOUT: dict[int, Any] = {}
"""What was compiled of these questions, with the elimination and without it."""


@pytest.mark.parametrize("whose", QUESTIONS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=data())
def test_no_answer_differs(whose: str, tables: dict[str, Rows]) -> None:
    """With the elimination, without it, and by brute force; ids that occur twice or lead nowhere among the rows."""
    asked = QUESTIONS[whose]
    wanted: Any = answer(asked, tables, HashOrder(asked))
    with compiled_once(WITH):
        assert by_group(engine(tables), asked) == wanted
    with pytest.MonkeyPatch.context() as patch, compiled_once(WITHOUT):
        patch.setattr(contributions, "eliminate_owner_joins", lambda exact: exact)
        assert by_group(engine(tables), asked) == wanted
