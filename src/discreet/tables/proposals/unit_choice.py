"""Unit choices: the column that says whose a table's rows are, by names alone; no data is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.errors import InvalidArgument
from discreet.privacy import Limits, Unit
from discreet.tables.proposals.names import PEOPLE, joined
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.table import Link
from discreet.tables.unit_candidates import OF_SOMEBODY, UnitCandidate

OWNERS = f"{PEOPLE} household family account device"
"""Words for those whom rows may be about, likeliest first."""

_ALONE = "person patient subject participant respondent user customer client employee student passenger"
"""Words for people that mean an id even by themselves. The others may be a yes or no, such as `insured`."""

NUMBERS = "id no nr num number key uuid guid code identifier hash pseudonym"

_OFFICIAL = "ssn social_security_number nhs_number national_id tax_id passport_number mrn medical_record_number"

BARE = "id uuid guid identifier"
"""Ids of unknown things: perhaps of people, perhaps of rows."""

_EACH_ROW = "REVIEW: right only if nobody can have two rows. Otherwise name the column that says whose row it is."

_ONE_ROW = Limits(rows=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChoice:
    """A unit to propose, or a link to one.

    Args:
        unit: whose presence to hide; None if the link says it.
        limits: one row where each row is a person, by the names or by what was seen of its id; else None, since only
            the data or its custodian knows how many rows someone has, and a guess that is too low cuts rows off.
        ids: the columns that look like ids of people, likeliest first, or the one that was named.
        why: for a comment.
        seen: that the limits follow from what was seen, for a comment; empty if names say them.
        link: that says whose a row is; None if the unit does.
        also: other links that the names suggest, for a comment.
        is_read: whether the unit was read off the data.
    """

    unit: Unit | None
    limits: Limits | None
    ids: tuple[str, ...]
    why: str
    seen: str = ""
    link: Link | None = None
    also: tuple[Link, ...] = ()
    is_read: bool = False

    @property
    def links(self) -> tuple[Link, ...]:
        """All that the names suggest; the one in use first."""
        return self.also if self.link is None else (self.link, *self.also)

    @property
    def tells(self) -> str | None:
        """The column that tells whose row it is; None if each row is its own."""
        return self.link.column if self.link is not None else self.unit.column if self.unit is not None else None


def likely_unit(columns: Sequence[Column]) -> UnitChoice:
    """The column that most likely tells whose row it is, else each row."""
    ranked = [(rank, column.name) for column in columns if (rank := rank_of_id(column)) is not None]
    ids = tuple(name for _, name in sorted(ranked))
    if not ids:
        return UnitChoice(unit=Unit.row(), limits=_ONE_ROW, ids=(), why=_EACH_ROW)
    others = f"; so do {', '.join(ids[1:])}" if ids[1:] else ""
    why = f"REVIEW: {ids[0]} looks like an id{others}. The unit is what says whose row it is."
    limits = _ONE_ROW if joined(ids[0]) in BARE.split() else None
    return UnitChoice(unit=Unit(ids[0]), limits=limits, ids=ids, why=why)


def named_unit(name: str, columns: Sequence[Column]) -> UnitChoice:
    """The unit that a custodian names: a column, or `row`, which is each row, as in a configuration.

    Raises:
        InvalidArgument: there is no such column.
    """
    if name == "row":
        return UnitChoice(unit=Unit.row(), limits=_ONE_ROW, ids=(), why=_EACH_ROW)
    for column in columns:
        if column.name.casefold() == name.casefold():
            why = "As the custodian named it: what says whose row it is."
            return UnitChoice(unit=Unit(column.name), limits=None, ids=(column.name,), why=why)
    known = ", ".join(column.name for column in columns)
    raise InvalidArgument(f"there is no column {name!r} to be the unit", hint=f"`row`, or one of {known}")


def unit_by_rows(candidates: Sequence[UnitCandidate]) -> UnitChoice:
    """The finest of the columns that say whose a row is by how the others depend on them; read off the data."""
    ids = tuple(each.column for each in candidates)
    why = f"LEAK: read off the data: {ids[0]} looks like {OF_SOMEBODY}. REVIEW: the unit is what tells whose row it is."
    return UnitChoice(unit=Unit(ids[0]), limits=None, ids=ids, why=why, is_read=True)


def rank_of_id(column: Column) -> int | None:
    """How likely a column is to say whose row it is: 0 is likeliest, None not at all.

    Examples:
        >>> def rank(name):
        ...     return rank_of_id(Column(name=name, kind=Kind.TEXT))
        >>> rank("PatientID") < rank("household_id") < rank("ssn") < rank("id")
        True
        >>> rank("paid") is None
        True
    """
    if column.kind not in {Kind.INTEGER, Kind.TEXT}:
        return None
    word = joined(column.name)
    owners = OWNERS.split()
    for rank, owner in enumerate(owners):
        rest = word.removeprefix(owner)
        numbered = rest != word and rest in NUMBERS.split()
        if numbered or word == f"id{owner}" or (word == owner and owner in _ALONE.split()):
            return rank
    others = [joined(name) for name in (*_OFFICIAL.split(), *BARE.split())]
    return len(owners) + others.index(word) if word in others else None


def is_number_of_a_person(column: Column) -> bool:
    """Whether a column's name says that it holds numbers of people; not of households or accounts, nor just an id.

    Examples:
        >>> [is_number_of_a_person(Column(name=name, kind=Kind.TEXT)) for name in ("patient_id", "household_id", "id")]
        [True, False, False]
    """
    rank, owners = rank_of_id(column), len(OWNERS.split())
    of_people = len(PEOPLE.split())
    return rank is not None and (rank < of_people or owners <= rank < owners + len(_OFFICIAL.split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNames:
    """A table as far as its names tell.

    Args:
        name: of the table.
        columns: of the table.
        choice: the unit that it would have on its own.
        chosen: whether a custodian named that unit.
        declared: the links that its database declares.
    """

    name: str
    columns: tuple[Column, ...]
    choice: UnitChoice
    chosen: bool = False
    declared: tuple[Link, ...] = ()

    @property
    def key(self) -> Column | None:
        """The column that names this table's rows: `customer_id` or `id` in `customers`; None if none does."""
        if self.chosen:
            return next((column for column in self.columns if column.name == self.choice.tells), None)
        named = [column for column in self.columns if joined(column.name) in _names_of_rows(self.name)]
        bare = [column for column in self.columns if joined(column.name) in BARE.split()]
        return next(iter(named + bare), None)

    @property
    def called(self) -> set[str]:
        """The names that other tables may have for the key: the custodian's, or the table's."""
        own = {joined(self.key.name)} - set(BARE.split()) if self.chosen and self.key is not None else set()
        return own or _names_of_rows(self.name)

    @property
    def is_of_people(self) -> bool:
        """Whether its own names say whose the rows are: by an id of people, or by the table's name and any id."""
        tells = self.choice.tells
        about = any(stem in OWNERS.split() for stem in _stems(self.name))
        return tells is not None and (self.chosen or about or joined(tells) not in BARE.split())


