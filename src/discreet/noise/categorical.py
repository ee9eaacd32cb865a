"""An index drawn with probability ∝ w·e^(rate·score): the draw under the exponential mechanism."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, lcm
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Words
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.noise.sampling import LazyUniform, Size, fill

if TYPE_CHECKING:
    from flint import arb

MOST_ENTRIES = 1 << 21
"""How many entries there may be; the bound on the floats' error counts on it, and on the next two."""

HEAVIEST = 1 << 40
_ROW = 1 << 10

_SLACK = 2.0**-40
_CUT = 256
_MOST_BITS = 1 << 12  # of a common denominator: floats need 1,074, and no computed score needs more


@overload
def categorical(
    scores: Sequence[int | Fraction] | NDArray[Any],
    rate: Rationalizable = 1,
    *,
    weights: Sequence[int] | NDArray[np.int64] | None = None,
    size: None = None,
) -> int: ...
@overload
def categorical(
    scores: Sequence[int | Fraction] | NDArray[Any],
    rate: Rationalizable = 1,
    *,
    weights: Sequence[int] | NDArray[np.int64] | None = None,
    size: int | tuple[int, ...],
) -> NDArray[np.int64]: ...
def categorical(
    scores: Sequence[int | Fraction] | NDArray[Any],
    rate: Rationalizable = 1,
    *,
    weights: Sequence[int] | NDArray[np.int64] | None = None,
    size: Size = None,
) -> int | NDArray[np.int64]:
    """Draw an index i with probability ∝ weights[i]·e^(rate·scores[i]).

    Guarantee: exactly that distribution, given uniform bits. A uniform number U chooses the i for which
    C[i−1] ≤ U·C[n−1] < C[i], where C are the running sums. Nothing is rejected and every draw takes one path, save
    those so near a C[i] that floats can't tell, at most n in 2^39, which are settled with more random bits.

    Args:
        scores: integers of any size, or fractions; at least one and at most 2^21. Only their differences matter.
        rate: above 0, best an int or a Fraction; it isn't rounded.
        weights: how many equal candidates each entry stands for: whole numbers from 0 to 2^40, not all of them 0. None
            means one each.
        size: how many draws, or a shape; None for a single one.

    Returns:
        A Python int if `size` is None, otherwise an int64 array.

    Raises:
        InvalidArgument: an argument is not a number, or is out of range. No score is quoted.

    Examples:
        >>> categorical([0, -10**9, 5 - 10**9])
        0
        >>> categorical([7, 7, 9], "0.5", weights=[0, 3, 0], size=4).tolist()
        [1, 1, 1, 1]
    """
    whole, denominator = _integers(scores)
    multiplicities = np.ones(len(whole), dtype=np.int64) if weights is None else _weights(weights, len(whole))
    law = prepared(whole, positive(rate, "rate") / denominator, multiplicities)
    index: int | NDArray[np.int64] = fill(size, np.int64, law.draw)
    return index


@dataclass(frozen=True, slots=True, eq=False)
class Categorical:
    """The sampler for one list of entries of positive weight; distances d = best score − score.

    **Bound.** Floats and `exp` are taken to err as in `floored_exponential.py`. Let x = d·rate, so some x is 0 and
    the total T is at least 1; n ≤ 2^21 and w ≤ 2^40.

    1. A distance is cut at ⌈256/rate⌉, and if that exceeds 62 bits its last bits are dropped, which takes less than
       2.1ε off x. Rounding d, rate and the product adds 3.1ε·x. So for x < 128 the float of x is off by at most 399ε;
       `exp` adds 2^-46 = 128ε and the weight ε: each such term is off by a factor 1 ± 529ε.
    2. Where x ≥ 128, the term and its float are each below 2^40·e^-127, all of them together below 2^-121.
    3. Adding k numbers of one sign, in whatever order, errs by a factor 1 ± 1.01(k−1)ε. Sums are taken over rows of
       2^10 entries and over at most 2^11 rows, so C is off by at most (529 + 1.01·3071)ε·C + 2^-120 ≤ 3632ε·T.
    4. U·T is computed from a cell's lower end with an error of at most (3632 + 2.1)ε·T, and lies up to 2^-b·T higher.

    So C and U·T compare as their floats do if those are (7267ε + 2^-b)·T apart. The margin (2^-40 + 2^-b) times the
    float of T allows 8192ε, which leaves room for its own rounding. Only the two ends next to the place found are
    compared, so no order of the floats is assumed: what is sure is proved.
    """

    kept: NDArray[np.intp]
    """Where the entries stood in the list that was given."""
    distances: NDArray[Any]
    """int64, or Python integers."""
    weights: NDArray[np.int64]
    rate: Fraction
    ends: NDArray[np.float64]
    """The running sums in floats, where each entry begins and the last ends; the outermost are infinite."""
    total: float

    def draw(self, count: int, source: Words) -> NDArray[np.int64]:
        """`count` independent draws from a source of words."""
        cells, bits = source.words(count), source.width
        target = cells.astype(np.float64)
        target *= 2.0**-bits * self.total
        places = np.searchsorted(self.ends[1:-1], target, side="right")
        margin = self.total * (2.0**-bits + _SLACK)
        sure = (self.ends[places] <= target - margin) & (target + margin <= self.ends[places + 1])
        for i in np.flatnonzero(~sure):
            places[i] = self.settle(LazyUniform(cells[i], bits, source))
        return self.kept[places]

    def settle(self, uniform: LazyUniform) -> int:
        """The entry that U chooses, exactly, drawing as many bits of U as it takes.

        It ends with probability 1: U·T is a running sum for finitely many U only.
        """
        from discreet.exact.ball import precision

        last = len(self.distances) - 1
        while True:
            with precision(uniform.bits + 192):  # 64 bits for the size of the sums, 128 beyond the cell
                sums = self._sums()
                low, high = (end * sums[last] for end in uniform.ends())
                place = bisect_left(range(last), 1, key=lambda i: bool(high <= sums[i]))  # true only if it is certain
                if place == 0 or low >= sums[place - 1]:
                    return place
            uniform.refine()

    def _sums(self) -> list[arb]:
        """The running sums as balls at the working precision."""
        from discreet.exact.ball import ball

        rate, distances = ball(self.rate), self.distances.tolist()
        terms = {distance: (-rate * distance).exp() for distance in set(distances)}
        weighted = (terms[d] * w for d, w in zip(distances, self.weights.tolist(), strict=True))
        return list(accumulate(weighted))


