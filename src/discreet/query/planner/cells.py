"""Cells: rows are put into parts, from which counts, sums, averages and their like are read together.

Measured apart, every count and every sum shares the offer with the others. Yet several of them can be read from one
vector of which a row moves no more than it moves a count (`ir.Vector`): each row has a whole to share out among cells.

*Values.* Let t in [0, 1] say where a value lies in its range. Of degree d, the row adds the Bernstein polynomials
b₀(t), …, b_d(t), which aren't negative and add up to 1. Every power of t up to d is a combination of them,

    t^j = Σᵢ C(i, j)/C(d, j) · bᵢ(t),

so of degree 1, from the cells (1 − t, t), come the count and the sum, and so the average; of degree 2 the variance. Of
several values a row adds all products of theirs. A value that is one of two numbers is a condition: t² = t.

*Conditions.* FILTER, CASE and NULL leave rows out of some moments. Rows that meet the same conditions make a pattern;
each has cells of its own, with the values and degrees that its moments need. A row is in one pattern at most.

*Units.* Without keys, a unit that may have r rows has r wholes. What it leaves of them is one more cell: then all cells
together are r times as many as there are units, and the number of units costs nothing beside that of rows.

A unit moves all cells together by no more than it moves a count, in ℓ1 and in ℓ2: see `sensitivities`. What is read
from c cells has the noise of c; so whether it errs less than measures apart is for the planner to compare.

Source: Aldà, Rubinstein (2017), "The Bernstein mechanism", the definition of Bernstein polynomials, which release
functions there; that they do for the moments of rows is the proof above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations, product
from math import comb, prod

from discreet.query import ir
from discreet.query.aggregates import Moment, centred, range_of
from discreet.query.estimates import Linear
from discreet.query.ir import Trial, call, conjuncts, impossible, is_null, literal
from discreet.tables import Kind

MOST_CELLS = 64
"""The most cells that are tried: a number that is read from that many has eight times the noise of one."""

_MOST_CLASSES = 12
_MOST_CONDITIONS = 24
"""Sets of conditions of more terms, or of more conditions in all, aren't told apart: all pairs are looked at, each for
half a millisecond."""

_MOST_WRITTEN = 4_000
"""Conditions that are longer together, in signs, aren't either: the time that a pair takes grows with its length."""

_STEPS = 500
"""To find out whether a row may meet two conditions."""

_USUAL = Fraction(3, 4)
"""Where values lie in their ranges in the reference group, and how many rows meet a condition there."""

_Conditions = frozenset[str]


class TooManyCellsError(Exception):
    """The moments need more cells than are tried."""


@dataclass(frozen=True)
class _Term:
    """A sum over the rows that meet conditions: of a product of powers of places t.

    Args:
        given: the conditions.
        powers: of each value, by its text; none is 0.
    """

    given: _Conditions = frozenset()
    powers: tuple[tuple[str, int], ...] = ()

    def times(self, other: _Term) -> _Term:
        """The product, over the rows of both."""
        powers = dict(self.powers)
        for value, power in other.powers:
            powers[value] = powers.get(value, 0) + power
        return _Term(self.given | other.given, tuple(sorted(powers.items())))


_Polynomial = Mapping[_Term, Fraction]

_Written = tuple[tuple[str, int], ...]
"""The values of a moment as they are written, each with its power."""


def _written(moment: Moment) -> _Written:
    return tuple((str(value), power) for value, power in moment.powers)


@dataclass(frozen=True)
class _Pattern:
    """Rows that meet some conditions, and don't meet others.

    Args:
        given: the conditions that they meet.
        failed: of each of these, they don't meet all.
        degrees: of the values that are needed of these rows.
    """

    given: _Conditions
    failed: tuple[_Conditions, ...]
    degrees: tuple[tuple[str, int], ...]

    @property
    def places(self) -> Iterator[tuple[int, ...]]:
        """The cells, each by the number of its polynomial for each value."""
        return product(*(range(degree + 1) for _, degree in self.degrees))

    def read(self, term: _Term) -> list[Fraction] | None:
        """The factor of each cell in a term; None if these rows don't tell."""
        if any(failed <= term.given for failed in self.failed):
            return [Fraction(0)] * sum(1 for _ in self.places)
        powers = dict(term.powers)
        degrees = dict(self.degrees)
        if not term.given <= self.given or any(power > degrees.get(value, 0) for value, power in powers.items()):
            return None
        return [
            prod(
                (
                    Fraction(comb(place, powers.get(value, 0)), comb(degree, powers.get(value, 0)))
                    for place, (value, degree) in zip(places, self.degrees, strict=True)
                ),
                start=Fraction(1),
            )
            for places in self.places
        ]


