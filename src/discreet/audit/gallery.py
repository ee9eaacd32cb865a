"""Mechanisms that are broken on purpose, each in a way that was once published or shipped.

They are there to test the audit. Nothing here is private.

Among them are four published variants of the sparse vector technique that are not private, or far less so than was
said. Each goes through queries of sensitivity 1 and says which exceed a noisy threshold of 0. Numbers of algorithms are
those under which Lyu, Su, Li (2017), Figure 1, lists them; all claim ε = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, log
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from discreet.noise import discrete_laplace, geometric, uniform
from discreet.privacy import ApproxDP, PureDP
from discreet.textbook.mechanisms.local_sensitivity import median_sensitivities


class Broken(Protocol):
    """A mechanism that claims more than it keeps."""

    @property
    def name(self) -> str:
        """The mechanism, in words."""

    @property
    def wrong(self) -> str:
        """The flaw, in a sentence."""

    @property
    def loss(self) -> PureDP | ApproxDP:
        """The loss that it claims not to exceed."""

    @property
    def neighbours(self) -> tuple[Any, Any]:
        """Data that it fails to hide the difference of."""

    def draw(self, data: Any, count: int) -> Any:  # noqa: ANN401 — whatever it takes and makes
        """`count` independent outputs."""


@dataclass(frozen=True, slots=True)
class PorousLaplace:
    """Adds −b·ln(u) with a random sign to a float, u being a multiple of 2⁻⁵³, as textbooks and libraries did.

    The sum of 1 and noise lies on the grid of floats near 1, even where it comes out near 0; noise alone, near 0, is on
    a far finer grid. So the last bits of an output tell which number was there before.

    Source: Mironov (2012), the section on attacking Laplace noise in floating point.
    """

    name: ClassVar[str] = "porous Laplace"
    wrong: ClassVar[str] = "noise is a float, so the lowest bits of the sum tell what it was added to"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[int, int]] = (0, 1)

    def draw(self, data: float, count: int) -> Any:  # noqa: ANN401 — an array
        """Noisy floats."""
        u = (uniform(1 << 53, size=count) + 1) / 2.0**53
        return data - np.log(u) * (1 - 2 * uniform(2, size=count))


@dataclass(frozen=True, slots=True)
class HalvedSensitivity:
    """A sum of values from −5 to 5 under substitution, with noise for a unit that moves it by 5: it can move it by 10.

    The commonest mistake of all: the sensitivity of adding a row, taken for that of changing one.
    """

    name: ClassVar[str] = "halved sensitivity"
    wrong: ClassVar[str] = "a changed row moves the sum by hi − lo, and the noise is for max(|lo|, |hi|)"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[int, int]] = (-5, 5)

    def draw(self, data: int, count: int) -> Any:  # noqa: ANN401 — an array
        """Noisy sums."""
        return data + discrete_laplace(Fraction(5), size=count)


@dataclass(frozen=True, slots=True)
class CutNoise:
    """A count with Laplace noise that is moved to the nearer of ±3, so that no answer is far off.

    A neighbour of a table has answers that the table itself never has. With a δ that covers them it would be private.
    """

    name: ClassVar[str] = "noise that is cut off"
    wrong: ClassVar[str] = "noise ends at ±3 and no δ is paid, so the answers at the end have only one explanation"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[int, int]] = (0, 1)

    def draw(self, data: int, count: int) -> Any:  # noqa: ANN401 — an array
        """Noisy counts, none further off than 3."""
        return data + np.clip(discrete_laplace(Fraction(1), size=count), -3, 3)


@dataclass(frozen=True, slots=True)
class SameSeed:
    """A count whose noise begins from the same seed every time: one value, for good."""

    name: ClassVar[str] = "same seed"
    wrong: ClassVar[str] = "every release has the same noise, so two releases differ by what the data differ by"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[int, int]] = (0, 1)

    def draw(self, data: int, count: int) -> Any:  # noqa: ANN401 — an array
        """The same noisy count, again and again."""
        return np.full(count, data + _once())


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """Two counts, each with enough noise for both; but it is the same noise."""

    name: ClassVar[str] = "shared noise"
    wrong: ClassVar[str] = "one draw is added to two numbers, so their difference has none"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[tuple[int, int], tuple[int, int]]] = ((0, 0), (1, 0))

    def draw(self, data: tuple[int, int], count: int) -> Any:  # noqa: ANN401 — an array
        """Pairs of noisy counts."""
        return np.array(data) + discrete_laplace(Fraction(2), size=count)[:, None]


@cache
def _once() -> int:
    """Noise that is drawn when it is first asked for, and never again: what a fixed seed comes to."""
    return discrete_laplace(Fraction(1))


@dataclass(frozen=True, slots=True)
class BareCount:
    """A noisy sum of values from 0 to 10, divided by the exact number of rows.

    Outputs are multiples of one over the count; and where the noise is small against the sum, so is what hides a row.
    """

    name: ClassVar[str] = "bare count in a mean"
    wrong: ClassVar[str] = "the sum has noise and the number of rows doesn't, so outputs are multiples of 1/rows"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[tuple[int, int], tuple[int, int]]] = ((50, 10), (60, 11))

    def draw(self, data: tuple[int, int], count: int) -> Any:  # noqa: ANN401 — an array
        """Averages of a sum and a number of rows."""
        total, rows = data
        return (total + discrete_laplace(Fraction(10), size=count)) / rows


@dataclass(frozen=True, slots=True)
class WrongThreshold:
    """Names a group if its noisy count exceeds the 95 % radius of the noise, and claims δ = 10⁻⁶.

    A group of one unit passes once in some 75 times, and a group of nobody, which isn't in the data, never does.
    """

    name: ClassVar[str] = "wrong threshold"
    wrong: ClassVar[str] = "the threshold is the noise's 95 % radius, so a group of one person is named far too often"
    loss: ClassVar[ApproxDP] = ApproxDP(1, Fraction(1, 10**6))
    neighbours: ClassVar[tuple[int, int]] = (1, 0)

    def draw(self, data: int, count: int) -> Any:  # noqa: ANN401 — a list
        """The noisy count where the group is named, else None; of a group that isn't there, always None."""
        if data == 0:
            return [None] * count
        noisy = data + discrete_laplace(Fraction(1), size=count)
        return [each if each > 1 + 3 else None for each in noisy.tolist()]


