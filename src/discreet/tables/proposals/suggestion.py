"""Suggestions: what `discreet init` proposes to declare of one column, and where that came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import isfinite

from discreet.errors import InvalidArgument
from discreet.exact.rational import rational
from discreet.privacy import Bounds, BoundValue, Keys, KeyValue
from discreet.tables.content import may_identify
from discreet.tables.proposals.codebooks import codebook
from discreet.tables.proposals.data_profile import ColumnProfile, DataProfile
from discreet.tables.proposals.facts import Codebook, Knowledge
from discreet.tables.proposals.public_knowledge import knowledge
from discreet.tables.proposals.unit_choice import UnitChoice
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.config_writer import Note, declaration
from discreet.tables.schema.toml import key, printable
from discreet.tables.schema.toml_values import value

MOST_KEYS = 100
"""How many values read off the data are proposed as keys; a column with more isn't a list of groups."""
LONGEST_KEY = 40
"""How long a text may be that is proposed as a key: a longer one is a note about a person."""
LEAST_UNITS = 10
"""How many units must have a text before it is proposed as a key: with fewer, it may single them out."""

_TELLS = ("the unit", "the link", "a link")
_LEAK = "LEAK: read off the data; replace by what the column may hold"


class Origin(StrEnum):
    """The origin of a declaration."""

    SCHEMA = "schema"
    """The kind of the column, and what follows from it."""
    KNOWLEDGE = "public knowledge"
    """Facts that anyone may know without having seen the table."""
    DATA = "read off the data"
    """A leak, until a custodian replaces it by what the column may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A proposed declaration of one column.

    Args:
        column: the declaration.
        origin: where it came from.
        reason: why, in a few words.
        choices: other declarations that a custodian could choose instead; public all of them.
        left_out: whether the column should stay out of the configuration, so that no question can use it.
    """

    column: Column
    origin: Origin
    reason: str
    choices: tuple[Column, ...] = ()
    left_out: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing but the kind is declared."""
        return self.column.bounds is None and self.column.keys is None

    @property
    def is_open(self) -> bool:
        """Whether it is blank and should be filled in: a column that tells whose row it is says enough."""
        return self.is_blank and not self.left_out and self.reason.startswith("blank")

    @property
    def is_of_kind_alone(self) -> bool:
        """Whether it stays in for its kind, without being known or said to be read off the data."""
        return self.origin is Origin.SCHEMA and not self.left_out and self.column.kind is not Kind.TEXT

    @property
    def words(self) -> str:
        """The declaration in words."""
        return "left out" if self.left_out else str(self.column).removeprefix(f"{self.column.name} ")

    def note(self) -> Note:
        """The comment on the column in the file."""
        if self.origin is Origin.DATA:
            return Note(above=(self.reason, *(f"usual: {_line(choice)}" for choice in self.choices)))
        if self.origin is Origin.KNOWLEDGE or not self.is_blank or self.reason.startswith(_TELLS):
            return Note(beside=f"{self.origin}: {self.reason}")
        ways = tuple(map(_line, self.choices)) or (_pattern(self.column),)
        return Note(above=(self.reason, *ways), beside=str(self.origin))

    def way_back(self) -> tuple[str, str]:
        """Why a column is left out, and the line that would let it in again."""
        return f"left out: {self.origin}: {self.reason}", _line(self.column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The knowledge from which suggestions may be made.

    Args:
        book: the codebook of the public dataset that the table is taken for.
        profile: what was seen in the data; None if nobody looked.
        missing: texts that stand for NULL.
        trims: whether the source's texts are trimmed of spaces, as untyped cells are.
        leak: whether what was seen may be proposed, under a mark; else it is only compared with what is.
    """

    book: Codebook | None
    profile: DataProfile | None
    missing: tuple[str, ...]
    trims: bool
    leak: bool

    @classmethod
    def of(
        cls,
        columns: Iterable[Column],
        profile: DataProfile | None,
        missing: tuple[str, ...],
        *,
        untyped: bool,
        leak: bool,
    ) -> Context:
        """The context of a table with these columns; where cells are texts, a codebook says which stand for NULL."""
        book = codebook([column.name for column in columns])
        return cls(
            book=book,
            profile=profile,
            missing=missing or (book.missing if book and untyped else ()),
            trims=untyped,
            leak=leak,
        )

    def usable(self, keys: Iterable[KeyValue], *, null: bool = False) -> Keys | None:
        """The keys without what is read as NULL here, and with NULL as a group if wanted; None if none is left."""
        listed = [key for key in keys if key not in self.missing]
        return Keys([*listed, None] if null and None not in listed else listed) if listed else None


