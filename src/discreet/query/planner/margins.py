r"""Margins: tables over some of the same keys, which of them to measure, and what each then says about the others.

A table of counts by sex and region holds those by region, as sums. So of several such tables some needn't be measured,
and what was measured of two may be brought together: by least squares.

*Components.* Let key i have nᵢ values, and x be the table by all keys. The space of such tables is the sum of
orthogonal components, one for each set C of keys: what depends on the keys in C and adds up to 0 along each of them. A
table by the keys A tells the components C ⊆ A and no others. Let N_A be the number of its cells. If each has
independent noise of variance v, it tells each of its components with the precision u = 1/(N_A·v), but for a factor
that is the same for all tables. So the least-squares estimate of a component weighs what the measured tables say about
it by their precisions, which add up: no equations need be solved. A cell of the table by the keys B is the sum of its
components C ⊆ B, and its variance is the sum of

    ∏ over C of (1 − 1/nᵢ) · ∏ over B \ C of 1/nᵢ / N_B / (the precision of C).

*Shares.* Precisions are linear in the shares of ρ that tables get, and variances convex in precisions. So there is a
best split, found by p_A ← p_A·√(−∂/∂p_A), normalised. What is measured so, by plain tables with independent noise, errs
as little as any linear mechanism with Gaussian noise of the same ρ, wherever the best precisions of components don't
grow with the component by more than tables can follow: Xiao, He, Zhang & Kifer 2023, "An optimal and scalable matrix
mechanism for noisy marginals under convex loss functions", whose residual basis the components are. For nested tables
and for all tables of a few keys it is the same; for all tables of one or two of 14 keys it is 2 % more. Precisions grow
with the square of a share of ε, which isn't convex in this way: there a few tables take all of it, and splits are found
from several starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

Keys: TypeAlias = frozenset[str]
"""The keys of a table, by what tells them apart."""

_ROUNDS = 300
"""Enough for three digits; a split that isn't the best is as private as any."""

_NEVER = 1e-140
"""The precision of what nothing tells: a key of one value has a component in which there is nothing to tell."""

_REWEIGHED = 30
"""How often errors are weighed again to make the worst one least."""

_LEAST = 1e-6
"""No error weighs less than this part of another."""

_UNITS = 1_000
"""Shares are whole numbers of a unit; this is the greatest."""

_STARTS = 12
"""How many splits a best one is looked for from, besides those that are always tried."""


def subsets(keys: Keys) -> Iterator[Keys]:
    """All sets of these keys, smaller ones first.

    Examples:
        >>> [sorted(each) for each in subsets(frozenset({"b", "a"}))]
        [[], ['a'], ['b'], ['a', 'b']]
    """
    ordered = sorted(keys)
    found = chain.from_iterable(combinations(ordered, number) for number in range(len(ordered) + 1))
    return map(frozenset, found)


