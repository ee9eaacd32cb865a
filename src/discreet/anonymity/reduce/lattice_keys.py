"""The different keys of a node with what they weigh, and how they roll up to a coarser one.

Neighbouring columns with few values share a field, which holds their joint code ((c₁·n₂ + c₂)·n₃ + …). Fields have just
enough bits, the first in the highest, so that ordered keys are tuples in lexicographic order. A last field may hold a
sensitive value, which is never generalised. Where one word of 62 bits is too short, keys have several words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.anonymity.columns import Codes, Mask, Whole
    from discreet.anonymity.hierarchies.ladder import Ladder
    from discreet.anonymity.loss.loss import Levels

WORD = 62
"""Bits of a word that are used: the sign and one more stay free."""
_SHARED = 1 << 13
"""The most joint codes of columns that share a field: a step up is then one look into a small table."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a key holds the joint code of some columns.

    Args:
        sizes: of each of the columns, how many codes it has.
        word: which word.
        shift: the lowest of its bits.
        bits: how many; 0 where there is but one code.
    """

    sizes: tuple[int, ...]
    word: int
    shift: int
    bits: int

    def read(self, words: Sequence[Whole]) -> Whole:
        """The joint code in each key."""
        return (words[self.word] >> self.shift) & ((1 << self.bits) - 1)

    def column(self, place: int, words: Sequence[Whole]) -> Codes:
        """For each key, the code of one of the columns."""
        below = prod(self.sizes[place + 1 :])
        alone = np.arange(prod(self.sizes[: place + 1]) if place else self.sizes[0], dtype=np.int32)
        codes = np.repeat(alone % self.sizes[place], below)
        return codes.take(self.read(words))


def blocks_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """How many neighbouring columns each field holds, by how many values the columns have."""
    blocks: list[int] = []
    joint = _SHARED
    for size in (max(size, 1) for size in sizes):
        if joint * size > _SHARED or not blocks:
            blocks.append(1)
            joint = size
        else:
            blocks[-1] += 1
            joint *= size
    return tuple(blocks)


def fields_of(sizes: Sequence[int], blocks: Sequence[int]) -> tuple[Field, ...]:
    """The fields of columns, by how many codes each has."""
    joint: list[tuple[int, ...]] = []
    start = 0
    for number in blocks:
        joint.append(tuple(max(size, 1) for size in sizes[start : start + number]))
        start += number
    words: list[list[tuple[tuple[int, ...], int]]] = [[]]
    for each in joint:
        bits = (prod(each) - 1).bit_length()
        if sum(used for _, used in words[-1]) + bits > WORD:
            words.append([])
        words[-1].append((each, bits))
    return tuple(
        Field(each, word, sum(used for _, used in fields[place + 1 :]), bits)
        for word, fields in enumerate(words)
        for place, (each, bits) in enumerate(fields)
    )


def joined(steps: Sequence[Whole], sizes: Sequence[int]) -> Whole:
    """From steps of single columns to the step of their joint code.

    Args:
        steps: for each column, code → new code.
        sizes: for each column, how many new codes it has.
    """
    scaled = [step * prod(sizes[place + 1 :]) for place, step in enumerate(steps)]
    return reduce(np.add.outer, scaled).ravel()


def packed(codes: Sequence[Codes], field: Field) -> Whole:
    """The joint code of some columns."""
    joint = codes[0].astype(np.int64)
    for column, size in zip(codes[1:], field.sizes[1:], strict=True):
        joint *= size
        joint += column
    return joint


_CELLS = 16
"""The most cells per key of a table of all keys: up to that, counting in it beats sorting the keys."""
_FEW = 1 << 12
"""The cells of a table that costs next to nothing."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Keys:
    """The different keys of a node in ascending order.

    Args:
        levels: the node.
        fields: of the quasi-identifiers, and behind them of what is never generalised: the sensitive value, the unit.
        words: the keys, word by word.
        weights: for each key, how many rows have it; behind that what else is counted, as `Counted` says.
    """

    levels: Levels
    fields: tuple[Field, ...]
    words: tuple[Whole, ...]
    weights: tuple[Whole, ...]

    @property
    def number(self) -> int:
        """How many keys there are."""
        return len(self.words[0])

    def codes(self, place: int, which: Whole | slice) -> Codes:
        """For some keys, the group of quasi-identifier number `place`; what is never generalised comes after those."""
        within = place
        field = self.fields[0]
        for field in self.fields:
            if within < len(field.sizes):
                break
            within -= len(field.sizes)
        return field.column(within, [word[which] for word in self.words])

    def firsts(self, ignored: int) -> Whole:
        """Where a new key begins if the last fields don't count.

        Args:
            ignored: how many fields.
        """
        shifts = [0] * len(self.words)
        for field in self.fields[len(self.fields) - ignored :]:
            shifts[field.word] = max(shifts[field.word], field.shift + field.bits)
        return np.flatnonzero(begins([word >> shift for word, shift in zip(self.words, shifts, strict=True)]))