@dataclass(frozen=True)
class Cells:
    """The cells from which some moments are read.

    Args:
        moments: that they were made for.
        vector: what is measured.
        patterns: of the rows, in the order of the vector's sums.
        classes: conditions of which all rows that meet them are in some cell.
        known: how terms are made of moments.
    """

    moments: tuple[Moment, ...]
    vector: ir.Vector
    patterns: tuple[_Pattern, ...]
    classes: frozenset[_Conditions]
    known: _Terms = field(compare=False, repr=False)
    _told: dict[_Written, Linear | None] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, moments: Sequence[Moment], name: str, grid: int, rows: int | None = None) -> Cells:
        """The fewest cells that tell all of some moments; and how many units there are, given the rows of each.

        Raises:
            TooManyCellsError: there are more than are tried.
        """
        known = _Terms()
        terms = {term for moment in moments for term in known.polynomial(moment)}
        if len(known.conditions) > _MOST_CONDITIONS or sum(map(len, known.conditions)) > _MOST_WRITTEN:
            raise TooManyCellsError
        patterns = tuple(_patterns(terms, known))
        if sum(prod(degree + 1 for _, degree in each.degrees) for each in patterns) > MOST_CELLS:
            raise TooManyCellsError
        values = tuple(value for each in patterns for value in known.cells(each))
        room = [] if rows is None else [Fraction(rows - 1)]  # of as many units as rows, as where each is measured apart
        vector = ir.Vector(name=name, values=values, grid=grid, parts=(*_parts(patterns), *room), rows=rows)
        return cls(tuple(dict.fromkeys(moments)), vector, patterns, frozenset(term.given for term in terms), known)

    def read(self, moment: Moment) -> Linear | None:
        """A moment as a combination of the cells; None if they don't tell it."""
        written = _written(moment)
        if written not in self._told:  # aggregates ask for the same few
            self._told[written] = self._read(moment)
        return self._told[written]

    def _read(self, moment: Moment) -> Linear | None:
        names = [each.name for each in self.vector.sums]
        factors = [Fraction(0)] * len(names)
        for term, factor in self.known.polynomial(moment).items():
            if not any(each <= term.given for each in self.classes):
                return None
            place = 0
            for pattern in self.patterns:
                found = pattern.read(term)
                if found is None:
                    return None
                for each in found:
                    factors[place] += factor * each
                    place += 1
        return Linear({name: factor for name, factor in zip(names, factors, strict=True) if factor})

    @property
    def units(self) -> Linear | None:
        """The number of units; None if the cells don't tell it."""
        if self.vector.rows is None:
            return None
        factor = 1 / (self.vector.whole * Fraction(2) ** self.vector.grid)
        return Linear({each.name: factor for each in self.vector.numbers})


