"""Public knowledge about columns: what their names say they may hold, without looking at any data.

Everything here must be knowable by somebody who never saw the table: units of nature and the calendar, codes that an
authority publishes, and the codebooks of datasets that are public themselves. A wrong guess costs utility, never
privacy, because what a column declares is enforced when it is scanned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from discreet.privacy import Bounds, Keys
from discreet.tables.schema.column import Kind

PEOPLE = (
    "person patient subject participant respondent individual citizen resident beneficiary insured member user "
    "customer client consumer subscriber cardholder passenger visitor employee worker staff student pupil donor "
    "voter taxpayer applicant borrower tenant owner"
)
"""Words for people, those first who are likelier to be what a table is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is publicly known of a column.

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
        return sum(any(joined(name) in found for name in fact.names.split()) for fact in self.facts) >= self.at_least

    def about(self, name: str, kind: Kind) -> Knowledge | None:
        """What it says of a column, if the column has the kind it says."""
        return find(self.facts, name, kind)


def find(facts: Iterable[Fact], name: str, kind: Kind) -> Knowledge | None:
    """The first fact about columns of that name and kind."""
    found = joined(name)
    for fact in facts:
        if kind in fact.kinds and found in _each_joined(fact.names):
            return fact.knowledge
    return None


@cache
def _each_joined(names: str) -> frozenset[str]:
    """The names of a fact, joined; there are no more of these than facts."""
    return frozenset(map(joined, names.split()))


def without_owner(name: str) -> str | None:
    """The name without the person it is about, if it begins with one.

    Examples:
        >>> without_owner("PatientAge")
        'age'
    """
    first, _, rest = plain(name).partition("_")
    return rest if rest and first in PEOPLE.split() else None


def plain(name: str) -> str:
    """A name in lower case, its words apart by underscores, without accents.

    Examples:
        >>> plain("hours-per-week"), plain("maritalStatus"), plain("Âge (years)")
        ('hours_per_week', 'marital_status', 'age_years')
    """
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", split) if not unicodedata.combining(sign))
    return re.sub(r"[^a-z0-9]+", "_", bare.casefold()).strip("_")


def joined(name: str) -> str:
    """A plain name without its underscores, so that `zip_code` and `zipcode` are one."""
    return plain(name).replace("_", "")
