"""Poison rows: whatever a row holds, no function raises, and its result lies where its type says."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import duckdb
import ibis
import pytest

from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.ir import FUNCTIONS, call, literal
from support.poison import POOLS, TYPES, Poisoned, compiled
from support.totality import SHAPES, check, names_of

COLUMNS = {pool.column.name: pool.expr for pool in POOLS}


def accepted(name: str) -> list[ir.Call]:
    """All calls of the function that its types allow, among its shapes."""
    found = []
    for shape in SHAPES[name]:
        for args in product(*shape):
            try:
                expr = call(name, *args)
            except QueryError:
                continue
            if isinstance(expr, ir.Call):
                found.append(expr)
    return found


def test_every_function_has_a_shape() -> None:
    """A function without poison can't be added."""
    assert set(SHAPES) == set(FUNCTIONS)


@pytest.fixture(scope="module")
def engine() -> Poisoned:
    """The products of pools, each made once for all functions."""
    return Poisoned()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_total_and_in_range(name: str, engine: Poisoned) -> None:
    """The function raises on no combination of poison values, keeps to its type, and is what Python computes."""
    calls = accepted(name)
    assert calls, "no arguments fit"
    groups: dict[tuple[str, ...], list[ir.Call]] = {}
    for expr in calls:
        groups.setdefault(names_of(expr), []).append(expr)
    wrong = [problem for names, exprs in groups.items() for problem in check(engine, exprs, names)]
    assert not wrong, f"{len(wrong)} wrong, such as\n" + "\n".join(problem[:400] for problem in wrong[:10])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_text_repeats_arguments_as_often_as_said(name: str) -> None:
    """No argument is written out more often than `copies`, by which the size of questions is limited."""
    table = ibis.table({pool.column.name: TYPES[pool.column.kind][1] for pool in POOLS}, name="poison")
    of_columns = []
    for expr in accepted(name):
        columns = [arg.name for arg in expr.args if isinstance(arg, ir.Column)]
        if columns and len(set(columns)) == len(columns) and not any(isinstance(arg, ir.Call) for arg in expr.args):
            of_columns.append((expr, columns))
    selected = table.select(**{f"r{number}": compiled(expr, table) for number, (expr, _) in enumerate(of_columns)})
    *texts, _ = re.split(r' AS "r\d+"', str(ibis.to_sql(selected, dialect="duckdb")))
    counts = [
        text.count(f'"t0"."{column}"')
        for text, (_, columns) in zip(texts, of_columns, strict=True)
        for column in columns
    ]
    assert max(counts, default=0) == FUNCTIONS[name].copies


def _broken(name: str, **changes: object) -> ir.Function:
    """A function with something wrong."""
    return replace(FUNCTIONS[name], **changes)  # type: ignore[arg-type]  # fields by name


def test_a_function_that_raises_is_noticed() -> None:
    """Without its guard, division of whole numbers by 0 raises in the engine."""
    remainder = _broken("remainder", compile=lambda left, right: left % right)
    expr = ir.Call(remainder, (COLUMNS["small"], COLUMNS["small"]), call("remainder", *[COLUMNS["small"]] * 2).type)
    with pytest.raises(duckdb.Error):
        check(Poisoned(), [expr], ("small",))


def test_a_range_that_is_too_narrow_is_noticed() -> None:
    """A range rule that forgets the greatest value fails the check."""
    add = call("add", COLUMNS["small"], literal(1))
    assert isinstance(add, ir.Call)
    narrow = replace(add, type=replace(add.type, hi=Fraction(1000)))
    assert check(Poisoned(), [add], ("small",)) == []
    assert len(check(Poisoned(), [narrow], ("small",))) == 1


def test_a_null_that_is_not_declared_is_noticed() -> None:
    """A type that says NOT NULL where a row is NULL fails the check."""
    add = call("add", COLUMNS["small"], literal(1))
    assert isinstance(add, ir.Call)
    assert len(check(Poisoned(), [replace(add, type=replace(add.type, nullable=False))], ("small",))) == 1


def test_an_evaluation_that_differs_is_noticed() -> None:
    """An `evaluate` that isn't what the engine computes fails the check."""
    wrong = _broken("add", evaluate=lambda left, right: None if left is None else left - right)
    add = call("add", COLUMNS["small"], literal(1))
    assert isinstance(add, ir.Call)
    assert check(Poisoned(), [replace(add, function=wrong)], ("small",))
