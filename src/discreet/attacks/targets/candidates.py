"""Candidates: which classes of one table go with which of another, and how many candidates have which sensitive value.

**Relations** say which values of a column go with which of another.

**Joining.** Both tables are walked as trees of prefixes, first column at the root. A pair of prefixes is kept if their
values go together; only what is kept is walked further. So the work follows the pairs that are left, not targets ×
rows: where each value goes with one cell, it is near a sort of both tables.

**Tallies** count, for each kind of person, the candidates with each value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Reals, Value, Whole
from discreet.anonymity.grouping import distinct

_PAIRS = 1 << 22
"""How many pairs are looked at together; more are looked at in parts."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Relation:
    """For each value of one column, the codes of another that it goes with.

    Args:
        starts: values + 1; those of value v are cells[starts[v]:starts[v + 1]].
        cells: ascending for each value.
        size: how many codes the other column has.
    """

    starts: Whole
    cells: Whole
    size: int

    @classmethod
    def of(cls, pairs: Sequence[Sequence[int]], size: int) -> Relation:
        """From the codes of each value.

        Examples:
            >>> Relation.of([[1, 0], [], [1]], 2).starts.tolist()
            [0, 2, 2, 3]
        """
        cells = np.fromiter((cell for each in pairs for cell in each), dtype=np.int64)
        return cls.paired((np.repeat(np.arange(len(pairs)), [len(each) for each in pairs]), cells), len(pairs), size)

    @classmethod
    def paired(cls, pairs: tuple[Whole, Whole], values: int, size: int) -> Relation:
        """From pairs of a value and a code, in any order, some perhaps more than once.

        Args:
            pairs: the values, and the codes beside them.
            values: how many values there are.
            size: how many codes there are.
        """
        keys = distinct(pairs[0] * max(size, 1) + pairs[1])
        owners, cells = np.divmod(keys, max(size, 1))
        return cls(starts=np.searchsorted(owners, np.arange(values + 1)), cells=cells, size=size)

    def numbers(self) -> Whole:
        """How many codes each value goes with."""
        return np.diff(self.starts)

    def pairs(self) -> tuple[Whole, Whole]:
        """All pairs of a value and a code that go together, by value."""
        return np.repeat(np.arange(len(self.starts) - 1), self.numbers()), self.cells

    @property
    def breadth(self) -> float:
        """The share of the codes that a value goes with on average."""
        return len(self.cells) / max((len(self.starts) - 1) * self.size, 1)

    def holds(self, values: Whole, cells: Whole) -> Mask:
        """Whether each of these pairs is in it."""
        owners, codes = self.pairs()
        keys = owners * self.size + codes
        asked = values * self.size + cells
        places = np.searchsorted(keys, asked)
        inside = places < len(keys)
        inside[inside] = keys[places[inside]] == asked[inside]
        return inside


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joined:
    """The pairs of classes that go together.

    Args:
        starts: left classes + 1; those of left class i are right[starts[i]:starts[i + 1]].
        right: classes of the right table, ascending for each of the left.
    """

    starts: Whole
    right: Whole


def join(left: Codes, right: Codes, relations: Sequence[Relation]) -> Joined:
    """Join two tables of distinct tuples.

    Args:
        left: classes × columns, in lexicographic order.
        right: classes × columns, in lexicographic order.
        relations: for each column, which right codes a left code goes with.

    Examples:
        >>> same = Relation.of([[0], [1]], 2)
        >>> either = Relation.of([[0, 1]], 2)
        >>> found = join(np.array([[0, 0], [1, 0]]), np.array([[0, 1], [1, 0], [1, 1]]), [same, either])
        >>> found.starts.tolist(), found.right.tolist()
        ([0, 1, 3], [0, 1, 2])
    """
    trees = _Tree.of(left), _Tree.of(right)
    parts = list(_walk(trees, relations, 0, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)))
    lefts = np.concatenate([part[0] for part in parts])
    rights = np.concatenate([part[1] for part in parts])
    order = np.lexsort((rights, lefts))
    numbers = np.bincount(lefts, minlength=len(left))
    return Joined(starts=np.concatenate(([0], np.cumsum(numbers))), right=rights[order])


