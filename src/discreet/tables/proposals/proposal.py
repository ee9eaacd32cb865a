"""Proposals: what `discreet init FILE …` writes, each declaration with where it came from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.privacy import Budget
from discreet.tables.proposals.data_profile import DataProfile
from discreet.tables.proposals.shared_ids import with_shared_id
from discreet.tables.proposals.table_proposal import ProposalInput, TableProposal, propose_table
from discreet.tables.proposals.unit_choice import (
    TableNames,
    UnitChoice,
    likely_unit,
    link_up,
    named_unit,
    unit_by_rows,
    with_one_row,
)
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.config_writer import Note, dumps
from discreet.tables.schema.dataset import Dataset
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Link
from discreet.tables.schema.toml import write_config

BUDGET = Budget(epsilon=3, delta="1e-6")

_HEAD = (
    "What is public about private tables. Proposed by `discreet init`: read it all before you protect anyone with it.",
    'Each declaration says where it came from: the "schema" (its kind), "public knowledge" or, with --leak, a "LEAK",',
    "read off the data. This file is meant to be public, so replace each LEAK by what the column may hold, whoever is",
    "in the table.",
)
_BUDGET = (
    "For all analysts together, for as long as the ledger lives. epsilon = 3 is a middle course: up to 1 is strong",
    "protection, above 10 is little. delta must be far below one in the number of people: 1e-6 suits up to some",
    "100,000. Without delta there is no Gaussian noise, and groups are limited to listed keys.",
    "Shares are optional: once there is an [analysts.alice] with epsilon = 1, only listed analysts may ask.",
)
_LEDGER = "It remembers what was spent. Keep it with the data: without it the budget would start again."
_ADJACENCY = 'Tables with and without one unit are neighbours; "substitution" compares with one unit replaced.'


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A dataset to start from.

    Args:
        dataset: what the file will say.
        tables: each table of it, with where its declarations came from.
    """

    dataset: Dataset
    tables: tuple[TableProposal, ...]

    def to_toml(self, *, folder: str | os.PathLike[str] | None = None) -> str:
        """The text of discreet.toml, with a comment on the origin of each declaration.

        Args:
            folder: where the file will stand; paths inside of it are written relative to it.

        Raises:
            ConfigError: a table exists in memory only, or a name can't be written.
        """
        notes = {
            (): Note(above=_HEAD),
            ("ledger",): Note(beside=_LEDGER),
            ("adjacency",): Note(beside=_ADJACENCY),
            ("budget",): Note(below=_BUDGET),
        }
        for table in self.tables:
            notes |= table.notes()
        return dumps(self.dataset, folder=folder, notes=notes)

    def save(self, path: str | os.PathLike[str], *, replacing: bool = False) -> None:
        """Write discreet.toml; one that is there stays, unless it may be replaced: it holds a custodian's decisions.

        Raises:
            ConfigError: the file is there already, can't be written, or a table exists in memory only.
        """
        write_config(self.to_toml(folder=Path(path).absolute().parent), path, replacing=replacing)


def propose(  # noqa: PLR0913 — what a custodian may say about a proposal, each by name
    columns: Sequence[Column],
    profile: DataProfile | None = None,
    *,
    source: Source,
    name: str | None = None,
    leak: bool = False,
    strict: bool = False,
    unit: str | None = None,
) -> Proposal:
    """Propose how to protect a table.

    Args:
        columns: the schema: names and kinds, as the engine describes them.
        profile: what was seen in the data; None if nobody looked.
        source: where the table lies.
        name: what to call the table and the account; the file's stem if None.
        leak: whether to propose what was seen of values, under a mark. Otherwise what neither the schema nor public
            knowledge says is left blank.
        strict: whether not to look at the profile at all: not for the texts that stand for NULL, either.
        unit: the column that tells whose row it is, or `row` for each row its own; None: the likeliest by its name.

    Raises:
        InvalidArgument: there are no columns, all of them name people, two have the same name, or none is the unit.

    Examples:
        >>> from discreet.tables import Kind
        >>> age, place = Column(name="age", kind=Kind.INTEGER), Column(name="place", kind=Kind.TEXT)
        >>> for row in propose([age, place], source=Source.of("census.csv")).tables[0].rows():
        ...     print(*row, sep=" | ")
        age | integer in [0, 125] | public knowledge: no one is known to have lived beyond 122 years
        place | text | schema: blank: fill in what the column may hold
    """
    return propose_together(
        [ProposalInput(columns=columns, source=source, profile=profile, name=name)],
        leak=leak,
        strict=strict,
        unit=unit,
    )


def propose_together(
    tables: Sequence[ProposalInput], *, leak: bool = False, strict: bool = False, unit: str | None = None
) -> Proposal:
    """Propose how to protect several tables that the same people are in, with links between them by their names.

    Args:
        tables: what is known of them, at least one; the account is named after the first, or after the server's
            database if several are in it.
        leak: as for `propose`.
        strict: as for `propose`; not with `leak`.
        unit: the column of the first table that tells whose row it is, or `row`; None: the likeliest by its name.

    Raises:
        InvalidArgument: as for `propose`, or two tables have one name.
    """
    if leak and strict:
        raise InvalidArgument(
            "what isn't looked at can't be proposed", hint=Hint.of("{leak} or {strict}", leak=None, strict=None)
        )
    tables = [each.with_keys for each in tables]
    choices = [_choice(each, leak=leak) for each in tables]
    if unit is not None:
        choices[0] = named_unit(unit, tables[0].columns)
    named = [
        TableNames(name=each.called, columns=tuple(each.columns), choice=choice, declared=_declared(each, tables))
        for each, choice in zip(tables, choices, strict=True)
    ]
    named[0] = replace(named[0], chosen=unit is not None)
    seen = [None if strict else each.profile for each in tables]
    linked = tuple(
        with_one_row(choice, table, None if profile is None else profile.of(choice.tells or "").repeats)
        for choice, table, profile in zip(with_shared_id(named, link_up(named), seen), named, seen, strict=True)
    )
    entered = {(link.table, link.to) for choice in linked for link in choice.links}
    proposed = tuple(
        propose_table(replace(each, profile=profile), choice, entered, leak=leak)
        for each, choice, profile in zip(tables, linked, seen, strict=True)
    )
    first = tables[0].source
    is_here = first.kind != "memory" and "://" not in first.location
    folder = Path(first.location).parent if is_here else Path()
    dataset = Dataset(
        name=first.stem if first.kind == "postgres" and len(tables) > 1 else tables[0].called,
        tables=tuple(each.table for each in proposed),
        budget=BUDGET,
        ledger=str(folder / f"{first.stem}.ledger"),
    )
    return Proposal(dataset=dataset, tables=proposed)


def _declared(given: ProposalInput, tables: Sequence[ProposalInput]) -> tuple[Link, ...]:
    """The links that a table's database declares to others of these tables."""
    others = {each.source.table: each for each in tables if each.source.location == given.source.location}
    own = {column.name: column.kind for column in given.columns}
    return tuple(
        Link(each.column, there.called, each.to)
        for each in given.schema.links
        if (there := others.get(each.table)) is not None and there.called != given.called
        if own.get(each.column) in {Kind.INTEGER, Kind.TEXT}
        if own[each.column] in {column.kind for column in there.columns if column.name == each.to}
    )


def _choice(given: ProposalInput, *, leak: bool) -> UnitChoice:
    """The unit of a table on its own: by its names; where they tell nothing, and the data may, by its rows."""
    choice = likely_unit(given.columns)
    seen = given.profile.numbers if leak and given.profile is not None else ()
    return unit_by_rows(seen) if seen and choice.tells is None else choice
