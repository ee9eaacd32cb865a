"""The run of an attack: what is known of people, what is sought, and whom it is tried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.cli.common.columns import check
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.anonymity.records import Records
    from discreet.attacks.attack_result import AttackResult
    from discreet.tables import Source

_LOG = "sparse"
"""The attack on a log of what people did. Each row of its table has a person and an item, so no columns are guessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The setup of an attack.

    Args:
        k: of the anonymised rows.
        epsilon: of each answer.
        budget: of all answers together.
        people: how many are asked about.
        trials: how often what is left to chance is repeated.
    """

    k: int
    epsilon: str
    budget: str
    people: int
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A table, and what an attacker knows and wants.

    Args:
        attack: its name.
        table: None for the synthetic census.
        on: the columns that are known; None for what made-up people did.
        sensitive: the column that is sought; None for the same.
        value: the column of numbers; None if none was named.
        guessed: the options in whose place columns were guessed.
        unit: the columns that say whose a row is; none of them where each row is another person's; None if nothing is
            said.
        unread: what of the table's file isn't read, in sentences.
    """

    attack: str
    table: Records | None
    on: list[str] | None
    sensitive: str | None
    value: str | None = None
    guessed: tuple[str, ...] = ()
    unit: tuple[str, ...] | None = None
    unread: tuple[str, ...] = ()


def settled(  # noqa: PLR0913 — a table, and what of it is what
    name: str,
    source: Source | None,
    *,
    on: list[str] | None,
    sensitive: str | None,
    value: str | None,
    unit: tuple[str, ...] | None = None,
) -> Known:
    """Read the table, and settle what is known and sought: as given, or else guessed from the columns.

    Raises:
        InvalidArgument: there is no such attack, or it isn't said what can't be guessed.
        SourceError: the table can't be read.
    """
    from discreet.anonymity.records import read
    from discreet.attacks.attack_setup import CENSUS_ON, CENSUS_SENSITIVE
    from discreet.attacks.named_attacks import named

    chosen = named(name)
    name = chosen.name
    if source is None:
        if unit:
            raise InvalidArgument("made-up people have one row each", hint="--unit is for a table of your own")
        if name != _LOG:
            on, sensitive = on or list(CENSUS_ON), sensitive or CENSUS_SENSITIVE
        return Known(attack=name, table=None, on=on, sensitive=sensitive, value=value)
    if chosen.value and value is None:
        raise InvalidArgument(f"{name} is about totals of numbers", hint="name the column: --value COLUMN")
    table = read(source)
    for option, named_by in (("--on", on), ("--sensitive", sensitive and [sensitive]), ("--value", value and [value])):
        whose = {} if name == _LOG and option == "--on" else {"--unit": unit}  # who did it may be said by both
        check({**whose, option: named_by or None}, table.names)
    if not table.rows:
        raise InvalidArgument("the table has no rows")
    if name == _LOG:
        return replace(_log(table, on, sensitive, value, unit), unit=unit, unread=table.unread.words())
    table = read(table, unit=unit)
    known, sought = on, sensitive
    if known is None or sought is None:
        known, sought = _guessed(table, known, sought)
    return Known(
        attack=name,
        table=table,
        on=[column for column in known if column != value] if on is None else known,
        sensitive=sought,
        value=value,
        guessed=tuple(option for option, said in (("--on", on), ("--sensitive", sensitive)) if said is None),
        unit=unit,
        unread=table.unread.words(),
    )


def _log(
    table: Records, on: list[str] | None, sensitive: str | None, value: str | None, unit: tuple[str, ...] | None
) -> Known:
    """The log of what people did; with a unit, that says who.

    Raises:
        InvalidArgument: it isn't said who and what.
    """
    if on is None or (len(on) < 2 and not unit):  # noqa: PLR2004 — who, and what
        raise InvalidArgument(
            f"{_LOG} is about what people did, many rows of each", hint="name both columns: --on PERSON,ITEM"
        )
    other = next((name for name in table.names if name not in {*on, *(unit or ())}), on[0])
    return Known(attack=_LOG, table=table, on=on, sensitive=sensitive or other, value=value)


def _guessed(table: Records, on: list[str] | None, sensitive: str | None) -> tuple[list[str], str]:
    """Guess what is known and what is sought, where neither was given.

    Raises:
        InvalidArgument: no column seems to be either.
        SchemaMismatch: the table lacks a column that was named.
    """
    from discreet.anonymity.attributes import confirm, guess_attributes

    found = confirm(
        guess_attributes(table), quasi_identifying=on or (), sensitive=() if sensitive is None else (sensitive,)
    )
    known = list(found.quasi_identifying) if on is None else on
    measures = {each.column for each in found.guesses if each.is_measure}
    sought = sensitive or next((name for name in reversed(found.sensitive) if name not in measures), None)
    if sought is None:
        raise InvalidArgument("no column seems sensitive", hint="name the column to learn: --sensitive COLUMN")
    if not known:
        raise InvalidArgument(
            "no column seems to be known to others", hint="name what is known about people: --on COLUMNS"
        )
    return known, sought


