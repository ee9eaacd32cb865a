"""`discreet attack`: what rows, anonymised rows and private answers give away to those who try."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias

import typer

from discreet.cli.app import reported
from discreet.cli.common import options, tables
from discreet.cli.common.screen import ENDLESS, say, show_json, show_table, width, working
from discreet.errors import DiscreetError
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.attacks.attack_result import AttackResult
    from discreet.attacks.rows import RiskResult
    from discreet.cli.attack_run import Known
    from discreet.tables import Source

_SHOWN = 5
"""So many guesses stand on the screen; `--format json` has up to twenty."""

Name: TypeAlias = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which attack. None: their names.")]
File: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help=f"The table: {tables.FORMATS}. None: a synthetic census.")
]
Against: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="WHAT", help="What is attacked: raw, anonymized, answers, … by commas, or `all`."),
]
On: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What is known of people, by commas. Guessed if left out."),
]
Sensitive: TypeAlias = Annotated[
    str | None, typer.Option("--sensitive", "-s", metavar="COLUMN", help="What to learn. Guessed if left out.")
]
ValueOption: TypeAlias = Annotated[
    str | None, typer.Option("--value", metavar="COLUMN", help="Numbers, for attacks on totals.")
]
Auxiliary: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For linkage: what is known of people, one row each, in a file of its own."),
]
Truth: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --auxiliary: the column of both that says who is who; known=released if names differ.",
    ),
]
Who: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="With --auxiliary: its column that names people.")
]
Original: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="FILE is a release that anybody made: the rows it was made of. With --control."),
]
Control: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="With --original: other people, whom the release wasn't made of.")
]
K: TypeAlias = Annotated[int, typer.Option(min=1, metavar="COUNT", help="Of the anonymised rows.")]
Epsilon: TypeAlias = Annotated[str, typer.Option(metavar="NUMBER", help="ε of each answer.")]
BudgetOption: TypeAlias = Annotated[str, typer.Option("--budget", metavar="NUMBER", help="ε of all answers together.")]
People: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=2, help="How many to ask about, where it takes questions.")
]
Trials: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=1, help="How often to repeat what is left to chance.")
]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", "-o", metavar="FILE", help="Also draw it: .svg or .png.")
]


@reported
@tables.with_written
def attack(  # noqa: PLR0913 — each is an option of the command
    context: typer.Context,
    name: Name = None,
    file: File = None,
    *,
    against: Against = None,
    on: On = None,
    sensitive: Sensitive = None,
    value: ValueOption = None,
    unit: tables.UnitOption = None,
    rows_are_people: tables.RowsArePeople = False,
    how: tables.Written,
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
    plot: Plot = None,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Attack a table as the textbooks do, and see what rows, anonymised rows and private answers give away.

    It runs on the custodian's own table, in memory: nothing is charged to the real account. What is printed says
    things about people in it. Without a file, the people are made up. With `--original` and `--control`, singling-out,
    linkability and inference judge a release that anybody made.
    """
    if name is None:
        _list(format_)
        return
    from discreet.cli.attack_run import Terms, beside, check_figure, draw, linked, settled, targets, tried

    if plot is not None:
        check_figure(plot)
    whose = tables.unit_of(unit, rows_are_people=rows_are_people)
    source = None if file is None else how.source(file)
    attacked: Sequence[str] = ()
    with working("attacking"), heard():
        if original is not None or control is not None:
            known, results = beside(
                name, source, _source(how, file, original), _source(how, file, control), on=tables.names(on),
                sensitive=sensitive, trials=trials, rows_are_people=rows_are_people,
                unused=_given(context, *_NOT_BESIDE),
            )  # fmt: skip
        elif auxiliary is None:
            terms = Terms(k=k, epsilon=epsilon, budget=budget, people=people, trials=trials)
            known = settled(name, source, on=tables.names(on), sensitive=sensitive, value=value, unit=whose)
            attacked = targets(known, tables.names(against))
            results = tried(known, attacked, terms)
        else:
            known, results = linked(
                name, source, _source(how, file, auxiliary), tables.names(on), against=tables.names(against),
                sensitive=sensitive, truth=truth, who=who, unit=whose,
            )  # fmt: skip
    tables.say_unread(known.unread)
    _tell(context, known, attacked, results, format_)
    if plot is not None:
        with working("drawing"):
            title = draw(results, plot)
        if format_ is not options.TextFormat.JSON:
            say(printable(f"\n{plot}: {title}"))


