"""`discreet init`: propose how to protect tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.table_file import Written, with_written
from discreet.cli.show.screen import MOST_LINES, say, say_command, show
from discreet.cli.show.waiting import working
from discreet.cli.show.words import cut_list
from discreet.errors import ConfigError, DiscreetError, InvalidArgument
from discreet.printable import limits_to_read, printable
from discreet.tables import formats

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.tables import Source
    from discreet.tables.proposals import Proposal, ProposalInput, TableProposal

_GUESSED = "guessed from the cells of text files, where a single cell can change a kind: correct them, or use --strict"


@reported
@with_written
def init(  # noqa: PLR0913 — each is an option of the command
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help=f"The private tables: {formats.listed('databases')}; or the URL of Parquet objects or of a PostgreSQL "
            "database.",
        ),
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the configuration.")] = options.CONFIG,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column (of the first table) that says whose row it is; `row` if every row is another person.",
        ),
    ] = None,
    leak: Annotated[
        bool,
        typer.Option("--leak", help="Also propose bounds and keys read off the data, each marked as a leak."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Don't look at the data, not even at how values are written.")
    ] = False,
    how: Written,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing configuration.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show every column, however many there are.")] = False,
) -> None:
    """Propose a configuration for one or more tables, from their schemas and from public knowledge.

    Bounds and keys are proposed where the name or kind of a column makes them public knowledge; other columns are left
    blank. With `--leak`, bounds and keys are also read off the data and marked as leaks, for you to replace by what the
    columns may hold; texts that lead to one person are never shown. If several rows seem to belong to one person, it
    asks whose they are. How a text file is written (kinds, decimal mark, order of dates) is guessed from its cells, and
    marked as guessed. Links between tables are proposed by the names of columns alone, or as a PostgreSQL database
    declares them: its URL means all its tables that may be read, unless `--table` names one. The ledger is created
    beside the configuration; an existing one is kept, with what was spent.
    """
    from discreet.tables.proposals import propose_together

    if how.table is not None and len(files) > 1:
        raise InvalidArgument("--table names a table within one database", hint="give one file, or no --table")
    if output.exists() and not force:  # a configuration holds a custodian's decisions
        raise ConfigError(
            f"the file {str(output)!r} already exists", hint="--force replaces it; --output writes to another file"
        )
    with working("looking at the table" if len(files) == 1 else "looking at the tables"):
        sources = [each for file in files for each in _sources(file, files[0], how)]
        said = [unit if number == 0 else None for number in range(len(sources))]
        proposal = propose_together(
            _looks(sources, said, strict=strict, leak=leak), leak=leak, strict=strict, unit=unit
        )
        found = [each.choice.tells for each in proposal.tables]
        if leak and found != said:  # values are told that many units have: count these, then
            looks = _looks(sources, found, strict=strict, leak=leak)
            proposal = propose_together(looks, leak=leak, strict=strict, unit=unit)
    # Beside the configuration: the table's folder may be read-only.
    ledger = str(output.absolute().parent / Path(proposal.dataset.ledger).name)
    proposal = replace(proposal, dataset=replace(proposal.dataset, ledger=ledger))
    _begin(proposal, output, force=force)
    _show_proposal(proposal, output, files, how, leak=leak, whole=all_)


def _sources(file: str, first: str, how: Written) -> list[Source]:
    """The tables that a file or database is named for."""
    from discreet.tables import Source
    from discreet.tables.schema.database_url import is_database_url
    from discreet.tables.sources import tables_in

    if is_database_url(file) and how.table is None:
        return [Source.of(file, table=name) for name in tables_in(file)]
    return [how.source(file) if file == first else how.source_beside(first, file)]


def _looks(sources: Sequence[Source], units: Sequence[str | None], *, strict: bool, leak: bool) -> list[ProposalInput]:
    """Look at each table; look again if the first look shows how the file is written, or whose its rows are."""
    from discreet.gateway import inspect
    from discreet.tables.proposals import ProposalInput, likely_unit, shared_names
    from discreet.tables.sources import schema_declared

    ids = shared_names([inspect(each, peek=False)[0] for each in sources]) if len(sources) > 1 else frozenset()
    looks = []
    for said, unit in zip(sources, units, strict=True):
        columns, profile, source = inspect(said, peek=not strict, unit=unit, ids=ids)
        seen = source if profile is None or profile.written is None else profile.written.source
        if guessed := seen != source:
            columns, profile, source = inspect(seen, peek=True, unit=unit, ids=ids)
        if leak and unit is None and profile is not None and profile.numbers and likely_unit(columns).tells is None:
            columns, profile, source = inspect(seen, peek=True, unit=profile.numbers[0].column, ids=ids)
        looks.append(
            ProposalInput(
                columns=columns, source=source, profile=profile, guessed=guessed, schema=schema_declared(source)
            )
        )
    return looks


def _begin(proposal: Proposal, output: Path, *, force: bool) -> None:
    """Write the configuration and open the account; if that fails, leave the configuration as it was."""
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


def _show_proposal(  # noqa: PLR0913 — what was said on the command line
    proposal: Proposal, output: Path, files: list[str], how: Written, *, leak: bool, whole: bool
) -> None:
    """Print the proposal, where each declaration came from, and what to do next."""
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
            "whose?": _whose(each),
            "limits": _limits(each),
            "leaks": _leaks(each),
            "mismatches": cut_list(each.mismatches, 8 if not whole else len(each.mismatches), "; "),
            "ask": "; ".join(each.doubts.values()),
            "forms": _forms(each),
            "blank": "" if leak else _blank(each),
        }
        facts += [(title, f"{of}{text}") for title, text in words.items() if text]
    if any(each.kinds_are_guessed for each in proposal.tables):
        facts.append(("kinds", _GUESSED))
    if proposal.tables[0].table.source.kind != "postgres":
        risk = f"`discreet risk {how}{quote(files[0])}` shows whom the rows would single out"
        facts.append(("risk", f"{risk}; of noisy answers, ε bounds what they tell about anyone"))
    facts.append(("next", f"read and correct {output}, then ask:"))
    body = Table.grid(padding=(0, 2, 0, 0))
    for title, text in facts:
        body.add_row(Text(title, style="bold"), Text(printable(text)))
    if is_one:
        say()
    show(body)
    say()
    say_command(_first_question(proposal, output))


def _forms(proposal: TableProposal) -> str:
    """The declarations that would make numbers or dates of columns of texts."""
    from discreet.tables.schema.toml_values import value

    listed = [
        f"{name} is {'dates' if 'format' in form else 'numbers'} with "
        + ", ".join(f"{option} = {value(said)}" for option, said in form.items())
        for name, form in proposal.forms.items()
    ]
    return f"{cut_list(listed, 8, '; ')}, and its kind" if listed else ""


def _listing(proposal: TableProposal, *, whole: bool) -> RenderableType:
    """The columns of a table, each with its declaration and where that came from; only the first of many."""
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
    """The proposed unit, and what the custodian should check about it."""
    unit = proposal.table.unit
    if unit is None:
        return f"found along {', '.join(map(str, proposal.table.links))}: right if that says whose row it is"
    if unit.is_row:
        return (
            "row: right only if nobody can have two rows; otherwise name the column that says whose row it is: --unit"
        )
    others = f" ({', '.join(proposal.ids[1:])} could also be it: --unit)" if proposal.ids[1:] else ""
    return f"{unit}, which says whose row it is{others}"


def _limits(proposal: TableProposal) -> str:
    """How many rows of a unit count, or what to do if that isn't known."""
    from discreet.tables.schema.toml import dotted

    table = proposal.table
    if table.unit is not None and table.unit.is_row:
        return ""
    if table.limits is not None:
        return f"{limits_to_read(table.limits)} of each unit; if one may have more, say how many"
    return (
        "none, because names don't say how many rows one unit may have. Write limits = { rows = … } from what you "
        f"know, under [{dotted(('tables', table.name))}]; until then, each question states its own, --limits 20, or "
        "has them chosen privately"
    )