@dataclass(frozen=True, slots=True)
class ReportedMax:
    """Names the option of the greatest noisy count, and its noisy count as well, for the price of the name.

    The proof for the name rests on forgetting the noise. A fresh draw for the count, paid for, would be private.
    """

    name: ClassVar[str] = "reported maximum"
    wrong: ClassVar[str] = "the noisy count that won is published with the name, and only the name was paid for"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[tuple[int, ...], tuple[int, ...]]] = ((0, 0, 0), (1, 1, 1))

    def draw(self, data: tuple[int, ...], count: int) -> Any:  # noqa: ANN401 — an array
        """Pairs of an option and its noisy count."""
        noisy = np.array(data) + geometric(Fraction(1), size=(count, len(data)))
        return np.stack([noisy.argmax(axis=1), noisy.max(axis=1)], axis=1)


@dataclass(frozen=True, slots=True)
class LocalNoise:
    """A median with noise for how far it can move between neighbours of the table at hand.

    In a table one step away it may move further, or not at all, and the width of the noise shows which of them it was.

    Source: Nissim, Raskhodnikova, Smith (2007), the example for which they introduce smooth sensitivity.
    """

    name: ClassVar[str] = "noise for local sensitivity"
    wrong: ClassVar[str] = "the noise is for how far this table's median can move, so its width tells which table it is"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[tuple[int, ...], tuple[int, ...]]] = ((20,) * 6 + (90,) * 5, (20,) * 7 + (90,) * 4)

    def draw(self, data: tuple[int, ...], count: int) -> Any:  # noqa: ANN401 — an array
        """Noisy medians."""
        (far,) = median_sensitivities(data, lower=0, upper=125, steps=1)
        return sorted(data)[len(data) // 2] + discrete_laplace(Fraction(max(far, 1)), size=count)


@dataclass(frozen=True, slots=True)
class EasyTest:
    """Propose, test, release as in the textbook: ε on each part, and ln(2/δ)/(2ε) as what the distance must reach.

    A table whose neighbours lie far off, at distance 0, passes with a probability of about ½·√(δ/2), more than ten
    times δ here. Data are an integer with its distance.

    Source: Near, Abuah (2021), the chapter on local sensitivity.
    """

    name: ClassVar[str] = "test that passes too often"
    wrong: ClassVar[str] = "a table that needs far more noise passes ten times as often as δ allows"
    loss: ClassVar[ApproxDP] = ApproxDP(1, Fraction(1, 1000))
    neighbours: ClassVar[tuple[tuple[int, int], tuple[int, int]]] = ((0, 0), (1000, 0))

    def draw(self, data: tuple[int, int], count: int) -> Any:  # noqa: ANN401 — a list
        """The noisy integer where the test is passed, else None."""
        value, distance = data
        needed = ceil(log(2 / float(self.loss.delta)) / 2)
        passed = distance + discrete_laplace(Fraction(1), size=count) >= needed
        noisy = value + discrete_laplace(Fraction(1), size=count)
        return [each if held else None for each, held in zip(noisy.tolist(), passed.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class OrderedBlocks:
    """Sample and aggregate as in the textbook, with blocks cut from the rows as they come; it asks each for its first.

    A row less moves one row across each cut behind it, so all four blocks may answer otherwise; the noise is for one.

    Source: Near, Abuah (2021), the chapter on local sensitivity.
    """

    name: ClassVar[str] = "blocks in the order of rows"
    wrong: ClassVar[str] = "blocks are cut from the rows in their order, so one row more changes all of them"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[tuple[int, ...], tuple[int, ...]]] = ((0, 1) * 8, (1, 0) * 7 + (1,))

    def draw(self, data: tuple[int, ...], count: int) -> Any:  # noqa: ANN401 — an array
        """Noisy sums of the four blocks' answers, each 0 or 1."""
        return sum(data[:: ceil(len(data) / 4)]) + discrete_laplace(Fraction(1), size=count)


Queries: TypeAlias = tuple[int, ...]
_HALF, _QUARTER, _REST = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)


def indicated(  # noqa: PLR0913 — in what the variants differ
    queries: Sequence[int],
    count: int,
    *,
    threshold: Fraction,
    each: Fraction | None,
    most: int | None,
    reveals: bool = False,
) -> Any:  # noqa: ANN401 — an array
    """Many runs: for each query 1 if it is said to be above, 0 if below, −1 if the run had ended.

    Args:
        queries: their exact answers.
        count: how many runs.
        threshold: the scale of the threshold's noise.
        each: the scale of each query's own noise; None for no noise.
        most: after how many above a run ends; None for never.
        reveals: whether the noisy answers that are above follow, 0 where there is none.
    """
    bar = discrete_laplace(threshold, size=count)[:, None]
    noise = 0 if each is None else discrete_laplace(each, size=(count, len(queries)))
    noisy = np.array(queries) + noise + np.zeros((count, 1), dtype=np.int64)
    above = (noisy >= bar).astype(np.int64)
    if most is not None:
        ended = np.cumsum(above, axis=1) - above >= most
        above[ended] = -1
    return np.hstack([above, np.where(above == 1, noisy, 0)]) if reveals else above


@dataclass(frozen=True, slots=True)
class RevealingSparse:
    """Algorithm 3: gives the noisy answer of the query that is above, with the noise it was compared with.

    Source: Lyu, Su, Li (2017), Section 3, on lecture notes of 2011.
    """

    name: ClassVar[str] = "sparse vector that shows its answers"
    wrong: ClassVar[str] = "the noisy answer that passed is published, and bounds the threshold all others were under"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[Queries, Queries]] = ((0, 0, 0, 0, 0, 1), (1, 1, 1, 1, 1, 0))

    def draw(self, data: Queries, count: int) -> Any:  # noqa: ANN401 — an array
        """Runs."""
        return indicated(data, count, threshold=1 / _HALF, each=1 / _HALF, most=1, reveals=True)


