"""From a node back to rows: which groups they fall into, and which of them are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Levels
from discreet.anonymity.records.column import Codes, Mask, Stored, Whole
from discreet.anonymity.records.grouping import pack
from discreet.anonymity.reduce.lattice.problem import Problem

_CHUNK = 1 << 16
"""Rows are looked up in pieces that fit into a processor's cache."""
_MOST = 1 << 62
"""Keys stay below this."""
_TABLE = 1 << 24
"""A table with an entry for each of so many keys is quicker than a search among them."""
_SIEVE = 21
"""Bits of the number of a slot."""
_SPREAD = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, made odd: products with it fall far apart, in their highest bits."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome:
    """A node, with the classes that are left out there.

    Args:
        levels: the node.
        ladders: of the quasi-identifiers.
        left_out: left-out classes × quasi-identifiers: their groups.
    """

    levels: Levels
    ladders: tuple[Ladder, ...]
    left_out: Codes

    def kept(self, codes: Sequence[Codes | Stored]) -> Mask:
        """Which rows, or tuples, are kept.

        Args:
            codes: of each quasi-identifier, ungeneralised.
        """
        rows = len(codes[0])
        kept = np.ones(rows, dtype=np.bool_)
        if len(self.left_out):
            among = self._among_few(self._steps()) if self._span <= _MOST else self._among_many
            for start in range(0, rows, _CHUNK):
                part = slice(start, start + _CHUNK)
                kept[part] = ~among([column[part] for column in codes])
        return kept

    @property
    def _groups(self) -> list[int]:
        """How many groups each quasi-identifier has."""
        return [max(ladder.groups(level), 1) for ladder, level in zip(self.ladders, self.levels, strict=True)]

    @property
    def _span(self) -> int:
        """How many combinations of groups there are."""
        return prod(self._groups)

    def _steps(self) -> list[Whole]:
        """Of each quasi-identifier, what the group of each value adds to the key of a row."""
        maps = [ladder.maps[level].astype(np.int64) for ladder, level in zip(self.ladders, self.levels, strict=True)]
        return [groups * prod(self._groups[place + 1 :]) for place, groups in enumerate(maps)]

    def _among_few(self, steps: Sequence[Whole]) -> Callable[[Sequence[Codes]], Mask]:
        """Says which rows are in classes that are left out: by a table of all keys if it is small, else by a search."""
        scales = [prod(self._groups[place + 1 :]) for place in range(len(steps))]
        gone = np.sort(self.left_out.astype(np.int64) @ np.array(scales, dtype=np.int64))
        table, among_gone = None, _membership(gone)
        if self._span <= _TABLE:
            table = np.zeros(self._span, dtype=np.bool_)
            table[gone] = True

        def among(codes: Sequence[Codes]) -> Mask:
            keys = np.zeros(len(codes[0]), dtype=np.int64)
            for step, column in zip(steps, codes, strict=True):
                keys += step.take(column)
            return among_gone(keys) if table is None else table.take(keys)

        return among

    def _among_many(self, codes: Sequence[Codes]) -> Mask:
        """The same where there are more combinations of groups than numbers."""
        maps = [ladder.maps[level] for ladder, level in zip(self.ladders, self.levels, strict=True)]
        both = [
            np.concatenate((gone, groups[column]))
            for gone, groups, column in zip(self.left_out.T, maps, codes, strict=True)
        ]
        keys, _ = pack(both, self._groups)
        number = len(self.left_out)
        return _membership(np.sort(keys[:number]))(keys[number:])


def outcome_of(problem: Problem, levels: Levels) -> Outcome:
    """What becomes of the classes of a node."""
    node = problem.at(levels)
    missed = problem.left_out(node)
    groups = [node.codes(place, missed) for place in range(len(levels))]
    return Outcome(levels=levels, ladders=problem.ladders, left_out=np.stack(groups, axis=1))


def _membership(ordered: Whole) -> Callable[[Whole], Mask]:
    """Says which keys are among some ordered ones.

    A sieve lets all of those pass and few others; only what passes is searched for.
    """
    sieve = np.zeros(1 << _SIEVE, dtype=np.bool_)
    sieve[_slots(ordered)] = True

    def among(keys: Whole) -> Mask:
        found = sieve.take(_slots(keys))
        passed = np.flatnonzero(found)
        place = np.minimum(np.searchsorted(ordered, keys[passed]), len(ordered) - 1)
        found[passed] = ordered[place] == keys[passed]
        return found

    return among


def _slots(keys: Whole) -> Whole:
    """A slot of the sieve for each key, spread by multiplication."""
    return ((keys.view(np.uint64) * np.uint64(_SPREAD)) >> np.uint64(64 - _SIEVE)).view(np.int64)
