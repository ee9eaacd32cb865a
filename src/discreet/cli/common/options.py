"""Options that several commands take, each described once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from discreet.cli.show.formats import Format, TextFormat

CONFIG = Path("discreet.toml")
"""Where commands look for the configuration unless told otherwise."""

Config: TypeAlias = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration, which says what is protected, and how.")
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="DISCREET_SERVER",
        help="Ask a server instead, with the token in --token-file or the variable DISCREET_TOKEN.",
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="A file with the token that nobody else can read.")
]
PublicKeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY",
        envvar="DISCREET_KEY",
        help="The public key that must have signed the server's answers; get it from the custodian.",
    ),
]
Fingerprint: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--fingerprint",
        metavar="SHA256",
        envvar="DISCREET_FINGERPRINT",
        help="Trust the one TLS certificate with this fingerprint; get it from the custodian.",
    ),
]
Formatted: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", "-o", metavar="FILE", help="Also draw it, to this .svg or .png file.")
]
Raw: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--raw", help="In CSV for programs: put no ' before texts that a spreadsheet would take for formulas."
    ),
]


def _read(question: str) -> str:
    """The question itself, or standard input for `-`."""
    return sys.stdin.read() if question == "-" else question


TextOrJson: TypeAlias = Annotated[TextFormat, typer.Option("--format", "-f", help="How to write the result.")]
Question: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="QUESTION", callback=_read, help="One SELECT in SQL; - reads it from standard input."),
]
