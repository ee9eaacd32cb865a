"""Clipping: never longer than the bound, exactly, and neighbours' sums within the declared sensitivity."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.textbook import Clipping
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency

Norm = Literal["l1", "l2"]
norms = st.sampled_from(["l1", "l2"])
vectors = st.lists(st.integers(-(10**30), 10**30) | st.fractions(-100, 100, max_denominator=99), min_size=1, max_size=6)
bounds = st.fractions(1, 10**6, max_denominator=50)


def size(vector: list[Any], norm: str) -> Any:
    """The ℓ1 norm, or the square of the ℓ2 norm."""
    return sum(map(abs, vector)) if norm == "l1" else sum(value * value for value in vector)


@given(vectors, norms, bounds)
def test_what_comes_out_is_short_enough_and_as_long_as_it_can_be(
    vector: list[int | Fraction], norm: Norm, bound: Fraction
) -> None:
    """The norm is at most the bound; each coordinate is scaled and rounded towards zero, so it loses less than 1."""
    clipped = Clipping(norm=norm, bound=bound, coordinates=len(vector)).clip(vector)
    limit = bound if norm == "l1" else bound**2
    assert {type(value) for value in clipped} == {int}
    assert size(clipped, norm) <= limit
    ratio = min(Fraction(1), limit / Fraction(size(vector, norm))) if any(vector) else Fraction(1)
    for value, short in zip(vector, clipped, strict=True):
        goal = abs(value) * ratio if norm == "l1" else value * value * ratio
        below, above = (abs(short), abs(short) + 1) if norm == "l1" else (short**2, (abs(short) + 1) ** 2)
        assert below <= goal < above
        assert short == 0 or (short > 0) == (value > 0)


@given(vectors, norms)
def test_whole_vectors_within_the_bound_are_left_alone(vector: list[int | Fraction], norm: Norm) -> None:
    """Clipping twice is clipping once."""
    clipping = Clipping(norm=norm, bound=Fraction(100), coordinates=len(vector))
    once = clipping.clip(vector)
    assert clipping.clip(once) == once


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize("bound", [Fraction(1), Fraction(7, 4), Fraction(9, 4), Fraction(3)], ids=str)
@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_neighbours_stay_within_the_sensitivity(
    norm: Norm, adjacency: Adjacency, bound: Fraction, coordinates: int
) -> None:
    """All whole vectors within the bound, or all pairs: no norm exceeds the declared one, and ℓ1 or ℓ2 reaches it."""
    clipping = Clipping(norm=norm, bound=bound, coordinates=coordinates, adjacency=adjacency)
    limit = bound if norm == "l1" else bound**2
    inside = [list(v) for v in product(range(-3, 4), repeat=coordinates) if size(list(v), norm) <= limit]
    others = inside if adjacency is SUBSTITUTION else [[0] * coordinates]
    moves = [[a - b for a, b in zip(v, w, strict=True)] for v in inside for w in others]
    declared = clipping.sensitivity
    assert max(sum(value != 0 for value in move) for move in moves) <= declared.l0
    assert max(max(map(abs, move)) for move in moves) <= declared.linf
    assert max(size(move, "l1") for move in moves) <= declared.l1
    assert max(size(move, "l2") for move in moves) <= declared.l2_squared
    if norm == "l1":
        assert max(size(move, "l1") for move in moves) == declared.l1
    elif coordinates == 3:
        assert max(size(move, "l2") for move in moves) == declared.l2_squared


@given(norms, bounds, st.integers(1, 10**6), st.sampled_from([ADD_REMOVE, SUBSTITUTION]))
def test_every_clipping_has_a_sensitivity(norm: Norm, bound: Fraction, coordinates: int, adjacency: Adjacency) -> None:
    """The norms never contradict each other, or `Sensitivity` would refuse them."""
    assert Clipping(norm=norm, bound=bound, coordinates=coordinates, adjacency=adjacency).sensitivity.l1 >= 1


def test_rounding_to_nearest_would_not_do() -> None:
    """(2, 2, 2), clipped to 3 in ℓ2, is 1.73 in each coordinate: rounded to the nearest it would be back at 3.46."""
    clipping = Clipping(norm="l2", bound=Fraction(3), coordinates=3)
    assert clipping.clip([2, 2, 2]) == [1, 1, 1]
    assert size([round(3 / 12**0.5 * 2)] * 3, "l2") > 9


@pytest.mark.parametrize(
    "wrong",
    [{"norm": "linf"}, {"norm": 2}, {"bound": 0}, {"bound": Fraction(99, 100)}, {"bound": -1}, {"coordinates": 0}],
    ids=str,
)
def test_other_clippings_are_refused(wrong: dict[str, Any]) -> None:
    """Unknown norms, and bounds below one step."""
    with pytest.raises(InvalidArgument):
        Clipping(**({"norm": "l2", "bound": Fraction(5), "coordinates": 3} | wrong))


def test_vectors_of_another_length_are_refused_in_silence() -> None:
    """The message says nothing of the vector."""
    with pytest.raises(InvalidArgument, match="as many coordinates as were declared"):
        Clipping(norm="l1", bound=Fraction(5), coordinates=3).clip([77, 77])


def test_a_vector_as_long_as_the_bound_stays() -> None:
    """To the last digit, in either norm."""
    assert Clipping(bound=5, coordinates=2, norm="l2").clip([3, -4]) == [3, -4]
    assert Clipping(bound=7, coordinates=2, norm="l1").clip([3, -4]) == [3, -4]
