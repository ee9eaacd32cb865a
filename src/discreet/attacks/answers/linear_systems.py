"""Linear systems: what the exact sums of many sets of rows give away about single rows.

A count or sum over a set S of rows is a linear equation with the coefficients 1 on S and 0 elsewhere. The answers to
the queries A (one row of A for each) give away the value of row i exactly if e_i is in the row space of A: then it is a
combination of answers, and otherwise there is a vector z with Az = 0 and z_i ≠ 0, which can be added to the values
without any answer changing (values are taken as unbounded numbers; where they are known to be 0 or 1, or positive, more
can follow).

Rows in the same sets have the same column in A; a vector of the row space is constant on them. So such rows are taken
together first; only what is alone in its sets can be given away, though a small group's total may be.

*Proof of what elimination modulo a prime gives.* Let r be the rank of A modulo a prime p, and E the e_i that are in the
row space modulo p. The rank over the rationals is at least r. A minor of size r + 1 of A with E below it is a whole
number, and by Hadamard's bound for 0/1 matrices at most (r+2)^((r+2)/2)/2^(r+1). If further primes, with a larger
product, all find the rank of A with E below it to be r at most, each divides the minor, so it is 0. Then A, and A
with E below it, have the rank r: all of E is in the row space. And if e_i is in the row space over the rationals, then
A with e_i below it has the rank r modulo p too, so e_i is in E. So E is the answer, exactly.

Source: Dobkin, Jones, Lipton (1979), "Secure Databases: Protection Against User Influence", the definition of a
compromise. The proof is written out above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, log2
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from flint import nmod_mat

Mask: TypeAlias = NDArray[np.bool_]
Reals: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_FIRST_PRIME = 1 << 62
"""Primes are taken from here downwards: as large as a machine word allows, so that few of them prove a rank."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Determined:
    """The rows whose values a query log determines.

    Args:
        rows: places of the rows whose value follows from the answers.
        groups: sets of rows, each of two or more that no query tells apart, whose total follows.
        rank: of the queries: how many of them are independent.
        primes: modulo how many primes the rank was found, for the proof.
    """

    rows: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    rank: int
    primes: int


