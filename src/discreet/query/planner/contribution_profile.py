"""Contribution profiles: how much units contribute, asked privately.

Limits are chosen by them, and what limits cut off is told.

How many units have 1 row, 2 rows, 3 to 4, and so on, is a histogram to which each unit adds 1: next to nothing, where
limits of 200 rows cost 200 times as much. It is asked like any other question, of the same rows, for a stated share of
the offer; what is read off it is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from discreet.errors import Unsupported
from discreet.hints import Hint
from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.ir import call, has_one_row, literal
from discreet.query.planner.bounds_profile import classes
from discreet.query.planner.clamping import bounded_columns, clamping_question
from discreet.query.planner.contribution_tail import (
    FIRSTS,
    STEPS,
    Expected,
    expected_units,
    least_error,
    shown_classes,
    surplus,
)
from discreet.query.planner.draft import Draft
from discreet.query.planner.request import Request
from discreet.results import CutOff
from discreet.tables import Dataset, Kind

SHARE = Fraction(1, 10)
"""The part of the offer that a profile costs."""

_KEPT = 0.8
"""The share of pairs of unit and group that limits keep if groups are private: more would drown small ones in noise."""

_SINGLE = 1.5
"""Rows of a unit in one group, on average, below which one is the limit."""

Keeps: TypeAlias = Callable[[int], tuple[float, float]]
"""From how much a unit contributes to the least and the most of it that limits leave."""

_HALVINGS = 40

_ALIAS = "\x00profile"
"""No question can spell it."""


def profile_questions(
    draft: Draft, request: Request, question: ir.Question, dataset: Dataset
) -> list[tuple[ir.Question, Dataset]]:
    """The questions about how much units contribute, where they may have several rows, and about what bounds move.

    Args:
        draft: of the question, in one of its grouping sets.
        request: for the question, in all of them; one that takes a profile.
        question: itself.
        dataset: that it is asked of.

    Returns:
        Questions, each with what it is asked of.

    Raises:
        Unsupported: there is nothing of either kind, since each row is a unit of its own.
    """
    asked = []
    if not draft.unit.is_row and not has_one_row(question.source):
        if draft.limits.rows is None or (draft.limits.groups is not None and request.limits == "auto"):
            asked.append((profiled_groups(question), dataset))
        asked.append((profiled(question), dataset))
    if request.cut_off:
        for table, column in bounded_columns(question):
            moved, tables = clamping_question(dataset.tables, table, column)
            asked.append((moved, replace(dataset, tables=tables)))
    if draft.unit.is_row and (not asked or request.limits == "auto"):
        raise Unsupported(
            "each row is a unit of its own here, so limits cut nothing off, and no bounds move what is added up",
            hint=Hint.of("leave {cut_off} out, and {limits} as declared", cut_off=None, limits=None),
        )
    return asked


def profiled(question: ir.Question) -> ir.Question:
    """How many units have how many rows among those a question is about.

    Args:
        question: of units that aren't rows.
    """
    return _classes(question, ir.PerUnit(question.source, _ALIAS, (), (_counted(None),), single=True))


def profiled_groups(question: ir.Question) -> ir.Question:
    """How many units have rows in how many of the question's groups."""
    pairs = ir.PerUnit(question.source, f"{_ALIAS} pairs", question.keys, ())
    return _classes(question, ir.PerUnit(pairs, _ALIAS, (), (_counted(None),), single=True))


@dataclass(frozen=True)
class Profile:
    """How many units contribute how much, as it was released.

    Args:
        units: per class of `STEPS`, in order; noise included.
        scale: of the noise.
        reach: how far the noise reaches in any class, but for `OUTSIDE` of all draws.
        most: the most that a unit contributes; None where nothing bounds it.
    """

    units: tuple[int, ...]
    scale: float
    reach: float
    most: int | None = None

    @cached_property
    def expected(self) -> Expected:
        """How many units are expected to contribute how much, those that noise hides among them."""
        return expected_units(self.units, self.scale, self.most)

    @property
    def shows_up_to(self) -> int:
        """The most that a unit may have in a class that shows; 0 if none does."""
        shown = [last for last, shows in zip(STEPS, shown_classes(self.units, self.scale), strict=True) if shows]
        return 0 if not shown else shown[-1] if self.most is None else min(shown[-1], self.most)

    def total(self) -> float:
        """How much all units are expected to contribute."""
        return surplus(self.expected, 0)

    def share(self, limit: int) -> float:
        """Which share a limit is expected to cut off."""
        return min(surplus(self.expected, limit) / max(self.total(), 1.0), 1.0)

    def between(self, keeps: Keeps) -> tuple[float, float | None]:
        """The least and the greatest share that limits can cut off, but for `OUTSIDE` of all draws.

        In each class there are as many units as noise leaves possible, of any size in the class.

        Args:
            keeps: the least and the most that is left of what a unit of some size contributes.

        Returns:
            Both ends; None for the second where nothing bounds what a unit contributes.
        """
        spans = list(self._possible())
        least = _least_share(spans, lambda size: max(size - keeps(size)[1], 0.0))
        return least, None if self.most is None else 1 - _least_share(spans, lambda size: min(keeps(size)[0], size))

    def _possible(self) -> Iterator[_Span]:
        """The least and most that each class may hold."""
        for first, last, seen in zip(FIRSTS, STEPS, self.units, strict=True):
            if self.most is None or first <= self.most:
                fewest, greatest = (max(seen + sign * self.reach, 0.0) for sign in (-1, 1))
                yield _Span(first, last if self.most is None else min(last, self.most), fewest, greatest)

    def best(self, price: float, number: int) -> int:
        """The limit that errs least, by noise and by what it is expected to cut off.

        Args:
            price: the scale of the noise in one group for each row of the limit, in rows.
            number: of groups.
        """
        return least_error(self.expected, price, number, self.most)

    def keeping(self, share: float) -> int:
        """The least limit that is expected to keep this share."""
        kept = (1 - share) * self.total()
        return int(next((limit for limit in STEPS if surplus(self.expected, limit) <= kept), STEPS[-1]))


