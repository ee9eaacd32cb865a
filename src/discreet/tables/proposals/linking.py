"""Linking: which column of one table names the rows of another, by names alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.tables.proposals.ids import BARE, NUMBERS, OWNERS, SEVERAL_ROWS, Choice, rank_of_id
from discreet.tables.proposals.knowledge import joined
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.owner import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A table as far as its names tell.

    Args:
        name: of the table.
        columns: of the table.
        choice: the unit that it would have on its own.
        chosen: whether a custodian named that unit.
    """

    name: str
    columns: tuple[Column, ...]
    choice: Choice
    chosen: bool = False

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
        """What other tables call the key: as the custodian did, or like the table."""
        own = {joined(self.key.name)} - set(BARE.split()) if self.chosen and self.key is not None else set()
        return own or _names_of_rows(self.name)

    @property
    def is_of_people(self) -> bool:
        """Whether its own names say whose the rows are: by an id of people, or by the table's name and any id."""
        tells = self.choice.tells
        about = any(stem in OWNERS.split() for stem in _stems(self.name))
        return tells is not None and (self.chosen or about or joined(tells) not in BARE.split())


def link_up(sketches: Sequence[Sketch]) -> tuple[Choice, ...]:
    """The unit or link of each table, once the others are known.

    A column is taken for a link if it is called like another table and `id`, or like the unit that a custodian named
    there. A table takes a link that leads to people, however far away, instead of a unit of its own, because then all
    its tables protect the same; failing that, one that leads to any id, if otherwise each row were a unit.

    Guarantee: what the links lead to is a unit with a column, never a circle; no data has a part in it.
    """
    found = {sketch.name: _candidates(sketch, sketches) for sketch in sketches}
    chosen = {sketch.name: sketch.choice for sketch in sketches}
    settled = {sketch.name for sketch in sketches if sketch.is_of_people and not _own_is_link(sketch, found)}
    _spread(sketches, found, chosen, settled)
    settled |= {sketch.name for sketch in sketches if sketch.choice.tells is not None}
    _spread(sketches, found, chosen, settled)
    return tuple(
        replace(
            chosen[sketch.name], also=tuple(link for link in found[sketch.name] if link != chosen[sketch.name].link)
        )
        for sketch in sketches
    )


def _spread(
    sketches: Sequence[Sketch], found: dict[str, list[Link]], chosen: dict[str, Choice], settled: set[str]
) -> None:
    """Link tables to those that are settled, which settles them, until nothing more follows."""
    growing = True
    while growing:
        growing = False
        for sketch in sketches:
            link = next((link for link in found[sketch.name] if link.table in settled), None)
            if link is not None and sketch.name not in settled:
                chosen[sketch.name] = _linked(link)
                settled.add(sketch.name)
                growing = True


def _linked(link: Link) -> Choice:
    """The choice of a link."""
    target = f"{link.table}.{link.to}"
    why = f"REVIEW: by its name alone, {link.column} is taken for a link to {target}: whose that row is, this is."
    return Choice(unit=None, limits=SEVERAL_ROWS, ids=(), why=why, link=link)


def _own_is_link(sketch: Sketch, found: dict[str, list[Link]]) -> bool:
    """Whether the column that tells whose row it is names rows of another table, which tells more."""
    return not sketch.chosen and any(link.column == sketch.choice.tells for link in found[sketch.name])


def _candidates(sketch: Sketch, sketches: Sequence[Sketch]) -> list[Link]:
    """The links that names suggest, those to people first."""
    own = sketch.key
    columns = [column for column in sketch.columns if column.kind in {Kind.INTEGER, Kind.TEXT} and column != own]
    links = [
        (rank_of_id(column), Link(column.name, other.name, key.name))
        for column in columns
        for other in sketches
        if other is not sketch and not sketch.chosen and (key := other.key) is not None
        if key.kind is column.kind and joined(column.name) in other.called
    ]
    return [link for _, link in sorted(links, key=lambda pair: (pair[0] is None, pair[0]))]


def _names_of_rows(table: str) -> set[str]:
    """What a column is called that names the rows of a table."""
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
