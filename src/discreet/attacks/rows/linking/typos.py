"""Typos: which texts are a few keystrokes apart, among many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from discreet.anonymity.records.column import Whole
from discreet.errors import InvalidArgument

MOST = 2
"""Texts further apart than this are no typos of each other, and looking for them would take long."""

_DIRECT = 1 << 20  # so many pairs are compared directly
_BLOCK = 1 << 18  # pairs compared at a time


def close_pairs(ones: Sequence[str], others: Sequence[str], most: int) -> tuple[Whole, Whole]:
    """The pairs of texts at an edit distance of at most `most`.

    Two texts that are d insertions, deletions and replacements apart have a text in common that either becomes by
    leaving out at most d letters. So texts are brought together by what is left of them, and only those are compared.

    Args:
        ones: texts.
        others: texts.
        most: 0 to 2.

    Returns:
        Places in `ones`, and the places in `others` beside them.

    Raises:
        InvalidArgument: `most` is out of range.

    Source: Levenshtein (1966), the definition of the distance by insertions, deletions and replacements.

    Examples:
        >>> close_pairs(["Meyer", "Smith"], ["Meier", "Smth", "Jones"], 1)
        (array([0, 1]), array([0, 1]))
    """
    if not 0 <= most <= MOST:
        raise InvalidArgument(f"typos are at most {MOST} letters apart")
    if len(ones) * len(others) <= _DIRECT:
        a, b = (side.ravel() for side in np.indices((len(ones), len(others))))
    else:
        a, b = _together(ones, others, most)
    kept = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(a), _BLOCK):
        piece = slice(start, start + _BLOCK)
        distances = _distances([ones[i] for i in a[piece]], [others[j] for j in b[piece]])
        kept.append(start + np.flatnonzero(distances <= most))
    chosen = np.concatenate(kept)
    return a[chosen], b[chosen]


def _together(ones: Sequence[str], others: Sequence[str], most: int) -> tuple[Whole, Whole]:
    """Pairs that have a rest in common, each once; the rests of the shorter list are held, and the longer is read."""
    if len(ones) > len(others):
        b, a = _together(others, ones, most)
        return a, b
    by_rest: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(ones):
        for rest in _rests(text, most):
            by_rest[rest].append(place)
    found: list[Whole] = [np.zeros(0, dtype=np.int64)]
    for place, text in enumerate(others):
        near = {one for rest in _rests(text, most) for one in by_rest.get(rest, ())}
        if near:
            found.append(place * len(ones) + np.fromiter(near, dtype=np.int64, count=len(near)))
    b, a = np.divmod(np.sort(np.concatenate(found)), max(len(ones), 1))
    return a, b


def _rests(text: str, most: int) -> set[str]:
    """What is left of a text without at most so many letters."""
    found = last = {text}
    for _ in range(most):
        last = {one[:place] + one[place + 1 :] for one in last for place in range(len(one))}
        found = found | last
    return found


def _distances(ones: Sequence[str], others: Sequence[str]) -> Whole:
    """The edit distance of each pair, all pairs at once, row by row of the usual table."""
    a, b = _letters(ones), _letters(others)
    lengths = np.array([len(text) for text in ones]), np.array([len(text) for text in others])
    row = np.tile(np.arange(b.shape[1] + 1), (len(a), 1))
    final = row.copy()
    for i in range(a.shape[1]):
        above = row
        row = np.empty_like(above)
        row[:, 0] = i + 1
        for j in range(b.shape[1]):
            changed = above[:, j] + (a[:, i] != b[:, j])
            row[:, j + 1] = np.minimum(changed, np.minimum(above[:, j + 1], row[:, j]) + 1)
        ended = lengths[0] == i + 1
        final[ended] = row[ended]
    return np.asarray(final[np.arange(len(a)), lengths[1]], dtype=np.int64)


def _letters(texts: Sequence[str]) -> np.typing.NDArray[np.uint32]:
    """Texts as code points, filled up with 0: texts × letters."""
    width = max(map(len, texts), default=0)
    packed = np.array(texts, dtype=f"<U{max(width, 1)}")
    return packed.view(np.uint32).reshape(len(texts), -1)[:, :width]
