"""Mechanisms by name, each with neighbours that are hard to hide: what `discreet audit` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log
from types import MappingProxyType
from typing import Any, TypeAlias

from discreet import mechanisms
from discreet.audit.audit_result import Audit
from discreet.audit.auditing import CONFIDENCE, DRAWS, audit
from discreet.audit.gallery import GALLERY, Broken
from discreet.audit.subject import Data
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms import textbook
from discreet.privacy import ApproxDP, Loss, Sensitivity

_ONE = Sensitivity.scalar(1)
_FEW, _MANY = 50_000, 1 << 26
"""Draws of what makes one output at a time; and of a tail whose share is some 10⁻⁴."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A mechanism with neighbours to tell apart.

    Args:
        mechanism: what is audited.
        one: data of the first neighbour.
        other: of the second.
        claim: what it is said to give away; None for what it says itself.
        draws: how many outputs of each neighbour, if nothing is said.
    """

    mechanism: Any
    one: Data
    other: Data
    claim: Loss | None = None
    draws: int = DRAWS


Prepare: TypeAlias = Callable[[Fraction, Fraction], Prepared]
"""From ε and δ."""


def _noise(kind: Any) -> Prepare:  # noqa: ANN401 — a class of mechanisms
    """Pure noise on a count."""
    return lambda epsilon, _: Prepared(kind.calibrate(_ONE, epsilon), 0, 1)


def _choice(kind: Any, apart: int, **how: str) -> Prepare:  # noqa: ANN401 — a class of mechanisms
    """A choice between two: the one behind catches up, and the one ahead falls back; so far apart, in scales."""

    def prepare(epsilon: Fraction, _: Fraction) -> Prepared:
        ahead = max(3, ceil(2 * apart / epsilon))
        draws = DRAWS if apart > 1 else _FEW
        return Prepared(kind.calibrate(1, epsilon, **how), [0, ahead], [1, ahead - 1], draws=draws)

    return prepare


def _gaussian(epsilon: Fraction, delta: Fraction) -> Prepared:
    """Gaussian noise on a count."""
    noise = mechanisms.Gaussian.for_epsilon_delta(_ONE, epsilon, delta)
    return Prepared(noise, 0, 1, ApproxDP(epsilon, delta), _MANY)


def _truncated(epsilon: Fraction, delta: Fraction) -> Prepared:
    """Laplace noise that ends."""
    return Prepared(textbook.TruncatedLaplace.calibrate(_ONE, epsilon, delta), 0, 1)


def _bounded(epsilon: Fraction, _: Fraction) -> Prepared:
    """Laplace noise between two bounds, where they are close: that is where it needs its larger scale."""
    high = 2 * ceil(1 / epsilon)
    return Prepared(textbook.BoundedLaplace.calibrate(0, high, _ONE, epsilon), 0, 1)


def _top_k(epsilon: Fraction, _: Fraction) -> Prepared:
    """The best two of three: two that are behind catch up."""
    ahead = ceil(8 / epsilon)
    return Prepared(textbook.TopK.calibrate(2, 1, epsilon), [0, 0, ahead], [1, 1, ahead - 1], draws=_FEW)


def _response(epsilon: Fraction, _: Fraction) -> Prepared:
    """One person's yes or no."""
    return Prepared(textbook.RandomisedResponse.calibrate(epsilon, 2), 0, 1)


def _sparse(epsilon: Fraction, _: Fraction) -> Prepared:
    """Four questions, of which the first three rise and the last falls."""
    watch = textbook.AboveThreshold.calibrate(1, epsilon)
    return Prepared(
        lambda values: [str(each) for each in watch.release(values, 0)],
        [0, 0, 0, 1],
        [1, 1, 1, 0],
        watch.loss,
        _FEW,
    )


def _threshold(epsilon: Fraction, delta: Fraction) -> Prepared:
    """A group that holds one unit, and the same group gone."""
    noise = mechanisms.Laplace.calibrate(_ONE, epsilon)
    threshold = mechanisms.Threshold(noise, l0=1, linf=1, delta=delta)

    def released(count: int) -> int | None:
        (noisy,) = noise.release([count])
        return noisy if count and threshold.passes(noisy) else None

    return Prepared(released, 1, 0, ApproxDP(epsilon, delta), _FEW)


def _selected(epsilon: Fraction, delta: Fraction) -> Prepared:
    """A group of n units, and of n + 1, named some one time in twenty: the chance rises by e^ε each time."""
    units = max(1, ceil(log(1 / (20 * delta)) / epsilon))
    return Prepared(textbook.TruncatedGeometric.calibrate(epsilon, delta), units, units + 1)


def _weighed(epsilon: Fraction, delta: Fraction) -> Prepared:
    """A group named one time in ten or more, with what a frequent one passed on, and one unit more in it alone."""
    naming = textbook.AdaptiveWeights.calibrate(epsilon, delta, 2)
    units = [{"frequent"}] * (2 * ceil(naming.cap)) + [{"frequent", "rare"}]
    while naming.mass(naming.weights(units)["rare"]) < 1 / 10:
        units.append({"frequent", "rare"})
    return Prepared(
        lambda held: "rare" in naming.release(held), units, [*units, {"rare"}], ApproxDP(epsilon, delta), _FEW
    )


