"""Proposals for one table: what to declare of its unit and columns, and the comments that say why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.errors import InvalidArgument
from discreet.tables.proposals.data_profile import DataProfile
from discreet.tables.proposals.public_knowledge import Codebook
from discreet.tables.proposals.suggestion import Context, Origin, Suggestion, mismatch, suggest
from discreet.tables.proposals.units import UnitChoice
from discreet.tables.schema.config import Note, declaration
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Column, Kind, Link, Table
from discreet.tables.schema.toml import key, value
from discreet.tables.type_inference import USUAL_NULLS

_TELLS = ("the unit", "the link", "a link")
_GUESSED = "REVIEW: kinds other than text were guessed from cells, of which one can change a kind; correct them."
_WRITTEN = "REVIEW: the decimal mark and the order of dates are as the cells seem to be written; correct them."
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+[.][^@\s]+")
_VALUE = re.compile(
    r"[+-]?[0-9]+(?:[.,][0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}.*"
)
_LIMITS = "REVIEW: how much one unit counts at the most. What is beyond counts for less; higher limits mean more noise."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalInput:
    """What a proposal for a table may be made from.

    Args:
        columns: the schema: names and kinds, as the engine describes them.
        source: where the table lies.
        profile: what was seen in the data; None if nobody looked.
        guessed: whether how the source is written was guessed from its cells.
        name: what to call the table; the file's stem if None.
    """

    columns: Sequence[Column]
    source: Source
    profile: DataProfile | None = None
    guessed: bool = False
    name: str | None = None

    @property
    def called(self) -> str:
        """What the table is to be called."""
        return self.name or self.source.table or self.source.stem


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProposal:
    """A table to start from, with the origin of each declaration.

    Args:
        table: what the file will say.
        suggestions: one per column of the source, in its order; those left out aren't in the table.
        choice: the unit or link, and why.
        codebook: of the public dataset that the table was taken for, by the names of its columns.
        missing_origin: where the texts for NULL came from; None if there are none.
        doubts: what the cells leave in doubt of how they are written, in words, by the option that would say it.
        mismatches: what the data says against the proposal, in words. For the custodian's screen only: they aren't
            written to the file, because they depend on the data.
        source_is_guessed: whether how it is written was guessed from cells.
        kinds_are_guessed: whether kinds that nobody knows from names were guessed from cells.
    """

    table: Table
    suggestions: tuple[Suggestion, ...]
    choice: UnitChoice
    codebook: Codebook | None
    missing_origin: Origin | None
    mismatches: tuple[str, ...]
    kinds_are_guessed: bool = False
    source_is_guessed: bool = False
    doubts: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that given like ids of people; the first is the proposed unit."""
        return self.choice.ids

    @property
    def leaks(self) -> tuple[str, ...]:
        """The names of the columns whose declaration was read off the data."""
        return tuple(item.column.name for item in self.suggestions if item.origin is Origin.DATA)

    def rows(self) -> list[tuple[str, str, str]]:
        """The table for the screen: each column, what is declared, and where that came from."""
        return [(item.column.name, _declared(item), f"{item.origin}: {item.reason}") for item in self.suggestions]

    def notes(self) -> dict[tuple[str, ...], Note]:
        """The comments on the table in the file."""
        path = ("tables", self.table.name)
        left_out = [item for item in self.suggestions if item.left_out]
        notes = {
            (*path, "source"): Note(above=(_WRITTEN,) if self.source_is_guessed else ()),
            (*path, "missing"): self._missing_note(),
            (*path, "links" if self.choice.link else "unit"): Note(
                above=(self.choice.why,), below=tuple(map(_also_linked, self.choice.also))
            ),
            (*path, "limits"): Note(above=(_LIMITS,)),
            (*path, "columns"): Note(
                below=(
                    *((_GUESSED,) if self.kinds_are_guessed else ()),
                    *_book_words(self.codebook),
                    *(line for item in left_out for line in _left_out(item)),
                )
            ),
        }
        return notes | {(*path, "columns", item.column.name): _note(item) for item in self.suggestions}

    def _missing_note(self) -> Note:
        """The comment on the texts for NULL."""
        if self.missing_origin is Origin.DATA:
            return Note(above=("REVIEW: often written for NULL, and in some cell; replace by what the codebook says.",))
        return Note(beside=f"{Origin.KNOWLEDGE}: {self.codebook.title}") if self.codebook else Note()


