"""Full-domain generalisation from its definition: every node of the lattice, one row at a time, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import fsum, log2, prod
from typing import TypeAlias

from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Hierarchy, Listed
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
)
from support import slow_models as slow

Held: TypeAlias = Counter[Hashable]
Met: TypeAlias = Callable[[Held, Held], bool]
"""Whether a class with these sensitive values meets a model, in a table with those."""
Levels: TypeAlias = tuple[int, ...]
SHARES = st.fractions(Fraction(1, 8), 1, max_denominator=8)
ABOVE = st.fractions(Fraction(1, 4), 4, max_denominator=8)


@dataclass(frozen=True)
class Promise:
    """A model, and the same from its definition."""

    model: Model
    met: Met


def _promise(model: Model, met: Met) -> Promise:
    return Promise(model, met)


PROMISES: dict[str, st.SearchStrategy[Promise]] = {
    "k": st.integers(1, 5).map(lambda k: _promise(KAnonymity(k), lambda held, _: held.total() >= k)),
    "alpha": st.tuples(SHARES, st.integers(1, 3)).map(
        lambda at: _promise(
            AlphaK(at[0], at[1], "ill"),
            lambda held, _: held.total() >= at[1] and slow.largest_share(held) <= at[0],
        )
    ),
    "distinct": st.integers(1, 3).map(
        lambda ell: _promise(DistinctDiversity(ell, "ill"), lambda held, _: len(held) >= ell)
    ),
    "entropy": st.fractions(1, 3, max_denominator=8).map(
        lambda ell: _promise(EntropyDiversity(ell, "ill"), lambda held, _: slow.reaches_entropy(held, ell))
    ),
    "recursive": st.tuples(ABOVE, st.integers(2, 3)).map(
        lambda at: _promise(
            RecursiveDiversity(at[0], at[1], "ill"), lambda held, _: slow.recursive(held, at[1]) < at[0]
        )
    ),
    "close": SHARES.map(
        lambda t: _promise(Closeness(t, "ill"), lambda held, table: slow.equal_distance(held, table) <= t)
    ),
    "likeness": ABOVE.map(
        lambda beta: _promise(BetaLikeness(beta, "ill"), lambda held, table: slow.likeness(held, table) <= beta)
    ),
    "disclosure": ABOVE.map(
        lambda delta: _promise(
            DeltaDisclosure(delta, "ill"),
            lambda held, table: Fraction(slow.disclosure(held, table)) < delta if set(table) == set(held) else False,
        )
    ),
}
LOSSES = ("ncp", "arx", "arx_geometric", "precision", "entropy", "discernibility", "class_size")

FLOATS = frozenset({"arx_geometric", "entropy"})
"""Losses with logarithms or roots: their last digits depend on the order in which they are added up."""


@dataclass(frozen=True)
class Case:
    """A table of quasi-identifiers and a sensitive value, with what values become at each level.

    Args:
        rows: of codes, and the sensitive value.
        paths: column → code → its groups, from level 0, which is the code itself, upwards.
        numeric: column → whether its values are numbers, and then which.
    """

    rows: tuple[tuple[tuple[int, ...], str], ...]
    paths: tuple[Mapping[int, tuple[int, ...]], ...]
    numeric: tuple[tuple[int, ...] | None, ...]

    def value(self, place: int, code: int) -> int | str:
        """What the table holds."""
        numbers = self.numeric[place]
        return f"v{code}" if numbers is None else numbers[code]

    def columns(self) -> dict[str, list[int | str]]:
        """The table, as anonymity reads it."""
        found: dict[str, list[int | str]] = {}
        for place in range(len(self.paths)):
            found[f"q{place}"] = [self.value(place, codes[place]) for codes, _ in self.rows]
        found["ill"] = [value for _, value in self.rows]
        return found

    def hierarchies(self) -> dict[str, Hierarchy]:
        """The groups, as anonymity reads them."""
        found: dict[str, Hierarchy] = {}
        for place, paths in enumerate(self.paths):
            rows = [
                (str(self.value(place, code)), *(f"{level}.{group}" for level, group in enumerate(path) if level))
                for code, path in paths.items()
            ]
            found[f"q{place}"] = Listed(rows=rows)
        return found

    @property
    def heights(self) -> tuple[int, ...]:
        """Of the ladders."""
        return tuple(len(next(iter(paths.values()))) - 1 for paths in self.paths)

    def nodes(self) -> Iterator[Levels]:
        """All of them."""
        return product(*(range(height + 1) for height in self.heights))

    def classes(self, levels: Levels) -> dict[tuple[int, ...], Held]:
        """The classes at a node."""
        found: dict[tuple[int, ...], Held] = {}
        for codes, value in self.rows:
            key = tuple(self.paths[i][code][level] for i, (code, level) in enumerate(zip(codes, levels, strict=True)))
            found.setdefault(key, Counter())[value] += 1
        return found

    def kept(self, levels: Levels, met: Met) -> dict[tuple[int, ...], Held]:
        """The classes at a node that meet a model together: those that miss it are left out until none does.

        First those go that miss what is asked of a class by itself: beside a table that is like it.
        """
        kept = {key: held for key, held in self.classes(levels).items() if met(held, held)}
        while True:
            table = sum(kept.values(), Counter())
            left = {key: held for key, held in kept.items() if met(held, table)}
            if len(left) == len(kept):
                return kept
            kept = left

    def alike(self, place: int, code: int, level: int) -> set[int]:
        """The values that occur and that a group holds."""
        group = self.paths[place][code][level]
        return {codes[place] for codes, _ in self.rows if self.paths[place][codes[place]][level] == group}

    def loss(self, name: str, levels: Levels, met: Met, k: int) -> Fraction | float:
        """What a node loses, with rows left out."""
        kept = self.kept(levels, met)
        out = len(self.rows) - sum(held.total() for held in kept.values())
        if name == "discernibility":
            return Fraction(sum(held.total() ** 2 for held in kept.values()) + out * len(self.rows))
        if name == "class_size":
            return Fraction(len(self.rows), (len(kept) + bool(out)) * k)
        if name == "arx_geometric":
            q = len(levels)
            sums = [Fraction()] * q
            for codes, _ in self.rows:
                key = tuple(self.paths[i][code][levels[i]] for i, code in enumerate(codes))
                for place, code in enumerate(codes):
                    sums[place] += self.leaves(place, code, levels[place]) if key in kept else 1
            return prod(float(1 + each / max(len(self.rows), 1)) for each in sums) ** (1 / q) - 1
        single = {"arx": self.leaves, "ncp": self.ncp, "precision": self.precision, "entropy": self.bits}[name]
        tops = {"arx": Fraction(1), "ncp": Fraction(1), "precision": Fraction(1)}
        total: list[Fraction | float] = []
        for codes, _ in self.rows:
            key = tuple(self.paths[i][code][level] for i, (code, level) in enumerate(zip(codes, levels, strict=True)))
            for place, code in enumerate(codes):
                top = tops.get(name, self.all_bits(place, code))
                total.append(single(place, code, levels[place]) if key in kept else top)
        if name != "entropy":
            return sum(total, Fraction()) / len(total)
        most = fsum(self.all_bits(place, code) for codes, _ in self.rows for place, code in enumerate(codes))
        return fsum(total) / most if most else 0.0

    def leaves(self, place: int, code: int, level: int) -> Fraction:
        """The share of its column's hierarchy that a cell stands for, whether these values occur or not."""
        paths = self.paths[place].values()
        alike = sum(path[level] == self.paths[place][code][level] for path in paths)
        return Fraction(alike - 1, len(paths) - 1) if len(paths) > 1 else Fraction(0)

    def ncp(self, place: int, code: int, level: int) -> Fraction:
        """The width of a cell."""
        held = self.alike(place, code, level)
        every = {codes[place] for codes, _ in self.rows}
        numbers = self.numeric[place]
        if numbers is None:
            return Fraction(len(held) - 1, max(len(every) - 1, 1))
        span = max(numbers[c] for c in every) - min(numbers[c] for c in every)
        return Fraction(max(numbers[c] for c in held) - min(numbers[c] for c in held), max(span, 1))

    def precision(self, place: int, code: int, level: int) -> Fraction:  # noqa: ARG002 — as the others
        """The height of a cell."""
        return Fraction(level, max(self.heights[place], 1))

    def bits(self, place: int, code: int, level: int) -> float:
        """What a cell keeps back."""
        held = self.alike(place, code, level)
        among = sum(codes[place] in held for codes, _ in self.rows)
        return log2(among / sum(codes[place] == code for codes, _ in self.rows))

    def all_bits(self, place: int, code: int) -> float:
        """What a row that is left out keeps back."""
        return log2(len(self.rows) / sum(codes[place] == code for codes, _ in self.rows))

    def best(self, name: str, met: Met, k: int, most: int) -> tuple[Fraction | float, Levels] | None:
        """The node that loses least; of several one with the fewest steps up. None if there is none."""
        found = []
        for levels in self.nodes():
            kept = sum(held.total() for held in self.kept(levels, met).values())
            if len(self.rows) - kept <= most:
                found.append((self.loss(name, levels, met, k), sum(levels), levels))
        if not found:
            return None
        loss, _, levels = min(found)
        return loss, levels