class _Terms:
    """How moments are made of terms, with the conditions and values that these name."""

    def __init__(self) -> None:
        self.conditions: dict[str, ir.Expr] = {}
        self.values: dict[str, ir.Expr] = {}
        self._excluded: dict[tuple[tuple[str, bool], tuple[str, bool]], bool] = {}
        self._polynomials: dict[_Written, _Polynomial] = {}

    def polynomial(self, moment: Moment) -> _Polynomial:
        """The terms that a moment is made of, each with its factor."""
        written = _written(moment)
        if written not in self._polynomials:
            self._polynomials[written] = self._multiplied(moment)
        return self._polynomials[written]

    def _multiplied(self, moment: Moment) -> _Polynomial:
        found: dict[_Term, Fraction] = {_Term(): Fraction(1)}
        for value, power in moment.powers:
            factors = self._power(value, power)
            multiplied: dict[_Term, Fraction] = {}
            for one, factor in found.items():
                for other, by in factors.items():
                    term = one.times(other)
                    multiplied[term] = multiplied.get(term, Fraction(0)) + factor * by
            found = multiplied
        return {term: factor for term, factor in found.items() if factor}

    def _power(self, value: ir.Expr, power: int) -> _Polynomial:
        """(value − middle)^power, over the rows that have the value."""
        present, of = _presence(value)
        given = frozenset(map(self._condition, present))
        if not power:
            return {_Term(given): Fraction(1)}
        centre = centred(value)[0]
        two = _one_of_two(of)
        if two is not None:
            condition, one, other = two
            met = given | {self._condition(each) for each in conjuncts(condition)}
            above, below = (one - centre) ** power, (other - centre) ** power
            return {_Term(given): below} | ({_Term(met): above - below} if met != given else {_Term(given): above})
        lo, hi = range_of(of)
        if lo == hi:
            return {_Term(given): (lo - centre) ** power}
        name = str(of)
        self.values[name] = of
        # (lo − middle + (hi − lo) · t)^power, multiplied out
        return {
            _Term(given, ((name, each),) if each else ()): (
                comb(power, each) * (lo - centre) ** (power - each) * (hi - lo) ** each
            )
            for each in range(power + 1)
        }

    def _condition(self, condition: ir.Expr) -> str:
        name = str(condition)
        self.conditions[name] = condition
        return name

    def exclude(self, one: str, other: str) -> bool:
        """Whether no row meets both conditions."""
        return self._no_row((one, True), (other, True))

    def implies(self, one: str, other: str) -> bool:
        """Whether each row that meets a condition meets another."""
        return one == other or self._no_row((one, True), (other, False))

    def covers(self, one: str, other: str) -> bool:
        """Whether each row meets one of two conditions."""
        return self._no_row((one, False), (other, False))

    def _no_row(self, one: tuple[str, bool], other: tuple[str, bool]) -> bool:
        """Whether no row has two conditions turn out so; looked at once, as conditions may be long."""
        if (one, other) not in self._excluded:
            sides = [self.conditions[name] if met else _fails(self.conditions[name]) for name, met in (one, other)]
            self._excluded[one, other] = _contradict(*sides)
        return self._excluded[one, other]

    def cells(self, pattern: _Pattern) -> Iterator[ir.Expr]:
        """What a row adds to each cell of a pattern; NULL where it isn't in it.

        Patterns exclude each other by what they are written as, whatever is known of their conditions: a row that one
        takes fails what another one demands.
        """
        alone = sum(degree for _, degree in pattern.degrees) == 1
        polynomials = [list(_polynomials(self.values[value], degree, alone=alone)) for value, degree in pattern.degrees]
        for places in pattern.places:
            factors = [of[place] for of, place in zip(polynomials, places, strict=True)]
            value = _together("multiply", factors) if factors else literal(1)
            for failed in pattern.failed:
                value = call("if", self._all(failed - pattern.given), literal(None), value)
            given = pattern.given - {str(_present(self.values[each])) for each, _ in pattern.degrees}  # NULL stays NULL
            yield call("if", self._all(given), value, literal(None)) if given else value

    def _all(self, conditions: _Conditions) -> ir.Expr:
        return _together("and", [self.conditions[each] for each in sorted(conditions)])


def _patterns(terms: set[_Term], known: _Terms) -> Iterator[_Pattern]:
    """The patterns of rows that some terms tell apart; those that no row can be in are left out."""
    classes = sorted({term.given for term in terms}, key=lambda given: (len(given), sorted(given)))
    if len(classes) > _MOST_CLASSES:
        raise TooManyCellsError
    waiting: list[tuple[int, _Conditions, tuple[_Conditions, ...]]] = [(0, frozenset(), ())]
    found = 0
    while waiting:
        place, given, failed = waiting.pop()
        if not _may_be(given, failed, known):
            continue
        if place < len(classes):
            more = classes[place]
            waiting.append((place + 1, given | more, failed))
            if not more <= given:
                waiting.append((place + 1, given, (*failed, more)))
            continue
        met = [term for term in terms if term.given <= given]
        found += bool(met)
        if found > MOST_CELLS:
            raise TooManyCellsError
        if met:
            yield _Pattern(given, failed, _degrees(met))


def _may_be(given: _Conditions, failed: Sequence[_Conditions], known: _Terms) -> bool:
    """Whether some row may meet conditions, and of each of some others not all, as far as pairs of these tell."""
    if any(known.exclude(one, other) for one, other in combinations(sorted(given), 2)):
        return False
    open_ = [[each for each in sorted(one) if not any(known.implies(by, each) for by in given)] for one in failed]
    single = [each for (each, *more) in (one or [""] for one in open_) if not more]
    return all(open_) and not any(known.covers(one, other) for one, other in combinations(single, 2))


