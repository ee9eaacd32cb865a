"""`discreet init`: propose how to protect tables."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import MOST_LINES, cut_list, limits_to_read, say, say_command, show, working
from discreet.cli.common.tables import Written, with_written
from discreet.printable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.tables.proposals import Proposal, ProposalInput, TableProposal


_GUESSED = "guessed from the cells of text files, of which one can change a kind: correct them, or use --strict"


@reported
@with_written
def init(  # noqa: PLR0913 — each is an option of the command
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="The private tables: CSV, JSON lines, Parquet, Arrow, XLSX, or databases of DuckDB or SQLite.",
        ),
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the configuration.")] = options.CONFIG,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column (of the first table) that tells whose row it is; `row`: each its own."
        ),
    ] = None,
    leak: Annotated[
        bool,
        typer.Option("--leak", help="Propose bounds and keys that were read off the data, too, each under a mark."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Don't look at the data, not even at how it is written.")
    ] = False,
    how: Written,
    force: Annotated[bool, typer.Option("--force", help="Replace a configuration that is there.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show every column, however many there are.")] = False,
) -> None:
    """Propose a configuration for one or more tables, from their schemas and from public knowledge.

    What a column may hold is proposed if its name or its kind says it to everybody, else left blank. With `--leak`,
    bounds and keys are read off the data, too, and marked as leaks, to be replaced by what the columns may hold; texts
    that lead to one person are never told. How a text file is written (kinds, decimal mark, order of dates) is guessed
    from its cells, and said to be. Links between tables are proposed by the names of columns alone. The ledger is
    created beside the configuration; one that is there is kept, with what was spent.
    """
    from discreet.tables.proposals import propose_together

    _refuse_to_replace(output, force=force)
    with working("looking at the table" if len(files) == 1 else "looking at the tables"):
        proposal = propose_together(_looks(files, how, unit, strict=strict), leak=leak, strict=strict, unit=unit)
    proposal = _with_ledger_beside(proposal, output)
    _begin(proposal, output, force=force)
    _show(proposal, output, files, how, leak=leak, whole=all_)


def _looks(files: list[Path], how: Written, unit: str | None, *, strict: bool) -> list[ProposalInput]:
    """A look at each file; a second one where the first shows that it is written in another way than was said.

    Raises:
        InvalidArgument: there are several files, and the name of a table inside of which one?
    """
    from discreet.errors import InvalidArgument
    from discreet.gateway import inspect
    from discreet.tables.proposals import ProposalInput

    if how.table is not None and len(files) > 1:
        raise InvalidArgument("--table names a table inside of one database", hint="give one file, or no --table")
    looks = []
    for file in files:
        source = how.source(file) if file == files[0] else how.source_beside(files[0], file)
        whose = unit if file == files[0] else None
        columns, profile, source = inspect(source, peek=not strict, unit=whose)
        said = source if profile is None or profile.written is None else profile.written.source
        if guessed := said != source:
            columns, profile, source = inspect(said, peek=True, unit=whose)
        looks.append(ProposalInput(columns=columns, source=source, profile=profile, guessed=guessed))
    return looks


def _refuse_to_replace(output: Path, *, force: bool) -> None:
    """Refuse before anything is looked at: a configuration holds a custodian's decisions.

    Raises:
        ConfigError: there is one, and it may not be replaced.
    """
    from discreet.errors import ConfigError

    if output.exists() and not force:
        raise ConfigError(f"the file {str(output)!r} is there already", hint="--force replaces it; --output spares it")


def _with_ledger_beside(proposal: Proposal, output: Path) -> Proposal:
    """The proposal with the ledger beside the configuration: the table's folder may be nobody's to write to."""
    ledger = output.absolute().parent / Path(proposal.dataset.ledger).name
    return replace(proposal, dataset=replace(proposal.dataset, ledger=str(ledger)))


def _begin(proposal: Proposal, output: Path, *, force: bool) -> None:
    """Write the configuration and open the account; where it refuses, the configuration is as it was."""
    from discreet.errors import DiscreetError
    from discreet.gateway import load

    before = output.read_bytes() if output.exists() else None
    proposal.save(output, replacing=force)
    try:
        load(output, create_ledger=True).close()
    except DiscreetError:
        if before is None:
            output.unlink(missing_ok=True)
        else:
            output.write_bytes(before)
        raise


def _show(  # noqa: PLR0913 — what was said on the command line
    proposal: Proposal, output: Path, files: list[Path], how: Written, *, leak: bool, whole: bool
) -> None:
    """Print what was proposed, where each declaration came from, and what to do next."""
    from rich.table import Table
    from rich.text import Text

    dataset = proposal.dataset
    is_one = len(proposal.tables) == 1
    for each in proposal.tables:
        if not is_one:
            show(Text(printable(each.table.name), style="bold underline"))
        show(_listing(each, whole=whole))
        if not is_one:
            say()
    names = f"table{'' if is_one else 's'} {', '.join(table.name for table in dataset.tables)}"
    facts = [("written", f"{output}: {names}, budget {dataset.budget}, ledger {Path(dataset.ledger).name}")]
    for each in proposal.tables:
        of = "" if is_one else f"{each.table.name}: "
        known = f"{each.codebook.title} ({each.codebook.reference})" if each.codebook else ""
        words = {
            "known as": known,
            "unit": _unit(each),
            "leaks": _leaks(each),
            "mismatches": cut_list(each.mismatches, 8 if not whole else len(each.mismatches), "; "),
            "ask": "; ".join(f"{doubt}: --{option} says which" for option, doubt in each.doubts.items()),
            "blank": "" if leak else _blank(each),
        }
        facts += [(title, f"{of}{text}") for title, text in words.items() if text]
    if any(each.kinds_are_guessed for each in proposal.tables):
        facts.append(("kinds", _GUESSED))
    facts.append(("risk", _risk(files[0], how)))
    facts.append(("next", f"read {output} and mend it, then ask:"))
    body = Table.grid(padding=(0, 2, 0, 0))
    for title, text in facts:
        body.add_row(Text(title, style="bold"), Text(printable(text)))
    if is_one:
        say()
    show(body)
    say()
    say_command(_first_question(proposal))


def _risk(file: Path, how: Written) -> str:
    """How to see why rows aren't given away."""
    risk = f"`discreet risk {how}{quote(str(file))}` says whom rows would single out"
    return f"{risk}; of noisy answers, ε says what they tell of anybody"


