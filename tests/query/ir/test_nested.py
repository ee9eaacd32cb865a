"""Nested expressions: what holds of each function holds of functions of functions, on the worst rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.ir import FUNCTIONS, call, literal
from support.examples import examples
from support.poison import POOLS, Poisoned
from support.totality import CONSTANTS, PATTERNS, SHAPES, check, names_of

COLUMNS = tuple(pool.expr for pool in POOLS)
WHOLE = tuple(map(literal, (1, 2, 3, -2, 100_000, 2**31 - 1)))
STEPS = 40

ENGINE = Poisoned()


@st.composite
def expressions(draw: st.DrawFn) -> list[ir.Call]:
    """Expressions over three columns, each of earlier ones; calls that the types refuse are left out."""
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique_by=lambda column: column.name))
    known: list[ir.Expr] = [*columns, *CONSTANTS, *WHOLE, *PATTERNS]
    found: list[ir.Call] = []
    names = st.sampled_from(sorted(FUNCTIONS))
    for _ in range(STEPS):
        name = draw(names)
        # The latest expressions are drawn more often, so that trees grow deep.
        shape = draw(st.sampled_from(SHAPES[name]))
        args = [known[-1 - min(draw(st.integers(0, 60)), len(known) - 1)] for _ in shape]
        try:
            expr = call(name, *args)
        except QueryError:
            continue
        if isinstance(expr, ir.Call) and names_of(expr) and depth(expr) <= 6:
            found.append(expr)
            known.append(expr)
    return found


def depth(expr: ir.Expr) -> int:
    """How deep the expression is nested."""
    return 1 + max(map(depth, expr.args), default=0) if isinstance(expr, ir.Call) else 0


def check_all(exprs: list[ir.Call]) -> None:
    """Fail if one of the expressions is wrong anywhere."""
    groups: dict[tuple[str, ...], list[ir.Call]] = {}
    for expr in exprs:
        groups.setdefault(names_of(expr), []).append(expr)
    wrong = [problem for names, group in groups.items() for problem in check(ENGINE, group, names)]
    assert not wrong, "\n".join(problem[:600] for problem in wrong[:5])


@given(expressions())
@examples(100)
def test_nested_functions_are_total_and_in_range(exprs: list[ir.Call]) -> None:
    """No nesting of functions raises on any row, leaves its range, or differs from what Python computes."""
    check_all(exprs)


@pytest.mark.soak
@given(expressions())
@settings(max_examples=3_000)
def test_nested_functions_for_long(exprs: list[ir.Call]) -> None:
    """The same, for longer."""
    check_all(exprs)
