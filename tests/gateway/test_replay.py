"""Replay: with the mechanisms' outputs frozen, nothing that anybody sees tells neighbours apart."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.mechanisms import Gaussian, Laplace
from support.parted import change_parts
from support.replayed import Tape, debits, frozen, seen_of
from support.shop import Rows, arrow

pytestmark = pytest.mark.usefixtures("kept_sessions")

Data = Mapping[str, Rows]

GROUPS = [("a", date(2024, 2, 1)), ("b", date(2024, 2, 29)), (None, date(2024, 2, 1))]


def _customer(number: int) -> dict[str, Rows]:
    """A customer with orders and items, in all groups."""
    orders = [
        {"id": 10 * number + n, "customer": number, "status": status, "amount": 1.5 * n, "day": day}
        for n, (status, day) in enumerate(GROUPS)
    ]
    return {
        "customers": [{"id": number, "household": number % 3, "region": "ab"[number % 2], "age": number, "vip": True}],
        "orders": orders,
        "items": [
            {"order": order["id"], "part": n % 3, "qty": n, "price": 0.5} for order in orders for n in range(number % 4)
        ],
    }


def _poison() -> dict[str, Rows]:
    """A customer whose rows are the worst there are: extremes, NULLs, ids of others, links that lead nowhere."""
    worst = [float("nan"), float("inf"), float("-inf"), 1e300, None, -0.0]
    return {
        "customers": [{"id": 1, "household": None, "region": "a", "age": 2**63 - 1, "vip": None}] * 3,
        "orders": [
            {"id": number, "customer": 1, "status": status, "amount": amount, "day": day}
            for number, amount in zip([20, 20, 30, None, 2**63 - 1, -(2**63)], worst, strict=True)
            for status, day in [*GROUPS, ("b" * 2_000, date(1, 1, 1))]
        ],
        "items": [
            {"order": number, "part": -(2**63), "qty": 2**63 - 1, "price": price}
            for number in (2**63 - 1, -(2**63), None, 99)
            for price in worst
        ],
    }


PARTS: Rows = [{"id": number, "kind": "ab"[number % 2], "weight": float(number)} for number in range(3)]


@pytest.fixture(autouse=True)
def _other_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours lie in another number of parts."""
    change_parts(monkeypatch)


def _together(*units: Data) -> dict[str, Rows]:
    """The rows of several units, with the public ones."""
    tables = ("customers", "orders", "items")
    return {name: [row for unit in units for row in unit[name]] for name in tables} | {"parts": PARTS}


OTHERS = [_customer(number) for number in range(2, 8)]
BASE = _together(_customer(1), *OTHERS)
NEIGHBOURS = {"removed": _together(*OTHERS), "changed": _together(_poison(), *OTHERS)}


def _opened(data: Data, ledger: Path) -> dp.Protected:
    """The shop behind an account."""
    columns: dict[str, dict[str, Any]] = {
        "customers": {"age": dp.Bounds(0, 100), "region": dp.Keys(["a", "b"])},
        "orders": {"amount": dp.Bounds(0, 8), "day": dp.Bounds(date(2024, 1, 1), date(2024, 12, 31))},
        "items": {"qty": dp.Bounds(0, 5), "price": dp.Bounds(0, 1)},
        "parts": {"id": dp.Bounds(0, 3), "kind": dp.Keys(["a", "b"]), "weight": dp.Bounds(0, 3)},
    }
    declared: dict[str, dict[str, Any]] = {
        "customers": {"unit": dp.Unit("id"), "limits": dp.Limits(rows=1)},
        "orders": {"links": {"customer": "customers.id"}, "limits": dp.Limits(groups=2, rows_per_group=2)},
        "items": {"links": {"order": "orders.id"}, "limits": dp.Limits(rows=5)},
        "parts": {"public": True, "unique": ["id"]},
    }
    tables = [dp.table(arrow(name, data[name]), name=name, columns=columns[name], **declared[name]) for name in data]
    return dp.protect(tables, name="shop", budget=dp.Budget(epsilon=1000, delta=0.1), ledger=ledger)


def _joined(clause: str) -> str:
    """A count of joined rows."""
    return f"SELECT COUNT(*) AS n FROM {clause}"


