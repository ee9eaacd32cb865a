"""Losses against their definitions, row by row, and the laws that a search relies on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.columns import Coded, Codes, Mask
from discreet.anonymity.hierarchies import Ladder
from discreet.anonymity.loss import LOSSES, NCP, loss_named, losses_of
from discreet.anonymity.loss.loss import Level
from discreet.anonymity.loss.release_losses import Shown
from discreet.anonymity.models import KAnonymity, Model
from discreet.anonymity.reduce.lattice_problem import Problem
from discreet.anonymity.reduce.lattice_table import outcome_of, table_of
from discreet.errors import InvalidArgument
from support.examples import examples
from support.slow_generalising import FLOATS, Case, Met, cases

SIZES = st.integers(1, 4)


def problem(case: Case, name: str, k: int) -> Problem:
    """What a search would be given, with no limit of rows left out."""
    models: list[Model] = [KAnonymity(k)]
    table = table_of(read(case.columns()), case.hierarchies(), models)
    return table.problem(models, loss_named(name), len(case.rows))


def at_least(k: int) -> Met:
    """k-anonymity."""
    return lambda held, _: held.total() >= k


@examples(60)
@given(cases(), SIZES)
def test_a_node_loses_what_the_definitions_say(case: Case, k: int) -> None:
    """With what it leaves out, at all nodes, for all losses."""
    for name in LOSSES:
        asked = problem(case, name, k)
        for levels in case.nodes():
            found = asked.find(levels)
            assert found.loss is not None
            shown, slow = asked.meter.shown(found.loss), case.loss(name, levels, at_least(k), k)
            assert shown == pytest.approx(slow, abs=1e-9) if name in FLOATS else shown == slow


@examples(60)
@given(cases(), SIZES)
def test_losses_keep_the_laws_that_bounds_rest_on(case: Case, k: int) -> None:
    """Up: what is lost without leaving out never falls, what leaving out adds never rises; floors are below both."""
    for name in LOSSES:
        asked = problem(case, name, k)
        floors, slack = asked.meter.floors(), 1e-9
        facts = {levels: asked.find(levels) for levels in case.nodes()}
        for low, high in product(facts, facts):
            if all(a <= b for a, b in zip(low, high, strict=True)):
                assert facts[low].whole <= facts[high].whole + slack
                assert facts[low].surely_out >= facts[high].surely_out
                if asked.meter.antitone:
                    assert facts[low].surely_added + slack >= facts[high].surely_added >= 0
        for levels, fact in facts.items():
            assert floors[levels] <= fact.whole + slack
            assert fact.loss is not None
            assert fact.loss + slack >= fact.whole


@examples(60)
@given(cases(), SIZES)
def test_a_finished_release_loses_what_its_node_does(case: Case, k: int) -> None:
    """Read off the cells, as for algorithms that know no levels."""
    for levels in [next(iter(case.nodes())), case.heights]:
        asked = problem(case, "ncp", k)
        columns = read(case.columns())
        outcome = outcome_of(asked, levels)
        kept = outcome.kept([columns.column(f"q{place}").codes for place in range(len(levels))])
        held = case.kept(levels, at_least(k))
        shown = [
            _shown(columns.column(f"q{place}"), asked.ladders[place].maps[level], kept)
            for place, level in enumerate(levels)
        ]
        share = sum((Fraction(a, max(b, 1)) for a, b in zip(levels, case.heights, strict=True)), Fraction())
        found = losses_of(shown, np.array([h.total() for h in held.values()], np.int64), k, share / len(levels))
        assert set(found) == set(LOSSES) - {"arx", "arx_geometric"}  # which a release without a hierarchy doesn't have
        for name, loss in found.items():
            assert loss == pytest.approx(float(case.loss(name, levels, at_least(k), k)), abs=1e-9)


def _shown(column: Coded, groups: Codes, kept: Mask) -> Shown:
    """A column at a level."""
    number = int(groups.max()) + 1
    counts = np.bincount(groups[column.codes[kept]], minlength=number)
    return Shown(column=column, cells=Level(groups=groups, number=number), counts=counts)


@pytest.mark.parametrize(
    ("values", "groups", "widths"),
    [
        ([1, 3, 11], [0, 0, 1], [Fraction(1, 5), 0]),
        ([1.5, 2.5, 5.5], [0, 0, 1], [Fraction(1, 4), 0]),
        ([-2.0, 0.0, 2.0], [0, 0, 1], [Fraction(1, 2), 0]),
        ([Decimal("0.1"), Decimal("0.2"), Decimal("0.5")], [0, 0, 1], [Fraction(1, 4), 0]),
        ([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 5)], [0, 1, 1], [0, Fraction(3, 4)]),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2020, 1, 5)], [0, 1, 1], [0, Fraction(3, 4)]),
        (["a", "b", "c"], [0, 0, 1], [Fraction(1, 2), 0]),
        ([False, True], [0, 0], [1]),
        ([7], [0], [0]),
        ([1, 3, 11, None], [0, 0, 1, 1], [Fraction(1, 5), 1]),
        ([1, 3, 11, None], [0, 0, 0, 1], [1, 0]),
        ([None], [0], [0]),
        (["a", "b", None], [0, 1, 1], [0, Fraction(1, 2)]),
        ([0.0, 1.0, float("inf")], [0, 0, 1], [Fraction(1, 2), 0]),
        ([-1e308, 0.0, 1e308], [0, 0, 1], [Fraction(1, 2), 0]),
        ([0, 2**62, 2**63 - 1], [0, 0, 1], [Fraction(1, 2), 0]),
    ],
)
def test_widths_of_cells(values: Sequence[object], groups: list[int], widths: list[Fraction]) -> None:
    """Numbers and times by distance, other values by number; a cell that may be missing or a number has width 1."""
    column = read({"x": list(values)}).column("x")
    left = NCP().left(column, Level(groups=np.array(groups, np.int32), number=len(widths)))
    assert [1 - Fraction(int(part), left.unit) for part in left.parts] == widths


def test_scores_that_doubles_cannot_hold_are_in_doubt() -> None:
    """The tolerance says so, and integers stay exact."""
    sizes = [10_007, 10_009, 10_037, 10_039]
    table = read({f"q{i}": [f"{min(row, size - 1)}" for row in range(10_039)] for i, size in enumerate(sizes)})
    ladders = {name: _flat(table.column(name).size) for name in table.names}
    columns = [table.column(name) for name in table.names]
    meter = NCP().meter(columns, list(ladders.values()), [column.counts() for column in columns], 1)
    assert meter.tolerance > 0
    assert isinstance(meter.full, int)
    assert meter.shown(meter.floor((1, 1, 1, 1))) == 1
    assert meter.shown(meter.floor((1, 0, 1, 0))) == Fraction(1, 2)


def _flat(size: int) -> Ladder:
    """A ladder of two levels."""
    return Ladder(
        name="q",
        maps=(np.arange(size, dtype=np.int32), np.zeros(size, np.int32)),
        labels=(tuple(map(str, range(size))), ("*",)),
    )


def test_losses_have_names() -> None:
    """And others don't."""
    assert set(LOSSES) == {"ncp", "arx", "arx_geometric", "precision", "entropy", "discernibility", "class_size"}
    assert loss_named(NCP()) == LOSSES["ncp"]
    with pytest.raises(InvalidArgument, match="no loss 'height'") as error:
        loss_named("height")
    assert error.value.hint == "one of ncp, arx, arx_geometric, precision, entropy, discernibility, class_size"
