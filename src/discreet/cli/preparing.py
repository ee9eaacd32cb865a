"""Preparing tables: `discreet init` proposes how to protect them, `discreet admit` puts what they hold in force."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.app import ExitCode, reported
from discreet.cli.common import options
from discreet.cli.common.screen import (
    MOST_LINES,
    counting,
    cut_list,
    error_console,
    limits_to_read,
    number_of,
    say,
    say_command,
    say_whole,
    show,
    working,
)
from discreet.cli.common.tables import Written, is_incomplete, with_written
from discreet.errors import ConfigError, DiscreetError, InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.gateway import AdmissionReport
    from discreet.tables import Dataset, Source
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
    that lead to one person are never told. Where several rows look as if they were one person's, it asks whose they
    are. How a text file is written (kinds, decimal mark, order of dates) is guessed from its cells, and said to be.
    Links between tables are proposed by the names of columns alone. The ledger is created beside the configuration; one
    that is there is kept, with what was spent.
    """
    from discreet.tables.proposals import propose_together

    if how.table is not None and len(files) > 1:
        raise InvalidArgument("--table names a table inside of one database", hint="give one file, or no --table")
    if output.exists() and not force:  # a configuration holds a custodian's decisions
        raise ConfigError(f"the file {str(output)!r} is there already", hint="--force replaces it; --output spares it")
    with working("looking at the table" if len(files) == 1 else "looking at the tables"):
        sources = [how.source(file) if file == files[0] else how.source_beside(files[0], file) for file in files]
        said = [unit if number == 0 else None for number in range(len(sources))]
        proposal = propose_together(
            _looks(sources, said, strict=strict, leak=leak), leak=leak, strict=strict, unit=unit
        )
        found = [each.choice.tells for each in proposal.tables]
        if leak and found != said:  # values are told that many units have: count these, then
            looks = _looks(sources, found, strict=strict, leak=leak)
            proposal = propose_together(looks, leak=leak, strict=strict, unit=unit)
    proposal = _with_ledger_beside(proposal, output)
    _begin(proposal, output, force=force)
    _show_proposal(proposal, output, files, how, leak=leak, whole=all_)


def _looks(sources: Sequence[Source], units: Sequence[str | None], *, strict: bool, leak: bool) -> list[ProposalInput]:
    """A look at each table; another where the first shows that it is written in another way, or whose its rows are."""
    from discreet.gateway import inspect
    from discreet.tables.proposals import ProposalInput, likely_unit, shared_names

    ids = shared_names([inspect(each, peek=False)[0] for each in sources]) if len(sources) > 1 else frozenset()
    looks = []
    for said, unit in zip(sources, units, strict=True):
        columns, profile, source = inspect(said, peek=not strict, unit=unit, ids=ids)
        seen = source if profile is None or profile.written is None else profile.written.source
        if guessed := seen != source:
            columns, profile, source = inspect(seen, peek=True, unit=unit, ids=ids)
        if leak and unit is None and profile is not None and profile.numbers and likely_unit(columns).tells is None:
            columns, profile, source = inspect(seen, peek=True, unit=profile.numbers[0].column, ids=ids)
        looks.append(ProposalInput(columns=columns, source=source, profile=profile, guessed=guessed))
    return looks


def _with_ledger_beside(proposal: Proposal, output: Path) -> Proposal:
    """The proposal with the ledger beside the configuration: the table's folder may be nobody's to write to."""
    ledger = output.absolute().parent / Path(proposal.dataset.ledger).name
    return replace(proposal, dataset=replace(proposal.dataset, ledger=str(ledger)))


def _begin(proposal: Proposal, output: Path, *, force: bool) -> None:
    """Write the configuration and open the account; where it refuses, the configuration is as it was."""
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
    facts.append(("risk", _risk(files[0], how)))
    facts.append(("next", f"read {output} and mend it, then ask:"))
    body = Table.grid(padding=(0, 2, 0, 0))
    for title, text in facts:
        body.add_row(Text(title, style="bold"), Text(printable(text)))
    if is_one:
        say()
    show(body)
    say()
    say_command(_first_question(proposal, output))


def _forms(proposal: TableProposal) -> str:
    """What would read columns that are texts now, as it is declared of each."""
    from discreet.tables.schema.config_writer import value

    listed = [
        f"{name} is {'dates' if 'format' in form else 'numbers'} with "
        + ", ".join(f"{option} = {value(said)}" for option, said in form.items())
        for name, form in proposal.forms.items()
    ]
    return f"{cut_list(listed, 8, '; ')}, and its kind" if listed else ""


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
    unit = proposal.table.unit
    if unit is None:
        return f"found along {', '.join(map(str, proposal.table.links))}: right if that tells whose row it is"
    if unit.is_row:
        return "row: right only if nobody can have two rows; else name the column that tells whose row it is: --unit"
    others = f" ({', '.join(proposal.ids[1:])} could be, too: --unit)" if proposal.ids[1:] else ""
    return f"{unit}, which tells whose row it is{others}"


