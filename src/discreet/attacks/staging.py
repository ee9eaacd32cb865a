"""Staging: one table set up in three ways, as it is, anonymised, and behind the gateway, to try attacks on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log10
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records.records import Records
from discreet.attacks.rows.linking.sampling import shuffled
from discreet.attacks.rows.numbers import is_ordered, numbers
from discreet.attacks.targets.answers import Answers
from discreet.attacks.targets.bare import Bare
from discreet.attacks.targets.exact import Exact
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.gateway import protect
from discreet.privacy import Bounds, Budget, Keys, Limits, Unit

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.attributes import Repeated
    from discreet.anonymity.records.read import Unit as WhoseRow

NAME = "people"
"""What questions call the table."""

NUMBER = "person_number"
"""A column of consecutive numbers, for attacks that need to name people one by one."""

CENSUS_ON, CENSUS_SENSITIVE, CENSUS_VALUE = ("dob", "zip", "sex"), "education", "income"
"""What is known of the census's people, what is sought, and what totals are about, unless said otherwise."""

_CENSUS_PEOPLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How an attack is set up.

    Args:
        on: the columns by which people are known.
        sensitive: the column that is to be learned.
        value: a column of numbers, 0 or more, that totals are about; None if there is none.
        k: of the anonymised rows.
        epsilon: offered for each question; above 0.
        budget: of each account; above 0.
        people: whom attacks on answers ask about, at the most: so many are drawn from the table.
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
            raise InvalidArgument("name one or more columns by which people are known", hint='on=["age", "zip"]')
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
class Stage:
    """A table, and what of it is published.

    Accounts are made afresh in a temporary folder, each with the whole budget, and are gone when the stage is.

    Args:
        records: the table.
        terms: how attacks are set up.
        made_up: whether the people don't exist: the table is the synthetic census.
        repeated: its columns that identify and repeat, if it isn't said whose a row is.
        folder: where accounts are kept.
        closing: what is closed in the end.
    """

    records: Records
    terms: Terms
    made_up: bool
    repeated: tuple[Repeated, ...]
    folder: Path
    closing: ExitStack = field(repr=False)

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
        self, table: pa.Table | None = None, *, unit: Unit | None = None, keys: Mapping[str, Keys] | None = None
    ) -> Answers:
        """The gateway, before an account of its own.

        Args:
            table: what is protected; the whole table if left out.
            unit: whose privacy it is; that of each row if left out. Others count for a row each in any one answer.
            keys: of columns by which questions may group rows.
        """
        data = self.records.to_arrow() if table is None else table
        value, whose = self.terms.value, unit or Unit.row()
        declared: dict[str, Bounds | Keys] = dict(keys or {})
        if value is not None and value in data.column_names and value not in declared:
            declared[value] = self.bounds(value)
        protected = protect(
            data,
            name=NAME,
            unit=whose,
            budget=Budget(epsilon=self.terms.budget),
            columns=declared,
            limits=None if whose.is_row else Limits(rows=1),
            ledger=self.folder / f"{len(list(self.folder.iterdir()))}.ledger",
        )
        self.closing.enter_context(protected)
        return Answers(protected, epsilon=self.terms.epsilon)

    def exact(self, table: pa.Table | None = None) -> Exact:
        """Exact answers."""
        return Exact(self.records.to_arrow() if table is None else table, name=NAME)

    def bare(self, table: pa.Table | None = None) -> Bare:
        """Answers with fresh noise, and no account."""
        return Bare(self.exact(table), epsilon=self.terms.epsilon)

    def sample(self, most: int | None = None) -> Records:
        """People drawn from the table: whom an attacker on answers asks about."""
        return self.records.take(shuffled(self.records.rows)[: most or self.terms.people])

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
def staged(table: object | None, terms: Terms, *, unit: WhoseRow = None) -> Iterator[Stage]:
    """Set a table up, and clear away what was made of it.

    Args:
        table: anything `anonymity.read` takes; the synthetic census of 10,000 people if left out.
        terms: how attacks are set up.
        unit: the columns that say whose a row is, see `anonymity.read`.

    Raises:
        InvalidArgument: the table has no rows, or one of them doesn't say whose it is.
        SchemaMismatch: the table lacks a column.
    """
    from discreet.anonymity.attributes import repeated
    from discreet.anonymity.records.read import read

    made_up = table is None
    if made_up:
        from discreet.census import synthetic

        table = synthetic(_CENSUS_PEOPLE)
    records = read(table, unit=unit)
    for name in (*terms.on, terms.sensitive, *((terms.value,) if terms.value else ())):
        records.column(name)
    if not records.rows:
        raise InvalidArgument("the table has no rows")
    with TemporaryDirectory(prefix="discreet-attack-") as folder, ExitStack() as closing:
        yield Stage(
            records=records,
            terms=terms,
            made_up=made_up,
            repeated=() if unit is not None else repeated(records),
            folder=Path(folder),
            closing=closing,
        )