def targets(known: Known, against: list[str] | None) -> Sequence[str]:
    """The targets of the attack: those given, all of them for `all`, or else the ones that show it best.

    Raises:
        InvalidArgument: nothing was said.
    """
    from discreet.attacks.named_attacks import named

    possible = named(known.attack).against
    if against == []:
        raise InvalidArgument("--against names nothing", hint=f"one of {', '.join(possible)}, or all")
    if against is None:
        return possible[:1]
    return possible if against == ["all"] else against


def tried(known: Known, against: Sequence[str], terms: Terms) -> list[AttackResult]:
    """Run the attack against each of these.

    Raises:
        InvalidArgument: it can't be run against that, or an argument is out of range.
        SourceError: the table lacks a column.
    """
    from discreet.attacks.named_attacks import compare

    found = compare(
        known.attack,
        known.table,
        against=against,
        on=known.on,
        sensitive=known.sensitive,
        value=known.value,
        k=terms.k,
        epsilon=terms.epsilon,
        budget=terms.budget,
        people=terms.people,
        trials=terms.trials,
        unit=known.unit,
    )
    return list(found.results)


def linked(  # noqa: PLR0913 — two files, and what of them is what
    name: str,
    source: Source | None,
    auxiliary: Source | None,
    on: list[str] | None,
    *,
    against: list[str] | None,
    sensitive: str | None,
    truth: str | None,
    who: str | None,
    unit: tuple[str, ...] | None = None,
) -> tuple[Known, list[AttackResult]]:
    """Link two files, by columns that both have. The answer key may be the unit's column.

    Raises:
        InvalidArgument: the attack doesn't link files, or it isn't said by what.
        SourceError: a file can't be read, or lacks a column.
    """
    from discreet.anonymity.attributes import repeated
    from discreet.anonymity.records import read
    from discreet.attacks.rows.linkage import linkage
    from discreet.attacks.unit_column import copied

    if name != "linkage" or source is None or auxiliary is None or not on:
        raise InvalidArgument(
            "--auxiliary is for linking a file by columns that both tables have",
            hint="discreet attack linkage FILE --auxiliary FILE --on COLUMNS; known=released if the names differ",
        )
    if against not in (None, ["raw"]):
        raise InvalidArgument(
            "--auxiliary links the rows of the file as they are",
            hint="leave out --against, and name a file that was anonymised",
        )
    pairs = {known.strip(): (released or known).strip() for known, _, released in (each.partition("=") for each in on)}
    whole = read(source)
    key: dict[str, str] | None = None
    if truth is not None:
        known, _, released = truth.partition("=")
        key = {known.strip(): (released or known).strip()}
        if key[known.strip()] in (unit or ()):
            whole, key[known.strip()] = copied(whole, key[known.strip()])
    table = read(whole, unit=unit)
    people = read(auxiliary)
    found = linkage(table, people, on=pairs, sensitive=sensitive, truth=key, who=who)
    told = replace(found, unit=unit or (), repeated=() if unit is not None else repeated(table))
    unread = (*table.unread.words(), *(f"of the auxiliary table: {each}" for each in people.unread.words()))
    known_by = Known(attack=name, table=None, on=on, sensitive=sensitive, unit=unit, unread=unread)
    return known_by, [told]


def beside(  # noqa: PLR0913 — three files, and what of them is what
    name: str,
    release: Source | None,
    original: Source | None,
    control: Source | None,
    *,
    on: list[str] | None,
    sensitive: str | None,
    trials: int,
    rows_are_people: bool,
    unused: Sequence[str],
) -> tuple[Known, list[AttackResult]]:
    """Judge a release beside its original and beside people who aren't in it.

    Raises:
        InvalidArgument: a file isn't named, an option means nothing here, or there is no such attack.
        SourceError: a file can't be read, or lacks a column.
    """
    from discreet.anonymity.records import read
    from discreet.attacks.rows import risks

    if release is None or original is None or control is None:
        raise InvalidArgument(
            "a release is judged beside its original and beside people who aren't in it: three files",
            hint="discreet attack singling-out RELEASE --original FILE --control FILE",
        )
    if unused:
        raise InvalidArgument(f"{', '.join(unused)} can't be combined with --original", hint="leave it out")
    tables = {"the release": read(release), "the original": read(original), "the control": read(control)}
    found = risks(name, *tables.values(), on=on, sensitive=sensitive, trials=trials)
    told = [replace(each, repeated=()) for each in found] if rows_are_people else list(found)
    unread = tuple(f"of {which}: {each}" for which, table in tables.items() for each in table.unread.words())
    return Known(attack=name, table=None, on=on, sensitive=sensitive, unread=unread), [*told]