def determined(sets: Sequence[Sequence[bool]] | Mask) -> Determined:
    """The rows, and groups of rows that no query tells apart, whose values the answers to queries give away.

    Args:
        sets: queries × rows: which rows each query counts or adds up.

    Raises:
        InvalidArgument: it isn't a table of flags.

    Examples:
        >>> determined([[True, True, True, True], [True, True, False, False], [False, True, True, True]]).rows
        (0, 1)
    """
    masks = masks_of(sets)
    columns, kind = np.unique(masks, axis=1, return_inverse=True)
    sizes = np.bincount(kind.ravel(), minlength=columns.shape[1])
    places, rank, primes = _unit_vectors(columns.astype(np.int64))
    order = np.argsort(kind.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    groups = [tuple(order[starts[place] : starts[place + 1]].tolist()) for place in places]
    return Determined(
        rows=tuple(sorted(group[0] for group in groups if len(group) == 1)),
        groups=tuple(sorted(group for group in groups if len(group) > 1)),
        rank=rank,
        primes=primes,
    )


def combination(sets: Sequence[Sequence[bool]] | Mask, row: int) -> tuple[Fraction, ...] | None:
    """Factors, one for each query, with which the answers add up to the value of one row; None if there are none.

    Args:
        sets: queries × rows.
        row: its place.

    Raises:
        InvalidArgument: it isn't a table of flags, or there is no such row.

    Examples:
        >>> [str(factor) for factor in combination([[True, True, True], [True, True, False]], row=2)]
        ['1', '-1']
    """
    masks = masks_of(sets)
    if not 0 <= row < masks.shape[1]:
        raise InvalidArgument(f"there is no row {row}", hint=f"rows are numbered from 0 to {masks.shape[1] - 1}")
    found = determined(masks)
    return Basis.of(masks, found.rank).factors([row])[0] if row in found.rows else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """Independent queries, as many as there are, and kinds of rows on which they are a regular square.

    *Proof that it gives what follows.* Let B be the queries of the basis, S the square of B on the columns C, and e_i
    in the row space. B spans that, so e_i = f'B for some factors f, and i is in C: else f'S = 0, and f = 0 since S is
    regular. On C that reads f'S = e_i', which f alone solves. And if Sx = y for the answers y, then f'y = f'Sx = x_i.

    Args:
        queries: places of the queries, the earliest that are independent.
        asked: how many queries there are in all.
        square: the queries × as many kinds of rows, regular.
        place: row → the place of its kind in the square; −1 if it isn't there.
    """

    queries: tuple[int, ...]
    asked: int
    square: Whole
    place: Whole

    @classmethod
    def of(cls, masks: Mask, rank: int) -> Basis:
        """Choose them.

        Args:
            masks: queries × rows.
            rank: of the queries.
        """
        columns, kind = np.unique(masks, axis=1, return_inverse=True)
        matrix = columns.astype(np.int64)
        # What is independent modulo a prime is so over the rationals; unlucky primes, with a lower rank, are few.
        tried = ((prime, _pivots(_modular(matrix.T, prime).rref()[0])) for prime in _primes())
        prime, queries = next((prime, found) for prime, found in tried if len(found) == rank)
        chosen = matrix[queries]
        kinds = _pivots(_modular(chosen, prime).rref()[0])
        place = np.full(matrix.shape[1], -1, dtype=np.int64)
        place[kinds] = np.arange(rank)
        return cls(queries=tuple(queries), asked=len(masks), square=chosen[:, kinds], place=place[kind.ravel()])

    def values(self, answers: Sequence[float], rows: Sequence[int]) -> tuple[Fraction, ...]:
        """The values that follow from the answers.

        Args:
            answers: to all queries.
            rows: that are determined.
        """
        exact = [Fraction(answers[query]) for query in self.queries]
        common = lcm(*(each.denominator for each in exact))
        solution = _solved(self.square, [[int(each * common)] for each in exact])
        return tuple(solution[self.place[row]][0] / common for row in rows)

    def factors(self, rows: Sequence[int]) -> tuple[tuple[Fraction, ...], ...]:
        """For each of these rows, the factors with which the answers to all queries add up to its value.

        Args:
            rows: that are determined.
        """
        units = np.arange(len(self.square))[:, np.newaxis] == self.place[list(rows)]
        solution = _solved(self.square.T, units.astype(np.int64).tolist())
        found = [dict(zip(self.queries, factors, strict=True)) for factors in zip(*solution, strict=True)]
        return tuple(tuple(each.get(query, Fraction(0)) for query in range(self.asked)) for each in found)


def masks_of(sets: Sequence[Sequence[bool]] | Mask) -> Mask:
    """Queries × rows as flags.

    Raises:
        InvalidArgument: it isn't a table of flags, or holds no query or no row.
    """
    try:
        masks = np.asarray(sets)
    except ValueError:
        masks = np.empty(0)
    if masks.dtype != np.bool_ or masks.ndim != 2 or 0 in masks.shape:  # noqa: PLR2004 — queries and rows
        raise InvalidArgument("a query log is a table of flags: one line for each query, one flag for each row")
    return masks


def _unit_vectors(matrix: Whole) -> tuple[list[int], int, int]:
    """The places whose unit vectors are in the row space, with the rank, and how many primes it took to prove it."""
    bits, primes, kept = 0.0, _primes(), 0
    places: list[int] = []
    rank = -1
    while True:
        prime = next(primes)
        if rank < 0:
            places, rank = _reduced(matrix, prime)
            stacked = np.concatenate([matrix, np.eye(matrix.shape[1], dtype=np.int64)[places]])
            bits, kept = 0.0, 1
        elif _modular(stacked, prime).rank() <= rank:
            bits, kept = bits + log2(prime), kept + 1
        else:
            rank = -1  # the first prime was an unlucky one: start again with the next
            continue
        if rank == matrix.shape[1] or bits > _hadamard_bits(rank + 1):
            return places, rank, kept


def _reduced(matrix: Whole, prime: int) -> tuple[list[int], int]:
    """The places of unit vectors in the row space modulo a prime, and the rank.

    In reduced form a pivot column has a single 1, so the one combination of lines that could make e_i is the line whose
    pivot is i; and no combination makes e_i if i is no pivot.
    """
    reduced, rank = _modular(matrix, prime).rref()
    lines = reduced.tolist()[:rank]
    alone = [[place for place, entry in enumerate(line) if int(entry)] for line in lines]
    return [line[0] for line in alone if len(line) == 1], int(rank)


def _pivots(reduced: Any) -> list[int]:  # noqa: ANN401 — FLINT hands out no types of its own
    """The columns of the first entries of each line in reduced form."""
    firsts = (next((place for place, entry in enumerate(row) if int(entry)), None) for row in reduced.tolist())
    return [first for first in firsts if first is not None]


def _solved(square: Whole, right: list[list[int]]) -> list[list[Fraction]]:
    """The one solution of a regular system for each column on the right, exactly."""
    from flint import fmpz_mat

    solution = fmpz_mat(square.tolist()).solve(fmpz_mat(right))
    return [[Fraction(int(entry.p), int(entry.q)) for entry in line] for line in solution.tolist()]


def _modular(matrix: Whole, prime: int) -> nmod_mat:
    from flint import nmod_mat

    return nmod_mat(matrix.shape[0], matrix.shape[1], matrix.ravel().tolist(), prime)


def _primes() -> Iterator[int]:
    """Primes from 2^62 downwards, each proved by FLINT."""
    from flint import fmpz

    number = _FIRST_PRIME - 1
    while True:
        if fmpz(number).is_prime():
            yield number
        number -= 2


def _hadamard_bits(size: int) -> float:
    """log₂ of a bound on the determinants of 0/1 matrices of this size, and one more for rounding."""
    return (size + 1) / 2 * log2(size + 1) - size + 1
