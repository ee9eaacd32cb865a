"""Shared ids: columns of one name in several tables, by which these are linked where no name says whose their rows are.

A table of people names each of them once, and a table of what they do repeats them. So of a column that both have, its
values decide which is which; where nobody looked, the first table is taken for the one of people. Two tables that are
protected by one id are protected alike, whichever of them the link leads to: what hangs on it is one row as a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from discreet.privacy import Unit
from discreet.tables.proposals.data_profile import ColumnProfile, DataProfile
from discreet.tables.proposals.names import joined, plain
from discreet.tables.proposals.public_knowledge import knowledge
from discreet.tables.proposals.unit_choice import BARE, NUMBERS, TableNames, UnitChoice
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.table import Link

_ENDINGS = ("id", "nr", "num", "number", "uuid", "guid", "hash", "pseudonym")
_NO_IDS = frozenset(["acid", "bid", "covid", "fluid", "grid", "liquid", "paid", "rapid", "solid", "valid", "void"])
"""Words that end like ids but aren't."""

_MANY = 20
"""A column whose name isn't an id's must have more distinct values than this to be taken for one: lists of wards,
grades or shops are shorter.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """A column that several tables have.

    Args:
        columns: of each of these tables, by its number.
        looks: what was seen in it, by the table's number.
    """

    columns: dict[int, Column]
    looks: dict[int, ColumnProfile]

    @property
    def owners(self) -> list[int]:
        """The tables in which no value occurs twice."""
        return [number for number, look in self.looks.items() if look.repeats is False]

    @property
    def repeating(self) -> list[int]:
        """The tables in which some value does."""
        return [number for number, look in self.looks.items() if look.repeats]

    @property
    def is_called_like_an_id(self) -> bool:
        """Whether its name alone makes it likely that it tells whose row it is."""
        name = plain(next(iter(self.columns.values())).name)
        *_, last = name.split("_")
        return last not in _NO_IDS and (last in NUMBERS.split() or last.endswith(_ENDINGS))

    @property
    def is_likely(self) -> bool:
        """Whether to propose it as the id."""
        if self.is_called_like_an_id:
            return True
        values = [self.looks[number].values for number in self.owners]
        return bool(self.repeating and values) and all(each is None or len(each) > _MANY for each in values)


def shared_names(tables: Sequence[Sequence[Column]]) -> frozenset[str]:
    """The names of columns that several tables have, as `joined` writes them: some may be ids."""
    names = [{joined(column.name) for column in columns} for columns in tables]
    times = Counter(name for some in names for name in some)
    return frozenset(name for name, number in times.items() if number > 1)


def with_shared_id(
    tables: Sequence[TableNames], choices: Sequence[UnitChoice], profiles: Sequence[DataProfile | None]
) -> tuple[UnitChoice, ...]:
    """The choices, with an id that tables share where names say of none of them whose its rows are.

    Args:
        tables: all of a proposal.
        choices: what `link_up` made of their names.
        profiles: what was seen in each; None where nobody looked.
    """
    alone = [
        number
        for number, (table, choice) in enumerate(zip(tables, choices, strict=True))
        if choice.link is None and not table.is_of_people and not table.chosen
    ]
    found = sorted(
        (each for each in _shared(alone, tables, profiles) if each.is_likely),
        key=lambda each: (not (each.owners and each.repeating), not each.is_called_like_an_id),
    )
    if not found:
        return tuple(choices)
    best, made = found[0], list(choices)
    owner = next(iter(best.owners or best.columns))
    for number, column in best.columns.items():
        made[number] = replace(_choice(best, number, owner, tables), also=choices[number].links, ids=(column.name,))
    return tuple(made)


def _shared(
    alone: Sequence[int], tables: Sequence[TableNames], profiles: Sequence[DataProfile | None]
) -> Iterator[_Shared]:
    """The columns that several of these tables have, and of which nothing is publicly known."""
    names = dict.fromkeys(joined(column.name) for number in alone for column in tables[number].columns)
    for name in (each for each in names if each not in BARE.split()):  # an `id` is each table's own
        columns = {
            number: column
            for number in alone
            for column in tables[number].columns
            if joined(column.name) == name and column.kind in {Kind.INTEGER, Kind.TEXT}
        }
        is_one_thing = len(columns) > 1 and len({column.kind for column in columns.values()}) == 1
        if is_one_thing and all(knowledge(each.name, each.kind) is None for each in columns.values()):
            looks = {
                number: profile.of(column.name)
                for number, column in columns.items()
                if (profile := profiles[number]) is not None
            }
            yield _Shared(columns=columns, looks=looks)


def _choice(shared: _Shared, number: int, owner: int, tables: Sequence[TableNames]) -> UnitChoice:
    """The proposal for one of the tables that share an id: the unit, or the link to it."""
    column, first = shared.columns[number].name, tables[owner].name
    others = ", ".join(tables[each].name for each in shared.columns if each != owner)
    if number == owner:
        seen = f"it names each row of {first} once" if owner in shared.owners else "both have it"
        why = (
            f"REVIEW: {column} is shared with {others}, and {seen}: if a row of {first} is a person, this is the "
            "unit; if everyone may know that table, declare it public = true."
        )
        return UnitChoice(unit=Unit(column), limits=None, ids=(), why=why)
    link = Link(column, first, shared.columns[owner].name)
    why = f"REVIEW: {column} is shared with {first}: a row belongs to the person of that row."
    return UnitChoice(unit=None, limits=None, ids=(), why=why, link=link)