def propose_table(
    given: ProposalInput, choice: UnitChoice, entered: set[tuple[str, str]], *, leak: bool
) -> TableProposal:
    """Propose what to declare of one table.

    Args:
        given: of the table.
        choice: of its unit or link.
        entered: the tables and columns that links lead to.
        leak: whether what was seen of values may be proposed, under a mark.

    Raises:
        InvalidArgument: no column is left, or they contradict the choice.
    """
    source = given.source
    seen_missing = _seen_missing(given.columns, given.profile) if source.is_untyped and not source.missing else ()
    context = Context.of(given.columns, given.profile, source.missing, untyped=source.is_untyped, leak=leak)
    # A codebook's word on what is missing goes before the data's.
    from_data = bool(seen_missing) and not context.missing
    context = replace(context, missing=context.missing or seen_missing)
    tells = {choice.tells, *(link.column for link in choice.links)}
    suggestions = tuple(
        _id_column(column, choice)
        if column.name in tells or (given.called, column.name) in entered
        else suggest(column, context)
        for column in given.columns
    )
    kept = tuple(item.column for item in suggestions if not item.left_out)
    if not kept:
        raise InvalidArgument("no column is left to ask about", hint="every one of them names people")
    return TableProposal(
        table=Table(
            name=given.called,
            source=replace(source, missing=context.missing) if source.is_untyped else source,
            columns=kept,
            unit=choice.unit,
            limits=choice.limits,
            links=() if choice.link is None else (choice.link,),
        ),
        suggestions=suggestions,
        choice=choice,
        codebook=context.book,
        missing_origin=(Origin.DATA if from_data else Origin.KNOWLEDGE) if context.missing else None,
        doubts=given.profile.written.doubts if given.profile is not None and given.profile.written is not None else {},
        source_is_guessed=given.guessed and given.profile is not None,
        kinds_are_guessed=source.is_untyped and given.profile is not None and any(map(_is_of_kind_alone, suggestions)),
        mismatches=(
            *_doubtful_names(given),
            *(("it has no rows",) if given.profile is not None and given.profile.is_empty else ()),
            *(words for item in suggestions if (words := mismatch(item, context)) is not None),
        ),
    )


def _doubtful_names(given: ProposalInput) -> tuple[str, ...]:
    """That names of columns look like values: of a file without a line of names, they are somebody's.

    Raises:
        InvalidArgument: one is an e-mail address, so no file must hold it.
    """
    if not given.source.is_untyped:
        return ()
    names = [column.name for column in given.columns]
    if any(_ADDRESS.fullmatch(name.strip()) for name in names):
        raise InvalidArgument(
            f"the columns of {given.source.location!r} are named by a row: one of the names is an e-mail address",
            hint="begin the file with a line of names",
        )
    valued = sum(_VALUE.fullmatch(name.strip()) is not None for name in names)
    return (f"{valued} of its names look like values: does the file begin with a line of names?",) if valued else ()


def _is_of_kind_alone(item: Suggestion) -> bool:
    """Whether a column stays in for its kind, without being known or said to be read off the data."""
    return item.origin is Origin.SCHEMA and not item.left_out and item.column.kind is not Kind.TEXT


def _id_column(column: Column, choice: UnitChoice) -> Suggestion:
    """A column that tells whose row it is, or rows from others: no more than its kind is needed."""
    linked = [link.column for link in choice.links]
    if column.name == choice.tells:
        reason = f"the {'link' if choice.link is not None else 'unit'}: tells whose row it is"
    else:
        reason = "a link: names rows of another table" if column.name in linked else "a link leads here: names rows"
    return Suggestion(column=column, origin=Origin.SCHEMA, reason=reason)


def _also_linked(link: Link) -> str:
    """What to think of where names suggest a link that wasn't taken."""
    public = f"if everybody may know {link.table}, say there public = true"
    return f"{link.column} looks like a link to {link.table}.{link.to}: {public}"


def _seen_missing(columns: Sequence[Column], profile: DataProfile | None) -> tuple[str, ...]:
    """The usual texts for NULL that are in the data."""
    seen = {text for column in columns for text in ((profile.of(column.name).values if profile else None) or ())}
    trimmed = {text.strip(" ") for text in seen if isinstance(text, str)}
    return tuple(text for text in USUAL_NULLS if text in trimmed)


def _book_words(book: Codebook | None) -> tuple[str, ...]:
    """What the table was taken for."""
    return () if book is None else (f"By its columns' names, the table is {book.title} ({book.reference}).",)


def _declared(item: Suggestion) -> str:
    """The declaration in words."""
    return "left out" if item.left_out else str(item.column).removeprefix(f"{item.column.name} ")


def _left_out(item: Suggestion) -> tuple[str, str]:
    """Why the column isn't there, and the line that would let it in again."""
    return f"left out: {item.origin}: {item.reason}", _line(item.column)


def _note(item: Suggestion) -> Note:
    """The comment on a column."""
    if item.origin is Origin.DATA:
        return Note(above=(item.reason, *(f"usual: {_line(choice)}" for choice in item.choices)))
    if item.origin is Origin.KNOWLEDGE:
        return Note(beside=f"{item.origin}: {item.reason}")
    if not item.is_blank or item.reason.startswith(_TELLS):
        return Note(beside=f"{item.origin}: {item.reason}")
    ways = tuple(map(_line, item.choices)) or (_pattern(item.column),)
    return Note(above=(item.reason, *ways), beside=str(item.origin))


def _pattern(column: Column) -> str:
    """How the column could be declared, were it known what it may hold."""
    what = 'keys = ["…", "…"]' if column.kind is Kind.TEXT else "bounds = [LEAST, GREATEST]"
    return f"{key(column.name)} = {{ kind = {value(column.kind.value)}, {what} }}"


def _line(column: Column) -> str:
    """The declaration on one line of TOML."""
    # Its line breaks are between the elements of an array, since those in texts are escaped.
    text = f"{key(column.name)} = {value(declaration(column))}"
    return text.replace("[\n    ", "[").replace(",\n]", "]").replace("\n    ", " ")
