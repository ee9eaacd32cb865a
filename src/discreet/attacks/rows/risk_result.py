"""The risk of a release: what chance left over, that an attack made of it.

The *risk* is (attack − control) / (1 − control): how often the attack was right on people of the original, against how
often it was on others of the same population.

Source: Giomi, Boenisch, Wehmeyer, Tasnádi (2023), "A unified framework for quantifying privacy risk in synthetic data",
the definitions of the risk and of its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from discreet.attacks.attack_result import NOT_TRIED, AttackResult, Guess, surest
from discreet.attacks.rows.three_tables import Tables

_CONFIDENCE = 0.95
_OTHERS = "the same among people who aren't in it"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskResult(AttackResult):
    """How much better an attack does on those who are in the original than on others.

    `success` is the share of attacks on the original that were right, `baseline` that of the control.

    Args:
        risk: (success − baseline) / (1 − baseline), at least 0; each share as the middle of its Wilson interval. See
            `predicates` for controls of another size.
        risk_from: the least that the risk may be, with 95 % confidence.
        risk_to: the most.
        controls: how many attacks were tried on the control.
        left_out: columns that couldn't be compared, by commas: no released cell says anything of the original's values.
    """

    risk: float | None
    risk_from: float | None
    risk_to: float | None
    controls: int
    left_out: str

    @property
    def between(self) -> str:
        """The risk and its interval, as tables have it."""
        if self.risk is None:
            return NOT_TRIED
        return f"{self.risk:.3f} ({self.risk_from:.3f} to {self.risk_to:.3f})"


def judged(  # noqa: PLR0913 — what was attacked, and how often it was right on either side
    tables: Tables,
    *,
    attack: str,
    against: str,
    attacked: tuple[float, int],
    controls: tuple[float, int],
    guesses: Sequence[Guess],
    share: float = 1.0,
) -> RiskResult:
    """The result, with its risk."""
    risk, low, high = risk_of(attacked, controls, share)
    return RiskResult(
        attack=attack,
        against=against,
        tried=attacked[1],
        success=attacked[0] / attacked[1],
        baseline=controls[0] / controls[1],
        baseline_is=_OTHERS,
        guesses=surest(guesses),
        repeated=tables.repeated,
        risk=risk,
        risk_from=low,
        risk_to=high,
        controls=controls[1],
        left_out=", ".join(tables.left_out) or "no column",
    )


def risk_of(attacked: tuple[float, int], controls: tuple[float, int], share: float = 1.0) -> tuple[float, float, float]:
    """The share of what chance left over that an attack gets, with a 95 % interval; each in [0, 1].

    Rates are the middles of Wilson's intervals, and their errors add up as those of independent samples.

    Args:
        attacked: how many attacks on the original were right, and how many there were.
        controls: the same of the control.
        share: of the original, how many people were there to be found.

    Source: Giomi et al. (2023), the definitions of the risk and of its interval.

    Examples:
        >>> [round(each, 3) for each in risk_of((620, 1_000), (200, 1_000))]
        [0.524, 0.483, 0.564]
        >>> risk_of((10, 100), (30, 100))[0]
        0.0
    """
    (rate, error), (chance, doubt) = _wilson(*attacked), _wilson(*controls)
    risk = (rate - chance) / (1 - chance) / share
    spread = sqrt((error / (1 - chance)) ** 2 + (doubt * (rate - 1) / (1 - chance) ** 2) ** 2) / share
    least, middle_, most = (min(max(each, 0.0), 1.0) for each in (risk - spread, risk, risk + spread))
    return middle_, least, most


def _wilson(right: float, tried: int) -> tuple[float, float]:
    """The middle of Wilson's interval, and half its width."""
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    middle_ = (right + z * z / 2) / (tried + z * z)
    return middle_, z / (tried + z * z) * sqrt(right * (tried - right) / tried + z * z / 4)
