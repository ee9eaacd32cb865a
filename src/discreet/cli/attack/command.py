"""`discreet attack`: what rows, anonymised rows and private answers give away to those who try."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.attack.running import Known
from discreet.cli.common import columns, options, table_file
from discreet.cli.common.interrupt import heard
from discreet.cli.common.reporting import reported
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.pictures import check_picture
from discreet.cli.show.screen import ENDLESS, say, width
from discreet.cli.show.sheets import show_json, show_table
from discreet.cli.show.waiting import working
from discreet.printable import printable
from discreet.tables import formats

if TYPE_CHECKING:
    from discreet.attacks.attack_result import AttackResult
    from discreet.tables import Source

_SHOWN = 5
"""How many guesses the screen shows; `--format json` has up to twenty."""

Name: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The attack. If left out, attacks are listed.")
]
File: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="[FILE]", help=f"The table: {formats.listed()}. If left out, a synthetic census."),
]
Against: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="WHAT", help="What to attack, separated by commas: raw, anonymized, answers, …; or `all`."),
]
On: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="The columns known about people, separated by commas. Guessed if left out."),
]
Sensitive: TypeAlias = Annotated[
    str | None, typer.Option("--sensitive", "-s", metavar="COLUMN", help="The column to learn. Guessed if left out.")
]
ValueOption: TypeAlias = Annotated[
    str | None, typer.Option("--value", metavar="COLUMN", help="A column of numbers, for attacks on totals.")
]
Auxiliary: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="For linkage: a separate file of what is known about people, one row each."),
]
Truth: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --auxiliary: the column in both that says who is who; known=released if the names differ.",
    ),
]
Who: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="With --auxiliary: the column in it that names people.")
]
Original: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="If FILE is a release that anyone made: the rows it was made from. With --control."
    ),
]
Control: TypeAlias = Annotated[
    str | None, typer.Option(metavar="FILE", help="With --original: other people, from whom the release wasn't made.")
]
K: TypeAlias = Annotated[int, typer.Option(min=1, metavar="COUNT", help="The k of the anonymised rows.")]
Epsilon: TypeAlias = Annotated[str, typer.Option(metavar="NUMBER", help="ε of each answer.")]
BudgetOption: TypeAlias = Annotated[str, typer.Option("--budget", metavar="NUMBER", help="ε of all answers together.")]
People: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=2, help="How many people to ask about, if the attack asks questions.")
]
Trials: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=1, help="How many times to repeat what is left to chance.")
]


@reported
@table_file.with_written
def attack(  # noqa: PLR0913 — each is an option of the command
    context: typer.Context,
    name: Name = None,
    file: File = None,
    *,
    against: Against = None,
    on: On = None,
    sensitive: Sensitive = None,
    value: ValueOption = None,
    unit: columns.UnitOption = None,
    rows_are_people: columns.RowsArePeople = False,
    how: table_file.Written,
    auxiliary: Auxiliary = None,
    truth: Truth = None,
    who: Who = None,
    original: Original = None,
    control: Control = None,
    k: K = 5,
    epsilon: Epsilon = "0.1",
    budget: BudgetOption = "10",
    people: People = 100,
    trials: Trials = 1_000,
    plot: options.Plot = None,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Attack a table as the textbooks do, and see what rows, anonymised rows and private answers give away.

    It runs on the custodian's own table, in memory, and charges nothing to the real account. What it prints says things
    about the people in it. Without a file, the people are made up. With `--original` and `--control`, singling-out,
    linkability and inference judge a release that anyone made.
    """
    if name is None:
        _list(format_)
        return
    from discreet.cli.attack.figure import draw
    from discreet.cli.attack.running import Terms, beside, linked, settled, targets, tried

    if plot is not None:
        check_picture(plot, painted=True)
    whose = columns.unit_of(unit, rows_are_people=rows_are_people)
    source = None if file is None else how.source(file)
    attacked: Sequence[str] = ()
    with working("attacking"), heard():
        if original is not None or control is not None:
            known, results = beside(
                name, source, _source(how, file, original), _source(how, file, control), on=columns.names(on),
                sensitive=sensitive, trials=trials, rows_are_people=rows_are_people,
                unused=_given(context, *_NOT_BESIDE),
            )  # fmt: skip
        elif auxiliary is None:
            terms = Terms(k=k, epsilon=epsilon, budget=budget, people=people, trials=trials)
            known = settled(name, source, on=columns.names(on), sensitive=sensitive, value=value, unit=whose)
            attacked = targets(known, columns.names(against))
            results = tried(known, attacked, terms)
        else:
            known, results = linked(
                name, source, _source(how, file, auxiliary), columns.names(on), against=columns.names(against),
                sensitive=sensitive, truth=truth, who=who, unit=whose,
            )  # fmt: skip
    table_file.say_unread(known.unread)
    _tell(context, known, attacked, results, format_)
    if plot is not None:
        with working("drawing"):
            title = draw(results, plot)
        if format_ is not TextFormat.JSON:
            say(printable(f"\n{plot}: {title}"))