def prepared(scores: NDArray[Any], rate: Fraction, weights: NDArray[np.int64]) -> Categorical:
    """The sampler for integer scores, an exact rate, and weights of which at least one is positive."""
    kept = np.flatnonzero(weights)
    scores, weights = scores[kept], weights[kept]
    best = scores.max()
    if int(best) - int(scores.min()) >= 1 << 63:
        scores = scores.astype(object)
    distances = best - scores
    cut = ceil(_CUT / rate)
    dropped = max(cut.bit_length() - 62, 0)
    near = np.minimum(distances, cut if distances.dtype == object else min(cut, (1 << 63) - 1)) >> dropped
    exponents = near.astype(np.float64)
    exponents *= -float(min(rate * 2**dropped, Fraction(2 * _CUT)))
    with np.errstate(under="ignore"):  # far down the terms are below the range of floats, and 0 is near enough
        np.exp(exponents, out=exponents)
    exponents *= weights
    sums = _running_sums(exponents)
    ends = np.concatenate(([-np.inf], sums[:-1], [np.inf]))
    return Categorical(kept, distances, weights, rate, ends, float(sums[-1]))


def _running_sums(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The running sums, by rows, so that rounding errors add up over the side of a square and not over its area."""
    rows = np.zeros((-(-len(terms) // _ROW), min(_ROW, len(terms))))
    rows.reshape(-1)[: len(terms)] = terms
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += np.cumsum(rows[:-1, -1])[:, None]
    return rows.reshape(-1)[: len(terms)]


def _integers(scores: Sequence[int | Fraction] | NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The scores times their least common denominator, and that; messages never quote a score."""
    if isinstance(scores, np.ndarray) and scores.dtype == np.int64:
        plain, denominator = scores, 1
    else:
        listed = _listed(scores, "scores")
        kinds = set(map(type, listed))
        if not kinds <= {int, Fraction}:
            raise InvalidArgument("scores must be integers or fractions", hint="round them to a grid of your choice")
        denominator = _common_denominator(listed) if Fraction in kinds else 1
        plain = _array([score.numerator * (denominator // score.denominator) for score in listed])
    if plain.ndim != 1 or not 1 <= len(plain) <= MOST_ENTRIES:
        raise InvalidArgument("there must be at least one score and at most 2^21, in one dimension")
    return plain, denominator


def _common_denominator(scores: list[Any]) -> int:
    common = 1
    for denominator in {score.denominator for score in scores}:
        common = lcm(common, denominator)
        if common.bit_length() > _MOST_BITS:
            raise InvalidArgument("scores have no common denominator of moderate size", hint="round them to one grid")
    return common


def _weights(weights: Sequence[int] | NDArray[np.int64], length: int) -> NDArray[np.int64]:
    if isinstance(weights, np.ndarray) and weights.dtype == np.int64:
        checked: NDArray[Any] = weights
    else:
        listed = _listed(weights, "weights")
        if not set(map(type, listed)) <= {int}:
            raise InvalidArgument("weights must be whole numbers")
        checked = _array(listed)
    if checked.shape != (length,):
        raise InvalidArgument("there must be as many weights as scores")
    if not (checked.min() >= 0 and 0 < checked.max() <= HEAVIEST):
        raise InvalidArgument("weights must be whole numbers from 0 to 2^40, and not all of them 0")
    return checked.astype(np.int64)


def _listed(numbers: object, name: str) -> list[Any]:
    """The numbers as Python has them."""
    if isinstance(numbers, np.ndarray) and numbers.ndim == 1:
        numbers = numbers.tolist()
    if not isinstance(numbers, (list, tuple)):
        raise InvalidArgument(f"{name} must be a list, a tuple or an array of one dimension")
    return list(numbers)


def _array(numbers: list[int]) -> NDArray[Any]:
    """As int64 if that holds them, else as Python integers."""
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError:
        return np.array(numbers, dtype=object)
