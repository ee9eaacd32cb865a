"""A sample of people, for attacks that would take too many comparisons on everyone.

How many are affordable is told by a few others, who are drawn apart from those who are tried. So the people tried are a
random sample of all, of a size that has nothing to do with who is in it, and what is found for the sample is an
unbiased estimate of what would be found for all. Each of them is compared with all rows: nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Whole
from discreet.anonymity.grouping import grouped
from discreet.anonymity.records import Records
from discreet.attacks.people import shuffled
from discreet.attacks.rows.record_pairs import Compared, Sides
from discreet.errors import NotTried
from discreet.noise import uniform

_MOST_PEOPLE = 1 << 14
"""How many people are tried if more kinds of them are known: 95 % intervals of ±0.8 points, or less."""

_PILOT = 64
"""How many people are drawn to tell how many comparisons one takes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample:
    """The people who are tried.

    Args:
        people: their places among all who are known, ascending.
        sides: these people, and all rows.
        each: about how many comparisons a kind of them takes.
    """

    people: Whole
    sides: Sides
    each: float

    @classmethod
    def of(
        cls,
        known: Records,
        rows: Records,
        on: Sequence[str],
        compared: Callable[[Records], Mapping[str, Compared]],
        most: int,
    ) -> Sample:
        """Draw them: everyone, or as many as the comparisons last for.

        Args:
            known: of people.
            rows: that they are compared with.
            on: the columns by which they are known.
            compared: compares the columns of some of the people with those of the rows.
            most: about how many comparisons are made.

        Raises:
            NotTried: nobody is known, or the comparisons don't last for one person.
        """
        if not known.rows:
            raise NotTried("there is no known person to look for", hint="a table of one person or more")
        kinds = grouped([known.column(name) for name in on]).number
        few: Whole = uniform(known.rows, _PILOT)
        pilot = known.only(on).take(few)
        each = _each(Sides.of(pilot, rows, compared(pilot)), most)
        affordable = min(int(most / each), _MOST_PEOPLE)
        if affordable < 1:
            raise NotTried(
                f"to compare one person with all rows takes about {each:,.0f} comparisons, more than {most:,}",
                hint="more comparisons, or columns that tell people apart",
            )
        people = np.arange(known.rows) if kinds <= affordable else np.sort(shuffled(known.rows)[:affordable])
        drawn = known.only(on).take(people)
        sides = Sides.of(drawn, rows, compared(drawn))
        return cls(people=people, sides=sides, each=each)


def _each(pilot: Sides, most: int) -> float:
    """About how many comparisons one person takes, of values and of rows, measured on as many as is cheap."""
    kinds = pilot.of_person
    values = sum(
        column.near.numbers()[pilot.kinds[kinds, place]].mean() for place, column in enumerate(pilot.columns.values())
    )
    first = pilot.number(kinds[:1])
    more = kinds[1 : 1 + int(most / 4 / max(first, 1))]
    return max(float(values), (first + pilot.number(more)) / (1 + len(more)), 1.0)