QUESTIONS = {
    "count": "SELECT COUNT(*) AS n FROM orders",
    "sum": "SELECT region, SUM(age) AS s, AVG(age) AS a FROM customers GROUP BY region",
    "spread": "SELECT VAR_POP(amount) AS v, STDDEV_SAMP(amount) AS s FROM orders",
    "correlation": "SELECT CORR(amount, id) AS c FROM (SELECT amount, GREATEST(LEAST(id, 9), 0) AS id FROM orders)",
    "units": "SELECT COUNT(DISTINCT customer) AS n FROM orders",
    "distinct": "SELECT region, COUNT(DISTINCT age) AS n FROM customers GROUP BY region",
    "median": "SELECT region, MEDIAN(age) AS m FROM customers GROUP BY region",
    "extremes": "SELECT MIN(amount) AS lo, MAX(amount) AS hi, QUANTILE_CONT(amount, 0.9) AS q FROM orders",
    "mode": "SELECT MODE(region) AS m FROM customers",
    "top": "SELECT APPROX_TOP_K(qty, 2) AS t FROM items",
    "filter": "SELECT COUNT(*) FILTER (WHERE amount > 1) AS n FROM orders",
    "private keys": "SELECT status, COUNT(*) AS n FROM orders GROUP BY status",
    "rollup": "SELECT region, age > 3 AS old, COUNT(*) AS n FROM customers GROUP BY ROLLUP (region, old)",
    "having": "SELECT region, COUNT(*) AS n FROM customers GROUP BY region HAVING COUNT(*) > 2 ORDER BY n LIMIT 1",
    "inner": _joined("customers c JOIN orders o ON c.id = o.customer"),
    "left": "SELECT SUM(amount) AS s FROM customers c LEFT JOIN orders o ON c.id = o.customer",
    "right": "SELECT COUNT(region) AS n FROM customers c RIGHT JOIN orders o ON c.id = o.customer",
    "comma": _joined('orders o, items i WHERE o.id = i."order" AND i.qty > o.amount'),
    "self": _joined("orders a JOIN orders b USING (customer) WHERE a.amount < b.amount"),
    "semi": _joined("customers SEMI JOIN orders ON customers.id = orders.customer"),
    "anti": _joined('orders ANTI JOIN items ON orders.id = items."order"'),
    "public": 'SELECT kind, COUNT(*) AS n FROM items JOIN parts ON items."part" = parts.id GROUP BY kind',
    "inequality": _joined("items JOIN parts ON items.price < parts.weight"),
    "exists": _joined("customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND amount > 1)"),
    "not exists": _joined("customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)"),
    "in": _joined('orders WHERE id IN (SELECT "order" FROM items WHERE qty > 1)'),
    "not in": _joined('orders WHERE id NOT IN (SELECT "order" FROM items WHERE "order" IS NOT NULL)'),
    "derived": "SELECT AVG(x) AS a FROM (SELECT amount * 2 AS x FROM orders WHERE status = 'a')",
    "per unit": "SELECT AVG(t) AS a FROM (SELECT customer, LEAST(SUM(amount), 9) AS t FROM orders GROUP BY customer)",
    "per unit having": _joined("(SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 2)"),
    "summaries": "SELECT SUM(m) AS m, SUM(d) AS d FROM (SELECT customer, MEDIAN(amount) AS m, MIN(amount) AS d "
    "FROM orders GROUP BY customer)",
    "window": "SELECT SUM(x) AS s FROM (SELECT LAG(amount) OVER (PARTITION BY customer ORDER BY day) AS x FROM orders)",
    "qualify": _joined(
        "(SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) = 1)"
    ),
    "distinct rows": _joined("(SELECT DISTINCT customer, status FROM orders)"),
    "union": "SELECT SUM(x) AS s FROM (SELECT amount AS x FROM orders UNION ALL SELECT price FROM items)",
    "with": "WITH w AS (SELECT customer, amount FROM orders) SELECT COUNT(*) AS n FROM w JOIN w v USING (customer)",
    "narrowed": "SELECT age, COUNT(*) AS n FROM customers WHERE age BETWEEN 2 AND 5 GROUP BY age",
}
OFFERS: list[dict[str, Any]] = [
    {"epsilon": 1, "delta": 1e-6},
    {"rho": 1, "delta": 1e-6},
    {"epsilon": 1, "delta": 1e-6, "limits": "auto"},
]