_NOT_BESIDE = ("against", "value", "auxiliary", "truth", "who", "unit")
"""The options that mean nothing where a release is judged beside its original."""


def _source(how: tables.Written, file: Path | None, other: Path | None) -> Source | None:
    """Another file beside the table; None if one of them isn't named."""
    return None if file is None or other is None else how.source_beside(file, other)


def _tell(
    context: typer.Context,
    known: Known,
    attacked: Sequence[str],
    results: Sequence[AttackResult],
    format_: options.TextFormat,
) -> None:
    """Print what was found, as text or as JSON."""
    if format_ is options.TextFormat.JSON:
        said = {"attack": known.attack, "on": known.on, "sensitive": known.sensitive, "guessed": bool(known.guessed)}
        show_json({**said, "results": [each.to_dict() for each in results]})
    else:
        _show(known, results)
        _show_unused(context, known, attacked)


@contextmanager
def heard() -> Iterator[None]:
    """Let Ctrl-C end the work within, though an engine turns it into an error of its own.

    DuckDB, interrupted, fails like on any other error, and what it says is withheld. So it is noted here that Ctrl-C
    was pressed, and the error that follows is taken for what it is.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and the work stopped on it.

    Examples:
        >>> with heard():
        ...     pass
    """
    pressed = Event()

    def press(*_: object) -> NoReturn:
        pressed.set()
        raise KeyboardInterrupt

    if current_thread() is not main_thread() or getsignal(SIGINT) is not default_int_handler:
        yield  # nobody's Ctrl-C to hear
        return
    signal(SIGINT, press)
    try:
        yield
    except DiscreetError:
        if pressed.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal(SIGINT, default_int_handler)


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
    for number, each in enumerate(results if len(risky) < _SHOWN else [_gravest(risky)]):
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


def _gravest(results: Sequence[RiskResult]) -> RiskResult:
    """The result with the greatest risk, of many."""
    return max(results, key=lambda each: -1 if each.risk is None else each.risk)


def _show_unused(context: typer.Context, known: Known, against: Sequence[str]) -> None:
    """Name the numbers that were given and mean nothing to this attack, lest somebody think that they did."""
    from discreet.attacks.named_attacks import NAMED

    used = {name for each in against for name in NAMED[known.attack].uses(each)} if against else {"trials"}
    numbers = ("k", "epsilon", "budget", "people", "trials")
    given = _given(context, *(name for name in numbers if name not in used))
    if given:
        say(f"\nmeans nothing here: {', '.join(given)}")


def _given(context: typer.Context, *names: str) -> list[str]:
    """Those of some options that stand on the command line."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [f"--{name}" for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def _show_result(result: AttackResult) -> None:
    """Print a result; what doesn't fit on a line goes on below where it began."""
    title, *lines = printable(result.report()).split("\n")
    say(title, 2)
    first = re.match(r"\S+ +", lines[0])  # all labels are as wide, with the blanks behind them, as the first
    width = len(first[0]) if first else 0
    for line in lines:
        say(line, 4 if line.startswith(" ") else width)


def _list(format_: options.TextFormat) -> None:
    """The names of the attacks, and what each can be run against."""
    from discreet.attacks.attack_setup import AGAINST
    from discreet.attacks.named_attacks import NAMED
    from discreet.attacks.rows import RISKS

    if format_ is options.TextFormat.JSON:
        show_json({each.name: {"what": each.what, "against": list(each.against)} for each in NAMED.values()})
        return
    widest = max(len(each.what) for each in NAMED.values())
    is_wide = (width() or ENDLESS) > widest + 50
    for each in NAMED.values():
        if is_wide:
            say(f"{each.name:<16}{each.what:<{widest + 2}}{', '.join(each.against)}")
        else:
            say(f"{each.name:<16}{each.what} (against {', '.join(each.against)})", 16)
    say("\nOn a release that anybody made, with --original FILE --control FILE:")
    for name, what in RISKS.items():
        say(f"  {name:<14}{what}", 16)
    say("\nThey run against:")
    for target, what in AGAINST.items():
        say(f"  {target:<14}{what}")
