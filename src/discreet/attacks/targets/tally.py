"""What is seen of a sensitive value: for each kind of person, how many candidates have which value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.records.column import Mask, Reals, Value, Whole


def summed(places: Whole, weights: Whole | Reals | Mask, size: int) -> Reals:
    """The weights that fall to each of so many places.

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
        values: of each entry, a place in `labels`.
        counts: of each entry, how many candidates have the value; above 0.
        priors: of each label, its share among everybody; what is known without the rest.
        among: of each kind, how many candidates it has, where one may have several values, as a person with several
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
        """Of each entry, its share among the candidates of its kind: what the attacker believes of the value."""
        return np.asarray(self.counts / self.totals()[self.kind_of_entry()])

    def best(self) -> Whole:
        """The value that most candidates of a kind have; of equals, and of nobody, the commonest of all."""
        found = np.full(self.kinds, self.commonest, dtype=np.int64)
        kinds, last = self._falling()
        found[kinds] = self.values[last]
        return found

    def surety(self) -> Reals:
        """Which share of a kind's candidates has the best value; of nobody, the prior share of that value."""
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
        """The value that most of everybody have."""
        return int(self.priors.argmax()) if len(self.priors) else 0

    def of_people(self, kinds: Whole) -> Tally:
        """The same of other people, each of one of the kinds there are.

        Args:
            kinds: of each person, the kind.
        """
        return replace(self, of_person=kinds)

    def _falling(self) -> tuple[Whole, Whole]:
        """The kinds that have candidates, and of each the entry with the most; of equals the commonest of all."""
        kinds = self.kind_of_entry()
        order = np.lexsort((-self.priors[self.values], -self.counts, kinds))
        kept = np.flatnonzero(np.diff(self.starts) > 0)
        return kept, order[self.starts[kept]]