@st.composite
def cases(draw: st.DrawFn, *, columns: int = 3, values: int = 4, rows: int = 12, ill: int = 3) -> Case:
    """Small tables with random ladders, whose highest level may be several groups."""
    number = draw(st.integers(1, columns))
    paths: list[dict[int, tuple[int, ...]]] = []
    numeric: list[tuple[int, ...] | None] = []
    for _ in range(number):
        size = draw(st.integers(1, values))
        path = {code: (code,) for code in range(size)}
        for _ in range(draw(st.integers(1, 3))):
            groups = sorted({each[-1] for each in path.values()})
            into = dict(
                zip(groups, draw(st.lists(st.integers(0, 2), min_size=len(groups), max_size=len(groups))), strict=True)
            )
            path = {code: (*each, into[each[-1]]) for code, each in path.items()}
        paths.append(path)
        steps = draw(st.none() | st.lists(st.integers(1, 9), min_size=size, max_size=size))
        numeric.append(None if steps is None else tuple(sum(steps[: code + 1]) for code in range(size)))
    row = st.tuples(st.tuples(*(st.sampled_from(sorted(path)) for path in paths)), st.sampled_from("abcde"[:ill]))
    held = draw(st.lists(row, min_size=1, max_size=rows))
    return Case(rows=tuple(held), paths=tuple(paths), numeric=tuple(numeric))


def both(promises: Sequence[Promise]) -> Met:
    """Several models at once."""
    return lambda held, table: all(each.met(held, table) for each in promises)
