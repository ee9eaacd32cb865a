"""Comparing: one attack against rows as they are, against anonymised rows, and against answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.attacks.attack_result import AttackResult, baseline_shown, share_shown
from discreet.attacks.attack_setup import set_up
from discreet.attacks.named_attacks import ANSWERS, named, terms_for
from discreet.exact.rational import Rationalizable

if TYPE_CHECKING:
    from discreet.anonymity.records import Unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """What one attack achieves against each way to publish a table.

    Args:
        attack: its name.
        results: one for each way.
    """

    attack: str
    results: tuple[AttackResult, ...]

    def rows(self) -> list[dict[str, object]]:
        """The table: what was attacked, how many were tried, how often it was right, and how often without.

        What wasn't tried has None for these, and says why; what was tried on a sample has its interval.
        """
        return [
            {
                "against": result.against,
                "tried": result.tried,
                "success": result.success,
                "baseline": result.baseline,
                "gain": result.gain,
                "interval": result.interval,
                "not_tried": result.not_tried,
            }
            for result in self.results
        ]

    def to_dict(self) -> dict[str, object]:
        """All of it, as JSON-ready data."""
        return {"attack": self.attack, "results": [result.to_dict() for result in self.results]}

    def __str__(self) -> str:
        """The table, for people; the first line says if rows were counted and perhaps not people."""
        width = max((len(result.against) for result in self.results), default=0)
        right = [share_shown(result) for result in self.results]
        wide = max(8, *map(len, right))
        lines = [f"{self.attack:<{width}} {'tried':>7} {'right':>{wide}} {'without':>8}"]
        lines += [
            f"{result.against:<{width}} {result.tried:>7,} {shown:>{wide}} {baseline_shown(result):>8}"
            for result, shown in zip(self.results, right, strict=True)
        ]
        return next((result.warned for result in self.results if result.repeated), "") + "\n".join(lines)


def compare(  # noqa: PLR0913 — what is attacked and how it is set up, each by name
    attack: str,
    table: object | None = None,
    *,
    against: Sequence[str] | None = None,
    on: Sequence[str] | None = None,
    sensitive: str | None = None,
    value: str | None = None,
    k: int = 5,
    epsilon: Rationalizable = "0.1",
    budget: Rationalizable = 10,
    people: int = 100,
    trials: int = 1_000,
    unit: Unit = None,
) -> Comparison:
    """Run one attack against several ways to publish a table, so that the figures can be compared.

    Against all of them the same people are attacked, by the same knowledge, and what is a success is the same. Since
    questions take a budget, these are as many as `people` says, drawn from the table, wherever answers are among them;
    fewer, if the budget lasts for fewer.
    Where an attack asks something else of answers than of rows, the result says so in what it is `against`.

    Args:
        attack: one of `NAMED`.
        table: see `attack`; so for all that follows but the next.
        against: what it is run against; everything that it can be run against, if left out.
        on: as above.
        sensitive: as above.
        value: as above.
        k: as above.
        epsilon: as above.
        budget: as above.
        people: as above.
        trials: as above.
        unit: as above.

    Raises:
        InvalidArgument: see `attack`.
        SourceError: see `attack`.

    Examples:
        >>> from discreet.census import synthetic
        >>> found = compare("linkage", synthetic(500), on=["dob", "zip"], sensitive="education", people=5)
        >>> [result.against.split(" from ")[0] for result in found.results]
        ['raw rows', 'rows with pseudonyms', '5-anonymous rows', 'answers at ε = 0.1 each']
    """
    chosen = named(attack)
    targets = [chosen.possible(each) for each in (chosen.against if against is None else against)]
    terms = terms_for(
        table,
        on=on,
        sensitive=sensitive,
        value=value,
        k=k,
        epsilon=epsilon,
        budget=budget,
        people=people,
        trials=trials,
    )
    with set_up(table, terms, unit=unit, log=chosen.of_log) as setup:
        compared = replace(setup, compared=len(targets) > 1 and ANSWERS in targets)
        results = tuple(chosen.on(compared, each) for each in targets)
        tried = [result.tried for result in results]
        if compared.compared and 0 < min(tried) < max(tried) == terms.people:  # the budget didn't last for all
            fewer = replace(compared, terms=replace(terms, people=min(tried)), made={})
            results = tuple(chosen.on(fewer, each) for each in targets)
        return Comparison(attack=chosen.name, results=results)
