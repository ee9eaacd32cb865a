"""Figures to look at in tests: noise whose draws are known, one figure of each kind, and how eyes see colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from typing import TYPE_CHECKING, TypeAlias

from discreet import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class KnownNoise:
    """Discrete Laplace noise by its formula, whose draws are `steps` over and over, so that they can be looked for.

    Args:
        scale: above 0.
        steps: what is added, in turn.
    """

    scale: float
    steps: tuple[int, ...] = (0, -3, 2, 0, 7)

    def mass(self, n: int) -> float:
        """Pr[noise = n]."""
        ratio = exp(-1 / self.scale)
        return (1 - ratio) / (1 + ratio) * ratio ** abs(n)

    def radius(self, confidence: float) -> int:
        """The least r with Pr[|noise| ≤ r] ≥ confidence."""
        ratio = exp(-1 / self.scale)
        return max(ceil(-self.scale * log((1 - confidence) * (1 + ratio) / 2)) - 1, 0)

    def release(self, values: Sequence[int]) -> list[int]:
        """The values with the known noise."""
        return [value + self.steps[place % len(self.steps)] for place, value in enumerate(values)]


@dataclass(frozen=True)
class Tail:
    """A curve that falls by a factor e^rate per ε, to 0 at an end."""

    rate: float
    end: float

    def delta(self, epsilon: float) -> float:
        """Its value."""
        return exp(-self.rate * epsilon) if epsilon < self.end else 0.0


WIDE, NARROW = KnownNoise(14.0), KnownNoise(0.7, steps=(0, 0, 1, 0, -1))
RESPONSE = plot.LossLaw.of([0.75, 0.25], [0.25, 0.75])
USES = (1, 3, 10, 30, 100)
TOTALS = {
    "basic": [0.1 * uses for uses in USES],
    "advanced": [0.5 * uses**0.55 for uses in USES],
    "optimal": [0.48 * uses**0.54 for uses in USES],
    "zCDP": [0.5 * uses**0.53 for uses in USES],
    "PLD": [0.1 * uses**0.9 for uses in USES],
}
EPSILONS = plot.spaced(0.01, 10, 31)


@dataclass(frozen=True)
class KnownColumn:
    """What a column is said to add."""

    name: str
    alone: int
    without: int


@dataclass(frozen=True)
class KnownOutcome:
    """What an attack is said to have come to."""

    attack: str
    against: str
    success: float | None
    baseline: float | None


@dataclass(frozen=True)
class KnownPoint:
    """What is said to be found through some noise."""

    noise: str
    deviation: float
    success: float


@dataclass(frozen=True)
class KnownCurve:
    """What tracing is said to have come to."""

    false_alarms: tuple[float, ...]
    found: tuple[float, ...]
    bound: float | None


COLUMNS = [
    KnownColumn("date of birth", 120, 310),
    KnownColumn("zip", 90, 420),
    KnownColumn("education of the head of the household", 0, 700),
    KnownColumn("sex", 0, 752),
]
SURVEY = "a_name_that_somebody_exported_from_a_survey_tool_in_"
ENDLESS = [
    KnownColumn(f"{SURVEY}2019", 1, 2),
    KnownColumn(f"{SURVEY.upper()}2020", 0, 3),
    KnownColumn("W" * 1000, 0, 3),
]
"""Names that no title holds."""
OUTCOMES = [
    KnownOutcome("homogeneity", "raw rows", 0.98, 0.75),
    KnownOutcome("homogeneity", "5-anonymous rows", 0.81, 0.75),
    KnownOutcome("homogeneity", "answers at ε = 0.1 each, 200 of them", 0.76, 0.75),
    KnownOutcome("homogeneity", "rows of which nobody knows the truth", None, None),
]
POINTS = [
    KnownPoint("exact", 0.0, 1.0),
    KnownPoint("ε = 1", 1.36, 1.0),
    KnownPoint("±5", 3.16, 0.86),
    KnownPoint("±10", 6.06, 0.76),
    KnownPoint("ε = 0.1", 14.1, 0.69),
    KnownPoint("ε = 0.02", 70.7, 0.57),
]
CLOSE = [*POINTS[:2], KnownPoint("±2", 1.41, 0.98), *POINTS[2:]]
EXACT = KnownCurve((0.0, 0.0, 0.1, 1.0), (0.0, 0.8, 0.97, 1.0), None)
PRIVATE = KnownCurve((0.0, 0.2, 0.5, 1.0), (0.0, 0.28, 0.6, 1.0), 0.462)

FIGURES: dict[str, Callable[[], Figure]] = {
    "neighbours": lambda: plot.neighbours({"ε = 0.5": WIDE, "ε = 10": NARROW}),
    "loss": lambda: plot.loss({"Laplace": plot.LossLaw.of_noise(WIDE, 7), "response": RESPONSE}, epsilon=0.5),
    "delta": lambda: plot.delta({"one": Tail(20, 1.2), "other": Tail(5, 9), "law": RESPONSE}, most=2),
    "composition": lambda: plot.composition(USES, TOTALS),
    "accuracy": lambda: plot.accuracy(EPSILONS, {"a": [3 / one for one in EPSILONS], "b": [0.0 for _ in EPSILONS]}),
    "averaging": lambda: plot.averaging(WIDE.release([4] * 200), truth=4, epsilon=0.5),
    "class sizes": lambda: plot.class_sizes({1: 310, 2: 200, 4: 90, 60: 60, 500: 1000}, columns=["age", "zip", "sex"]),
    "column risks": lambda: plot.column_risks(COLUMNS, total=1000, unique=760),
    "column risks of hardly any row": lambda: plot.column_risks(ENDLESS, total=10**6, unique=4),
    "column risks of no row": lambda: plot.column_risks([KnownColumn("age", 0, 0)], total=9, unique=0),
    "class sizes of endless names": lambda: plot.class_sizes({1: 3, 7: 700}, columns=[one.name for one in ENDLESS]),
    "outcomes": lambda: plot.outcomes(OUTCOMES),
    "candidates": lambda: plot.candidates([(0, 10), (1, 620), (2, 200), (7, 100), (300, 70)], against="raw rows"),
    "recovery": lambda: plot.recovery(POINTS, people=100, questions=400, baseline=0.52),
    "recovery, close": lambda: plot.recovery(CLOSE, people=60, questions=240, baseline=0.5),
    "members": lambda: plot.members({"exact shares": EXACT, "answers at ε = 0.25 in all": PRIVATE}),
    "members, by answers": lambda: plot.members({"answers at ε = 0.25 in all": PRIVATE}),
}
"""One of each kind, the same whenever it is made."""

Light: TypeAlias = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1, in proportion to light."""

_DICHROMATS: dict[str, tuple[Light, Light, Light]] = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "everybody": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""Light as those see it who lack one kind of cone: Viénot, Brettel, Mollon (1999)."""

EYES = tuple(_DICHROMATS)


def light(colour: str) -> Light:
    """The light of a colour such as `#0072B2`."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(share: float) -> float:
    """One part of an sRGB colour, in proportion to light."""
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    """How light a colour is: what a grey print keeps of it."""
    red, green, blue = light(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def difference(one: str, other: str, eyes: str) -> float:
    """How different two colours look to such eyes: CIE 1976 ΔE, where 2 is just noticeable."""
    first, second = (_lab(_seen(light(colour), eyes)) for colour in (one, other))
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5


def _seen(rays: Light, eyes: str) -> Light:
    """Light as such eyes see it."""
    red, green, blue = (sum(a * b for a, b in zip(row, rays, strict=True)) for row in _DICHROMATS[eyes])
    return red, green, blue


def _lab(rays: Light) -> Light:
    """CIE L*a*b* under D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        _root(max(sum(a * b for a, b in zip(row, rays, strict=True)), 0.0) / full)
        for row, full in zip(rows, white, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    """The cube root, straightened near 0."""
    return share ** (1 / 3) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116