def link_up(tables: Sequence[TableNames]) -> tuple[UnitChoice, ...]:
    """The unit or link of each table, once the others are known.

    A column is taken for a link if its database says so, or if it is called like another table and `id`, or like the
    unit that a custodian named there. A table takes a link that leads to people, however far away, instead of a unit of
    its own, because then all its tables protect the same; failing that, one that leads to any id, if otherwise each row
    were a unit.

    Guarantee: what the links lead to is a unit with a column, never a circle; no data has a part in it.
    """
    found = {table.name: _candidates(table, tables) for table in tables}
    chosen = {table.name: table.choice for table in tables}
    settled = {table.name for table in tables if table.is_of_people and not _own_is_link(table, found)}
    _spread(tables, found, chosen, settled)
    settled |= {table.name for table in tables if table.choice.tells is not None}
    _spread(tables, found, chosen, settled)
    return tuple(
        replace(chosen[table.name], also=tuple(link for link in found[table.name] if link != chosen[table.name].link))
        for table in tables
    )


def with_one_row(choice: UnitChoice, table: TableNames, repeats: bool | None) -> UnitChoice:
    """The choice with one row as the limit, where each row is a person: by the names, unless the data says otherwise.

    Where a link says whose a row is, one person may have many tomorrow, whatever was seen today.

    Args:
        choice: of the table.
        table: as its names tell.
        repeats: whether some value of the column that tells whose row it is was seen twice; None if nobody looked.
    """
    tells = choice.tells
    if tells is None or choice.link is not None:
        return choice
    if repeats is False:
        seen = f"One row, because no {tells} was seen in two; if someone may have more, say how many."
        return replace(choice, limits=_ONE_ROW, seen=seen)
    is_register = choice.limits is not None or joined(tells) in _names_of_rows(table.name)
    return replace(choice, limits=_ONE_ROW if is_register and not repeats else None)


