"""What ladders must be, in plain Python: groups are the values that one label was given to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies import Hierarchy, Ladder
from discreet.anonymity.records import read

Label = Callable[[Any], str]
"""What a level shows for a value; None is a missing one."""


def column(values: Sequence[Any], name: str = "x") -> Coded:
    """A column with these values in its rows."""
    return read({name: list(values)}).column(name)


def shown(ladder: Ladder, values: Coded) -> list[dict[Any, str]]:
    """Level → what each value is shown as."""
    return [
        {value: labels[group] for value, group in zip(values.labels(), groups.tolist(), strict=True)}
        for groups, labels in zip(ladder.maps, ladder.labels, strict=True)
    ]


def check(hierarchy: Hierarchy, values: Coded, levels: Sequence[Label]) -> Ladder:
    """The ladder, once it is found to show what the levels say, from level 1 on, and to coarsen.

    The second is looked at for all pairs of values: what shares a label at one level does so at all above.
    """
    ladder = hierarchy.ladder(values)
    tables = shown(ladder, values)
    assert tables[1:] == [{value: label(value) for value in values.labels()} for label in levels]
    assert len(set(tables[0].values())) == values.size
    for low, high in pairwise(tables):
        for one in low:
            for other in low:
                assert low[one] != low[other] or high[one] == high[other]
    for groups, labels in zip(ladder.maps, ladder.labels, strict=True):
        firsts = [groups.tolist().index(group) for group in range(len(labels))]
        assert firsts == sorted(firsts)
    return ladder