def suggest(column: Column, context: Context) -> Suggestion:
    """Propose a column's declaration from the schema, else from public knowledge, else from what was seen.

    Guarantee: the data has no part in it unless the origin says so. In particular public knowledge is never dropped
    because the data doesn't fit it, and one of several codings is never picked by the data without saying so.
    """
    if column.bounds is not None or column.keys is not None:
        return Suggestion(column=column, origin=Origin.SCHEMA, reason="as declared")
    if column.kind is Kind.BOOLEAN:
        keys = Keys([False, True, *([None] if column.nullable else [])])
        return Suggestion(column=replace(column, keys=keys), origin=Origin.SCHEMA, reason="true and false")
    known = context.book.about(column.name, column.kind) if context.book else None
    if known is not None and context.book is not None:
        known = replace(known, why=f"{context.book.title}: {known.why}")
    else:
        known = knowledge(column.name, column.kind)
    declared = _from_knowledge(column, known, context) if known else None
    if declared is not None:
        return declared
    return _from_data(column, known, context) or _blank(column, known, context)


def _from_knowledge(column: Column, known: Knowledge, context: Context) -> Suggestion | None:
    """A proposal from public knowledge; None if there are several codings."""
    if known.identifying:
        why = f"{known.why}, so it singles people out"
        return Suggestion(column=column, origin=Origin.KNOWLEDGE, reason=why, left_out=True)
    keys = context.usable(known.codings[0], null=known.doubtful) if len(known.codings) == 1 else None
    if known.bounds is None and keys is None:
        return None
    declared = replace(column, bounds=known.bounds, keys=keys)
    return Suggestion(column=declared, origin=Origin.KNOWLEDGE, reason=known.why)


def _from_data(column: Column, known: Knowledge | None, context: Context) -> Suggestion | None:
    """A proposal from what was seen; None if that may not be shown, or makes no declaration.

    Guarantee: what leads to one person is never told. A text is proposed as a key only if it is short, has no form of
    an address or a number of someone's, and many units have it.
    """
    if context.profile is None or not context.leak:
        return None
    seen = context.profile.of(column.name)
    if column.kind is not Kind.TEXT:
        bounds = _bounds(column.kind, seen)
        if bounds is None:
            return None
        ranged = replace(column, bounds=bounds)
        return Suggestion(column=ranged, origin=Origin.DATA, reason=f"{_LEAK} (rounded outwards)")
    values = texts(seen, context) or []
    if not 0 < len(values) <= MOST_KEYS:
        return None
    choices = _choices(column, known, context)
    for choice in choices if values != [None] else ():
        if set(values) <= {*(choice.keys or ()), None}:
            reason = "LEAK: the one of the usual codings that fits the data; replace by what the codebook says"
            fits = replace(choice, keys=context.usable(choice.keys or (), null=None in values))
            return Suggestion(column=fits, origin=Origin.DATA, reason=reason)
    return _with_keys(column, _common(values, seen, context), choices[:1])


def _with_keys(column: Column, keys: Keys | None, choices: tuple[Column, ...]) -> Suggestion | None:
    """Keys that were seen; None if there are none to tell."""
    if keys is None:
        return None
    return Suggestion(column=replace(column, keys=keys), origin=Origin.DATA, reason=_LEAK, choices=choices)


def _common(values: list[KeyValue], seen: ColumnProfile, context: Context) -> Keys | None:
    """The texts that many units have, with NULL for the others; None if one leads to someone, or none is common."""
    found = [value for value in values if isinstance(value, str)]
    if any(len(text) > LONGEST_KEY for text in found) or (found and may_identify(found)):
        return None
    told = dict.fromkeys(found, 0)
    for text, count in seen.units.items():
        kept = text.strip(" ") if context.trims else text
        told[kept] = max(told.get(kept, 0), count)
    common = [text for text in found if told[text] >= LEAST_UNITS]
    rest = None in values or len(common) < len(found)
    return Keys([*common, *([None] if rest else [])]) if common else None


def _blank(column: Column, known: Knowledge | None, context: Context) -> Suggestion:
    """Nothing but the kind, with what could be chosen."""
    by_words = {str(choice.keys).casefold(): choice for choice in reversed(_choices(column, known, context))}
    choices = tuple(reversed(by_words.values()))[:3]
    reason = f"blank: {known.why}, but which?" if known and choices else "blank: fill in what the column may hold"
    return Suggestion(column=column, origin=Origin.SCHEMA, reason=reason, choices=choices)


def _choices(column: Column, known: Knowledge | None, context: Context) -> tuple[Column, ...]:
    """The column with each of the codings in use."""
    codings = [context.usable(keys) for keys in known.codings] if known else []
    return tuple(replace(column, keys=keys) for keys in codings if keys is not None)


