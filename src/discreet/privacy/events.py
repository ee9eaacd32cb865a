"""Events: what was done to the data, in exactly the parameters that accounting needs.

Contract: an event type is never removed or given another meaning, because ledgers hold them for as long as the data
lives; a new field is optional; what an accountant doesn't know, it refuses. Sensitivities are taken under the
adjacency named in the entry that holds the event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.privacy.losses import PureDP

_RATIONAL = re.compile(r"[0-9]{1,1000}(/[0-9]{1,1000})?")
"""How `to_dict` writes a parameter; anything else, such as `1e999999999`, isn't worth the risk of reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent:
    """Discrete Laplace noise, Pr[n] ∝ exp(−|n|/scale), was added to each coordinate of an integer vector.

    Args:
        scale: of the noise, in steps of the grid; above 0.
        l1: the vector's ℓ1 sensitivity in steps; 1 or more.
        linf: how far one coordinate can move, in steps, from 1 to `l1`; None if it isn't known to be less than `l1`.
            It tightens what the event costs in zCDP.

    Raises:
        InvalidArgument: a parameter is out of range; it might be charged as a refund.
    """

    scale: Fraction
    l1: int
    linf: int | None = None

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if self.scale <= 0 or self.l1 < 1 or not (self.linf is None or 1 <= self.linf <= self.l1):
            raise InvalidArgument("a Laplace event needs scale > 0 and 1 ≤ linf ≤ l1")


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Gaussian noise was added to each coordinate of a vector: discrete, Pr[n] ∝ exp(−n²/2σ²), if it is of integers.

    Args:
        sigma: of the noise, in steps of the grid, or in the unit of the vector if there is no grid; above 0.
        l2_squared: square of the vector's ℓ2 sensitivity, in the same unit squared; above 0.
        continuous: whether the vector is of real numbers, and the noise has the density of N(0, σ²). On a
            single count, discrete noise of the same σ gives away less, as it has fewer outcomes to tell by.

    Raises:
        InvalidArgument: a parameter is out of range; it might be charged as a refund.
    """

    sigma: Fraction
    l2_squared: Fraction
    continuous: bool = False

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if self.sigma <= 0 or self.l2_squared <= 0 or type(self.continuous) is not bool:
            raise InvalidArgument("a Gaussian event needs sigma > 0, l2_squared > 0 and continuous true or false")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionEvent:
    """Groups were released only where a noisy count passed a threshold.

    The noise of that count is an event of its own.

    Args:
        delta: bound on the probability that a group present in one neighbour only is released; in (0, 1).

    Raises:
        InvalidArgument: δ is out of range; it might be charged as a refund.
    """

    delta: Fraction

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if not 0 < self.delta < 1:
            raise InvalidArgument("a selection event needs delta strictly between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialEvent:
    """Options were chosen by the exponential mechanism, Pr[option] ∝ exp(rate·score): once, or from several lists.

    Scores of neighbours may differ, but what counts is how far two options of a list can move *against each other*:
    where all scores rise together nothing is given away. With Δ the sensitivity of each score that is 2Δ in general,
    and Δ if all scores of a list move in the same direction.

    Args:
        epsilon: rate times how far two options can move against each other, summed over all selections; above 0.
        each: the same for a single selection, above 0 and at most `epsilon`; None if it isn't known to be less. It
            tightens what the event costs in zCDP.

    Raises:
        InvalidArgument: a parameter is out of range; it might be charged as a refund.
    """

    epsilon: Fraction
    each: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if self.epsilon <= 0 or not (self.each is None or 0 < self.each <= self.epsilon):
            raise InvalidArgument("an exponential event needs epsilon > 0 and 0 < each ≤ epsilon")


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """Something was released of which no more is said than that it is ε-DP.

    Args:
        epsilon: above 0.

    Raises:
        InvalidArgument: ε is out of range; it might be charged as a refund.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if self.epsilon <= 0:
            raise InvalidArgument("a pure event needs epsilon > 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproxEvent:
    """Something was released of which no more is said than that it is (ε, δ)-DP.

    Args:
        epsilon: above 0.
        delta: in (0, 1).

    Raises:
        InvalidArgument: a parameter is out of range; it might be charged as a refund.
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        """Refuse what would make the charge zero or negative."""
        if self.epsilon <= 0 or not 0 < self.delta < 1:
            raise InvalidArgument("an approximate event needs epsilon > 0 and delta strictly between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledEvent:
    """An event happened to a secret random sample of the units, and to nobody else.

    Args:
        event: what was done to the sample; its parameters are those of the sample, not of the whole.
        rate: the probability that a unit is in the sample, in (0, 1): each by itself (Poisson), neighbours being with
            and without a unit.
        size: how many units there are in public, if a sample of exactly rate·size of them was drawn without
            replacement, neighbours having one unit in the place of another; None for Poisson.

    Raises:
        InvalidArgument: a parameter is out of range.
    """

    event: Event
    rate: Fraction
    size: int | None = None

    def __post_init__(self) -> None:
        """Refuse what isn't a sample."""
        if not 0 < self.rate < 1:
            raise InvalidArgument("a sampled event needs a rate strictly between 0 and 1")
        if self.size is not None and (self.size < 1 or (self.rate * self.size).denominator != 1):
            raise InvalidArgument("a sample without replacement needs a whole number of units")


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """All of `events` happened, on the same data."""

    events: tuple[Event, ...]


Event: TypeAlias = (
    LaplaceEvent
    | GaussianEvent
    | SelectionEvent
    | ExponentialEvent
    | PureEvent
    | ApproxEvent
    | SampledEvent
    | ComposedEvent
)


def to_dict(event: Event) -> dict[str, object]:  # noqa: PLR0911 — one case for each kind of event
    """The event as JSON-ready data; rationals as `"p/q"`.

    Examples:
        >>> to_dict(LaplaceEvent(scale=Fraction(10), l1=1))
        {'event': 'laplace', 'scale': '10', 'l1': 1}
    """
    match event:
        case LaplaceEvent(scale=scale, l1=l1, linf=linf):
            movement = {} if linf is None else {"linf": linf}
            return {"event": "laplace", "scale": str(scale), "l1": l1, **movement}
        case GaussianEvent(sigma=sigma, l2_squared=l2_squared, continuous=continuous):
            real = {"continuous": True} if continuous else {}
            return {"event": "gaussian", "sigma": str(sigma), "l2_squared": str(l2_squared), **real}
        case SelectionEvent(delta=delta):
            return {"event": "selection", "delta": str(delta)}
        case ExponentialEvent(epsilon=epsilon, each=each):
            known = {} if each is None else {"each": str(each)}
            return {"event": "exponential", "epsilon": str(epsilon), **known}
        case PureEvent(epsilon=epsilon):
            return {"event": "pure", "epsilon": str(epsilon)}
        case ApproxEvent(epsilon=epsilon, delta=delta):
            return {"event": "approximate", "epsilon": str(epsilon), "delta": str(delta)}
        case SampledEvent(event=part, rate=rate, size=size):
            of = {} if size is None else {"size": size}
            return {"event": "sampled", "of": to_dict(part), "rate": str(rate), **of}
        case ComposedEvent(events=events):
            return {"event": "composed", "events": [to_dict(part) for part in events]}


def from_dict(data: object) -> Event:  # noqa: PLR0911 — one case for each kind of event
    """Read back what `to_dict` wrote.

    Raises:
        LedgerCorrupt: it isn't an event this version knows; to guess would be to undercount.

    Examples:
        >>> from_dict({"event": "selection", "delta": "1/1000000"})
        SelectionEvent(delta=Fraction(1, 1000000))
    """
    try:
        match data:
            case {"event": "laplace", "scale": scale, "l1": l1, **rest} if not rest.keys() - {"linf"}:
                linf = rest.get("linf")
                return LaplaceEvent(scale=_rational(scale), l1=_whole(l1), linf=None if linf is None else _whole(linf))
            case {"event": "gaussian", "sigma": sigma, "l2_squared": l2_squared, **rest} if _real(rest):
                return GaussianEvent(sigma=_rational(sigma), l2_squared=_rational(l2_squared), continuous=bool(rest))
            case {"event": "selection", "delta": delta, **rest} if not rest:
                return SelectionEvent(delta=_rational(delta))
            case {"event": "exponential", "epsilon": epsilon, **rest} if not rest.keys() - {"each"}:
                each = rest.get("each")
                return ExponentialEvent(epsilon=_rational(epsilon), each=None if each is None else _rational(each))
            case {"event": "pure", "epsilon": epsilon, **rest} if not rest:
                return PureEvent(epsilon=_rational(epsilon))
            case {"event": "approximate", "epsilon": epsilon, "delta": delta, **rest} if not rest:
                return ApproxEvent(epsilon=_rational(epsilon), delta=_rational(delta))
            case {"event": "sampled", "of": part, "rate": rate, **rest} if not rest.keys() - {"size"}:
                size = rest.get("size")
                return SampledEvent(
                    event=from_dict(part), rate=_rational(rate), size=None if size is None else _whole(size)
                )
            case {"event": "composed", "events": list(events), **rest} if not rest:
                return ComposedEvent(tuple(from_dict(part) for part in events))
            case _:
                pass
    except (ValueError, ZeroDivisionError, RecursionError):
        pass
    raise LedgerCorrupt("an event in the ledger is of an unknown kind, or its parameters can't be read")


def _rational(text: object) -> Fraction:
    """Read `"p"` or `"p/q"` in lowest terms; ValueError for anything else."""
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise ValueError
    number = Fraction(text)
    if str(number) != text:
        raise ValueError
    return number


def _real(rest: Mapping[Any, object]) -> bool:
    """Whether nothing stands beside the numbers of Gaussian noise, but that it is continuous."""
    return not rest or (rest.keys() == {"continuous"} and rest["continuous"] is True)


def _whole(number: object) -> int:
    """Read an integer; ValueError for anything else, True and False included."""
    if type(number) is not int:
        raise ValueError
    return number


class _HasEpsilon(Protocol):
    """An object with an ε, as a field or computed."""

    @property
    def epsilon(self) -> Fraction:
        """Above 0."""


class Pure:
    """A base for mechanisms and local protocols whose only cost is their `epsilon`; it has no fields of its own.

    Examples:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True, slots=True)
        ... class Coin(Pure):
        ...     epsilon: Fraction
        >>> print(Coin(Fraction(1, 2)).loss), Coin(Fraction(1, 2)).event
        ε = 0.5
        (None, PureEvent(epsilon=Fraction(1, 2)))
    """

    __slots__ = ()

    @property
    def event(self: _HasEpsilon) -> PureEvent:
        """The event that accounting counts for one use: a report, a choice, or all answers of a stream."""
        return PureEvent(epsilon=self.epsilon)

    @property
    def loss(self: _HasEpsilon) -> PureDP:
        """The proved bound on what one use gives away."""
        return PureDP(self.epsilon)
