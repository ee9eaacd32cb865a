"""Accuracy: the error to expect of each column, and the least offer that brings every column within a width.

For given shares, all errors fall together as the offer grows, so the least offer follows by search; and since errors
scale with it, the shares that need the least are those of `split`, with each column's error divided by the width that
is wanted of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, fsum, log, prod, sqrt

from discreet.accounting import charge_of
from discreet.errors import AccuracyUnreachable, Unsupported
from discreet.hints import Hint
from discreet.privacy import Event
from discreet.query import ir
from discreet.query.estimates import (
    ROWS,
    Estimator,
    Noise,
    QuantileEstimator,
    Slopes,
    declared_ends,
    ratio_of,
    slopes_of,
)
from discreet.query.planner.allocation import Prices, check_columns, split
from discreet.query.planner.draft import Draft
from discreet.query.planner.request import CONFIDENCE, Request

_LEAST, MOST = Fraction(1, 2**14), Fraction(2**10)
"""The offers that are looked at: grids are made for the least, and nobody should call the most private."""

_DIGITS = 4
"""The decimal digits of an offer, few enough that costs can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A column with the half width wanted of it.

    Args:
        column: its name.
        slopes: how it moves with the noise.
        width: wanted.
    """

    column: str
    slopes: Slopes
    width: Fraction

    def is_met(self, noises: Mapping[str, Noise], confidence: Fraction) -> bool:
        """Whether these noises leave it within the width."""
        return self.slopes.radius(noises, float(confidence)) <= self.width


def targets(draft: Draft, noises: Mapping[str, Noise]) -> tuple[Target, ...]:
    """The columns of which a width is wanted.

    Args:
        draft: with measures and estimators.
        noises: by number, of any size.

    Raises:
        UnknownColumn: a width for what isn't a column of the answer.
        Unsupported: a width whose size, or whose column's error, isn't known before the answer.
    """
    wanted = dict(draft.request.within)
    check_columns(draft, wanted, "within")
    estimators = dict(draft.estimators)
    found = []
    for output in draft.question.outputs:
        said = wanted.get(output.name, wanted.get("*"))
        slopes = slopes_of(output.expr, estimators, noises, draft.request.expecting or ROWS)
        has_width = slopes is not None and output.expr.type.kind.is_number
        if said is None or (output.name not in wanted and not has_width) or (slopes and not slopes.factors):
            continue
        if slopes is None or not slopes.is_announced:
            raise Unsupported(
                f"how wide {output.name!r} is depends on its noisy answer, so no width can be promised",
                hint=Hint.of(
                    "ask with {epsilon}; widths can be set for counts, sums, averages, variances and ratios of sums",
                    epsilon=None,
                ),
            )
        width = said.half_width(_least_size(output.expr, estimators))
        if width is None:
            raise Unsupported(
                f"{said} of {output.name!r} is a number only once its size is known, and that is private",
                hint=Hint(
                    f'say from which size on: within={{"{output.name}": ("{_percent(said.part)}", 1000)}}',
                    cli=f"say from which size on: --within {output.name}={_percent(said.part)}@1000",
                ),
            )
        found.append(Target(column=output.name, slopes=slopes, width=width))
    if not found:
        raise Unsupported(
            "within names no column whose error is known in advance", hint=Hint.of("ask with {epsilon}", epsilon=None)
        )
    return tuple(found)


def shares_for(wanted: tuple[Target, ...], prices: Prices) -> dict[str, Fraction]:
    """The shares that reach all targets at the least offer; what no target rests on gets the mean of the others."""
    claims = [
        {name: error / float(one.width) for name, error in prices.errors(one.slopes.factors).items()} for one in wanted
    ]
    parts = split(claims, prices.power)
    others = [name for name in (*prices.measures, *prices.ranks) if name not in parts]
    mean = Fraction(1, len(parts))
    total = 1 + mean * len(others)
    return {name: parts.get(name, mean) / total for name in (*prices.measures, *prices.ranks)}


def least_offer(is_enough: Callable[[Fraction], bool]) -> Fraction | None:
    """An offer that is enough, at most a thousandth above the least, in four digits; None if even 2¹⁰ isn't.

    Args:
        is_enough: false below some offer, true above.
    """
    low, high = _LEAST, MOST
    if not is_enough(high):
        return None
    while high - low > high / 10 ** (_DIGITS - 1):
        middle = _short((low + high) / 2 if high < 4 * low else _geometric(low, high))
        if not low < middle < high:
            break
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def unreachable(request: Request, wanted: tuple[Target, ...], noises: Mapping[str, Noise]) -> AccuracyUnreachable:
    """Which columns miss their widths even at the greatest offer, and by how much.

    Args:
        request: that asks for them.
        wanted: the columns.
        noises: at the greatest offer, by number.
    """
    missed = "; ".join(
        f"{target.column} reaches ± {target.slopes.radius(noises, float(request.confidence)):.4g}, "
        f"and ± {float(target.width):.4g} was wanted"
        for target in wanted
        if not target.is_met(noises, request.confidence)
    )
    symbol = "rho" if request.rho is not None else "epsilon"
    return AccuracyUnreachable(
        f"no {symbol} up to {MOST} brings the error within: {missed}",
        hint=Hint.of(
            f"give {{{symbol}}} beside {{within}} to get the best that it reaches", **{symbol: None, "within": None}
        ),
    )


def _geometric(low: Fraction, high: Fraction) -> Fraction:
    """A number about half way between, as ratios go."""
    return Fraction((float(low) * float(high)) ** 0.5)


def _short(offer: Fraction) -> Fraction:
    """An offer in four significant decimal digits."""
    return Fraction(f"{float(offer):.{_DIGITS}g}")


def _least_size(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> Fraction:
    """The least size of an output's value: 0 unless bounds say more."""
    ratio = ratio_of(expr, estimators)
    lo, hi = (ratio.ends if ratio is not None else None) or (Fraction(0), Fraction(0))
    return max(lo, -hi, Fraction(0))


