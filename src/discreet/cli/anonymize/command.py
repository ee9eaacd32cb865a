"""`discreet anonymize`: a table whose rows hide among others, and a report on it.

On a terminal it asks what the columns are, in one pass, and what to promise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from discreet.cli.anonymize.choices import Choices, Roles
from discreet.cli.anonymize.outcome import made
from discreet.cli.anonymize.report import check, save, show
from discreet.cli.app import reported
from discreet.cli.common import options, tables
from discreet.cli.common.screen import say, show_json, working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.records import Records


class AlgorithmChoice(StrEnum):
    """How columns are made coarser."""

    AUTO = "auto"
    """Whichever of the next three loses least."""
    OPTIMAL = "optimal"
    """One level of its hierarchy for each column: those that lose least, with a proof."""
    MONDRIAN = "mondrian"
    """Ranges that differ from class to class."""
    RELAXED_MONDRIAN = "relaxed-mondrian"
    """The same, where rows of one value may be parted."""
    MICROAGGREGATION = "microaggregation"
    """Averages of the nearest rows."""


class LossChoice(StrEnum):
    """What is made as small as can be."""

    NCP = "ncp"
    """How wide the shown ranges are."""
    ARX = "arx"
    """Which share of its hierarchy's values each cell stands for: the mean over cells."""
    ARX_GEOMETRIC = "arx_geometric"
    """The same with ARX's default mean over columns."""
    PRECISION = "precision"
    """How high the levels are."""
    ENTROPY = "entropy"
    """How much is left to guess of each value."""
    DISCERNIBILITY = "discernibility"
    """How many rows each row looks like."""
    CLASS_SIZE = "class_size"
    """How large classes are, on average."""


Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the table: .csv or .parquet.")
]
Report: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write a report on it: .html or .json.")
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
ForSpreadsheets: TypeAlias = Annotated[
    bool,
    typer.Option("--for-spreadsheets", help="In CSV, put ' before texts that a spreadsheet takes for formulas."),
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What stays as it is, since nobody knows a person by it, by commas."),
]
YesKeep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--yes-keep",
        metavar="COLUMNS",
        help="Release these as they are, though they single people out or hold what leads to them.",
    ),
]
HierarchyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="How a column gets coarser: a CSV file of each value and its levels. May be repeated. Else proposed.",
    ),
]
K: TypeAlias = Annotated[
    int,
    typer.Option(
        "--k", metavar="COUNT", min=1, help="How many units must look alike, at the least: rows, or what --unit says."
    ),
]
Diversity: TypeAlias = Annotated[
    int | None,
    typer.Option("--l", metavar="COUNT", min=1, help="How many values of each sensitive column they must have."),
]
ClosenessOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--t",
        metavar="NUMBER",
        help="How far their sensitive values may be from those of all that is released, 0 to 1.",
    ),
]
Suppression: TypeAlias = Annotated[
    str, typer.Option(metavar="SHARE", help="Of how many units rows may be left out: 5% or 1/20.")
]
LossOption: TypeAlias = Annotated[
    LossChoice,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="What to make small: ncp, arx, arx_geometric, precision, entropy, discernibility or class_size.",
    ),
]
AlgorithmOption: TypeAlias = Annotated[
    AlgorithmChoice,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        help=(
            "How columns are made coarser: auto (what loses least of the next three), optimal, mondrian, "
            "relaxed-mondrian or microaggregation."
        ),
    ),
]
LocalRecoding: TypeAlias = Annotated[
    bool, typer.Option("--local-recoding", help="Recode rows that would be left out by themselves.")
]
Nodes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="COUNT", min=1, help="Try so many generalisations at the most; all that it takes if left out."
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take the columns for what they seem.")]

_ROLES = ("--identifying", "--quasi-identifying", "--sensitive", "--keep")
"""The options that say what columns are."""