def itself(classes: int) -> Joined:
    """The pairs of a table with itself: each class goes with itself alone."""
    return Joined(starts=np.arange(classes + 1), right=np.arange(classes))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Tree:
    """The prefixes of a table's tuples: at depth d those of d columns, in order.

    Args:
        children: depth → of each prefix, where its children start among the prefixes of the next depth; and an end.
        codes: depth → of each prefix of the next depth, its last code.
    """

    children: tuple[Whole, ...]
    codes: tuple[Whole, ...]

    @classmethod
    def of(cls, tuples: Codes) -> _Tree:
        """The tree of distinct tuples in lexicographic order."""
        rows, columns = tuples.shape
        new = np.zeros(rows, dtype=np.bool_)
        new[:1] = columns > 0
        firsts = [np.zeros(min(rows, 1), dtype=np.int64)]
        for column in range(columns):
            new[1:] |= tuples[1:, column] != tuples[:-1, column]
            firsts.append(np.flatnonzero(new))
        children = [np.append(np.searchsorted(b, a), len(b)) for a, b in pairwise(firsts)]
        codes = [tuples[first, column].astype(np.int64) for column, first in enumerate(firsts[1:])]
        return cls(children=tuple(children), codes=tuple(codes))


def _walk(
    trees: tuple[_Tree, _Tree], relations: Sequence[Relation], depth: int, left: Whole, right: Whole
) -> Iterator[tuple[Whole, Whole]]:
    """From pairs of prefixes to pairs of classes, in parts if there are many."""
    if depth == len(relations):
        yield left, right
        return
    if not all(len(tree.codes[depth]) for tree in trees):
        yield np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return
    work = _children(trees[0], depth, left) * np.minimum(
        _children(trees[1], depth, right), max(int(relations[depth].numbers().max(initial=0)), 1)
    )
    for start, end in parts(np.cumsum(work)):
        yield from _walk(
            trees, relations, depth + 1, *_step(trees, relations[depth], depth, left[start:end], right[start:end])
        )


def _step(trees: tuple[_Tree, _Tree], relation: Relation, depth: int, left: Whole, right: Whole) -> tuple[Whole, Whole]:
    """The pairs of children, of these pairs of prefixes, whose codes go together; by the shorter of two ways."""
    place, child = expand(trees[0].children[depth], left)
    parent = right[place]
    code = trees[0].codes[depth][child]
    if relation.numbers()[code].sum() <= _children(trees[1], depth, parent).sum():
        return _by_cells(trees[1], relation, depth, (child, parent, code))
    place, other = expand(trees[1].children[depth], parent)
    kept = relation.holds(code[place], trees[1].codes[depth][other])
    return child[place][kept], other[kept]


def _by_cells(tree: _Tree, relation: Relation, depth: int, asked: tuple[Whole, Whole, Whole]) -> tuple[Whole, Whole]:
    """For each left child the right children that it goes with: each of its cells is looked up under the parent."""
    child, parent, code = asked
    place, cell = expand(relation.starts, code)
    starts = tree.children[depth]
    keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * relation.size + tree.codes[depth]
    wanted = parent[place] * relation.size + relation.cells[cell]
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    kept = keys[found] == wanted
    return child[place][kept], found[kept]


def _children(tree: _Tree, depth: int, prefixes: Whole) -> Whole:
    starts = tree.children[depth]
    return starts[prefixes + 1] - starts[prefixes]


def expand(starts: Whole, places: Whole) -> tuple[Whole, Whole]:
    """The members of each of these ranges in turn: which of `places` each belongs to, and the member."""
    numbers = starts[places + 1] - starts[places]
    owner = np.repeat(np.arange(len(places)), numbers)
    before = np.cumsum(numbers) - numbers
    return owner, np.arange(len(owner)) - before[owner] + starts[places][owner]


def parts(sums: Whole) -> Iterator[tuple[int, int]]:
    """Cut a list into parts of about `_PAIRS` pairs each, none empty."""
    start = 0
    while start < len(sums):
        done = int(sums[start - 1]) if start else 0
        end = max(int(np.searchsorted(sums, done + _PAIRS, side="right")), start + 1)
        yield start, end
        start = end
    if not len(sums):
        yield 0, 0