def texts(seen: ColumnProfile, context: Context) -> list[KeyValue] | None:
    """The texts seen, in order and as the engine will read them, with None last if NULLs are among them."""
    if seen.values is None:
        return None
    found = {text.strip(" ") if context.trims else text for text in seen.values if isinstance(text, str)}
    nulls = {*context.missing, ""} if context.trims else set()
    null = None in seen.values or bool(found & nulls)
    return [*sorted(found - nulls), *([None] if null else [])]


def _bounds(kind: Kind, seen: ColumnProfile) -> Bounds | None:
    """The range that was seen, rounded outwards so that less of it is given away; None if it isn't one."""
    lo, hi = seen.lo, seen.hi
    if isinstance(lo, date) and isinstance(hi, date):
        if not kind.is_time:
            return None
        first, last = date(min(lo.year, hi.year), 1, 1), date(max(lo.year, hi.year), 12, 31)
        if kind is Kind.DATE:
            return Bounds(first, last)
        return Bounds(datetime(first.year, 1, 1), datetime(last.year, 12, 31, 23, 59, 59, 999_999))  # noqa: DTZ001 — as tables have it
    least, greatest = _number(lo), _number(hi)
    if least is None or greatest is None or not kind.is_number:
        return None
    return Bounds(-_above(-least), max(_above(greatest), Fraction(1) if least >= 0 else Fraction(0)))


def _number(end: BoundValue | None) -> Fraction | None:
    """The exact number; None if there is none."""
    if end is None or isinstance(end, date):
        return None
    if isinstance(end, Decimal) and not end.is_finite():
        return None
    if isinstance(end, float) and not isfinite(end):
        return None
    return rational(end, "what was seen")


def _above(value: Fraction) -> Fraction:
    """The least of 0 and 1, 2 or 5 times a power of ten that isn't below the value."""
    if value <= 0:
        return Fraction(0)
    step = Fraction(1)
    while step < value:
        step *= 10
    while step / 10 >= value:
        step /= 10
    return next(step * part for part in (Fraction(1, 5), Fraction(1, 2), Fraction(1)) if step * part >= value)


def suggest_id(column: Column, choice: UnitChoice) -> Suggestion:
    """A column that tells whose row it is, or rows from others: no more than its kind is needed."""
    linked = [link.column for link in choice.links]
    if column.name == choice.tells:
        reason = f"the {'link' if choice.link is not None else 'unit'}: tells whose row it is"
    else:
        reason = "a link: names rows of another table" if column.name in linked else "a link leads here: names rows"
    return Suggestion(column=column, origin=Origin.SCHEMA, reason=reason)


def mismatch(item: Suggestion, context: Context) -> str | None:
    """In what the data doesn't fit the declaration; None if it does, or if nobody looked.

    The declaration stays as it is: were it changed, it would be a leak. The answer depends on the data, so it
    belongs on the screen of a custodian, who may see all of it, and never into a file that others read.
    """
    looked = context.profile is not None and item.column.name in context.profile.columns
    if context.profile is None or not looked or item.left_out or item.origin is Origin.DATA:
        return None
    words = _against(item.column, context.profile.of(item.column.name), context)
    return words and f"{printable(item.column.name)}: {words}"


def _against(column: Column, seen: ColumnProfile, context: Context) -> str | None:
    """The reason why a declaration doesn't fit the values seen in the column."""
    if column.keys is not None:
        found = texts(seen, context) if column.kind is Kind.TEXT else [*(seen.values or ()), seen.lo, seen.hi]
        if found is None:
            return "it has too many values to compare with its keys"
        strange = {value for value in found if value is not None} - set(column.keys)
        return "some values aren't among its keys and would be read as NULL" if strange else None
    if column.bounds is None or seen.lo is None or seen.hi is None:
        return None
    try:
        # Bounds refuses ends in the wrong order, and of different kinds.
        Bounds(column.bounds.lo, seen.lo)
        Bounds(seen.hi, column.bounds.hi)
    except InvalidArgument:
        return f"some values aren't in {column.bounds} and would be moved to its ends"
    return None


def _pattern(column: Column) -> str:
    """A declaration with blanks, for when it is known what the column may hold."""
    what = 'keys = ["…", "…"]' if column.kind is Kind.TEXT else "bounds = [LEAST, GREATEST]"
    return f"{key(column.name)} = {{ kind = {value(column.kind.value)}, {what} }}"


def _line(column: Column) -> str:
    """The declaration on one line of TOML."""
    # Its line breaks are between the elements of an array, since those in texts are escaped.
    text = f"{key(column.name)} = {value(declaration(column))}"
    return text.replace("[\n    ", "[").replace(",\n]", "]").replace("\n    ", " ")
