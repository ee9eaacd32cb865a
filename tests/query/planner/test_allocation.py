"""The split: no other shares of an offer make the worst column better."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.query.planner.allocation import split, worst
from support.effort import calls

NAMES = ["a", "b", "c", "d", "e"]
COLUMNS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.floats(0.1, 10), min_size=1, max_size=3), min_size=1, max_size=6
)
POWERS = pytest.mark.parametrize("power", [1, 2])


def equal(columns: list[dict[str, float]]) -> dict[str, Fraction]:
    """The same share for each measure."""
    names = sorted({name for column in columns for name in column})
    return dict.fromkeys(names, Fraction(1, len(names)))


@POWERS
@given(columns=COLUMNS)
def test_shares_add_up_to_one_and_are_no_worse_than_equal_ones(power: int, columns: list[dict[str, float]]) -> None:
    """Exactly 1; and the worst error is at most that of the equal split, but for rounding to three digits."""
    found = split(columns, power)
    assert sum(found.values()) == 1
    assert min(found.values()) > 0
    assert worst(columns, found, power) <= worst(columns, equal(columns), power) * 1.002
    assert max(share.denominator for share in found.values()) < 10**8
    assert split(columns, power) == found


@POWERS
@given(columns=COLUMNS)
def test_no_small_change_makes_the_worst_column_better(power: int, columns: list[dict[str, float]]) -> None:
    """A general solver, started from the split, finds nothing that is better by more than a quarter of a per cent."""
    found = split(columns, power)
    names = list(found)
    if len(names) == 1:
        assert found == {names[0]: 1}
        return

    def error(logs: list[float]) -> float:
        sizes = {name: exp(one) for name, one in zip(names, logs, strict=True)}
        total = sum(sizes.values())
        return worst(columns, {name: Fraction(size / total) for name, size in sizes.items()}, power)

    start = [log(found[name]) for name in names]
    better = minimize(error, start, method="Nelder-Mead", options={"maxiter": 400})
    assert worst(columns, found, power) <= better.fun * 1.0025


@POWERS
@given(columns=COLUMNS, times=st.floats(1.5, 10))
def test_a_weight_makes_its_column_better(power: int, columns: list[dict[str, float]], times: float) -> None:
    """A column that counts for more, and then is the worst, gets no worse, but for rounding.

    One that isn't the worst even so may: where many splits are nearly as good, the others decide.
    """
    heavy = [{name: times * size for name, size in columns[0].items()}, *columns[1:]]
    before, after = split(columns, power), split(heavy, power)
    assume(worst(heavy[:1], before, power) == worst(heavy, before, power))
    assert worst(columns[:1], after, power) <= worst(columns[:1], before, power) * 1.0025


def test_equal_claims_get_equal_shares() -> None:
    """In the fewest digits."""
    assert split([{"a": 2.0}, {"b": 2.0}, {"c": 2.0}], power=2) == dict.fromkeys("abc", Fraction(1, 3))


def test_a_claim_of_next_to_nothing_still_gets_some() -> None:
    """Its noise would be more than can be drawn otherwise; a choice among one has no error at all."""
    assert split([{"a": 0.0}], power=2) == {"a": 1}
    assert 0 < split([{"a": 1.0, "b": 0.0}, {}], power=2)["b"] < Fraction(1, 900)
    found = split([{"a": 1.0}, {"b": 1e-12}], power=1)
    assert found["b"] >= Fraction(1, 1_002)


def test_the_split_is_quick() -> None:
    """Of what is offered, among twenty measures: some 1,200 calls of functions; at most twice that."""
    columns = [{f"m{n}": 1.0 + n % 5, f"m{(n * 7 + 3) % 20}": 0.5, "m0": 0.2} for n in range(20)]
    assert calls(lambda: split(columns, power=2)) < 2_400
