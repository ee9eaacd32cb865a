"""The search for minimal sets of columns that identify: depth first, with both borders remembered.

Sets of columns are visited by their first column, then their second, and so on; each divides what the set before left
undivided. Two facts spare most of them, both because more columns never single out fewer units:

- A set that contains one that identifies isn't minimal, nor is any that continues it.
- If a set with all columns that may still follow doesn't identify, then nothing that continues the set does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.anonymity.risk.partition import Partition


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """What a set of columns tells apart.

    Args:
        columns: their places.
        unique: how many units are alone.
        values: how many different combinations of values occur.
        held: how many pairs of a unit and a combination that it has there are: the units, if each has one.
        pairs: how many pairs of units aren't told apart.
    """

    columns: frozenset[int]
    unique: int
    values: int
    held: int
    pairs: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Searched:
    """What a search found.

    Args:
        minimal: the sets that identify while none of their subsets does.
        counted: for how many sets it was counted who is alone.
    """

    minimal: tuple[Found, ...]
    counted: int


@dataclass(slots=True, eq=False, kw_only=True)
class _Search:
    """A search under way; sets of columns are the bits of a number.

    Args:
        columns: how many columns there are.
        least: a set identifies from so many single units on.
        at_most: sets have no more columns.
        identifying: sets that identify, none of which was known to contain another when it was found.
        harmless: sets that don't identify, and so neither does any subset.
        counted: for how many sets it was counted who is alone.
    """

    columns: int
    least: int
    at_most: int
    identifying: dict[int, Found] = field(default_factory=dict)
    harmless: list[int] = field(default_factory=list)
    counted: int = 0

    def below(self, chosen: int, start: int, part: Partition) -> None:
        """Visit every set that continues `chosen` with columns from `start` on."""
        if start == self.columns or chosen.bit_count() == self.at_most or self._ruled_out(chosen, start, part):
            return
        for column in range(start, self.columns):
            extended = chosen | 1 << column
            if any(known & extended == known for known in self.identifying):
                continue
            if self._known_harmless(self._with_rest(extended, column + 1)):
                continue
            refined = part.refined(column)
            self.counted += 1
            if refined.unique >= self.least:
                self.identifying[extended] = figures(extended, refined)
            else:
                self.below(extended, column + 1, refined)

    def _ruled_out(self, chosen: int, start: int, part: Partition) -> bool:
        """Whether not even all remaining columns together identify."""
        everything = self._with_rest(chosen, start)
        if self._known_harmless(everything):
            return True
        self.counted += 1
        if part.unique_with_rest(start) >= self.least:
            return False
        self.harmless.append(everything)
        return True

    def _with_rest(self, chosen: int, start: int) -> int:
        """A set with all columns from `start` on."""
        return chosen | ((1 << self.columns) - 1) >> start << start

    def _known_harmless(self, chosen: int) -> bool:
        """Whether a set is part of one that doesn't identify."""
        return any(chosen & known == chosen for known in self.harmless)


def search(whole: Partition, columns: int, *, least: int, at_most: int) -> Searched:
    """All minimal sets of columns by which at least so many units are alone.

    Every minimal set M is found: what is skipped either contains a set that identifies, and isn't minimal unless it is
    that set; or is part of a set that doesn't identify, and M isn't. A set that was found before one of its subsets
    was is dropped at the end.

    Args:
        whole: the table, not divided yet.
        columns: how many columns there are; 1 or more.
        least: 1 or more.
        at_most: sets of more columns aren't considered.
    """
    state = _Search(columns=columns, least=least, at_most=at_most)
    state.below(0, 0, whole)
    found = sorted(state.identifying, key=int.bit_count)
    minimal: list[int] = []
    for each in found:
        if not any(known & each == known for known in minimal):
            minimal.append(each)
    return Searched(
        minimal=tuple(state.identifying[each] for each in minimal),
        counted=state.counted,
    )


def figures(chosen: int, part: Partition) -> Found:
    """What a set tells apart, without the partition, which is as large as the table.

    Args:
        chosen: the set's columns as bits.
        part: the table divided by it.
    """
    return Found(columns=_places(chosen), unique=part.unique, values=part.values, held=part.held, pairs=part.pairs)


def _places(chosen: int) -> frozenset[int]:
    """The columns of a set."""
    return frozenset(place for place in range(chosen.bit_length()) if chosen >> place & 1)
