"""Facts: what names of columns make public knowledge, alone or together in a codebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from discreet.privacy import Bounds, Keys
from discreet.tables.proposals.names import joined
from discreet.tables.schema.column import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The public knowledge about a column.

    Args:
        why: where the knowledge is from, for a comment; starts in lower case.
        bounds: what its numbers or times may be.
        codings: lists of its values in use around the world. With more than one, only the data or its codebook can
            tell which is meant.
        identifying: whether its values single people out, so that no question needs it.
        doubtful: whether the name alone leaves it open what is coded, so that NULL should be shown as a group, into
            which values of other codings fall.
    """

    why: str
    bounds: Bounds | None = None
    codings: tuple[Keys, ...] = ()
    identifying: bool = False
    doubtful: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of knowledge, with the names and kinds of the columns it is about.

    Args:
        names: as `plain` writes them, and apart by spaces.
        kinds: the kinds of columns it fits; others know nothing of it.
        knowledge: what is known.
    """

    names: str
    kinds: frozenset[Kind]
    knowledge: Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook:
    """The published description of a dataset that is public itself.

    Args:
        title: of the dataset.
        reference: where it is described.
        facts: what it says of each column.
        at_least: how many of its columns a table must have to be taken for it.
        missing: texts it writes for NULL.
    """

    title: str
    reference: str
    facts: tuple[Fact, ...]
    at_least: int
    missing: tuple[str, ...] = ()

    def describes(self, names: Iterable[str]) -> bool:
        """Whether a table with columns of these names is taken for this dataset. Names are public, so nothing leaks."""
        found = {joined(name) for name in names}
        return sum(not found.isdisjoint(_each_joined(fact.names)) for fact in self.facts) >= self.at_least

    def about(self, name: str, kind: Kind) -> Knowledge | None:
        """The same for one column, if that has the right kind."""
        return find(self.facts, name, kind)


def find(facts: Iterable[Fact], name: str, kind: Kind) -> Knowledge | None:
    """The first fact about columns of that name and kind."""
    found = joined(name)
    return next((fact.knowledge for fact in facts if kind in fact.kinds and found in _each_joined(fact.names)), None)


@cache
def _each_joined(names: str) -> frozenset[str]:
    """The names of a fact, joined; there are no more of these than facts."""
    return frozenset(map(joined, names.split()))


def ranged(names: str, lo: int, hi: int, why: str) -> Fact:
    """A column of numbers in known bounds."""
    return Fact(
        names=names, kinds=frozenset({Kind.INTEGER, Kind.REAL}), knowledge=Knowledge(why=why, bounds=Bounds(lo, hi))
    )


def coded(names: str, keys: range | tuple[int, ...], why: str) -> Fact:
    """A column of integers that are codes."""
    return Fact(names=names, kinds=frozenset({Kind.INTEGER}), knowledge=Knowledge(why=why, codings=(Keys(keys),)))


def in_codings(names: str, codings: tuple[Keys, ...], why: str) -> Fact:
    """A column of texts, in one of some codings."""
    return Fact(names=names, kinds=frozenset({Kind.TEXT}), knowledge=Knowledge(why=why, codings=codings))


def identifying(names: str, why: str) -> Fact:
    """A column that names people."""
    return Fact(names=names, kinds=frozenset(Kind), knowledge=Knowledge(why=why, identifying=True))


def listed(names: str, values: str, *, gaps: bool = False) -> Fact:
    """A column of texts that the codebook lists; `gaps` if it says that values may be missing."""
    keys = Keys([*values.split(), *([None] if gaps else [])])
    why = "the values it lists, and some are missing" if gaps else "the values it lists"
    known = Knowledge(why=why, codings=(keys,), doubtful=False)
    return Fact(names=names, kinds=frozenset({Kind.TEXT}), knowledge=known)
