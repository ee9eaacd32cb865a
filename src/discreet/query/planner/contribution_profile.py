"""Contribution profiles: how much units contribute, asked privately.

Limits are chosen by them, and what limits cut off is told.

How many units have 1 row, 2 rows, 3 to 4, and so on, is a histogram to which each unit adds 1: next to nothing, where
limits of 200 rows cost 200 times as much. It is asked like any other question, of the same rows, for a stated share of
the offer; what is read off it is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from discreet.errors import Hint, Unsupported
from discreet.privacy import Limits
from discreet.query import ir
from discreet.query.ir import call, has_one_row, literal
from discreet.query.planner.bounds_profile import bounded_columns, clamping_question, classes
from discreet.query.planner.request import Draft, Request
from discreet.results import CutOff
from discreet.tables import Dataset, Kind

SHARE = Fraction(1, 10)
"""Of the offer: what a profile costs."""

STEPS = (1, 2, 3, *(half * 2**power for power in range(1, 18) for half in (2, 3)))
"""The classes end at these numbers of rows, half a power of two apart."""

_SEEN = 8
"""A class in which fewer units than this many noise scales are counted is taken to be empty. Of all empty ones, noise
alone makes one or more look full with a chance below 1 %; and one that looks full for nothing would be thought to hold
hundreds of units of its size."""

_KEPT = 0.8
"""Of pairs of unit and group, where groups are private: what limits keep. More would drown small groups in noise."""

_SINGLE = 1.5
"""Rows of a unit in one group, on average, below which one is the limit."""

_ALIAS = "\x00profile"
"""No question can spell it."""


def profile_questions(
    draft: Draft, request: Request, question: ir.Question, dataset: Dataset
) -> list[tuple[ir.Question, Dataset]]:
    """What is to be asked of how much units contribute, where they may have several rows; and of what bounds move.

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


@dataclass(frozen=True, slots=True)
class Profile:
    """How many units contribute how much, as it was released.

    Args:
        units: per class of `STEPS`, in order; noise included.
        scale: of the noise.
    """

    units: tuple[int, ...]
    scale: float

    def total(self) -> float:
        """How much all units contribute."""
        return self._sum(lambda size: size)

    def surplus(self, limit: int) -> float:
        """What a limit cuts off."""
        return self._sum(lambda size: max(size - limit, 0))

    def cut_off(self, limit: int, limits: Limits) -> CutOff[Limits]:
        """What a limit cuts off, as a share, with its margin.

        The margin holds three doubts: noise, how large units are within their classes, and units beyond the limit that
        are too few to be seen, which are taken to be in the first class where they would hide.
        """
        total, surplus = max(self.total(), 1.0), self.surplus(limit)
        share = min(surplus / total, 1.0)
        noise = sqrt(sum(2 * (self.scale * max(size - limit, 0)) ** 2 for size, _ in self._seen()))
        hidden = [(size, units) for size, units in self._classes() if size > limit and units <= _SEEN * self.scale]
        tail = max(sum(units for _, units in hidden), 0) + 2 * self.scale * sqrt(2 * len(hidden))
        unseen = tail * min((size - limit for size, _ in hidden), default=0)
        least, most = self._extremes(limit)
        within = max(most - share, share - least)
        return CutOff(share, within + (2 * noise + unseen) / total, limits)

    def _extremes(self, limit: int) -> tuple[float, float]:
        """The least and the greatest share that a limit can cut off of units in the classes where they are seen.

        Of units beyond the limit a larger one loses a larger share; others lose nothing, and only add to the whole. So
        the ends of classes decide, and the limit itself in the one that it divides.
        """

        def share(size_of: Callable[[int, int], int]) -> float:
            sizes = [(size_of(first, last), units) for first, last, units in self._spans()]
            total = sum(units * size for size, units in sizes)
            return min(sum(units * max(size - limit, 0) for size, units in sizes) / max(total, 1), 1.0)

        least = share(lambda first, last: max(first, min(limit, last)))
        divided_too = share(lambda first, last: last if last > limit else first)
        divided_not = share(lambda first, last: last if first > limit else first)
        return least, max(divided_too, divided_not)

    def best(self, error: Callable[[int], float]) -> int:
        """The limit whose noise and surplus together are least.

        Args:
            error: of the noise that a limit takes, over all groups, in rows.
        """
        return int(min(STEPS, key=lambda limit: (error(limit) + self.surplus(limit), limit)))

    def keeping(self, share: float) -> int:
        """The least limit that keeps this share."""
        return int(next((limit for limit in STEPS if self.surplus(limit) <= (1 - share) * self.total()), STEPS[-1]))

    def _sum(self, of: Callable[[float], float]) -> float:
        """Something of each unit, added up."""
        return sum(units * of(size) for size, units in self._seen())

    def _seen(self) -> list[tuple[float, int]]:
        """The middle of each class that surely isn't empty, with its units."""
        return [((first + last) / 2, units) for first, last, units in self._spans()]

    def _spans(self) -> list[tuple[int, int, int]]:
        """The least and the greatest size in each class that surely isn't empty, with its units."""
        firsts = (1, *(step + 1 for step in STEPS[:-1]))
        return [one for one in zip(firsts, STEPS, self.units, strict=True) if one[2] > _SEEN * self.scale]

    def _classes(self) -> list[tuple[float, int]]:
        """The middle of each class, with its units."""
        firsts = [0, *STEPS[:-1]]
        middles = [(first + 1 + last) / 2 for first, last in zip(firsts, STEPS, strict=True)]
        return list(zip(middles, self.units, strict=True))


def chosen_for_groups(groups: Profile, rows: Profile) -> Limits:
    """Limits on groups, and on rows in each, that keep most of both.

    Where few units have several rows in one group, one row is the limit: units and rows are then one number, which
    selects the groups and is the answer, so that nothing has to be shared.
    """
    average = _average(groups, rows)
    return Limits(groups=groups.keeping(_KEPT), rows_per_group=1 if average < _SINGLE else round(2 * average))


def cut_off_by_groups(groups: Profile, rows: Profile, limits: Limits) -> CutOff[Limits]:
    """What limits on groups and rows in each cut off.

    How rows are spread over a unit's groups isn't known, so the second part is as if it were evenly.
    """
    among = groups.cut_off(limits.groups or 1, limits)
    within = max(0.0, 1 - (limits.rows_per_group or 1) / _average(groups, rows))
    return CutOff(1 - (1 - among.share) * (1 - within), among.margin + within / 10, limits)


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