@pytest.mark.parametrize("place", range(len(NEIGHBOURS)), ids=list(NEIGHBOURS))
def test_neighbours_are_told_apart_by_noise_alone(place: int, tmp_path: Path) -> None:
    """Same calls of the same mechanisms, same bytes out: answers, certificates, errors, debits, logs.

    Each neighbour is asked every other question.
    """
    asked = dict(islice(QUESTIONS.items(), place, None, len(NEIGHBOURS)))
    check_replay(list(NEIGHBOURS)[place], asked, OFFERS[0], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("offer", OFFERS, ids=["laplace", "gaussian", "auto"])
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_are_told_apart_by_noise_alone_at_length(name: str, offer: dict[str, Any], tmp_path: Path) -> None:
    """The same of all questions, for each kind of noise, and with limits that are chosen."""
    check_replay(name, QUESTIONS, offer, tmp_path)


def check_replay(name: str, questions: Mapping[str, str], offer: dict[str, Any], tmp_path: Path) -> None:
    """Ask a state of the tables, and with the same outputs of mechanisms its neighbour."""
    tape = Tape()
    with frozen(tape):
        before = _seen(BASE, questions, tmp_path / "base", offer)
        assert len(tape.lines) >= len(questions)
        tape.at = 0
        for construct, seen in _seen(NEIGHBOURS[name], questions, tmp_path / name, offer).items():
            assert seen == before[construct], construct
        assert tape.at == len(tape.lines)
        assert debits(tmp_path / name) == debits(tmp_path / "base")


def _seen(data: Data, questions: Mapping[str, str], ledger: Path, offer: dict[str, Any]) -> dict[str, list[str]]:
    """All that each question shows."""
    with closing(_opened(data, ledger)) as shop:
        return {name: seen_of(shop, question, ledger, **offer) for name, question in questions.items()}


SUM, PRIVATE = ({name: QUESTIONS[name]} for name in ("sum", "private keys"))


def test_limits_are_chosen_by_what_was_released(tmp_path: Path) -> None:
    """limits="auto": which limits a question gets follows from the profile's noisy numbers."""
    tape = Tape()
    with frozen(tape):
        before = _seen(BASE, SUM | PRIVATE, tmp_path / "base", OFFERS[2])
        tape.at = 0
        assert _seen(NEIGHBOURS["changed"], SUM | PRIVATE, tmp_path / "changed", OFFERS[2]) == before


def test_a_group_of_one_person_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private group that only one of the neighbours has is forgotten whole: not even how many there were is seen."""
    alone = _customer(1)
    alone["orders"] += [{"id": 99, "customer": 1, "status": "mine", "amount": 8.0, "day": None}]
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "release", _large_or_nothing)
    seen = [
        _seen(data, PRIVATE, tmp_path / str(number), OFFERS[0])["private keys"]
        for number, data in enumerate([_together(alone, *OTHERS), BASE, NEIGHBOURS["removed"]])
    ]
    assert "mine" not in str(seen)
    assert "'a'" in seen[0][1]
    assert seen[0] == seen[1] == seen[2]


def _large_or_nothing(_: Any, values: list[int]) -> list[int]:
    """A mechanism's output for groups of several people, and for those of one."""
    return [1_000 << 20 if value > 1 else 0 for value in values]


def _unnoised(_: Any, values: list[int]) -> list[int]:
    """An output that isn't on the tape."""
    return list(values)


def _sometimes(self: Any, values: list[int]) -> list[int]:
    """An output on the tape, and another one for many people: control flow that depends on them."""
    return self.twice(values) if sum(values) > 6 << 20 else self.once(values)


@pytest.mark.parametrize("twin", ["no noise", "another call"])
def test_replay_finds_what_goes_past_the_mechanisms(twin: str, tmp_path: Path) -> None:
    """The wrong twins: numbers without noise; and a mechanism that is called once more where there are many people."""
    count = {"count": "SELECT region, COUNT(*) AS n FROM customers GROUP BY region"}
    tape = Tape()
    with frozen(tape), pytest.MonkeyPatch.context() as patch:
        once = Laplace.release
        patch.setattr(Laplace, "once", once, raising=False)
        patch.setattr(Laplace, "twice", lambda *given: (once(*given), once(*given))[1], raising=False)
        patch.setattr(Laplace, "release", _unnoised if twin == "no noise" else _sometimes)
        before = _seen(BASE, count, tmp_path / "base", OFFERS[0])
        assert "QuestionFailed" not in str(before)
        tape.at = 0
        assert _seen(NEIGHBOURS["removed"], count, tmp_path / "removed", OFFERS[0]) != before
