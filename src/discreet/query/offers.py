"""Offers: what a question says in its own words, brought together with what is said beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import positive, probability
from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.ir import declared_limits
from discreet.query.request import Auto
from discreet.query.sql import Options, Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is offered, and how much a unit may contribute, wherever it was said; as `Request.of` takes them."""

    epsilon: Rationalizable | None = None
    delta: Rationalizable | None = None
    rho: Rationalizable | None = None
    limits: Limits | Auto | None = None

    def with_options(self, options: Options, question: ir.Question) -> Offer:
        """The offer with what the question's own OPTIONS say.

        Args:
            options: of the question.
            question: for the limits on rows, of which BigQuery's clause has no word beside one on groups.

        Raises:
            InvalidArgument: OPTIONS and an argument contradict each other.
        """
        rho = _agreed("rho", options.rho, self.rho, positive)
        if rho is not None and options.group_selection_strategy is Strategy.LAPLACE_THRESHOLD:
            raise InvalidArgument("LAPLACE_THRESHOLD goes with epsilon, and rho offers Gaussian noise")
        limits = _limits(options, question)
        if limits is not None and self.limits not in {None, limits}:
            raise InvalidArgument(
                f"OPTIONS limit a unit to {limits}, and the argument says {self.limits}", hint="say it in one place"
            )
        return Offer(
            epsilon=_agreed("epsilon", options.epsilon, self.epsilon, positive),
            delta=_agreed("delta", options.delta, self.delta, probability) or None,
            rho=rho,
            limits=self.limits if limits is None else limits,
        )


def _agreed(
    name: str,
    option: Fraction | None,
    argument: Rationalizable | None,
    read: Callable[[Rationalizable, str], Fraction],
) -> Rationalizable | None:
    """What both say, or the one that says something."""
    if option is None or argument is None:
        return argument if option is None else option
    if read(argument, name) != option:
        raise InvalidArgument(
            f"OPTIONS say {name} = {option}, and the argument says {argument}", hint="say it in one place"
        )
    return option


def _limits(options: Options, question: ir.Question) -> Limits | None:
    """How much a unit may contribute, as OPTIONS say."""
    if options.max_rows_contributed is not None:
        return Limits(rows=options.max_rows_contributed)
    if options.max_groups_contributed is None:
        return None
    declared = declared_limits(question.source)
    if declared.rows is None:
        return Limits(groups=options.max_groups_contributed, rows_per_group=declared.rows_per_group)
    return Limits(rows=declared.rows, groups=options.max_groups_contributed)
