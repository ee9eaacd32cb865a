"""Adaptive weights: what the guarantee rests on, by brute force over neighbours; and which groups are named."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.textbook import AdaptiveWeights
from discreet.stats import clopper_pearson
from discreet.textbook.mechanisms import adaptive_weights

GROUPS = "abc"
SETS = [set(names) for size in (1, 2, 3) for names in combinations(GROUPS, size)]
CAPS = [Fraction(1), Fraction(5, 4), Fraction(2)]
ALARM = 1e-10


def spread(units: Sequence[set[str]], cap: Fraction) -> dict[str, Fraction]:
    """The weights of groups."""
    return adaptive_weights._spread([sorted(names) for names in units], cap, Fraction)


def violations(tables: Sequence[Sequence[set[str]]]) -> int:
    """How often weights move by more than 1 as a unit is added, or a group that it alone has weighs too much."""
    found = 0
    for units in tables:
        for cap in CAPS:
            before = spread(units, cap)
            for unit in SETS:
                after = spread([*units, unit], cap)
                moved = sum(abs(after[name] - before.get(name, 0)) for name in after)
                own = unit - before.keys()
                found += moved > 1 or any(after[name] * len(own) > 1 for name in own)
    return found


TABLES = [list(units) for size in range(5) for units in combinations_with_replacement(SETS, size)]


def test_a_unit_moves_weights_by_at_most_1() -> None:
    """In all tables of up to four units over three groups, and for all units that are added to them."""
    assert violations(TABLES) == 0


def test_wrong_weights_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three wrong twins: nobody loses what is passed on, twice as much is, or nothing up to 1 above the cap."""
    right = adaptive_weights._spread

    def uncapped(units: Sequence[Sequence[str]], cap: Fraction, ratio: type[Fraction]) -> dict[str, Fraction]:
        first, whole = right(units, Fraction(10**6), ratio), right(units, cap, ratio)
        return {name: max(weight, first[name]) for name, weight in whole.items()}

    def twice(units: Sequence[Sequence[str]], cap: Fraction, ratio: type[Fraction]) -> dict[str, Fraction]:
        first = right(units, Fraction(10**6), ratio)
        kept = {name: min(weight, cap) for name, weight in first.items()}
        return {name: 2 * weight - kept[name] for name, weight in right(units, cap, ratio).items()}

    def abrupt(units: Sequence[Sequence[str]], cap: Fraction, ratio: type[Fraction]) -> dict[str, Fraction]:
        first, whole = right(units, Fraction(10**6), ratio), right(units, cap, ratio)
        return whole if max(first.values(), default=0) >= cap + 1 else first

    for wrong in (uncapped, twice, abrupt):
        monkeypatch.setattr(adaptive_weights, "_spread", wrong)
        assert violations(TABLES) > 0


def test_no_weight_is_lost_and_no_group_below_the_cap_loses() -> None:
    """Weights add up to the number of units, and what is below the cap is at least what units gave at first."""
    for units in TABLES:
        first = spread(units, Fraction(10**6))
        for cap in CAPS:
            weights = spread(units, cap)
            assert sum(weights.values()) == len(units)
            assert all(weights[name] >= min(weight, cap) for name, weight in first.items())


@pytest.mark.parametrize("l0", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(5)])
def test_groups_of_one_unit_pass_with_delta(epsilon: Fraction, l0: int) -> None:
    """For each number t of them, 1 − (1 − p)^t ≤ δ with p = Pr[noise ≥ ρ − 1/t]; for some t nearly δ."""
    delta = Fraction(1, 10**6)
    naming = AdaptiveWeights.calibrate(epsilon, delta, l0)
    passing = [1 - (1 - naming.mass(Fraction(1, t))) ** t for t in range(1, l0 + 1)]
    assert max(passing) <= float(delta) * (1 + 1e-9)
    assert max(passing) >= float(delta) * (1 - 1e-6)


def test_groups_are_named_as_often_as_is_said() -> None:
    """Over 3,000 draws near the threshold, with false alarms below 1e-9 in all; a weight 1 greater is found out."""
    naming = AdaptiveWeights.calibrate(2, "0.01", l0=2)
    units = [{"a", "b"}] * 4 + [{"a"}] * 3 + [{"c"}] * 2
    weights = naming.weights(units)
    assert sum(weights.values()) == 9
    assert weights["a"] < 5
    draws = [set(naming.release(units)) for _ in range(3000)]
    for name, weight in weights.items():
        low, high = clopper_pearson(sum(name in draw for draw in draws), len(draws), 1 - ALARM)
        assert low <= naming.mass(weight) <= high
        assert not low <= naming.mass(weight + 1) <= high


def test_rare_groups_are_helped() -> None:
    """Where units hold a frequent group beside a rare one, the rare one gets nearly all of their weight."""
    naming = AdaptiveWeights.calibrate(1, "1e-6", l0=2)
    units = [{"common", f"rare {i // 20}"} for i in range(1000)]
    assert naming.weights(units)["rare 3"] > 14 > naming.threshold - 1 > 20 * Fraction(1, 2)


def test_only_so_many_groups_of_a_unit_count() -> None:
    """The first in order, duplicates once; a unit without groups says nothing."""
    naming = AdaptiveWeights.calibrate(1, "1e-6", l0=2)
    assert naming.weights([["c", "a", "b", "a"], []]) == {"a": Fraction(1, 2), "b": Fraction(1, 2)}


@pytest.mark.parametrize("wrong", [{"l0": 0}, {"l0": 257}, {"l0": True}, {"epsilon": 0}, {"delta": 1}], ids=str)
def test_wrong_parameters_are_refused(wrong: dict[str, int]) -> None:
    """Before there is any data."""
    with pytest.raises(InvalidArgument):
        AdaptiveWeights.calibrate(**({"epsilon": 1, "delta": Fraction(1, 10**6)} | wrong))
