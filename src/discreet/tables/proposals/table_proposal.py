"""The proposal for one table: its declarations, where each came from, and comments on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from discreet.errors import InvalidArgument
from discreet.privacy import Keys
from discreet.tables.proposals.data_profile import DataProfile
from discreet.tables.proposals.facts import Codebook
from discreet.tables.proposals.suggestion import Context, Origin, Suggestion, mismatch, suggest, suggest_id
from discreet.tables.proposals.unit_choice import (
    UnitChoice,
)
from discreet.tables.schema.column import Column
from discreet.tables.schema.config_writer import Note
from discreet.tables.schema.database_schema import DatabaseSchema
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Link, Table
from discreet.tables.unit_candidates import UnitCandidate

_GUESSED = (
    "REVIEW: kinds other than text were guessed from cells, a single one of which can change a kind; correct them."
)

_WRITTEN = "REVIEW: the decimal mark and the order of dates were guessed from the cells; correct them."

_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+[.][^@\s]+")

_VALUE = re.compile(
    r"[+-]?[0-9]+(?:[.,][0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}.*"
)

_LIMITS = "REVIEW: how much one unit counts at most. Anything beyond is cut off; higher limits mean more noise."

_NO_LIMITS = (
    "REVIEW: no limit is proposed, because names don't say how many rows of one unit should count. Rows beyond it are",
    "missing from answers, which no ± shows; higher limits mean more noise. Set it from knowledge, not from the table:",
    "how many visits can a person reasonably have? Until then each question states its own, or has one chosen.",
    "limits = { rows = 20 }               # visits to a doctor over a few years",
    "limits = { rows = 200 }              # purchases over a few years",
    "limits = { rows = 200, groups = 12 } # the same, where people are counted by month of one year",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalInput:
    """The material for a proposal about one table.

    Args:
        columns: the schema: names and kinds, as the engine describes them.
        source: where the table lies.
        profile: what was seen in the data; None if nobody looked.
        guessed: whether how the source is written was guessed from its cells.
        name: what to call the table; the file's stem if None.
        schema: what its database declares of it.
    """

    columns: Sequence[Column]
    source: Source
    profile: DataProfile | None = None
    guessed: bool = False
    name: str | None = None
    schema: DatabaseSchema = field(default_factory=DatabaseSchema)

    @property
    def called(self) -> str:
        """The table's name; without its schema's, which questions may write before it."""
        inside = self.source.table or ""
        inside = inside.rpartition(".")[2] if self.source.kind == "postgres" else inside
        return self.name or inside or self.source.stem

    @property
    def with_keys(self) -> Self:
        """The same, with the members of its enumerations as keys of their columns."""
        columns = tuple(
            replace(column, keys=Keys([*self.schema.keys[column.name], *([None] if column.nullable else [])]))
            if column.name in self.schema.keys
            else column
            for column in self.columns
        )
        return replace(self, columns=columns)


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
        forms: what reads the texts of a column if its declaration says it, by column.
        mismatches: what the data says against the proposal, in words. For the custodian's screen only: they aren't
            written to the file, because they depend on the data.
        candidates: other columns that may say whose a row is, by how the rest depends on them. For the screen, too.
        source_is_guessed: whether how it is written was guessed from cells.
        kinds_are_guessed: whether kinds that nobody knows from names were guessed from cells.
        schema: what its database declares of it.
    """

    table: Table
    suggestions: tuple[Suggestion, ...]
    choice: UnitChoice
    codebook: Codebook | None
    missing_origin: Origin | None
    mismatches: tuple[str, ...]
    candidates: tuple[UnitCandidate, ...] = ()
    kinds_are_guessed: bool = False
    source_is_guessed: bool = False
    doubts: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    schema: DatabaseSchema = field(default_factory=DatabaseSchema)

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that given like ids of people; the first is the proposed unit."""
        return self.choice.ids

    @property
    def leaks(self) -> tuple[str, ...]:
        """The names of the columns whose declaration was read off the data."""
        return tuple(item.column.name for item in self.suggestions if item.origin is Origin.DATA)

    @property
    def unit_is_read(self) -> bool:
        """Whether the unit was read off the data."""
        return self.choice.is_read

    def rows(self) -> list[tuple[str, str, str]]:
        """The table for the screen: each column, what is declared, and where that came from."""
        return [(item.column.name, item.words, f"{item.origin}: {item.reason}") for item in self.suggestions]

    def notes(self) -> dict[tuple[str, ...], Note]:
        """The comments on the table in the file."""
        path = ("tables", self.table.name)
        book, left_out = self.codebook, [item for item in self.suggestions if item.left_out]
        whose = (*path, "links" if self.choice.link else "unit")
        also = tuple(map(_also_linked, self.choice.also))
        notes = {
            (*path, "source"): Note(
                above=(*filter(None, [self.schema.comment]), *((_WRITTEN,) if self.source_is_guessed else ()))
            ),
            (*path, "missing"): self._missing_note(),
            whose: Note(above=(self.choice.why,), below=also if self.table.limits else (*also, *_NO_LIMITS)),
            (*path, "limits"): Note(above=(_LIMITS, *filter(None, [self.choice.seen]))),
            (*path, "columns"): Note(
                below=(
                    *((_GUESSED,) if self.kinds_are_guessed else ()),
                    *((f"By its columns' names, the table is {book.title} ({book.reference}).",) if book else ()),
                    *(line for item in left_out for line in item.way_back()),
                )
            ),
        }
        return notes | {(*path, "columns", item.column.name): self._note_on(item) for item in self.suggestions}

    def _note_on(self, item: Suggestion) -> Note:
        """The comment on a column, below the database's own."""
        note = item.note()
        return replace(note, above=(*filter(None, [self.schema.comments.get(item.column.name)]), *note.above))

    def _missing_note(self) -> Note:
        """The comment on the texts for NULL."""
        if self.missing_origin is Origin.DATA:
            return Note(
                above=("REVIEW: often written for NULL, and found in some cell; replace by what the codebook says.",)
            )
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
    looked, profile = given.profile is not None, given.profile or DataProfile()
    seen_missing = profile.usual_nulls(given.columns) if source.is_untyped and not source.missing else ()
    context = Context.of(given.columns, given.profile, source.missing, untyped=source.is_untyped, leak=leak)
    # A codebook's word on what is missing goes before the data's.
    from_data = bool(seen_missing) and not context.missing
    context = replace(context, missing=context.missing or seen_missing)
    tells = {choice.tells, *(link.column for link in choice.links)}
    suggestions = tuple(
        suggest_id(column, choice)
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
        doubts=profile.written.doubts if profile.written is not None else {},
        candidates=tuple(each for each in profile.candidates if each.column != choice.tells),
        forms=profile.written.forms if profile.written is not None else {},
        source_is_guessed=looked and given.guessed,
        schema=given.schema,
        kinds_are_guessed=looked and source.is_untyped and any(item.is_of_kind_alone for item in suggestions),
        mismatches=(
            *_doubtful_names(given),
            *(("it has no rows",) if profile.is_empty else ()),
            *profile.layout,
            *(words for item in suggestions if (words := mismatch(item, context)) is not None),
        ),
    )


def _doubtful_names(given: ProposalInput) -> tuple[str, ...]:
    """A warning that names of columns look like values: in a file without a line of names, they are someone's.

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


def _also_linked(link: Link) -> str:
    """Remarks where names suggest a link that wasn't proposed."""
    public = f"if everyone may know {link.table}, declare it public = true"
    return f"{link.column} looks like a link to {link.table}.{link.to}: {public}"