_NOT_BESIDE = ("against", "value", "auxiliary", "truth", "who", "unit")
"""The options that mean nothing when a release is judged beside its original."""


def _source(how: table_file.Written, file: str | None, other: str | None) -> Source | None:
    """Another file beside the table; None unless both are named."""
    return None if file is None or other is None else how.source_beside(file, other)


def _tell(
    context: typer.Context,
    known: Known,
    attacked: Sequence[str],
    results: Sequence[AttackResult],
    format_: TextFormat,
) -> None:
    """Print what was found, as text or as JSON."""
    if format_ is TextFormat.JSON:
        said = {"attack": known.attack, "on": known.on, "sensitive": known.sensitive, "guessed": bool(known.guessed)}
        show_json({**said, "results": [each.to_dict() for each in results]})
    else:
        _show(known, results)
        _show_unused(context, known, attacked)


def _show(known: Known, results: Sequence[AttackResult]) -> None:
    """Print what was guessed of the table, each result, and a table of all."""
    from discreet.attacks.attack_result import baseline_shown, share_shown
    from discreet.attacks.rows import RiskResult

    warned = next((each.warned for each in results if each.warned), "")
    for line in warned.splitlines():
        say(printable(line), 0)
    if warned:
        say()
    if known.guessed:
        for label, said, option in (
            ("known", ", ".join(known.on or ()), "--on"),
            ("sought", str(known.sensitive), "--sensitive"),
        ):
            remark = f" (guessed: {option})" if option in known.guessed else ""
            say(printable(f"{label:<10}{said}{remark}"), 10)
        say()
    risky = [each for each in results if isinstance(each, RiskResult)]
    gravest = max(risky, key=lambda each: -1 if each.risk is None else each.risk, default=None)
    for number, each in enumerate(results if gravest is None or len(risky) < _SHOWN else [gravest]):
        if number:
            say()
        different = tuple(dict.fromkeys(each.guesses))
        _show_result(replace(each, guesses=different[:_SHOWN]))
        more = len(different) - _SHOWN
        if more > 0:
            say(f"  and {more} more with --format json")
    if len(results) > 1 and risky:
        say()
        show_table(
            ("against", "tried", "right", "without it", "risk"),
            [
                (each.against, f"{each.tried:,}", share_shown(each), baseline_shown(each), each.between)
                for each in risky
            ],
            right=(False, True, True, True, True),
        )
    elif len(results) > 1:
        say()
        show_table(
            ("against", "tried", "right", "without it"),
            [(each.against, f"{each.tried:,}", share_shown(each), baseline_shown(each)) for each in results],
            right=(False, True, True, True),
        )


def _show_unused(context: typer.Context, known: Known, against: Sequence[str]) -> None:
    """Name the options that were given and mean nothing to this attack, so that nobody thinks they did."""
    from discreet.attacks.named_attacks import NAMED

    used = {name for each in against for name in NAMED[known.attack].uses(each)} if against else {"trials"}
    numbers = ("k", "epsilon", "budget", "people", "trials")
    given = _given(context, *(name for name in numbers if name not in used))
    if given:
        say(f"\nmeans nothing here: {', '.join(given)}")


def _given(context: typer.Context, *names: str) -> list[str]:
    """The options among these that were given on the command line."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [f"--{name}" for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def _show_result(result: AttackResult) -> None:
    """Print a result; long lines go on below their own text."""
    title, *lines = printable(result.report()).split("\n")
    say(title, 2)
    first = re.match(r"\S+ +", lines[0])  # all labels are as wide, with the blanks behind them, as the first
    width = len(first[0]) if first else 0
    for line in lines:
        say(line, 4 if line.startswith(" ") else width)


def _list(format_: TextFormat) -> None:
    """Print the names of the attacks, and what each can be run against."""
    from discreet.attacks.attack_setup import AGAINST
    from discreet.attacks.named_attacks import NAMED
    from discreet.attacks.rows import RISKS

    if format_ is TextFormat.JSON:
        show_json({each.name: {"what": each.what, "against": list(each.against)} for each in NAMED.values()})
        return
    widest = max(len(each.what) for each in NAMED.values())
    is_wide = (width() or ENDLESS) > widest + 50
    for each in NAMED.values():
        if is_wide:
            say(f"{each.name:<16}{each.what:<{widest + 2}}{', '.join(each.against)}")
        else:
            say(f"{each.name:<16}{each.what} (against {', '.join(each.against)})", 16)
    say("\nOn a release that anyone made, with --original FILE --control FILE:")
    for name, what in RISKS.items():
        say(f"  {name:<14}{what}", 16)
    say("\nThey run against:")
    for target, what in AGAINST.items():
        say(f"  {target:<14}{what}")
