"""Questions on a terminal, in one pass: what the columns are, and what to promise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from discreet.cli.anonymize.choices import Choices, Roles
from discreet.cli.anonymize.saving import check
from discreet.cli.common import columns
from discreet.cli.common.shares import share_of
from discreet.cli.show.screen import say
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.records import Records


def may_ask() -> bool:
    """Whether there is a terminal to ask at."""
    return sys.stdin.isatty() and sys.stdout.isatty()


T = TypeVar("T")
_NONE = "-"

_MANY = 10**9
"""Larger than the k of any table."""


def ask(  # noqa: PLR0913 — the table, and what was said of it
    file: str, table: Records, roles: Roles, choices: Choices, output: Path | None, *, force: bool
) -> tuple[Roles, Choices, Path | None]:
    """Show what the columns seem to be, have it corrected, and ask what to promise.

    Raises:
        KeyboardInterrupt: the user gave up.
    """
    from discreet.anonymity.words import percent

    guesses = () if roles.attributes is None else roles.attributes.guesses
    width = max((len(each.column) for each in guesses), default=0) + 2
    say("What the columns seem to be")
    for each in guesses:
        line = f"  {each.column:<{width}}{each.kind:<19}{each.reason} ({percent(each.unique)} unique)"
        say(printable(line), width + 21)
    say(f"\nEnter keeps what is in brackets; {_NONE} means none. Separate names by commas.\n")
    try:
        settled = _ask_roles(roles)
        return settled, _ask_choices(table, choices, settled), output or _ask_output(file, choices, force=force)
    except typer.Abort:
        say()  # what is reported next has a line of its own
        raise KeyboardInterrupt from None


def _ask_roles(roles: Roles) -> Roles:
    """Ask for each kind in turn; columns of none of them are quasi-identifying."""
    left = list(roles.columns)
    chosen: list[tuple[str, ...]] = []
    for question, seeming in (
        ("Which columns name people by themselves? They will be left out", roles.identifying),
        ("Which must others not learn? They will stay as they are", roles.sensitive),
        ("Which others help nobody to recognise a person? They will stay as they are", roles.kept),
    ):
        default = [name for name in seeming if name in left]
        chosen.append(
            _ask(question, columns.written(default) if default else _NONE, partial(_names, possible=tuple(left)))
        )
        left = [name for name in left if name not in chosen[-1]]
    say(printable(f"The others may be known, and will become coarser: {', '.join(left) or 'none'}.\n"), 2)
    identifying, sensitive, kept = chosen
    return replace(roles, identifying=identifying, sensitive=sensitive, kept=kept, quasi_identifying=tuple(left))


def _ask_choices(table: Records, choices: Choices, roles: Roles) -> Choices:
    """Ask what to promise, within what the table can keep."""
    noun = "rows" if table.units is None else "units"
    k = _ask(f"At least how many {noun} must look alike (k)?", str(choices.k), partial(_count, most=table.counted))
    diversity = choices.diversity
    if roles.sensitive:
        text = f"How many values of {', '.join(roles.sensitive)} must they have (l)? 1 asks for nothing"
        fewest = min(table.column(name).size for name in roles.sensitive)
        diversity = _ask(text, str(diversity or 1), partial(_count, most=fewest))
    share = _ask(
        f"Which share of the {noun} may be left out?",
        f"{float(100 * choices.suppression):g}%",
        partial(share_of, name="it"),
    )
    return replace(choices, k=k, diversity=None if diversity == 1 else diversity, suppression=share)


def _ask_output(file: str, choices: Choices, *, force: bool) -> Path | None:
    """Ask where to write the table."""

    def read(text: str) -> Path | None:
        """A path that may be written, or None."""
        if text.strip() == _NONE:
            return None
        path = Path(text.strip())
        check([file, *choices.hierarchies.values()], path, None, force=force)
        return path

    return _ask("Where should the table be written? .csv or .parquet", _NONE, read)


def _ask(question: str, default: str, read: Callable[[str], T]) -> T:
    """Ask one question until its answer can be read."""

    def proved(text: str) -> T:
        """The answer, or why not."""
        try:
            return read(text)
        except InvalidArgument as error:
            hint = f" ({error.hint})" if error.hint else ""
            raise typer.BadParameter(printable(f"{error.message}{hint}")) from None

    answer: T = typer.prompt(printable(question), default=printable(default), value_proc=proved)
    return answer


def _names(text: str, possible: Sequence[str]) -> tuple[str, ...]:
    """Names that were typed.

    Raises:
        InvalidArgument: one isn't among those that are left.
    """
    if text.strip() == _NONE:
        return ()
    found = columns.names([text]) or []
    for name in found:
        if name not in possible:
            from discreet.suggestions import did_you_mean

            raise InvalidArgument(
                f"there is no column {name!r} left", hint=did_you_mean(name, possible) if possible else ""
            )
    return tuple(found)


def _count(text: str, most: int) -> int:
    """A number from 1 to `most`; any, if the table has no rows.

    Raises:
        InvalidArgument: it isn't.
    """
    if not (text.strip().isascii() and text.strip().isdigit() and 0 < int(text) <= (most or _MANY)):
        raise InvalidArgument(f"it must be a whole number from 1 to {most or _MANY:,}")
    return int(text)