def _stable(epsilon: Fraction, delta: Fraction) -> Prepared:
    """A group at the threshold, which a unit leaves."""
    histogram = textbook.StableHistogram.calibrate(_ONE, epsilon, delta)
    count = histogram.threshold.value
    return Prepared(
        lambda counts: histogram.release(counts).get("group"),
        {"group": count},
        {"group": count - 1},
        ApproxDP(epsilon, delta),
        _FEW,
    )


def _tree(epsilon: Fraction, _: Fraction) -> Prepared:
    """Two leaves, of which one moves, and the root with it."""
    tree = textbook.RangeTree.calibrate(2, epsilon)
    return Prepared(
        lambda counts: [level.tolist() for level in tree.release(counts).nodes], [0, 0], [1, 0], tree.loss, _FEW
    )


def _smooth(epsilon: Fraction, delta: Fraction) -> Prepared:
    """An integer that moves as far as it can, in a table that needs more noise and in one that is a step away."""
    most = 100
    noise = textbook.SmoothSensitivity.calibrate(epsilon, delta, most=most, steps=2)
    fewer = floor(noise.weights[1] * most)
    return Prepared(
        lambda data: noise.release(*data), (0, (fewer, most)), (fewer, (most, most)), ApproxDP(epsilon, delta), _FEW
    )


def _proposed(epsilon: Fraction, delta: Fraction) -> Prepared:
    """An integer that moves by the bound, in tables of which one is at the test's threshold and one a step before."""
    test = textbook.ProposeTestRelease.calibrate(1, epsilon, delta)
    return Prepared(
        lambda data: test.release(*data),
        (0, test.threshold - 1),
        (1, test.threshold),
        ApproxDP(epsilon, delta),
        _FEW,
    )


def _sampled(epsilon: Fraction, _: Fraction) -> Prepared:
    """One unit, which moves its block's answer from one bound to the other."""
    mean = textbook.SampleAndAggregate.calibrate(4, lower=0, upper=1, epsilon=epsilon)
    return Prepared(lambda units: mean.release(units, max), [0], [1], mean.loss, _FEW)


SOUND: Mapping[str, Prepare] = MappingProxyType(
    {
        "laplace": _noise(mechanisms.Laplace),
        "staircase": _noise(textbook.Staircase),
        "truncated-laplace": _truncated,
        "bounded-laplace": _bounded,
        "gaussian": _gaussian,
        "exponential": _choice(mechanisms.Exponential, 3),
        "permute-and-flip": _choice(textbook.PermuteAndFlip, 1),
        "noisy-max": _choice(textbook.NoisyMax, 1),
        "noisy-max-laplace": _choice(textbook.NoisyMax, 3, noise="laplace"),
        "top-k": _top_k,
        "randomised-response": _response,
        "above-threshold": _sparse,
        "threshold": _threshold,
        "truncated-geometric": _selected,
        "adaptive-weights": _weighed,
        "stable-histogram": _stable,
        "range-tree": _tree,
        "smooth-sensitivity": _smooth,
        "propose-test-release": _proposed,
        "sample-and-aggregate": _sampled,
    }
)
"""Mechanisms of discreet, by name."""


def _as_it_is(broken: Broken) -> Prepare:
    """A member of the gallery, with its own claim."""
    return lambda _, __: Prepared(broken, *broken.neighbours)


BROKEN: Mapping[str, Prepare] = MappingProxyType(
    {each.name.lower().replace(" ", "-"): _as_it_is(each) for each in GALLERY}
)
"""The gallery, by name; ε and δ are their own."""


def audit_named(
    name: str,
    *,
    epsilon: Rationalizable = 1,
    delta: Rationalizable = Fraction(1, 10**6),
    draws: int | None = None,
    confidence: Rationalizable = CONFIDENCE,
) -> Audit:
    """Audit a mechanism by its name, between neighbours that are hard to hide.

    Args:
        name: of `SOUND` or `BROKEN`.
        epsilon: what it is calibrated for; above 0.
        delta: the same, where it has one; in (0, 1).
        draws: how many outputs of each neighbour; None for as many as it takes to come near its ε at ε = 1.
        confidence: in (0, 1).

    Raises:
        InvalidArgument: an argument is out of range, or nothing has this name.

    Examples:
        >>> sure = "0.999999999"
        >>> [audit_named(name, confidence=sure).rejects for name in ("laplace", "halved-sensitivity")]
        [False, True]
    """
    known = {**SOUND, **BROKEN}
    if name not in known:
        raise InvalidArgument(f"no mechanism is called {name!r}", hint=f"there are {', '.join(known)}")
    prepared = known[name](positive(epsilon, "epsilon"), probability(delta, "delta"))
    return audit(
        prepared.mechanism,
        prepared.one,
        prepared.other,
        claim=prepared.claim,
        draws=prepared.draws if draws is None else draws,
        confidence=confidence,
    )
