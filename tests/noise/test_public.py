"""The public samplers: what they take, what they return, what they refuse, and how little memory they need."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.noise import bernoulli, bernoulli_exp, discrete_gaussian, discrete_laplace, geometric, laplace
from discreet.noise.sampling import CHUNK, fill
from support.tapes import Tape

INTEGER_SAMPLERS: list[Callable[..., Any]] = [geometric, discrete_laplace, discrete_gaussian]
COINS: list[Callable[..., Any]] = [bernoulli, bernoulli_exp]
MEGABYTE = 2**20


@pytest.mark.parametrize("sampler", INTEGER_SAMPLERS)
def test_types_follow_the_scale_alone(sampler: Callable[..., Any]) -> None:
    """One draw is a Python int; arrays are int64 up to a scale of 2^52 and Python ints above, whatever is drawn."""
    for scale in (Fraction(1, 1024), 1, 2**20, 2**52):
        assert type(sampler(scale)) is int
        assert sampler(scale, size=5).dtype == np.int64
    for scale in (Fraction(2**53 + 1, 2), 2**60):
        assert type(sampler(scale)) is int
        draws = sampler(scale, size=50)
        assert draws.dtype == object
        assert {type(draw) for draw in draws} == {int}


@pytest.mark.parametrize("sampler", COINS)
def test_coins_are_booleans(sampler: Callable[..., Any]) -> None:
    """One toss is a bool, several are a boolean array."""
    assert type(sampler(Fraction(1, 2))) is bool
    assert sampler(Fraction(1, 2), size=5).dtype == np.bool_


@pytest.mark.parametrize("sampler", [*INTEGER_SAMPLERS, *COINS])
def test_sizes_are_shapes(sampler: Callable[..., Any]) -> None:
    """A size is a length or a shape, empty ones included, across the chunks in which arrays are filled."""
    for size, shape in [(0, (0,)), (7, (7,)), ((2, 3), (2, 3)), ((), ()), ((4, 0), (4, 0)), (CHUNK + 1, (CHUNK + 1,))]:
        assert sampler(1, size=size).shape == shape
    assert sampler(1, size=np.int64(3)).shape == (3,)


def test_large_draws_exceed_int64() -> None:
    """At scale 2^60 one draw in e^8 = 2981 is beyond int64 and comes out whole, odd or even."""
    draws = discrete_laplace(2**60, size=70_000)
    assert any(abs(draw) >= 2**63 for draw in draws)  # missed with probability e^(-70000/e^8) < 1e-10
    assert any(draw % 2 for draw in draws)
    assert any(draw % 2 == 0 for draw in draws)


def test_chunks_leave_no_place_unfilled() -> None:
    """An array over several chunks holds what the sampler gave for each, in order."""
    asked: list[int] = []

    def sampler(count: int, source: Words) -> Any:
        assert source.width == 63
        asked.append(count)
        return np.arange(sum(asked) - count, sum(asked))

    assert (fill(2 * CHUNK + 5, np.int64, sampler) == np.arange(2 * CHUNK + 5)).all()
    assert asked == [CHUNK, CHUNK, 5]


@pytest.mark.parametrize("sampler", INTEGER_SAMPLERS)
@pytest.mark.parametrize(
    "scale",
    [
        *(
            0,
            -1,
            Fraction(-1, 3),
            Fraction(1, 1025),
            2**60 + 1,
            10**400,
            10**5000,
            Fraction(-1, 10**5000),
            Fraction(1, 10**400),
            1e-4,
            1e300,
        ),
        *(float("nan"), float("inf"), "a tenth", "1/0", None, True, np.array([1, 2]), [1], 1j, b"1", Decimal("NaN")),
    ],
    ids=lambda scale: repr(scale)[:20] if not isinstance(scale, (int, Fraction)) else "",
)
def test_bad_scales_are_refused(sampler: Callable[..., Any], scale: Any) -> None:
    """What isn't a number in [2^-10, 2^60] is refused by a typed error that names the parameter."""
    with pytest.raises(InvalidArgument, match=r"scale|sigma"):
        sampler(scale, size=3)


@pytest.mark.parametrize("sampler", [*INTEGER_SAMPLERS, *COINS])
@pytest.mark.parametrize("size", [-1, 2.0, "3", True, (2, -1), (2, 1.5), [2], (None,), b"1"], ids=repr)
def test_bad_sizes_are_refused(sampler: Callable[..., Any], size: Any) -> None:
    """A size that isn't made of whole numbers of at least 0 is refused by a typed error."""
    with pytest.raises(InvalidArgument, match="size"):
        sampler(1, size=size)


@pytest.mark.parametrize("p", [-1, 2, Fraction(-1, 10**30), 1 + Fraction(1, 10**30), float("nan"), "x", None], ids=repr)
def test_bad_probabilities_are_refused(p: Any) -> None:
    """A probability outside [0, 1] is refused, however little outside."""
    with pytest.raises(InvalidArgument, match="p must"):
        bernoulli(p)


@pytest.mark.parametrize("x", [-1, Fraction(-1, 10**30), float("inf"), "x", None], ids=repr)
def test_bad_exponents_are_refused(x: Any) -> None:
    """An exponent below 0 is refused, however little below."""
    with pytest.raises(InvalidArgument, match="x must"):
        bernoulli_exp(x)


def test_numbers_are_read_as_typed() -> None:
    """A scale may be given as anything that is a rational number, and 0.1 is one tenth."""
    before = laplace.laplace_law.cache_info()
    for scale in (0.1373, "0.1373", Decimal("0.1373"), Fraction(1373, 10_000)):
        discrete_laplace(scale)
    after = laplace.laplace_law.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 3)


def test_extreme_coins_are_certain() -> None:
    """Probabilities 0 and 1 leave no chance, and one of e^(-10^30) practically none."""
    assert bernoulli(1, size=1000).all()
    assert not bernoulli(0, size=1000).any()
    assert bernoulli_exp(0, size=1000).all()
    assert not bernoulli_exp(10**30, size=1000).any()
    assert not bernoulli_exp(10**400, size=1000).any()


def test_a_draw_beyond_int64_is_never_wrapped() -> None:
    """Bits that no one will ever see, 3000 zeros in a row, make a draw beyond 2^63: it raises, or comes out whole."""
    law = laplace.laplace_law(Fraction(2**52))
    words = [0, 12345, *[0] * 50, 1, 2, 3]
    with pytest.raises(OverflowError):
        laplace.draw_laplace(law, np.int64, 1, Tape(words, width=63))
    whole = laplace.draw_laplace(law, object, 1, Tape(words, width=63))[0]
    assert type(whole) is int
    assert whole > 2**63


@pytest.mark.parametrize(
    "call",
    [
        partial(geometric, 1000),
        partial(discrete_laplace, 10),
        partial(discrete_laplace, 2**40),
        partial(discrete_gaussian, 2**40),
        partial(bernoulli_exp, 1),
    ],
    ids=lambda call: f"{call.func.__name__}({call.args[0]})",
)
def test_memory_beyond_the_output_is_bounded(call: Callable[..., Any]) -> None:
    """Beyond the array returned, drawing takes under 8 MB, of the 64 MB promised, and no more for more draws."""
    call(10)  # imports and caches are not what is measured
    beyond = []
    for draws in (2**18, 2**22):
        tracemalloc.start()
        array = call(draws)
        beyond.append(tracemalloc.get_traced_memory()[1] - array.nbytes)
        tracemalloc.stop()
    assert max(beyond) < 8 * MEGABYTE
    assert beyond[1] < beyond[0] + MEGABYTE