def _whose(proposal: TableProposal) -> str:
    """Asks whose the rows are, if several seem to be one person's. It was seen in the data, so it isn't written."""
    if not proposal.candidates:
        return ""
    alone = " or ".join(f"--unit {each.column}" for each in proposal.candidates if not each.beside)
    ways = alone or "combine both into one column for --unit"
    return f"{'; '.join(map(str, proposal.candidates))}. If that says whose row it is, protect them: {ways}"


def _leaks(proposal: TableProposal) -> str:
    """The advice about what was read off the data."""
    leaks = ", ".join((*(["the unit"] if proposal.unit_is_read else []), *proposal.leaks))
    return leaks and f"read off the data: {leaks}; replace them by what the columns may hold, or leave out --leak"


def _blank(proposal: TableProposal) -> str:
    """The advice about columns of which only the kind is declared."""
    blank = [each.column.name for each in proposal.suggestions if each.is_open]
    return f"{cut_list(blank)}: fill in what the columns may hold; --leak proposes what the data has" if blank else ""


def _first_question(proposal: Proposal, output: Path) -> str:
    """A first question, safe to paste into a shell whatever the table is called.

    Where a unit may have any number of rows it counts units, which takes no limit.
    """
    first = proposal.tables[0]
    counted = "*" if first.table.limits is not None else f"DISTINCT {_named(first.choice.tells or '')}"
    question = f"SELECT COUNT({counted}) AS n FROM {_named(first.table.name)}"  # noqa: S608 — shown, not run
    shown = quote(question) if '"' in question else f'"{question}"'
    where = "" if output == options.CONFIG else f" -c {quote(str(output))}"
    return f"discreet ask {shown} --epsilon 0.1{where}"


def _named(name: str) -> str:
    """A name as SQL has it, quoted where it must be."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'