def summed(places: Whole, weights: Whole | Reals | Mask, size: int) -> Reals:
    """The weights that fall to each of a number of places.

    Examples:
        >>> summed(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 3).tolist()
        [1.0, 0.0, 5.0]
    """
    return np.bincount(places, weights=weights.astype(np.float64), minlength=size).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tally:
    """Counts of candidates by kind of person and by sensitive value, exact or estimated.

    A kind is all people whom the attacker can't tell apart by what they know.

    Args:
        sensitive: the name of the attribute.
        labels: its values.
        of_person: person → kind.
        starts: kinds + 1; the entries of kind i are those from starts[i] to starts[i + 1].
        values: for each entry, a place in `labels`.
        counts: for each entry, how many candidates have the value; above 0.
        priors: for each label, its share among everyone; what is known without the rest.
        among: for each kind, how many candidates it has, where one may have several values, as a person with several
            rows may; None if each has one, so that entries add up to them.
        noisy: whether counts were estimated from answers with noise, so that no value is certain.

    Examples:
        >>> seen = Tally(
        ...     sensitive="ill", labels=("cold", "flu"), of_person=np.array([0, 0, 1]), starts=np.array([0, 2, 3]),
        ...     values=np.array([0, 1, 1]), counts=np.array([1.0, 2.0, 4.0]), priors=np.array([0.5, 0.5]),
        ... )
        >>> seen.totals().tolist(), seen.best().tolist(), seen.surety().round(2).tolist()
        ([3.0, 4.0], [1, 1], [0.67, 1.0])
    """

    sensitive: str
    labels: tuple[Value, ...]
    of_person: Whole
    starts: Whole
    values: Whole
    counts: Reals
    priors: Reals
    among: Reals | None = None
    noisy: bool = False

    @property
    def kinds(self) -> int:
        """How many kinds of people there are."""
        return len(self.starts) - 1

    def kind_of_entry(self) -> Whole:
        """The kind that each entry belongs to."""
        return np.repeat(np.arange(self.kinds), np.diff(self.starts))

    def people(self) -> Whole:
        """How many people are of each kind."""
        return np.bincount(self.of_person, minlength=self.kinds).astype(np.int64)

    def totals(self) -> Reals:
        """How many candidates each kind has."""
        return summed(self.kind_of_entry(), self.counts, self.kinds) if self.among is None else self.among

    def alike(self) -> Mask:
        """Whether all candidates of a kind have one value in common; False of a kind without candidates."""
        if self.among is None:
            return np.asarray(np.diff(self.starts) == 1)
        kinds = self.kind_of_entry()
        found = np.zeros(self.kinds, dtype=np.bool_)
        if self.noisy:
            return found
        found[kinds[self.counts == self.among[kinds]]] = True
        return found

    @property
    def overlaps(self) -> bool:
        """Whether some candidate has several values, so that values don't divide the candidates."""
        return bool((summed(self.kind_of_entry(), self.counts, self.kinds) > self.totals()).any())

    def shares(self) -> Reals:
        """For each entry, its share among the candidates of its kind: what the attacker believes of the value."""
        return np.asarray(self.counts / self.totals()[self.kind_of_entry()])

    def best(self) -> Whole:
        """The value that most candidates of a kind have; of equals, and of nobody, the commonest of all."""
        found = np.full(self.kinds, self.commonest, dtype=np.int64)
        kinds, last = self._falling()
        found[kinds] = self.values[last]
        return found

    def surety(self) -> Reals:
        """The share of a kind's candidates that has the best value; of nobody, the prior share of that value."""
        found = np.full(self.kinds, self.priors.max(initial=0.0))
        kinds, last = self._falling()
        found[kinds] = self.shares()[last]
        return found

    def sureties(self) -> tuple[tuple[float, int], ...]:
        """How many people are guessed how surely; in percent points, so that the list stays short."""
        sure, counts = np.unique(np.round(self.surety()[self.of_person], 2), return_counts=True)
        return tuple(zip(sure.tolist(), counts.tolist(), strict=True))

    @property
    def commonest(self) -> int:
        """The value that is commonest among everyone."""
        return int(self.priors.argmax()) if len(self.priors) else 0

    def of_people(self, kinds: Whole) -> Tally:
        """The same of other people, each of one of the kinds there are.

        Args:
            kinds: for each person, the kind.
        """
        return replace(self, of_person=kinds)

    def _falling(self) -> tuple[Whole, Whole]:
        """The kinds that have candidates, and of each the entry with the most; of equals the commonest of all."""
        kinds = self.kind_of_entry()
        order = np.lexsort((-self.priors[self.values], -self.counts, kinds))
        kept = np.flatnonzero(np.diff(self.starts) > 0)
        return kept, order[self.starts[kept]]