@dataclass(frozen=True, slots=True)
class UnscaledSparse:
    """Algorithm 4: the queries' noise doesn't grow with how many may be above.

    Source: Lyu, Su, Li (2017), Section 3, on a paper of 2014.
    """

    name: ClassVar[str] = "sparse vector of unscaled noise"
    wrong: ClassVar[str] = "noise for one query above, and ten of them may be"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[Queries, Queries]] = ((0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5)

    def draw(self, data: Queries, count: int) -> Any:  # noqa: ANN401 — an array
        """Runs."""
        return indicated(data, count, threshold=1 / _QUARTER, each=1 / _REST, most=10)


@dataclass(frozen=True, slots=True)
class BareSparse:
    """Algorithm 5: only the threshold has noise, so queries keep their order.

    Source: Lyu, Su, Li (2017), Section 3, on a paper of 2014.
    """

    name: ClassVar[str] = "sparse vector of bare queries"
    wrong: ClassVar[str] = "the threshold has noise and the queries have none"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[Queries, Queries]] = ((0, 1), (1, 0))

    def draw(self, data: Queries, count: int) -> Any:  # noqa: ANN401 — an array
        """Runs."""
        return indicated(data, count, threshold=1 / _HALF, each=None, most=None)


@dataclass(frozen=True, slots=True)
class EndlessSparse:
    """Algorithm 6: never ends, however many queries are above.

    Source: Lyu, Su, Li (2017), Section 3, on a paper of 2015.
    """

    name: ClassVar[str] = "sparse vector without end"
    wrong: ClassVar[str] = "any number of queries may be above, and the price is that of one"
    loss: ClassVar[PureDP] = PureDP(1)
    neighbours: ClassVar[tuple[Queries, Queries]] = ((0,) * 8, (1,) * 4 + (-1,) * 4)

    def draw(self, data: Queries, count: int) -> Any:  # noqa: ANN401 — an array
        """Runs."""
        return indicated(data, count, threshold=1 / _HALF, each=1 / _HALF, most=None)


GALLERY: tuple[Broken, ...] = (
    PorousLaplace(),
    HalvedSensitivity(),
    CutNoise(),
    SameSeed(),
    SharedNoise(),
    BareCount(),
    WrongThreshold(),
    ReportedMax(),
    LocalNoise(),
    EasyTest(),
    OrderedBlocks(),
    RevealingSparse(),
    UnscaledSparse(),
    BareSparse(),
    EndlessSparse(),
)
"""The whole gallery."""

__all__ = [
    "GALLERY",
    "BareCount",
    "BareSparse",
    "Broken",
    "CutNoise",
    "EasyTest",
    "EndlessSparse",
    "HalvedSensitivity",
    "LocalNoise",
    "OrderedBlocks",
    "PorousLaplace",
    "ReportedMax",
    "RevealingSparse",
    "SameSeed",
    "SharedNoise",
    "UnscaledSparse",
    "WrongThreshold",
]
