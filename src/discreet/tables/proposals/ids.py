"""Ids: which column tells whose row it is, by the names of the columns alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InvalidArgument
from discreet.privacy import Limits, Unit
from discreet.tables.proposals.knowledge import PEOPLE, joined
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.owner import Link

_GROUPS = "household family account device"
OWNERS = f"{PEOPLE} {_GROUPS}"
"""Words for whom rows may be about, likeliest first."""
_ALONE = "person patient subject participant respondent user customer client employee student passenger"
"""People that mean an id even without saying so. The others may be a yes or no, such as `insured`."""

NUMBERS = "id no nr num number key uuid guid code identifier hash pseudonym"
_OFFICIAL = "ssn social_security_number nhs_number national_id tax_id passport_number mrn medical_record_number"
BARE = "id uuid guid identifier"
"""Ids of who knows what: perhaps of people, perhaps of rows."""

_EACH_ROW = (
    "REVIEW: right only if nobody can have two rows. If somebody can, name the column that tells whose row it is."
)
SEVERAL_ROWS = Limits(groups=5, rows_per_group=2)
_ONE_ROW = Limits(groups=1, rows_per_group=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A unit to propose, or a link to one.

    Args:
        unit: whose presence to hide; None if the link says it.
        limits: a guess, since nothing but the data or its custodian knows how many rows somebody has: a few for an id
            of people, one for an id that doesn't say of what.
        ids: the columns that look like ids of people, likeliest first, or the one that was named.
        why: for a comment.
        link: that says whose a row is; None if the unit does.
        also: other links that the names suggest, for a comment.
    """

    unit: Unit | None
    limits: Limits
    ids: tuple[str, ...]
    why: str
    link: Link | None = None
    also: tuple[Link, ...] = ()

    @property
    def links(self) -> tuple[Link, ...]:
        """All that the names suggest; the one in use first."""
        return self.also if self.link is None else (self.link, *self.also)

    @property
    def tells(self) -> str | None:
        """The column that tells whose row it is; None if each row is its own."""
        return self.link.column if self.link is not None else self.unit.column if self.unit is not None else None


def likely_unit(columns: Sequence[Column]) -> Choice:
    """The column that most likely tells whose row it is, else each row."""
    ranked = [(rank, column.name) for column in columns if (rank := rank_of_id(column)) is not None]
    ids = tuple(name for _, name in sorted(ranked))
    if not ids:
        return Choice(unit=Unit.row(), limits=Limits(rows=1), ids=(), why=_EACH_ROW)
    others = f"; so do {', '.join(ids[1:])}" if ids[1:] else ""
    why = f"REVIEW: {ids[0]} looks like an id{others}. The unit is what tells whose row it is."
    limits = _ONE_ROW if joined(ids[0]) in BARE.split() else SEVERAL_ROWS
    return Choice(unit=Unit(ids[0]), limits=limits, ids=ids, why=why)


def named_unit(name: str, columns: Sequence[Column]) -> Choice:
    """The unit that a custodian names: a column, or `row`, which is each row, as in a configuration.

    Raises:
        InvalidArgument: there is no such column.
    """
    if name == "row":
        return Choice(unit=Unit.row(), limits=Limits(rows=1), ids=(), why=_EACH_ROW)
    for column in columns:
        if column.name.casefold() == name.casefold():
            why = "As the custodian named it: what tells whose row it is."
            return Choice(unit=Unit(column.name), limits=SEVERAL_ROWS, ids=(column.name,), why=why)
    known = ", ".join(column.name for column in columns)
    raise InvalidArgument(f"there is no column {name!r} to be the unit", hint=f"`row`, or one of {known}")


def rank_of_id(column: Column) -> int | None:
    """How likely a column tells whose row it is: 0 is likeliest, None not at all.

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