@reported
@tables.with_written
def anonymize(  # noqa: PLR0913 — each is an option of the command
    file: tables.File,
    *,
    output: Output = None,
    report: Report = None,
    force: Force = False,
    for_spreadsheets: ForSpreadsheets = False,
    quasi_identifying: tables.QuasiIdentifying = None,
    sensitive: tables.Sensitive = None,
    identifying: tables.Identifying = None,
    keep: Keep = None,
    yes_keep: YesKeep = None,
    unit: tables.UnitOption = None,
    rows_are_people: tables.RowsArePeople = False,
    hierarchy: HierarchyOption = None,
    k: K = 5,
    diversity: Diversity = None,
    closeness: ClosenessOption = None,
    suppression: Suppression = "5%",
    loss: LossOption = LossChoice.NCP,
    algorithm: AlgorithmOption = AlgorithmChoice.AUTO,
    local_recoding: LocalRecoding = False,
    nodes: Nodes = None,
    missing: tables.MissingOption = tables.MissingChoice.OWN_VALUE,
    how: tables.Written,
    yes: Yes = False,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Make a table safer: rows look like others, at the least loss; say what that cost and what attackers can still do.

    On a terminal it asks what the columns are, unless that is said. Without `--output` nothing is written: it only says
    what would be. Columns that name people are left out, and so are those of no kind. It is no differential privacy.
    """
    from discreet.anonymity.records import read

    choices = Choices.of(
        k=k, diversity=diversity, closeness=closeness, suppression=suppression, loss=loss.value,
        algorithm=algorithm.value.replace("-", " "), local_recoding=local_recoding, nodes=nodes, hierarchies=hierarchy,
    )  # fmt: skip
    check([file, *choices.hierarchies.values()], output, report, force=force)
    whose = tables.unit_of(unit, rows_are_people=rows_are_people)
    with working("reading"):
        records = read(how.source(file), unit=whose, missing=missing.policy)
    tables.say_unread(records.unread.words())
    said = [tables.names(each) for each in (identifying, quasi_identifying, sensitive, keep)]
    said[0] = said[0] and list(records.identifying(said[0]))
    tables.check({"--unit": whose, **dict(zip(_ROLES, said, strict=True))}, [*records.names, *(whose or ())])
    tables.check({"--yes-keep": (known := tables.names(yes_keep) or [])}, records.names)
    roles = Roles.of(records, *said)
    if _may_ask() and not yes and not any(said) and format_ is options.TextFormat.TABLE:
        roles, choices, output = ask(file, records, roles, choices, output, force=force)
    roles.require_known(records.rows)
    roles.require_harmless(records, known)
    choices.require_possible(records, roles.sensitive)
    with working("searching"):
        outcome = made(records, roles, choices, whose)
        outcome = replace(outcome, formulas=0) if for_spreadsheets else outcome
    with working("writing"):
        save(outcome, output, report, name=file.name, for_spreadsheets=for_spreadsheets)
    if format_ is options.TextFormat.JSON:
        show_json(outcome.to_dict())
    else:
        show(outcome, output, report)


def _may_ask() -> bool:
    """Whether somebody sits before the screen and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


# ── Asking ────────────────────────────────────────────────────────────────────────────────────────────────────────────

T = TypeVar("T")

_NONE = "-"
_MANY = 10**9
"""More rows than anybody asks to look alike."""


def ask(  # noqa: PLR0913 — the table, and what was said of it
    file: Path, table: Records, roles: Roles, choices: Choices, output: Path | None, *, force: bool
) -> tuple[Roles, Choices, Path | None]:
    """Show what the columns seem to be, have it corrected, and ask what to promise.

    Raises:
        KeyboardInterrupt: somebody has thought better of it.
    """
    from discreet.anonymity.words import percent

    guesses = () if roles.attributes is None else roles.attributes.guesses
    width = max((len(each.column) for each in guesses), default=0) + 2
    say("What the columns seem to be")
    for each in guesses:
        line = f"  {each.column:<{width}}{each.kind:<19}{each.reason} ({percent(each.unique)} unique)"
        say(printable(line), width + 21)
    say(f"\nEnter keeps what stands in brackets; {_NONE} is none. Names are parted by commas.\n")
    try:
        settled = _ask_roles(roles)
        return settled, _ask_choices(table, choices, settled), output or _ask_output(file, choices, force=force)
    except typer.Abort:
        say()  # what is reported next has a line of its own
        raise KeyboardInterrupt from None


def _ask_roles(roles: Roles) -> Roles:
    """Each kind in turn; whatever is in none of them is quasi-identifying."""
    left = list(roles.columns)
    chosen: list[tuple[str, ...]] = []
    for question, seeming in (
        ("Which columns name people by themselves? They are left out", roles.identifying),
        ("Which must others not learn? They stay as they are", roles.sensitive),
        ("Which else can nobody be known by? They stay as they are", roles.kept),
    ):
        default = [name for name in seeming if name in left]
        chosen.append(_ask(question, _written(default), partial(_names, possible=tuple(left))))
        left = [name for name in left if name not in chosen[-1]]
    say(printable(f"The others may be known, and become coarser: {', '.join(left) or 'none'}.\n"), 2)
    identifying, sensitive, kept = chosen
    return replace(roles, identifying=identifying, sensitive=sensitive, kept=kept, quasi_identifying=tuple(left))


def _ask_choices(table: Records, choices: Choices, roles: Roles) -> Choices:
    """What to promise, of what the table can keep."""
    noun = "rows" if table.units is None else "units"
    k = _ask(f"How many {noun} must look alike, at the least (k)?", str(choices.k), partial(_count, most=table.counted))
    diversity = choices.diversity
    if roles.sensitive:
        text = f"How many values of {', '.join(roles.sensitive)} must they have (l)? 1 asks for nothing"
        fewest = min(table.column(name).size for name in roles.sensitive)
        diversity = _ask(text, str(diversity or 1), partial(_count, most=fewest))
    share = _ask(f"Which share of the {noun} may be left out?", f"{float(100 * choices.suppression):g}%", _share)
    return replace(choices, k=k, diversity=None if diversity == 1 else diversity, suppression=share)


def _ask_output(file: Path, choices: Choices, *, force: bool) -> Path | None:
    """Where to write the table."""

    def read(text: str) -> Path | None:
        """A path that may be written, or None."""
        if text.strip() == _NONE:
            return None
        path = Path(text.strip())
        check([file, *choices.hierarchies.values()], path, None, force=force)
        return path

    return _ask("Where to write the table? .csv or .parquet", _NONE, read)


def _ask(question: str, default: str, read: Callable[[str], T]) -> T:
    """One question, again until the answer can be read."""

    def proved(text: str) -> T:
        """The answer, or why not."""
        try:
            return read(text)
        except InvalidArgument as error:
            hint = f" ({error.hint})" if error.hint else ""
            raise typer.BadParameter(printable(f"{error.message}{hint}")) from None

    answer: T = typer.prompt(printable(question), default=printable(default), value_proc=proved)
    return answer


def _written(names: Sequence[str]) -> str:
    """Names as they are typed."""
    return tables.written(names) if names else _NONE


def _names(text: str, possible: Sequence[str]) -> tuple[str, ...]:
    """Names that were typed.

    Raises:
        InvalidArgument: one isn't among those that are left.
    """
    if text.strip() == _NONE:
        return ()
    found = tables.names([text]) or []
    for name in found:
        if name not in possible:
            from discreet.query.sql import meant

            raise InvalidArgument(f"no column {name!r} is left", hint=meant(name, possible) if possible else "")
    return tuple(found)


def _count(text: str, most: int) -> int:
    """A number from 1 to what the table has; of a table without rows, any.

    Raises:
        InvalidArgument: it isn't.
    """
    if not (text.strip().isascii() and text.strip().isdigit() and 0 < int(text) <= (most or _MANY)):
        raise InvalidArgument(f"it must be a whole number from 1 to {most or _MANY:,}")
    return int(text)


def _share(text: str) -> Fraction:
    """A share."""
    return options.share_of(text, "it")