def _limits(proposal: TableProposal) -> str:
    """How many rows of a unit count, and what to do where that isn't known."""
    from discreet.tables.schema.toml import dotted

    table = proposal.table
    if table.unit is not None and table.unit.is_row:
        return ""
    if table.limits is not None:
        return f"{limits_to_read(table.limits)} of each unit; if one may have more, say how many"
    return (
        "none: how many rows one unit may have, names don't say. Write limits = { rows = … } from knowledge, under "
        f"[{dotted(('tables', table.name))}]; until then each question says its own: --limits 20, or auto"
    )


def _whose(proposal: TableProposal) -> str:
    """The question whether rows are somebody's else, where they look so; seen in the data, and not in the file."""
    if not proposal.candidates:
        return ""
    alone = " or ".join(f"--unit {each.column}" for each in proposal.candidates if not each.beside)
    ways = alone or "make one column of both, for --unit"
    return f"{'; '.join(map(str, proposal.candidates))}. If it says whose a row is, protect them: {ways}"


def _leaks(proposal: TableProposal) -> str:
    """What to do about what was read off the data."""
    leaks = ", ".join((*(["the unit"] if proposal.unit_is_read else []), *proposal.leaks))
    return leaks and f"read off the data: {leaks}; replace by what the column may hold, or leave --leak out"


def _blank(proposal: TableProposal) -> str:
    """What to do about the columns of which only the kind is declared."""
    blank = [each.column.name for each in proposal.suggestions if each.is_open]
    return f"{cut_list(blank)}: fill in what the column may hold; --leak proposes what the data has" if blank else ""


def _first_question(proposal: Proposal, output: Path) -> str:
    """A question to begin with, safe to be pasted into a shell whatever the table is called.

    Where a unit may have any number of rows it counts units, which takes no limit.
    """
    first = proposal.tables[0]
    counted = "*" if first.table.limits is not None else f"DISTINCT {_named(first.choice.tells or '')}"
    question = f"SELECT COUNT({counted}) AS n FROM {_named(first.table.name)}"  # noqa: S608 — shown, not run
    shown = quote(question) if '"' in question else f'"{question}"'
    where = "" if output == options.CONFIG else f" -c {quote(str(output))}"
    return f"discreet ask {shown} --epsilon 0.1{where}"


def _named(name: str) -> str:
    """A name as a question has it."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


# ── Admissions ────────────────────────────────────────────────────────────────────────────────────────────────────────


@reported
def admit(  # noqa: PLR0913 — each is an option of the command
    *,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Say what couldn't be read, by column; how many rows units have, and what limits would cut off. "
            "It isn't private.",
        ),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Read everything, put nothing in force.")] = False,
    scheduled: Annotated[
        bool,
        typer.Option(
            "--scheduled", help="Advance the version whatever happens; if nothing can be read, serve what there was."
        ),
    ] = False,
    at_most_unreadable: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="Refuse a table of which more can't be read, instead of what it declares: 5%, 0.05, 0.",
        ),
    ] = None,
    skip_malformed: Annotated[
        bool, typer.Option("--skip-malformed", help="Leave malformed records of text files out, instead of refusing.")
    ] = False,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only the tables of this refresh group; '' is those that name none."),
    ] = None,
    keep: Annotated[int, typer.Option(metavar="COUNT", min=0, help="Keep so many earlier snapshots.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Read the tables once, into a snapshot that questions are asked of: the next version.

    The number of the version goes up whether or not anything changed, so that it says nothing about the tables. A row
    that can't say whose it is, is left out; a value that can't be read as what it is declared to be is NULL. Until this
    is run again, nobody looks at the sources.

    With --scheduled the exit code is 7 where the sources couldn't be read and the earlier snapshot serves again.
    """
    from discreet.gateway import admissions_of
    from discreet.service import report_to_json
    from discreet.tables import load_config

    dataset = load_config(config)
    most = None if at_most_unreadable is None else options.share_of(at_most_unreadable, "--at-most-unreadable")
    sized = report or as_json
    with (
        admissions_of(_skipping(dataset) if skip_malformed else dataset) as admissions,
        counting("reading") as progress,
    ):
        if check:
            done = admissions.check(group=group, progress=progress, at_most_unreadable=most, sized=sized)
        elif scheduled:
            done = admissions.admit_on_schedule(
                group=group, progress=progress, at_most_unreadable=most, keep=keep, sized=sized
            )
        else:
            done = admissions.admit(group=group, progress=progress, at_most_unreadable=most, keep=keep, sized=sized)
    if as_json:
        say_whole(json.dumps(report_to_json(done), ensure_ascii=False))
    else:
        _show_admission(done, report=report)
    if done.problem:
        raise typer.Exit(ExitCode.SERVED_AGAIN)


def _show_admission(done: AdmissionReport, *, report: bool) -> None:
    """What was done, in words."""
    if done.version is None:
        say("nothing was put in force")
    for group, version in done.groups.items():
        say(f"version {version} is in force{f', of {group}' if group else ''}")
    if done.problem:
        error_console().print(f"the sources couldn't be read, so the earlier snapshot serves again: {done.problem}")
    for name, found in done.tables.items():
        lost = found["left_out"] + found["malformed"]
        if report:
            rows, records = number_of(found["rows"], "row", "rows"), number_of(lost, "record", "records")
            say(f"{name}: {rows}; {records} left out")
            for line in _lines(found):
                say(f"  {line}")
        elif is_incomplete(found):
            say(f"{name}: not everything could be read; --report says what")