def _spread(
    tables: Sequence[TableNames], found: dict[str, list[Link]], chosen: dict[str, UnitChoice], settled: set[str]
) -> None:
    """Link tables to those that are settled, which settles them, until nothing more follows."""
    growing = True
    while growing:
        growing = False
        for table in tables:
            link = next((link for link in found[table.name] if link.table in settled), None)
            if link is not None and table.name not in settled:
                chosen[table.name] = _linked(link, is_declared=link in table.declared)
                settled.add(table.name)
                growing = True


def _linked(link: Link, *, is_declared: bool) -> UnitChoice:
    """The choice of a link."""
    source = "as its database declares" if is_declared else "judging by its name alone"
    target = f"{link.table}.{link.to}"
    why = f"REVIEW: {source}, {link.column} links to {target}: a row belongs to the person of that row."
    return UnitChoice(unit=None, limits=None, ids=(), why=why, link=link)


def _own_is_link(table: TableNames, found: dict[str, list[Link]]) -> bool:
    """Whether the column that tells whose row it is names rows of another table, which tells more."""
    return not table.chosen and any(link.column == table.choice.tells for link in found[table.name])


def _candidates(table: TableNames, tables: Sequence[TableNames]) -> list[Link]:
    """The links that are declared, and those that names suggest of other columns; those to people first."""
    own, declared = table.key, {link.column: link for link in table.declared if not table.chosen}
    columns = [
        column
        for column in table.columns
        if column.kind in {Kind.INTEGER, Kind.TEXT} and column != own and column.name not in declared
    ]
    ranks = {column.name: rank_of_id(column) for column in table.columns}
    of_people = {other.name for other in tables if other.is_of_people}
    said = sorted(
        declared.values(),
        key=lambda link: (link.table not in of_people, ranks[link.column] is None, ranks[link.column] or 0),
    )
    links = [
        (ranks[column.name], Link(column.name, other.name, key.name))
        for column in columns
        for other in tables
        if other is not table and not table.chosen and (key := other.key) is not None
        if key.kind is column.kind and joined(column.name) in other.called
    ]
    return [*said, *(link for _, link in sorted(links, key=lambda pair: (pair[0] is None, pair[0])))]


def _names_of_rows(table: str) -> set[str]:
    """The likely names of a column that identifies the rows of a table."""
    return {name for stem in _stems(table) for name in (*(stem + number for number in NUMBERS.split()), f"id{stem}")}


def _stems(table: str) -> set[str]:
    """A table's name in the singular, as far as English goes.

    Examples:
        >>> sorted(_stems("Companies"))
        ['compani', 'companie', 'companies', 'company']
    """
    name = joined(table)
    endings = {"": "", "s": "", "es": "", "ies": "y"}
    return {name.removesuffix(plural) + one for plural, one in endings.items() if name.endswith(plural)} - {""}
