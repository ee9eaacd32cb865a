"""Requests: `discreet request`, what analysts asked to be approved, and what the custodian says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.help import Command, group
from discreet.cli.common.screen import printable, say
from discreet.cli.common.sheets import Sheet, refuse_binary_to_screen

if TYPE_CHECKING:
    from discreet.ledger import ApprovalRequest

Name: TypeAlias = Annotated[str, typer.Argument(metavar="REQUEST", help="What `discreet request list` calls it.")]
By: TypeAlias = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides; never who made the request.")]

request = group("request", "Questions above a ceiling that analysts asked to be approved.")


@request.command("list", cls=Command)
@reported
def list_(*, format_: options.Formatted = options.Format.TABLE, config: options.Config = options.CONFIG) -> None:
    """Show what analysts asked to be approved: the question, what it costs, what for, and what became of it."""
    refuse_binary_to_screen(format_)
    with options.opened(config) as tables:
        rows = [_row(each) for each in tables.requests.all()]
    Sheet(("request", "name", "question", "epsilon", "rho", "purpose", "state", "until"), rows).show(format_)


@request.command(cls=Command)
@reported
def approve(
    name: Name,
    *,
    days: Annotated[int, typer.Option("--days", min=1, help="For how many days it may be asked.")] = 7,
    any_version: Annotated[
        bool, typer.Option("--any-version", help="Of any version of the tables, not of the one in force alone.")
    ] = False,
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Let a question be asked, once, by who requested it: at the plan that they requested, or not at all.

    Its answer is stored like any other: other analysts may have it for nothing if they may ask the question themselves,
    and anybody may have what follows from it.
    """
    from discreet.gateway import declarations_digest
    from discreet.ledger import Approver
    from discreet.service import terms_of

    with options.opened(config) as tables:
        found = tables.requests.find(name)
        plan = "" if found is None else tables.plan(found.question, **terms_of(found.subject, found.terms)).digest
        approved = tables.requests.approve(
            name,
            Approver(subject=by),
            plan=plan,
            declarations=declarations_digest(tables.dataset),
            days=days,
            any_version=any_version,
        )
    say(f"approved until {approved.until:%Y-%m-%d %H:%M}, for {printable(approved.subject)}")


@request.command(cls=Command)
@reported
def deny(
    name: Name,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="For who requested it.")] = "",
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Deny a request, or take back an approval that wasn't used."""
    from discreet.ledger import Approver

    with options.opened(config) as tables:
        denied = tables.requests.deny(name, Approver(subject=by), reason)
    say(f"denied {name}, of {printable(denied.subject)}")


def _row(found: ApprovalRequest) -> list[str | None]:
    """A request as a line of a sheet."""
    cost = found.cost["exact"]
    return [
        found.id,
        printable(found.subject),
        printable(found.question),
        cost["epsilon"],
        cost["rho"],
        printable(found.purpose),
        str(found.state),
        None if found.until is None else f"{found.until:%Y-%m-%d %H:%M}",
    ]