def _lines(found: Mapping[str, Any]) -> list[str]:
    """What was left out of a table, a line each."""
    lines = []
    if found["left_out"]:
        of_ids = found.get("unreadable_ids", 0)
        unread = f"; of {of_ids:,} because it couldn't be read" if of_ids else ""
        rows = number_of(found["left_out"], "row doesn't say whose it is", "rows don't say whose they are")
        lines.append(rows + unread)
    beyond = found["beyond_most_rows_per_unit"]
    if beyond["units"]:
        units = number_of(beyond["units"], "unit has", "units have")
        rows = number_of(beyond["rows"], "row", "rows")
        lines.append(f"{units} more rows than most_rows_per_unit; {rows} beyond it left out")
    if found["malformed"]:
        first = ", ".join(map(str, found["malformed_lines"][:10]))
        where = f"; the first on lines {first}" if found["malformed"] > 1 else f", on line {first}"
        causes = ", ".join(f"{count:,} {cause}" for cause, count in found.get("malformed_causes", {}).items())
        lines.append(number_of(found["malformed"], "malformed record", "malformed records") + where + f" ({causes})")
    for column, count in found["unreadable"].items():
        unread = number_of(count, "value couldn't be read, and is", "values couldn't be read, and are")
        lines.append(f"{column}: {unread} NULL")
    for column, count in found["cut"].items():
        cut = number_of(count, "text was", "texts were")
        lines.append(f"{column}: {cut} cut to max_length")
    return [*lines, *_unit_sizes(found["units"], found["rows"])] if "units" in found else lines


def _unit_sizes(units: Mapping[str, Any], rows: int) -> list[str]:
    """How many rows units have, and what limits would cut off, a line each; nothing of an empty table."""
    if not units["units"]:
        return []
    if units["greatest"] == 1:
        lines = [f"each of {units['units']:,} units has one row"]
    else:
        quantiles = ", ".join(f"{part} % at most {size:,}" for part, size in units["quantiles"].items())
        greatest = f"{units['greatest']:,} ({_part(units['greatest'], rows)})"
        cut_off = ", ".join(f"{_part(lost, rows)} at {limit}" for limit, lost in units["cut_off"].items())
        lines = [
            f"rows of one unit: {quantiles}; the greatest of {units['units']:,} units has {greatest}",
            f"limits on rows would cut off {cut_off}",
        ]
    for form, each in units["placeholders"].items():
        ids = number_of(each["ids"], "id looks", "ids look")
        counted = number_of(each["rows"], "row", "rows")
        lines.append(f"{ids} like a place-holder ({form}), with {counted}: left out, they are nobody's")
    return lines


def _part(count: int, rows: int) -> str:
    """A part of all rows in per cent, to the digits that are worth it."""
    return f"{100 * count / rows:.3g} %" if rows else "0 %"


def _skipping(dataset: Dataset) -> Dataset:
    """The dataset with malformed records of text files left out."""
    tables = tuple(
        replace(table, source=replace(table.source, skip_malformed=True))
        if table.source.kind in {"csv", "jsonl"}
        else table
        for table in dataset.tables
    )
    return replace(dataset, tables=tables)


@reported
def declare(  # noqa: PLR0913 — what may be weakened, each by name
    *,
    publish: Annotated[
        list[str] | None, typer.Option("--publish", metavar="TABLE", help="Everybody may know this table, every row.")
    ] = None,
    narrow: Annotated[
        list[str] | None,
        typer.Option("--narrow", metavar="TABLE.COLUMN", help="Its bounds, or a table's row ceiling, may be narrower."),
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option("--keys", metavar="TABLE.COLUMN", help="It may have keys that it hadn't.")
    ] = None,
    budget: Annotated[bool, typer.Option("--budget", help="The budget may be greater.")] = False,
    failures: Annotated[bool, typer.Option("--failures", help="More questions may fail.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Put in force what the configuration declares, and show what changed.

    Each change is an entry of the ledger, by whichever command it is seen first. Once something was spent, a change
    that weakens what was promised to those who are in the tables is refused by all of them, but by this one where it is
    named. Name only what is public knowledge: a bound or a list of keys that was read off the data tells what is in it.
    """
    from discreet.gateway import load

    named = {"publish": publish or (), "narrow": narrow or (), "keys": keys or ()}
    weaken = [f"{option} {place.casefold()}" for option, places in named.items() for place in places]
    weaken += [name for name, said in (("budget", budget), ("failures", failures)) if said]
    with load(config, weaken=weaken) as tables:
        changes = tables.changes
    for each in changes:
        say(printable(f"{each.words}{' (weakened by name)' if each.weakens in weaken else ''}"))
    if not changes:
        say("nothing has changed")
