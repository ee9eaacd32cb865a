"""Proposals: what `discreet init FILE` writes, each declaration with where it came from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.dataset.column import Column, Kind
from discreet.dataset.config import dumps, write_config
from discreet.dataset.dataset import Dataset
from discreet.dataset.doubts import doubt
from discreet.dataset.encode import Note, declaration
from discreet.dataset.ids import Choice, likely_unit, named_unit
from discreet.dataset.knowledge import Codebook
from discreet.dataset.peek import Peek
from discreet.dataset.source import Source
from discreet.dataset.suggestion import Context, Origin, Suggestion, suggest
from discreet.dataset.table import Table
from discreet.dataset.toml import key, value
from discreet.errors import InvalidArgument
from discreet.privacy import Budget

BUDGET = Budget(epsilon=3, delta="1e-6")
_MISSING = ("?", "NA", "N/A", "NULL", "NaN")

_HEAD = (
    "What is public about private tables. Proposed by `discreet init`: read it all before you protect anybody by it.",
    'Each declaration says where it came from: the "schema" (its kind), "public knowledge", or a "LEAK", read off the',
    "data. This file is meant to be public, so replace each LEAK by what the column may hold whoever is in the table.",
)
_BUDGET = (
    "For all analysts together, for as long as the ledger lives. epsilon = 3 is a middle course: up to 1 is strong",
    "protection, above 10 is little. delta must be far below one in the number of people: 1e-6 suits up to some",
    "100,000. Without delta there is no Gaussian noise, and groups are limited to listed keys.",
    "Shares are optional: once there is an [analysts.alice] with epsilon = 1, only listed analysts may ask.",
)
_LEDGER = "What was spent. Keep it with the data: without it the budget would start anew."
_ADJACENCY = 'Tables with and without one unit are neighbours; "substitution" compares with one unit replaced.'
_LIMITS = "REVIEW: how much one unit counts at the most. What is beyond counts for less; higher limits mean more noise."


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A dataset to start from, with the origin of each declaration.

    Args:
        dataset: what the file will say.
        suggestions: one per column of the source, in its order; those left out aren't in the dataset.
        choice: the unit, and why.
        codebook: of the public dataset that the table was taken for, by the names of its columns.
        missing_origin: where the texts for NULL came from; None if there are none.
        doubts: what the data says against the proposal, in words. For the custodian's screen only: they aren't
            written to the file, because they depend on the data.
    """

    dataset: Dataset
    suggestions: tuple[Suggestion, ...]
    choice: Choice
    codebook: Codebook | None
    missing_origin: Origin | None
    doubts: tuple[str, ...]

    def _missing_note(self) -> Note:
        """The comment on the texts for NULL."""
        if self.missing_is_leak:
            return Note(above=("LEAK: read off the data; replace by what the codebook says",))
        return Note(beside=f"{Origin.KNOWLEDGE}: {self.codebook.title}") if self.codebook else Note()

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that look like ids of people; the first is the proposed unit."""
        return self.choice.ids

    @property
    def leaks(self) -> tuple[str, ...]:
        """The names of the columns whose declaration was read off the data."""
        return tuple(item.column.name for item in self.suggestions if item.origin is Origin.DATA)

    @property
    def missing_is_leak(self) -> bool:
        """Whether the texts for NULL were read off the data."""
        return self.missing_origin is Origin.DATA

    def rows(self) -> list[tuple[str, str, str]]:
        """The table for the screen: each column, what is declared, and where that came from."""
        return [(item.column.name, _declared(item), f"{item.origin}: {item.reason}") for item in self.suggestions]

    def to_toml(self, *, folder: str | os.PathLike[str] | None = None) -> str:
        """The text of discreet.toml, with a comment on the origin of each declaration.

        Args:
            folder: where the file will stand; paths inside of it are written relative to it.

        Raises:
            ConfigError: the table exists in memory only, or a name can't be written.
        """
        return dumps(self.dataset, folder=folder, notes=self._notes())

    def save(self, path: str | os.PathLike[str], *, replacing: bool = False) -> None:
        """Write discreet.toml; one that is there stays, unless it may be replaced: it holds a custodian's decisions.

        Raises:
            ConfigError: the file is there already, can't be written, or the table exists in memory only.
        """
        write_config(self.to_toml(folder=Path(path).absolute().parent), path, replacing=replacing)

    def _notes(self) -> dict[tuple[str, ...], Note]:
        """The comments of the file."""
        table = self.dataset.tables[0]
        path = ("tables", table.name)
        left_out = [item for item in self.suggestions if item.left_out]
        notes = {
            (): Note(above=_HEAD),
            ("ledger",): Note(beside=_LEDGER),
            ("adjacency",): Note(beside=_ADJACENCY),
            ("budget",): Note(below=_BUDGET),
            (*path, "missing"): self._missing_note(),
            (*path, "unit"): Note(above=(self.choice.why,)),
            (*path, "limits"): Note(above=(_LIMITS,)),
            (*path, "columns"): Note(
                below=(*_book_words(self.codebook), *(line for item in left_out for line in _left_out(item)))
            ),
        }
        return notes | {(*path, "columns", item.column.name): _note(item) for item in self.suggestions}


def propose(  # noqa: PLR0913 — what a custodian may say about a proposal, each by name
    columns: Sequence[Column],
    peek: Peek | None = None,
    *,
    source: Source,
    name: str | None = None,
    strict: bool = False,
    unit: str | None = None,
) -> Proposal:
    """Propose how to protect a table.

    Args:
        columns: the schema: names and kinds, as the engine describes them.
        peek: what was seen in the data; None if nobody looked.
        source: where the table lies.
        name: what to call the table and the account; the file's stem if None.
        strict: whether to leave blank what neither the schema nor public knowledge says. The peek isn't looked at.
        unit: the column that tells whose row it is, or `row` for each row its own; None: the likeliest by its name.

    Raises:
        InvalidArgument: there are no columns, all of them name people, two have the same name, or none is the unit.

    Examples:
        >>> age, place = Column(name="age", kind=Kind.INTEGER), Column(name="place", kind=Kind.TEXT)
        >>> for row in propose([age, place], source=Source.of("census.csv")).rows():
        ...     print(*row, sep=" | ")
        age | integer in [0, 125] | public knowledge: no one is known to have lived beyond 122 years
        place | text | schema: blank: fill in what the column may hold
    """
    peek = None if strict else peek
    name = name or source.table or source.stem
    csv = source.kind == "csv"
    seen_missing = _seen_missing(columns, peek) if csv and not source.missing else ()
    context = Context.of(columns, peek, source.missing, csv=csv)
    # A codebook's word on what is missing goes before the data's.
    from_data = bool(seen_missing) and not context.missing
    context = replace(context, missing=context.missing or seen_missing)
    choice = likely_unit(columns) if unit is None else named_unit(unit, columns)
    suggestions = tuple(
        _id_column(column) if column.name == choice.unit.column else suggest(column, context) for column in columns
    )
    kept = tuple(item.column for item in suggestions if not item.left_out)
    if not kept:
        raise InvalidArgument("no column is left to ask about", hint="every one of them names people")
    table = Table(
        name=name,
        source=replace(source, missing=context.missing) if csv else source,
        columns=kept,
        unit=choice.unit,
        limits=choice.limits,
    )
    folder = Path() if source.kind == "memory" else Path(source.location).parent
    return Proposal(
        dataset=Dataset(name=name, tables=(table,), budget=BUDGET, ledger=str(folder / f"{source.stem}.ledger")),
        suggestions=suggestions,
        choice=choice,
        codebook=context.book,
        missing_origin=(Origin.DATA if from_data else Origin.KNOWLEDGE) if context.missing else None,
        doubts=tuple(words for item in suggestions if (words := doubt(item, context)) is not None),
    )


def _id_column(column: Column) -> Suggestion:
    """The unit's column: no more than its kind is needed."""
    return Suggestion(column=column, origin=Origin.SCHEMA, reason="the unit: tells whose row it is")


def _seen_missing(columns: Sequence[Column], peek: Peek | None) -> tuple[str, ...]:
    """The usual texts for NULL that are in the data."""
    seen = {text for column in columns for text in ((peek.of(column.name).values if peek else None) or ())}
    trimmed = {text.strip(" ") for text in seen if isinstance(text, str)}
    return tuple(text for text in _MISSING if text in trimmed)


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
    if not item.is_blank or item.reason.startswith("the unit"):
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