@dataclass(frozen=True, slots=True)
class _Span:
    """A class of units, as far as noise tells.

    Args:
        first: the least that one contributes.
        last: the most that one contributes.
        fewest: the least number of units that there may be.
        most: the most there may be.
    """

    first: int
    last: int
    fewest: float
    most: float

    def turn(self, part: Callable[[int], float]) -> int:
        """The largest size of which nothing is such a part; the least one, if there is none."""
        low, high = self.first, self.last
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if part(middle) <= 0 else (low, middle - 1)
        return low


def _least_share(spans: Sequence[_Span], part: Callable[[int], float]) -> float:
    """The least that parts of what units contribute can be of all that they contribute.

    A share λ is possible if the sum of part − λ·size can be 0 or less: of units of the sizes, and as many of them, as
    make it least.

    Args:
        spans: classes of units.
        part: by what a unit contributes; but for where it turns from nothing, it bends downwards or not at all.
    """
    pairs = [(span, [(part(size), size) for size in {span.first, span.turn(part), span.last}]) for span in spans]
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        least = [(span, min(lost - share * size for lost, size in sizes)) for span, sizes in pairs]
        is_possible = sum(each * (span.fewest if each > 0 else span.most) for span, each in least) <= 0
        low, high = (low, share) if is_possible else (share, high)
    return low


def cut_off_by_rows(rows: Profile, limit: int, limits: Limits) -> CutOff[Limits]:
    """The part that a limit on rows in all cuts off."""
    return CutOff(rows.share(limit), *rows.between(lambda size: (min(size, limit),) * 2), limits)


def chosen_for_groups(groups: Profile, rows: Profile) -> Limits:
    """Limits on groups, and on rows in each, that keep most of both.

    Where few units have several rows in one group, one row is the limit: units and rows are then one number, which
    selects the groups and is the answer, so that nothing has to be shared.
    """
    average = _average(groups, rows)
    return Limits(groups=groups.keeping(_KEPT), rows_per_group=1 if average < _SINGLE else round(2 * average))


def cut_off_by_groups(groups: Profile, rows: Profile, limits: Limits) -> CutOff[Limits]:
    """The part that limits on groups and on rows in each cut off.

    How rows are spread over a unit's groups isn't known, so the estimate is as if it were evenly. For the ends, they
    are spread so that nothing is cut off up to groups times rows; or all in one group, or each in a group of its own.
    """
    among, within = limits.groups or 1, limits.rows_per_group or 1
    share = 1 - (1 - groups.share(among)) * min(within / _average(groups, rows), 1.0)
    ends = rows.between(lambda size: (min(size, among, within), min(size, among * within)))
    return CutOff(share, *ends, limits)


def _average(groups: Profile, rows: Profile) -> float:
    """How many rows of a unit are in one of its groups, on average."""
    return max(rows.total(), 1.0) / max(groups.total(), 1.0)


def _counted(argument: ir.Expr | None) -> ir.Summarized:
    """A count of one unit's rows."""
    whole = ir.Type(Kind.INTEGER, Fraction(0), None, nullable=False)
    return ir.Summarized(name="size", summary=ir.Summary.COUNT, argument=argument, type=whole)


def _classes(question: ir.Question, per_unit: ir.PerUnit) -> ir.Question:
    """How many units are in each class of size."""
    size = ir.Column(_ALIAS, "size", per_unit.columns[0].type)
    ends = [call("le", size, literal(step)) for step in STEPS[:-1]]
    return classes(per_unit, ends, question.text, question.dialect)
