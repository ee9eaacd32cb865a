"""Help texts: each with an example, and laid out so that nothing of it is lost in a narrow terminal."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from shutil import get_terminal_size
from typing import Any, Protocol

import typer
from typer.core import TyperCommand, TyperGroup

from discreet.cli.show.screen import ENDLESS

NARROW = 80
"""In fewer columns than these, frames would leave too little room, and names of options would be cut."""

_COUNT = '"SELECT COUNT(*) AS n FROM census WHERE age >= 40"'

EXAMPLES: Mapping[str, str] = {
    "discreet": f"discreet ask {_COUNT} --epsilon 0.1",
    "discreet demo": "discreet demo --save census.csv",
    "discreet init": "discreet init census.csv",
    "discreet admit": "discreet admit --report",
    "discreet declare": "discreet declare",
    "discreet tables": "discreet tables --format json",
    "discreet explain": f"discreet explain {_COUNT} --epsilon 0.1",
    "discreet ask": f"discreet ask {_COUNT} --epsilon 0.1",
    "discreet shell": "discreet shell --epsilon 0.1",
    "discreet summary": "discreet summary census --epsilon 0.5",
    "discreet ledger": "discreet ledger create",
    "discreet ledger create": "discreet ledger create --config discreet.toml",
    "discreet ledger backup": "discreet ledger backup census.copy --with-key",
    "discreet ledger restore": "discreet ledger restore census.copy --head witnessed.jsonl",
    "discreet serve": "discreet serve --host 0.0.0.0 --certificate cert.pem --key key.pem",
    "discreet token": "discreet token create ann",
    "discreet token create": "discreet token create ann --days 30 --share 1/2 --renews monthly",
    "discreet token list": "discreet token list --format json",
    "discreet token revoke": "discreet token revoke 0a1b2c3d4e5f",
    "discreet request": "discreet request list",
    "discreet request create": f"discreet request create {_COUNT} --epsilon 2 --purpose 'the yearly report'",
    "discreet request list": "discreet request list --format json",
    "discreet request approve": "discreet request approve 0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d --days 7",
    "discreet request deny": "discreet request deny 0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d --reason 'ask by region'",
    "discreet connect": "discreet connect https://gate.example.org --token-file ~/discreet.token",
    "discreet conform": "discreet conform https://localhost:8443 --token accounts.token --spend 0.5",
    "discreet budget": "discreet budget --format json",
    "discreet history": "discreet history --last 5",
    "discreet failures": "discreet failures --format json",
    "discreet verify": "discreet verify --format json",
    "discreet key": "discreet key --format json",
    "discreet witness": "discreet witness witnessed.jsonl",
    "discreet audit": "discreet audit laplace --epsilon 1 --draws 1000",
    "discreet risk": "discreet risk census.csv --quasi-identifying age,sex,zip",
    "discreet anonymize": (
        "discreet anonymize census.csv --quasi-identifying age,sex --k 5 --suppression 5% --output safer.csv"
    ),
    "discreet attack": "discreet attack averaging --trials 1",
    "discreet deidentify": "discreet deidentify census.csv --identifying name,ssn --keep dob,zip --output rows.csv",
    "discreet uniqueness": "discreet uniqueness census.csv --on dob,zip",
    "discreet generalize": "discreet generalize census.csv --on age,sex --clip age=10..60 --truncate age=1 --k 5",
    "discreet plot": "discreet plot neighbours --epsilon 1 --out neighbours.svg",
    "discreet plot neighbours": "discreet plot neighbours --epsilon 1 --out neighbours.svg",
    "discreet plot loss": "discreet plot loss --epsilon 1 --out loss.svg",
    "discreet plot delta": "discreet plot delta --epsilon 1 --out delta.svg",
    "discreet plot composition": "discreet plot composition --epsilon 0.1 --out composition.svg",
    "discreet plot accuracy": "discreet plot accuracy --out accuracy.svg",
    "discreet plot averaging": "discreet plot averaging --epsilon 0.1 --out averaging.svg",
}
"""An example for each command, by its path; each works as it is, once `discreet init` has run."""


class _Helped(Protocol):
    """The common part of Typer's commands and groups here."""

    epilog: str | None
    rich_markup_mode: Any


def _prepare(command: _Helped, path: str, formatter: Any) -> None:  # noqa: ANN401 — Typer's, without public types
    """Give a command's help its example, and a layout that fits."""
    columns = get_terminal_size().columns
    formatter.width = min(columns, NARROW)
    formatter.write_dl = partial(formatter.write_dl, col_max=formatter.width // 3)
    example = f"Example: `{EXAMPLES[path]}`"
    if command.epilog is None or not command.epilog.startswith("Example: "):
        command.epilog = f"{example}\n\n{command.epilog}" if command.epilog else example
    command.rich_markup_mode = "markdown" if columns >= NARROW else None


class Command(TyperCommand):
    """A command whose help has an example."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 — Typer's, without public types
        """Write the help."""
        _prepare(self, ctx.command_path, formatter)
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group of commands whose help has an example."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 — Typer's, without public types
        """Write the help."""
        _prepare(self, ctx.command_path, formatter)
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 — Typer's, without public types
        """Write what each command does, uncut, where there are no frames."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(ENDLESS)) for name, each in found if each is not None])


def group(name: str, text: str) -> typer.Typer:
    """A command that holds others, even if it holds only one.

    Args:
        name: of the command.
        text: what its help says.
    """
    made = typer.Typer(
        name=name,
        cls=Group,
        help=text,
        rich_markup_mode="markdown",
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(lambda: None)  # without one, a single command would take the group's place
    return made