@lru_cache(maxsize=4096)
def _contradict(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether no row meets both of two conditions; those of different columns don't touch each other."""
    touch = set(map(str, ir.columns_in(one))) & set(map(str, ir.columns_in(other)))
    return bool(touch) and impossible([one, other], Trial(_STEPS)) is not None


def _degrees(terms: Sequence[_Term]) -> tuple[tuple[str, int], ...]:
    """The highest power of each value."""
    degrees: dict[str, int] = {}
    for term in terms:
        for value, power in term.powers:
            degrees[value] = max(power, degrees.get(value, 0))
    return tuple(sorted(degrees.items()))


def _presence(value: ir.Expr) -> tuple[list[ir.Expr], ir.Expr]:
    """The conditions that hold together for the rows in which a value isn't NULL, and what it is there."""
    match value:
        case ir.Call(function=ir.Function(name="if"), args=(condition, of, otherwise)) if is_null(otherwise):
            present, inner = _presence(of)
            return [*conjuncts(condition), *present], inner
        case ir.Call(
            function=ir.Function(name="if"), args=(ir.Call(function=ir.Function(name="is_null")) as lacks, nothing, of)
        ) if is_null(nothing):
            present, inner = _presence(of)
            return [call("not", lacks), *present], inner
        case _:  # whether it is NULL is a condition of its own
            of = ir.uncast(value)
            return ([_present(of)] if of.type.nullable else []), of


def _present(value: ir.Expr) -> ir.Expr:
    """Whether a value isn't NULL."""
    return call("not", call("is_null", value))


def _fails(condition: ir.Expr) -> ir.Expr:
    """The condition that another is false, or NULL."""
    fails = call("not", condition)
    return call("or", call("is_null", condition), fails) if condition.type.nullable else fails


def _one_of_two(value: ir.Expr) -> tuple[ir.Expr, Fraction, Fraction] | None:
    """A condition, what a value that isn't NULL is where it holds, and what it is elsewhere; None if there is more."""
    match value:
        case ir.Call(function=ir.Function(name="if"), args=(condition, ir.Literal() as one, ir.Literal() as other)):
            return condition, range_of(one)[0], range_of(other)[0]
        case ir.Call(function=ir.Function(name="integer"), args=(of,)) if of.type.kind is Kind.BOOLEAN:
            return of, Fraction(1), Fraction(0)
        case _ if value.type.kind is Kind.BOOLEAN:
            return value, Fraction(1), Fraction(0)
        case _:  # an integer may be one of two by its range
            lo, hi = range_of(value)
            is_two = value.type.kind is Kind.INTEGER and hi - lo == 1
            return (call("eq", value, literal(int(hi))), hi, lo) if is_two else None


def _polynomials(value: ir.Expr, degree: int, *, alone: bool) -> Iterator[ir.Expr]:
    """The Bernstein polynomials of where a value lies in its range.

    Whatever float64 makes of it, its place is a number from 0 to 1: so are they, and they add up to 1 but for roundings
    of 2⁻⁵³. NULL stays NULL, which LEAST and GREATEST don't promise.

    Args:
        value: of number kind.
        degree: of the polynomials.
        alone: whether the place and its rest are what a row adds; then sums move both into [0, 1], to the same effect.
    """
    lo, hi = range_of(value)
    place = call("multiply", call("subtract", value, literal(lo)) if lo else value, literal(1 / (hi - lo)))
    if not alone:
        place = call("greatest", call("least", place, literal(Fraction(1))), literal(Fraction(0)))
        if value.type.nullable:
            place = call("if", call("is_null", value), literal(None), place)
    rest = call("subtract", literal(Fraction(1)), place)
    for number in range(degree + 1):
        binomial: list[ir.Expr] = [literal(Fraction(comb(degree, number)))] if 0 < number < degree else []
        yield _together("multiply", [*binomial, *[place] * number, *[rest] * (degree - number)])


def _together(name: str, args: Sequence[ir.Expr]) -> ir.Expr:
    """A function of two, of any number of arguments."""
    return reduce(lambda one, other: call(name, one, other), args)


def _parts(patterns: Sequence[_Pattern]) -> Iterator[Fraction]:
    """Which part of the reference group's rows is in each cell."""
    odds = [(_USUAL / (1 - _USUAL)) ** len(each.given) for each in patterns]
    for weight, each in zip(odds, patterns, strict=True):
        for places in each.places:
            at = (_bernstein(_USUAL, place, degree) for place, (_, degree) in zip(places, each.degrees, strict=True))
            yield weight / sum(odds) * prod(at, start=Fraction(1))


def _bernstein(at: Fraction, number: int, degree: int) -> Fraction:
    """A Bernstein polynomial's value."""
    return comb(degree, number) * at**number * (1 - at) ** (degree - number)