def _listing(proposal: TableProposal, *, whole: bool) -> RenderableType:
    """The columns of a table, each with what is declared and where that came from; of many the first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    listing = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    listing.add_column("column", overflow="fold")
    listing.add_column("declared", overflow="fold", ratio=1)
    listing.add_column("from", overflow="fold")
    rows = list(zip(proposal.suggestions, proposal.rows(), strict=True))
    shown = rows if whole or len(rows) <= MOST_LINES + 1 else rows[:MOST_LINES]
    for item, (name, declared, _) in shown:
        leaks = name in proposal.leaks
        origin = Text("LEAK: read off the data", style="bold red") if leaks else Text(str(item.origin))
        listing.add_row(Text(printable(name)), Text(printable(declared)), origin)
    if shown is not rows:
        listing.add_row(Text(f"and {len(rows) - len(shown):,} more: --all"))
    return listing


def _unit(proposal: TableProposal) -> str:
    """Whose presence is hidden, and what to think of."""
    limits, unit = limits_to_read(proposal.table.limits), proposal.table.unit
    if unit is None:
        return f"found along {', '.join(map(str, proposal.table.links))}, by the names alone; limits {limits}"
    if unit.is_row:
        return "row: right only if nobody can have two rows; else name the column that tells whose row it is: --unit"
    others = f" ({', '.join(proposal.ids[1:])} could be, too: --unit)" if proposal.ids[1:] else ""
    return f"{unit}, which tells whose row it is{others}; limits {limits}"


def _leaks(proposal: TableProposal) -> str:
    """What to do about what was read off the data."""
    leaks = ", ".join(proposal.leaks)
    return leaks and f"read off the data: {leaks}; replace by what the column may hold, or leave --leak out"


def _blank(proposal: TableProposal) -> str:
    """What to do about the columns of which only the kind is declared."""
    blank = [each.column.name for each in proposal.suggestions if each.is_open]
    return f"{cut_list(blank)}: fill in what the column may hold; --leak proposes what the data has" if blank else ""


def _first_question(proposal: Proposal) -> str:
    """A question to begin with, safe to be pasted into a shell whatever the table is called."""
    name = proposal.dataset.tables[0].name
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    table = name if is_plain else '"' + name.replace('"', '""') + '"'
    question = f"SELECT COUNT(*) AS n FROM {table}"  # noqa: S608 — shown, not run
    shown = f'"{question}"' if is_plain else quote(question)
    return f"discreet ask {shown} --epsilon 0.1"