class Roller:
    """Makes keys, and rolls them up.

    Args:
        ladders: of the quasi-identifiers.
        last: of each thing that keys hold and that is never generalised, how many there are.
    """

    def __init__(self, ladders: Sequence[Ladder], last: Sequence[int] = ()) -> None:
        """Keep them; maps between levels are made when they are first needed."""
        self._ladders = tuple(ladders)
        self._last = tuple(last)
        self._blocks = blocks_of([ladder.groups(0) for ladder in ladders])
        self._maps: dict[tuple[int, int, int], Whole] = {}

    def bottom(self, codes: Sequence[Codes], weights: Sequence[Whole]) -> Keys:
        """The keys of tuples.

        Args:
            codes: of the quasi-identifiers, and of whatever else keys hold; tuples may repeat.
            weights: of each tuple.
        """
        levels = (0,) * len(self._ladders)
        fields = self._fields(levels)
        words = [np.zeros(len(codes[0]), dtype=np.int64) for _ in range(fields[-1].word + 1)]
        start = 0
        for field in fields:
            words[field.word] |= packed(codes[start : start + len(field.sizes)], field) << field.shift
            start += len(field.sizes)
        return _merged(levels, fields, words, tuple(weights))

    def up(self, keys: Keys, levels: Levels) -> Keys:
        """The keys at a coarser node.

        Args:
            keys: of a node that is finer in every column, or equal.
            levels: the coarser node.
        """
        fields = self._fields(levels)
        words = [np.zeros(keys.number, dtype=np.int64) for _ in range(fields[-1].word + 1)]
        start = 0
        for old, new in zip(keys.fields, fields, strict=True):
            stop = start + len(new.sizes)
            if new.bits:
                code = old.read(keys.words)
                if keys.levels[start:stop] == levels[start:stop]:
                    words[new.word] |= code << new.shift
                else:
                    steps = [self._step(place, keys.levels[place], levels[place]) for place in range(start, stop)]
                    words[new.word] |= (joined(steps, new.sizes) << new.shift).take(code)
            start = stop
        return _merged(levels, fields, words, keys.weights)

    def _fields(self, levels: Levels) -> tuple[Field, ...]:
        """The layout of keys at a node."""
        sizes = [ladder.groups(level) for ladder, level in zip(self._ladders, levels, strict=True)]
        return fields_of([*sizes, *self._last], [*self._blocks, *(1 for _ in self._last)])

    def _step(self, place: int, low: int, high: int) -> Whole:
        """The group at `high` of each group at `low`."""
        found = self._maps.get((place, low, high))
        if found is None:
            found = self._maps[place, low, high] = self._ladders[place].between(low, high).astype(np.int64)
        return found


def _merged(levels: Levels, fields: tuple[Field, ...], words: Sequence[Whole], weights: tuple[Whole, ...]) -> Keys:
    """Equal keys as one, ascending."""
    bits = sum(field.bits for field in fields)
    if len(words) == 1 and (1 << min(bits, WORD)) <= max(_CELLS * len(words[0]), _FEW):
        key, sums = _counted(words[0], weights, 1 << bits)
        return Keys(levels=levels, fields=fields, words=(key,), weights=sums)
    if len(words) == 1 and len(weights) == 1 and bits + int(weights[0].sum()).bit_length() <= WORD:
        key, total = _sorted(words[0], weights[0])
        return Keys(levels=levels, fields=fields, words=(key,), weights=(total,))
    order, ordered = _order(words, bits)
    first = np.flatnonzero(begins(ordered))
    sums = tuple(np.add.reduceat(weight[order], first) if len(first) else weight for weight in weights)
    return Keys(levels=levels, fields=fields, words=tuple(word[first] for word in ordered), weights=sums)


def _order(words: Sequence[Whole], bits: int) -> tuple[Whole, list[Whole]]:
    """The order of keys of this many bits, and the keys in it; key and place are sorted as one number if that fits."""
    places = max(len(words[0]) - 1, 1).bit_length()
    if len(words) == 1 and bits + places <= WORD:
        both = np.sort(words[0] << places | np.arange(len(words[0])))
        return both & ((1 << places) - 1), [both >> places]
    order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(tuple(reversed(words)))
    return order, [word[order] for word in words]


def begins(ordered: Sequence[Whole]) -> Mask:
    """Which of some ordered keys differ from the one before."""
    new = np.ones(len(ordered[0]), dtype=np.bool_)
    np.not_equal(ordered[0][1:], ordered[0][:-1], out=new[1:])
    for word in ordered[1:]:
        new[1:] |= word[1:] != word[:-1]
    return new


def _counted(key: Whole, weights: tuple[Whole, ...], span: int) -> tuple[Whole, tuple[Whole, ...]]:
    """Add up in a table of all keys there could be. Sums of integers below 2^53 are exact in doubles."""
    sums = [np.bincount(key, weight, minlength=span) for weight in weights]
    there = sums[0] != 0
    for total in sums[1:]:
        there |= total != 0
    found = np.flatnonzero(there)
    return found, tuple(total[found].astype(np.int64) for total in sums)


def _sorted(key: Whole, weight: Whole) -> tuple[Whole, Whole]:
    """Add up along ordered keys, with the weight in the low bits of what is ordered."""
    low = int(weight.sum()).bit_length()
    both = np.sort(key << low | weight)
    ordered = both >> low
    first = np.flatnonzero(begins([ordered]))
    return ordered[first], np.add.reduceat(both & ((1 << low) - 1), first) if len(first) else weight
