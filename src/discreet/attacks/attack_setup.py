"""Setup: one table set up in three ways, as it is, anonymised, and behind the gateway, to try attacks on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, log10
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from discreet.anonymity.columns import Coded
from discreet.anonymity.encode import encode
from discreet.anonymity.records import Records, read
from discreet.attacks.people import drawn, shuffled
from discreet.attacks.rows.nearness import is_ordered, numbers
from discreet.attacks.targets.exact_answers import Exact
from discreet.attacks.targets.fresh_noise import Bare
from discreet.attacks.targets.noisy_answers import Answers, limits_of
from discreet.attacks.targets.rows import Rows
from discreet.attacks.unit_column import pseudonymous, with_unit
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.gateway import protect
from discreet.hints import Hint
from discreet.privacy import Bounds, Budget, Keys, Unit

if TYPE_CHECKING:
    from discreet.anonymity.records import Unit as WhoseRow
    from discreet.anonymity.repeated import Repeated

T = TypeVar("T")

NAME = "people"
"""The table's name in questions."""

NUMBER = "person_number"
"""A column of consecutive numbers, for attacks that need to name people one by one."""

CENSUS_ON, CENSUS_SENSITIVE, CENSUS_VALUE = ("dob", "zip", "sex"), "education", "income"
"""The census's defaults: the columns that are known of people, the one that is sought, and the one that totals are
about."""

RAW, PSEUDONYMIZED, ANONYMIZED, ANSWERS = "raw", "pseudonymized", "anonymized", "answers"
EXACT, FRESH, RESTRICTED = "exact", "fresh", "restricted"

AGAINST: Mapping[str, str] = MappingProxyType(
    {
        RAW: "rows as they are",
        PSEUDONYMIZED: "rows as they are, with random numbers for what names people",
        ANONYMIZED: "rows that were made k-anonymous",
        ANSWERS: "the gateway, with a budget",
        EXACT: "exact answers",
        FRESH: "fresh noise each time, and no account",
        RESTRICTED: "exact answers, but none about few rows",
    }
)
"""The targets of attacks, by name."""