@dataclass(frozen=True)
class Margins:
    """Tables over some of the same keys.

    Args:
        sizes: how many values each key has.
        tables: the keys of each table that is wanted; no two are the same.
    """

    sizes: Mapping[str, int]
    tables: tuple[Keys, ...]

    def cells(self, keys: Keys) -> int:
        """How many cells a table has."""
        return prod(self.sizes[key] for key in keys)

    @cached_property
    def widest(self) -> tuple[Keys, ...]:
        """The tables that no other one holds: all others follow from these."""
        return tuple(each for each in self.tables if not any(each < other for other in self.tables))

    @cached_property
    def components(self) -> tuple[Keys, ...]:
        """The components of which some table tells."""
        return tuple(dict.fromkeys(each for table in self.tables for each in subsets(table)))

    def variances(self, precisions: Sequence[float]) -> list[float]:
        """The variance of a cell of each table.

        Args:
            precisions: of one measured cell of each table, 1 over its variance; 0 of those that aren't measured.

        Examples:
            >>> tables = Margins({"a": 4}, (frozenset(), frozenset("a")))
            >>> tables.variances([0, 1]), [round(each, 2) for each in tables.variances([1, 1])]
            ([4.0, 1.0], [0.8, 0.8])
        """
        import numpy as np

        told = np.maximum(self._told @ np.array(precisions, dtype=float), _NEVER)
        found: list[float] = (self._spread @ (1 / told)).tolist()
        return found

    def shares(
        self, wanted: Sequence[float], noise: Sequence[float], power: int, *, by_worst: bool = False
    ) -> tuple[tuple[Fraction, ...], ...]:
        """Splits of an offer over the tables, each with sum 1; tables that get 0 aren't measured.

        The best one comes first, then that of the widest tables alone, which rounds nothing where there is one of them.

        Args:
            wanted: what the variance of all cells of each table is multiplied by; the sum over tables is to be least.
            noise: the variance of a cell of each table, if that got all of the offer.
            power: how precisions grow with shares: 2 for Laplace noise, 1 for Gaussian.
            by_worst: whether the greatest variance of a cell is to be least instead, times what is wanted.

        Examples:
            >>> tables = Margins({"a": 100}, (frozenset(), frozenset("a")))
            >>> [tuple(map(str, one)) for one in tables.shares([1, 1], [1, 1], power=2)]
            [('177/1177', '1000/1177'), ('0', '1')]
        """
        widest = [float(table in self.widest) for table in self.tables]
        plain = _short(self._split(widest, wanted, noise, power), list(map(bool, widest)))
        found = {plain, (Fraction(1, len(self.tables)),) * len(self.tables)}
        if by_worst:
            found.add(self._shortened(self._split_by_worst(wanted, noise, power)))
        else:
            for start in self._starts(widest, power):
                found.add(self._shortened(self._split(start, wanted, noise, power)))

        def loss(split: tuple[Fraction, ...]) -> float:
            errors = self._errors(list(map(float, split)), wanted, noise, power)
            if by_worst:
                return max(errors)
            return sum(self.cells(table) * error for table, error in zip(self.tables, errors, strict=True))

        return tuple(dict.fromkeys((min(found, key=lambda split: (loss(split), split)), plain)))

    def _starts(self, widest: Sequence[float], power: int) -> Iterator[list[float]]:
        """Splits from which better ones are looked for: with a little for one table besides the widest, and equal."""
        yield [1.0] * len(widest)
        coarser = [place for place, each in enumerate(widest) if not each]
        for one in coarser[: _STARTS if power > 1 else 0]:
            yield [each or 0.2 * float(place == one) for place, each in enumerate(widest)]

    def _shortened(self, shares: Sequence[float]) -> tuple[Fraction, ...]:
        """A split in short fractions, with something for each table that no larger one stands for."""
        needed = [
            not any(table < other and share for other, share in zip(self.tables, shares, strict=True))
            for table in self.tables
        ]
        return _short(shares, needed)

    def _split_by_worst(self, wanted: Sequence[float], noise: Sequence[float], power: int) -> list[float]:
        """A split at which errors that are too great are as near to what is wanted as others: see `allocation`."""
        multipliers, split = [1.0] * len(self.tables), [1.0] * len(self.tables)
        for _ in range(_REWEIGHED):
            weights = [
                each * weight / self.cells(table)
                for each, weight, table in zip(multipliers, wanted, self.tables, strict=True)
            ]
            split = self._split([1.0] * len(self.tables), weights, noise, power)
            errors = self._errors(split, wanted, noise, power)
            multipliers = [
                max(each * error / max(errors), _LEAST) for each, error in zip(multipliers, errors, strict=True)
            ]
            multipliers = [each / max(multipliers) for each in multipliers]
        return split

    def _split(
        self, start: Sequence[float], wanted: Sequence[float], noise: Sequence[float], power: int
    ) -> list[float]:
        """A split from which no small step leads to a better one."""
        import numpy as np

        told = self._told / np.array(noise, dtype=float)
        costs = self._costs(wanted)
        shares = np.array(start, dtype=float)
        shares /= shares.sum()
        for _ in range(_ROUNDS):
            gains = told.T @ (costs / np.maximum(told @ shares**power, _NEVER) ** 2)
            before, shares = shares, (gains * shares ** (2 * power)) ** (1 / (power + 1))
            shares /= shares.sum()
            if (shares == before).all():  # and so in all further rounds
                break
        found: list[float] = shares.tolist()
        return found

    def _errors(
        self, shares: Sequence[float], wanted: Sequence[float], noise: Sequence[float], power: int
    ) -> list[float]:
        """The variance of a cell of each table at a split, times what is wanted."""
        variances = self.variances([share**power / size for share, size in zip(shares, noise, strict=True)])
        return [weight * variance for weight, variance in zip(wanted, variances, strict=True)]

    def _costs(self, wanted: Sequence[float]) -> NDArray[Any]:
        """The amount that 1 over the precision of each component adds to the sum of errors."""
        import numpy as np

        weights = np.array([w * self.cells(t) for w, t in zip(wanted, self.tables, strict=True)])
        found: NDArray[Any] = weights @ self._spread
        return found

    @cached_property
    def _told(self) -> NDArray[Any]:
        """The precision of a component from a cell of precision 1, by component and table."""
        import numpy as np

        return np.array(
            [[1 / self.cells(table) if one <= table else 0.0 for table in self.tables] for one in self.components]
        )

    @cached_property
    def _spread(self) -> NDArray[Any]:
        """The variance that a component of precision 1 adds to a cell, by table and component."""
        import numpy as np

        def part(table: Keys, one: Keys) -> float:
            if not one <= table:
                return 0.0
            inside = prod(1 - 1 / self.sizes[key] for key in one)
            return inside / self.cells(table - one) / self.cells(table)

        return np.array([[part(table, one) for one in self.components] for table in self.tables])


def _short(shares: Sequence[float], needed: Sequence[bool]) -> tuple[Fraction, ...]:
    """Shares as short fractions with sum 1; those that are too small are 0, where the table isn't needed."""
    greatest = max(shares)
    units = [
        max(round(_UNITS * share / greatest), int(must)) if share or must else 0
        for share, must in zip(shares, needed, strict=True)
    ]
    return tuple(Fraction(unit, sum(units)) for unit in units)