def _percent(part: Fraction | None) -> str:
    """A part as it is written."""
    return f"{float(100 * (part or 0)):.4g}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The error to expect of one column, from noise alone.

    Args:
        column: of the answer.
        error: half width of the interval; None where it depends on the noisy answer itself.
        rows: the number of rows in a group for which the error was computed, with means at three quarters of their
            range; None if it doesn't depend on the group.
        ranks: of a quantile, by how many rows its rank may be off.
        rarer: of a most frequent value, by how many rows another may be more frequent.
        confidence: of the interval.
        share: which part of the cost is for what the column rests on; columns may rest on the same.
        wanted: the half width asked for, where the offer doesn't reach it.
        said: how far it may be off, of what isn't a number, in words.
        declared: between which numbers the column's values lie by what is declared; None where nothing says so.
    """

    column: str
    error: float | None
    rows: int | None = None
    ranks: float | None = None
    rarer: float | None = None
    confidence: float = float(CONFIDENCE)
    share: float = 1.0
    wanted: Fraction | None = None
    said: str = ""
    declared: tuple[float, float] | None = None

    @property
    def is_informative(self) -> bool:
        """Whether the answer is to say more than what is declared: not if its interval is as wide as all of that."""
        return self.declared is None or self.error is None or 2 * self.error < self.declared[1] - self.declared[0]

    def __str__(self) -> str:
        if self.ranks is not None:
            error = f"off by {self.ranks:,.4g} rows in rank at {_in_percent(self.confidence)}"
        elif self.rarer is not None:
            error = f"{self.rarer:,.4g} rows rarer than the most frequent at {_in_percent(self.confidence)}"
        elif self.said:
            error = self.said
        elif self.error is None:
            error = "depends on the noisy answer, and comes with it"
        else:
            error = f"± {self.error:.4g} at {_in_percent(self.confidence)}"
        within = "" if self.rows is None else f", in a group of {self.rows:,} rows"
        missed = "" if self.wanted is None else f", where ± {float(self.wanted):.4g} was wanted"
        paid = "" if self.share == 1 else f"; {_in_percent(self.share)} of the cost"
        return error + within + missed + paid + self._nothing()

    def _nothing(self) -> str:
        """A sentence that the answer would tell nothing; empty if it tells something."""
        if self.is_informative or self.declared is None:
            return ""
        low, high = self.declared
        return f"; this tells you nothing: it is as wide as what is declared, {low:,.6g} to {high:,.6g}"


def expected_errors(draft: Draft) -> tuple[Expected, ...]:
    """The error to expect of each column that holds noise."""
    noises = draft.laws
    estimators, spent = dict(draft.estimators), cost_shares(draft)
    confidence = draft.request.confidence
    numbers = {each.measure.name: {one.name for one in ir.numbers_of(each.measure)} for each in draft.noises}
    numbers |= {each.pick.name: {each.pick.name} for each in draft.selections}
    missed = _missed(draft, noises)
    rows = draft.request.expecting or ROWS
    errors = []
    for output in draft.question.outputs:
        names = ir.released_names(output.expr) & estimators.keys()
        parts = {part for name in names for part in estimators[name].parts}
        if not parts:
            continue
        slopes = slopes_of(output.expr, estimators, noises, rows)
        slopes = slopes if slopes is not None and slopes.is_announced else None
        errors.append(
            Expected(
                column=output.name,
                error=None if slopes is None else slopes.radius(noises, float(confidence)),
                rows=None if slopes is None else slopes.rows,
                ranks=_reach(draft, output.expr, of_quantile=True),
                rarer=_reach(draft, output.expr, of_quantile=False),
                confidence=float(confidence),
                share=float(sum(cost for name, cost in spent.items() if parts & numbers[name])),
                wanted=missed.get(output.name),
                said=_said(draft, output.expr, noises),
                declared=declared_ends(output.expr, estimators),
            )
        )
    return tuple(errors)


def worst_error(drafts: Iterable[Draft]) -> float:
    """The worst relative error of all aggregates, each at the reference group and times its weight; 1 if none is known.

    Args:
        drafts: with noises and selections.
    """
    return max((error for draft in drafts for error in _relative_errors(draft)), default=1.0)


@dataclass(frozen=True)
class Judged:
    """The drafts of all levels of a question, to be compared with others.

    Args:
        drafts: with noises and selections.
    """

    drafts: Sequence[Draft]

    def gain(self, other: Judged) -> float:
        """How many times as much the other drafts need for what is wanted; or, for the same offer, err at their worst.

        Args:
            other: of the same levels, planned otherwise.
        """
        before, now = other.needed, self.needed
        if before == now:
            before, now = other.worst, self.worst
        return before / now if now else 1.0

    @cached_property
    def needed(self) -> float:
        """The offer that is needed for what is wanted, over all levels."""
        return float(sum((draft.needed or MOST for draft in self.drafts), Fraction(0)))

    @cached_property
    def worst(self) -> float:
        """The worst relative error; see `worst_error`."""
        return max(self._errors, default=1.0)

    def gain_in_all(self, other: Judged) -> float:
        """How many times as much the other drafts err, in the geometric mean over all aggregates."""
        before, now = ([error for error in each._errors if error] for each in (other, self))  # noqa: SLF001 — its own
        if not now or len(before) != len(now):
            return 1.0
        return exp((fsum(map(log, before)) - fsum(map(log, now))) / len(now))

    @cached_property
    def _errors(self) -> Sequence[float]:
        return [error for draft in self.drafts for error in _relative_errors(draft)]


def mean_error(drafts: Iterable[Draft]) -> float:
    """The root of the mean square of the worst relative errors of all groups that are shown; their number is public."""
    found = [(prod(len(key.values or ()) for key in draft.keys), worst_error([draft])) for draft in drafts]
    return sqrt(sum(number * error**2 for number, error in found) / max(sum(number for number, _ in found), 1))


def squared_error(draft: Draft) -> float:
    """The sum of the squared relative errors of all aggregates, each as in `worst_error`."""
    return sum(error**2 for error in _relative_errors(draft))


def _relative_errors(draft: Draft) -> Iterator[float]:
    """The relative error of each aggregate at the reference group, times its weight."""
    weights, laws = dict(draft.request.weights), draft.laws
    estimators = dict(draft.estimators)
    ranks = {selection.pick.name: selection.reach(CONFIDENCE) / ROWS for selection in draft.selections}
    for output in draft.question.outputs:
        weight = float(weights.get(output.name, weights.get("*", 1)))
        for name in ir.released_names(output.expr) & estimators.keys():
            estimator = estimators[name]
            slopes = estimator.slopes(laws, ROWS)
            if slopes is not None:
                yield weight * slopes.radius(laws, float(CONFIDENCE)) / slopes.size
            yield from (weight * ranks[part] for part in estimator.parts if part in ranks)


def cost_shares(draft: Draft) -> dict[str, Fraction]:
    """The part of the cost that each measure and each choice takes; they add up to 1."""
    costs = {noise.measure.name: _cost(draft, noise.mechanism.event) for noise in draft.noises}
    costs |= {one.pick.name: _cost(draft, one.event) for one in draft.selections}
    total = sum(costs.values(), Fraction(0))
    return {name: cost / total for name, cost in costs.items()}


def _cost(draft: Draft, event: Event) -> Fraction:
    """The cost of an event, in ρ if that was offered and otherwise in ε."""
    charge = charge_of(event)
    cost = charge.rho if draft.request.rho is not None else charge.epsilon
    if cost is None:
        raise AssertionError("what is offered pays for what is done")
    return cost


def _reach(draft: Draft, expr: ir.Expr, *, of_quantile: bool) -> float | None:
    """How many rows a choice may be off; None if the column isn't one of this kind."""
    estimator = dict(draft.estimators).get(expr.name) if isinstance(expr, ir.Released) else None
    parts = () if estimator is None else estimator.parts
    chosen = [one for one in draft.selections if one.pick.name in parts]
    if not chosen or isinstance(estimator, QuantileEstimator) != of_quantile:
        return None
    fraction = estimator.fraction if isinstance(estimator, QuantileEstimator) else None
    return chosen[0].reach(draft.request.confidence, fraction)


def _said(draft: Draft, expr: ir.Expr, noises: Mapping[str, Noise]) -> str:
    """How far what isn't a number may be off, in words."""
    estimator = dict(draft.estimators).get(expr.name) if isinstance(expr, ir.Released) else None
    return "" if estimator is None else estimator.error_in_words(noises, draft.request.confidence)


def _missed(draft: Draft, noises: Mapping[str, Noise]) -> dict[str, Fraction]:
    """The widths that the offer doesn't reach, by column."""
    if not draft.request.within:
        return {}
    confidence = draft.request.confidence
    return {one.column: one.width for one in targets(draft, noises) if not one.is_met(noises, confidence)}


def _in_percent(part: float) -> str:
    """A part of 1 in per cent."""
    return f"{100 * part:.3g} %"