_CENSUS_PEOPLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How an attack is set up.

    Args:
        on: the columns by which people are known.
        sensitive: the column to learn.
        value: a column of numbers, 0 or more, that totals are about; None if there is none.
        k: of the anonymised rows.
        epsilon: offered for each question; above 0.
        budget: of each account; above 0.
        people: how many people attacks on answers ask about, at most; they are drawn from the table.
        trials: how often attacks that toss coins are repeated.
    """

    on: tuple[str, ...]
    sensitive: str
    value: str | None = None
    k: int = 5
    epsilon: Fraction = Fraction(1, 10)
    budget: Fraction = Fraction(10)
    people: int = 100
    trials: int = 1_000

    @classmethod
    def of(  # noqa: PLR0913 — the terms, each by name
        cls,
        *,
        on: Sequence[str],
        sensitive: str,
        value: str | None = None,
        k: int = 5,
        epsilon: Rationalizable = "0.1",
        budget: Rationalizable = 10,
        people: int = 100,
        trials: int = 1_000,
    ) -> Terms:
        """Check them.

        Raises:
            InvalidArgument: a number out of range, or no columns.
        """
        if isinstance(on, str) or not on:
            raise InvalidArgument(
                "name one or more columns by which people are known",
                hint=Hint('on=["age", "zip"]', cli="--on age,zip"),
            )
        if sensitive in on:
            raise InvalidArgument(f"the column {sensitive!r} can't be both known and sought")
        if min(k, people, trials) < 1:
            raise InvalidArgument("k, people and trials are whole numbers, 1 or more")
        return cls(
            on=tuple(on),
            sensitive=sensitive,
            value=value,
            k=k,
            epsilon=positive(epsilon, "epsilon"),
            budget=positive(budget, "budget"),
            people=people,
            trials=trials,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setup:
    """A table, and what of it is published.

    Accounts are made afresh in a temporary folder, each with the whole budget, and are gone when the setup is.

    Args:
        records: the table.
        terms: how attacks are set up.
        made_up: whether the people don't exist: the table is the synthetic census.
        repeated: its columns that identify and repeat, if it isn't said whose a row is.
        folder: where accounts are kept.
        closing: what is closed in the end.
        compared: whether what is published in different ways is compared. Then the same people are attacked each time,
            a sample of them, and by the same knowledge, and what counts as a success is the same.
        made: what is drawn once for all of them, by name.
    """

    records: Records
    terms: Terms
    made_up: bool
    repeated: tuple[Repeated, ...]
    folder: Path
    closing: ExitStack = field(repr=False)
    compared: bool = False
    made: dict[str, Any] = field(default_factory=dict, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """A random part, drawn when it is first asked for and then kept, so that all that is compared has the same."""
        if name not in self.made:
            self.made[name] = make()
        return cast("T", self.made[name])

    def raw(self, records: Records | None = None) -> Rows:
        """Rows as they are."""
        return Rows.of(records or self.records)

    def anonymised(
        self,
        records: Records | None = None,
        *,
        on: Sequence[str] | None = None,
        kept: Sequence[str] | None = None,
    ) -> Rows:
        """Rows that were made k-anonymous, with ranges as narrow as that allows (Mondrian).

        Args:
            records: a table; this one if left out.
            on: the columns that get ranges; those of the terms if left out.
            kept: the columns that are released as they are; what is sought and what totals are about, if left out.

        Raises:
            InvalidArgument: there are fewer than k rows, or units.
        """
        from discreet.anonymity.models.k_anonymity import KAnonymity
        from discreet.anonymity.reduce.anonymize import anonymize

        table, known = records or self.records, tuple(on or self.terms.on)
        if table.counted < self.terms.k:
            counted = "rows" if table.units is None else "units"
            raise InvalidArgument(
                f"{table.counted:,} {counted} can't be made {self.terms.k}-anonymous",
                hint="more people, a larger table, or a smaller k",
            )
        beside = {self.terms.sensitive, self.terms.value} if kept is None else set(kept)
        release = anonymize(
            table,
            quasi_identifiers=known,
            insensitive=[name for name in table.names if name in beside and name not in known],
            models=[KAnonymity(self.terms.k)],
            algorithm="mondrian",
        )
        return Rows.of(release, name=f"{self.terms.k}-anonymous rows", original=table)

    def answers(
        self,
        records: Records | None = None,
        *,
        keys: Mapping[str, Keys] | None = None,
        grouped_by: Sequence[Sequence[Coded]] | None = None,
    ) -> Answers:
        """The gateway, before an account of its own. The unit of privacy is the table's: each row, or its own unit.

        Limits are those within which all units of the whole table are, so that nothing is cut off what is asked. As the
        bounds, they come from the table itself: an experiment on rows that the custodian has.

        Args:
            records: what is protected; the whole table if left out.
            keys: of columns by which questions may group rows.
            grouped_by: columns of the whole table by which each of the questions that group rows does; what is sought,
                if left out.
        """
        table = self.records if records is None else records
        data, whose = with_unit(table)
        value, whole = self.terms.value, table if self.records.units is None else self.records
        if grouped_by is None:
            grouped_by = [[self.records.column(self.terms.sensitive)]]
        declared: dict[str, Bounds | Keys] = dict(keys or {})
        if value is not None and value in data.column_names and value not in declared:
            declared[value] = self.bounds(value)
        protected = protect(
            data,
            name=NAME,
            unit=Unit.row() if whose is None else Unit(whose),
            budget=Budget(epsilon=self.terms.budget),
            columns=declared,
            limits=limits_of(whole, grouped_by),
            ledger=self.folder / f"{len(list(self.folder.iterdir()))}.ledger",
        )
        self.closing.enter_context(protected)
        return Answers(protected, epsilon=self.terms.epsilon)

    def exact(self, records: Records | None = None) -> Exact:
        """Exact answers."""
        return Exact(self.records if records is None else records, name=NAME)

    def bare(self, records: Records | None = None) -> Bare:
        """Answers with fresh noise, and no account."""
        return Bare(self.exact(records), epsilon=self.terms.epsilon)

    def pseudonymised(self, records: Records | None = None) -> Rows:
        """Rows as they are, with random numbers for what names people; what is known, sought or added up stays."""
        import pyarrow as pa

        from discreet.anonymity.attributes import AttributeKind, guess_attributes

        table = records or self.records
        used = {*self.terms.on, self.terms.sensitive, self.terms.value, NUMBER}
        columns = dict(table.columns)
        for guess in guess_attributes(table):
            if guess.kind is AttributeKind.IDENTIFYING and guess.column not in used:
                codes = shuffled(table.column(guess.column).size)[table.column(guess.column).codes]
                columns[guess.column] = encode(guess.column, pa.array(codes))
        return Rows.of(replace(table, columns=columns), name="rows with pseudonyms")

    def rows(self, against: str, records: Records | None = None) -> Rows:
        """Rows as they are published: raw, pseudonymized or anonymized."""
        if against == "anonymized":
            return self.anonymised(records)
        return self.pseudonymised(records) if against == "pseudonymized" else self.raw(records)

    def sample(self, most: int | None = None) -> Records:
        """People drawn from the table, with all of their rows: whom an attacker on answers asks about."""
        number = most or self.terms.people
        return self.once(f"{number} people", lambda: drawn(self.records, number))

    def bounds(self, name: str) -> Bounds:
        """Bounds for an experiment on the custodian's own table: from 0 to a power of ten.

        To protect a table for real, they must come from what the column means.
        """
        column = self.records.column(name)
        if not is_ordered(column):
            raise InvalidArgument(f"totals of {name!r} need numbers")
        worth = numbers(column)
        greatest = float(np.nanmax(worth, initial=1.0))
        return Bounds(0, 10 ** ceil(log10(max(greatest, 1.0) + 1)))


@contextmanager
def set_up(table: object | None, terms: Terms, *, unit: WhoseRow = None, log: bool = False) -> Iterator[Setup]:
    """Set a table up, and clear away what was made of it.

    Args:
        table: anything `anonymity.read` takes; the synthetic census of 10,000 people if left out.
        terms: how attacks are set up.
        unit: the columns that say whose a row is, see `anonymity.read`.
        log: whether the first of the columns that are known is the person, as in a table of what people did. With a
            unit, that is the unit, which needn't be named again.

    Raises:
        InvalidArgument: the table has no rows, or one of them doesn't say whose it is; or someone other than the unit
            is named as the person of a log.
        SchemaMismatch: the table lacks a column.
    """
    from discreet.anonymity.attributes import repeated
    from discreet.anonymity.hierarchies.texts import dated

    made_up = table is None
    if made_up:
        from discreet.census import synthetic

        table = synthetic(_CENSUS_PEOPLE)
    if log:
        records, terms = _log(table, terms, unit)
    else:
        records = read(table, unit=unit)
    for name in (*terms.on, terms.sensitive, *((terms.value,) if terms.value else ())):
        records.column(name)
    records, _ = dated(records, terms.on)
    if not records.rows:
        raise InvalidArgument("the table has no rows")
    with TemporaryDirectory(prefix="discreet-attack-") as folder, ExitStack() as closing:
        yield Setup(
            records=records,
            terms=terms,
            made_up=made_up,
            repeated=() if unit is not None else repeated(records),
            folder=Path(folder),
            closing=closing,
        )


def _log(table: object, terms: Terms, unit: WhoseRow) -> tuple[Records, Terms]:
    """A table of what people did, and the terms with the person first, who is the unit if there is one.

    Raises:
        InvalidArgument: someone other than the unit seems to be named.
    """
    records, person = pseudonymous(table, unit)
    if person is None or records.units is None:
        return records, terms
    things = tuple(name for name in terms.on if name not in records.units.names)
    if not things or (len(things) > 1 and things == terms.on):
        raise InvalidArgument(
            f"the unit says who did it: {', '.join(records.units.names)}; name what they did, and no one else",
            hint=Hint("on=[what], or the unit and what", cli="--on WHAT, or --on UNIT,WHAT"),
        )
    return records, replace(terms, on=(person, *things))
