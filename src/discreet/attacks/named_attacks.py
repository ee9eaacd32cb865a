"""The attacks that `discreet attack` takes, by name, and what each can be run against; one run, or a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from discreet.attacks import on_answers, on_rows
from discreet.attacks.attack_result import AttackResult, Comparison
from discreet.attacks.attack_setup import (
    AGAINST,
    ANONYMIZED,
    ANSWERS,
    CENSUS_ON,
    CENSUS_SENSITIVE,
    CENSUS_VALUE,
    EXACT,
    FRESH,
    PSEUDONYMIZED,
    RAW,
    RESTRICTED,
    Setup,
    Terms,
    set_up,
)
from discreet.attacks.rows.release_risks import RISKS
from discreet.errors import InvalidArgument, NotTried
from discreet.exact.rational import Rationalizable
from discreet.hints import Hint

if TYPE_CHECKING:
    from discreet.anonymity.records import Unit

Run: TypeAlias = Callable[[Setup, str], AttackResult]
_PUBLISHED = (RAW, PSEUDONYMIZED, ANONYMIZED, ANSWERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAttack:
    """An attack that can be called by its name.

    Args:
        name: as it is typed.
        what: what it does, in a line.
        against: what it can be run against; the first if nothing is said.
        run: runs it on a setup, against one of these.
        value: whether it needs a column of numbers.
        some: those of what it can be run against where it is tried on some people only.
        tosses: whether it tosses coins, and so is repeated.
        apart: what it asks of answers, where that is something else than what it asks of rows.
        of_log: whether the first of the columns that are known says whose a row is, so that it counts people anyhow.
    """

    name: str
    what: str
    against: tuple[str, ...]
    run: Run
    value: bool = False
    some: tuple[str, ...] = (ANSWERS,)
    tosses: bool = False
    apart: str = ""
    of_log: bool = False

    def on(self, setup: Setup, against: str) -> AttackResult:
        """Run it on a setup. Where it can't try anything, the result says so and has no figures.

        Raises:
            InvalidArgument: it adds up numbers, and no column of them is named.
        """
        if self.value and setup.terms.value is None:
            raise InvalidArgument(
                f"{self.name} adds up a column of numbers", hint=Hint.of("{value}, for example", value="income")
            )
        try:
            found = self.run(setup, against)
        except NotTried as error:
            found = self._not_tried(against, str(error))
        if setup.compared and against == ANSWERS and self.apart:
            found = replace(found, against=f"{found.against}, asked {self.apart}")
        units = setup.records.units
        return replace(found, unit=() if units is None else units.names, repeated=() if self.of_log else setup.repeated)

    def possible(self, against: str) -> str:
        """This target, if the attack can be run against it.

        Raises:
            InvalidArgument: it can't be.
        """
        if against not in self.against:
            raise InvalidArgument(
                f"{self.name} can't be run against {against!r}", hint=f"it can against {', '.join(self.against)}"
            )
        return against

    def _not_tried(self, against: str, why: str) -> AttackResult:
        """A result without figures."""
        return AttackResult(
            attack=self.name,
            against=AGAINST[against],
            tried=0,
            success=None,
            baseline=None,
            baseline_is="",
            guesses=(),
            not_tried=why,
        )

    def uses(self, against: str) -> frozenset[str]:
        """The numbers among the terms that matter where it is run against this, by their names.

        Examples:
            >>> sorted(NAMED["linkage"].uses("raw")), sorted(NAMED["linkage"].uses("answers"))
            ([], ['budget', 'epsilon', 'people'])
        """
        matters = {
            "k": against == ANONYMIZED,
            "epsilon": against in {ANSWERS, FRESH},
            "budget": against == ANSWERS,
            "people": against in self.some,
            "trials": self.tosses,
        }
        return frozenset(name for name, does in matters.items() if does)


_ATTACKS = (
    NamedAttack(
        name="linkage", what="join rows without names with what is known of people", against=_PUBLISHED,
        run=on_rows.run_linkage,
    ),
    NamedAttack(
        name="fuzzy", what="the same, though what is known has typos and near misses", against=_PUBLISHED,
        run=on_rows.run_fuzzy,
    ),
    NamedAttack(
        name="sparse", what="find people by a few things they did", against=_PUBLISHED, run=on_rows.run_sparse,
        some=_PUBLISHED, apart="who is in the data at all", of_log=True,
    ),
    NamedAttack(
        name="small-groups", what="read people off totals of one, of two, or of one that dominates", against=_PUBLISHED,
        run=on_rows.run_small_groups, value=True, apart="for some groups",
    ),
    NamedAttack(
        name="homogeneity", what="guess by classes that share a sensitive value", against=_PUBLISHED,
        run=on_rows.run_homogeneity,
    ),
    NamedAttack(
        name="background", what="exclude sensitive values until one is left", against=_PUBLISHED,
        run=on_rows.run_background,
    ),
    NamedAttack(
        name="skewness", what="find classes that say more of a value than the table", against=_PUBLISHED,
        run=on_rows.run_skewness,
    ),
    NamedAttack(
        name="intersection", what="intersect two anonymous releases about the same people",
        against=(ANONYMIZED, RAW, PSEUDONYMIZED, ANSWERS), run=on_rows.run_intersection,
    ),
    NamedAttack(
        name="singling-out", what="find a predicate that exactly one person meets", against=_PUBLISHED,
        run=on_rows.run_singling_out, some=(), tosses=True,
    ),
    NamedAttack(
        name="averaging", what="ask for the same count until the noise averages out",
        against=(ANSWERS, ANONYMIZED, EXACT, FRESH), run=on_answers.run_averaging, some=(), tosses=True,
    ),
    NamedAttack(
        name="differencing", what="ask with someone and without, and subtract", against=(ANSWERS, ANONYMIZED, EXACT),
        run=on_answers.run_differencing, value=True, some=(),
    ),
    NamedAttack(
        name="guessing", what="ask whether one person has the sensitive value",
        against=(ANSWERS, ANONYMIZED, EXACT, FRESH), run=on_answers.run_guessing, some=tuple(AGAINST),
    ),
    NamedAttack(
        name="tracker", what="ask about one person where no question about few is answered",
        against=(ANSWERS, ANONYMIZED, RESTRICTED, EXACT), run=on_answers.run_tracker, value=True, some=(),
    ),
    NamedAttack(
        name="query-log", what="solve a log of answers for single rows", against=(EXACT, ANSWERS, ANONYMIZED),
        run=on_answers.run_query_log, value=True, some=tuple(AGAINST),
    ),
    NamedAttack(
        name="reconstruction", what="ask for counts of random subsets, and solve for everyone",
        against=(ANSWERS, ANONYMIZED, EXACT, FRESH), run=on_answers.run_reconstruction, some=tuple(AGAINST),
    ),
    NamedAttack(
        name="tracing", what="tell who is in a table by published shares", against=(ANSWERS, ANONYMIZED, EXACT),
        run=on_answers.run_tracing, some=tuple(AGAINST),
    ),
)  # fmt: skip
NAMED: Mapping[str, NamedAttack] = MappingProxyType({each.name: each for each in _ATTACKS})
"""All attacks, by name."""


def attack(  # noqa: PLR0913 — what is attacked and how it is set up, each by name
    name: str,
    table: object | None = None,
    *,
    against: str | None = None,
    on: Sequence[str] | None = None,
    sensitive: str | None = None,
    value: str | None = None,
    k: int = 5,
    epsilon: Rationalizable = "0.1",
    budget: Rationalizable = 10,
    people: int = 100,
    trials: int = 1_000,
    unit: Unit = None,
) -> AttackResult:
    """Run an attack by its name, on a table or on the synthetic census.

    Everything is tried on the custodian's own table, in memory and with throw-away accounts: nothing is charged and
    nothing is written beside the data. The output says things about people in it.

    Args:
        name: one of `NAMED`.
        table: a path (CSV, Parquet), or a pandas, Polars or Arrow table; the synthetic census if left out.
        against: one of `AGAINST` that the attack can be run against; its first if left out.
        on: the columns by which people are known; needed for a table.
        sensitive: the column to learn; needed for a table.
        value: a column of numbers, 0 or more, for attacks on totals.
        k: of the anonymised rows; 1 or more.
        epsilon: offered for each question.
        budget: of the account.
        people: whom attacks on answers ask about, at most.
        trials: how often attacks that toss coins are repeated.
        unit: the column, or columns, that say whose a row is: a person's or a household's number. Then people are
            units: an attacker knows one row of each, drawn at random, and candidates, k and base rates count units.
            `()` says that each row is another person's. If it is left out and a column that identifies repeats, rows
            are counted, and the result's `note` says so.

    Raises:
        InvalidArgument: no such attack, or it can't be run against that, or a column that it needs isn't named.
        SourceError: the table can't be read, or lacks a column.

    Examples:
        >>> found = attack("linkage")
        >>> found.attack, found.against, found.success > 0.99
        ('linkage', 'raw rows', True)
    """
    chosen = named(name)
    target = chosen.possible(against or chosen.against[0])
    on, sensitive, value = _columns(table, on, sensitive, value)
    terms = Terms.of(
        on=on, sensitive=sensitive, value=value, k=k, epsilon=epsilon, budget=budget, people=people, trials=trials
    )
    with set_up(table, terms, unit=unit, log=chosen.of_log) as setup:
        return chosen.on(setup, target)


def named(name: str) -> NamedAttack:
    """An attack by its name; Python's way to write it, with underscores, is understood.

    Raises:
        InvalidArgument: there is none of that name.
    """
    found = NAMED.get(name.replace("_", "-"))
    if found is None and name in RISKS:
        raise InvalidArgument(
            f"{name} is tried on a release beside its original, and beside people who aren't in it",
            hint=Hint(f'risks("{name}", release, original, control)', cli="--original FILE --control FILE"),
        )
    if found is None:
        raise InvalidArgument(f"there is no attack {name!r}", hint=f"one of {', '.join(NAMED)}")
    return found


def _columns(
    table: object | None, on: Sequence[str] | None, sensitive: str | None, value: str | None
) -> tuple[Sequence[str], str, str | None]:
    """The columns by which people are known, the one to learn, and the one to add up; the census has defaults.

    Raises:
        InvalidArgument: the table isn't the census, and the columns aren't named.
    """
    if table is None:
        on, sensitive, value = on or CENSUS_ON, sensitive or CENSUS_SENSITIVE, value or CENSUS_VALUE
    if on is None or sensitive is None:
        raise InvalidArgument(
            "name the columns by which people are known, and the column to learn",
            hint=Hint('on=["age", "zip"], sensitive="diagnosis"', cli="--on age,zip --sensitive diagnosis"),
        )
    return on, sensitive, value


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
    questions take a budget, there are as many of them as `people` says, drawn from the table, if answers are attacked
    too; fewer, if the budget lasts for fewer. Where an attack asks something else of answers than of rows, the result
    says so in what it is `against`.

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
    on, sensitive, value = _columns(table, on, sensitive, value)
    terms = Terms.of(
        on=on, sensitive=sensitive, value=value, k=k, epsilon=epsilon, budget=budget, people=people, trials=trials
    )
    with set_up(table, terms, unit=unit, log=chosen.of_log) as setup:
        compared = replace(setup, compared=len(targets) > 1 and ANSWERS in targets)
        results = tuple(chosen.on(compared, each) for each in targets)
        tried = [result.tried for result in results]
        if compared.compared and 0 < min(tried) < max(tried) == terms.people:  # the budget didn't last for all
            fewer = replace(compared, terms=replace(terms, people=min(tried)), made={})
            results = tuple(chosen.on(fewer, each) for each in targets)
        return Comparison(attack=chosen.name, results=results)
