"""Options that say what a table's columns are: known, sensitive, identifying, or whose a row is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, TypeAlias

import typer

from discreet.errors import InvalidArgument, SchemaMismatch

Names: TypeAlias = list[str] | None
QuasiIdentifying: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--quasi-identifying",
        "-q",
        metavar="COLUMNS",
        help="The columns that an attacker may know, separated by commas. Guessed if left out.",
    ),
]
Sensitive: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--sensitive", "-s", metavar="COLUMNS", help="The columns that others must not learn, separated by commas."
    ),
]
Identifying: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--identifying",
        "-i",
        metavar="COLUMNS",
        help="The columns that name people by themselves, separated by commas.",
    ),
]
UnitOption: TypeAlias = Annotated[
    Names,
    typer.Option(
        "--unit",
        "-u",
        metavar="COLUMNS",
        help="The columns that say whose row it is, such as a person's or a household's number, separated by commas. "
        "Rows of one unit count as one.",
    ),
]
RowsArePeople: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--rows-are-people", help="Every row is another person's, although an identifying column has repeated values."
    ),
]


class MissingChoice(StrEnum):
    """How missing values are treated."""

    OWN_VALUE = "own-value"
    """Like itself and nothing else: the cautious reading."""
    WILDCARD = "wildcard"
    """Anything."""
    REFUSE = "refuse"
    """An error."""

    @property
    def policy(self) -> str:
        """As the library calls it."""
        return self.value.replace("-", " ")


MissingOption: TypeAlias = Annotated[MissingChoice, typer.Option("--missing", help="How missing values are treated.")]


def names(given: Sequence[str] | None) -> list[str] | None:
    """Names that were given with commas between them, in one option or several; quoted where a name has a comma itself.

    Raises:
        InvalidArgument: what was given can't be taken apart.

    Examples:
        >>> names(["age, sex", "zip"]), names(['"last, first"']), names(None)
        (['age', 'sex', 'zip'], ['last, first'], None)
    """
    if given is None:
        return None
    from csv import Error, reader

    try:
        lines = [line for text in given for line in reader([text], skipinitialspace=True)]
    except Error:
        raise InvalidArgument("write names of columns on one line, separated by commas") from None
    return [name.strip() for line in lines for name in line if name.strip()]


def unit_of(named: Sequence[str] | None, *, rows_are_people: bool) -> tuple[str, ...] | None:
    """The columns that say whose a row is; () if every row is another person's, None if nothing was said.

    Raises:
        InvalidArgument: both are said; or a unit is, but no column of it.

    Examples:
        >>> unit_of(["patient_id"], rows_are_people=False), unit_of(None, rows_are_people=True)
        (('patient_id',), ())
    """
    found = names(named)
    if found is not None and rows_are_people:
        raise InvalidArgument("rows have units or are people, not both", hint="leave out --unit or --rows-are-people")
    if found == []:  # an empty variable of a shell, say, which must not be taken for --rows-are-people
        raise InvalidArgument("--unit names no column", hint="name one, or say --rows-are-people")
    return () if rows_are_people else None if found is None else tuple(found)


def check(said: Mapping[str, Sequence[str] | None], table: Sequence[str]) -> None:
    """Refuse columns that a table lacks, and columns that are named twice.

    Args:
        said: by option, the columns that it names.
        table: the columns that there are.

    Raises:
        SchemaMismatch: the table lacks one.
        InvalidArgument: one is named twice, by one option or by two.

    Examples:
        >>> check({"--sensitive": ["income"], "--keep": None}, ["age", "income"])
    """
    named_by: dict[str, str] = {}
    for option, name in ((option, name) for option, named in said.items() for name in named or ()):
        if name not in table:
            from discreet.suggestions import did_you_mean

            raise SchemaMismatch(f"the table has no column {name!r} ({option})", hint=did_you_mean(name, table))
        if name in named_by:
            both = f"by {named_by[name]} and by {option}" if option != named_by[name] else f"by {option}"
            raise InvalidArgument(
                f"the column {name!r} is named twice, {both}", hint="name it once: a column can be of only one kind"
            )
        named_by[name] = option


def written(chosen: Sequence[str]) -> str:
    """Names as `names` reads them.

    Examples:
        >>> written(["age", "last, first"])
        'age,"last, first"'
    """
    from csv import writer
    from io import StringIO

    text = StringIO()
    writer(text, lineterminator="").writerow(chosen)
    return text.getvalue()
