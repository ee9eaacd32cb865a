"""Options that several commands take, each described once."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_type_hints

import typer

from discreet.errors import ConfigError, InvalidArgument

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote
    from discreet.privacy import Bounds, Limits


class Format(StrEnum):
    """How a result is written to standard output."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object; errors are one JSON object too, on standard error."""
    CSV = "csv"
    """Comma-separated, with a header."""
    ARROW = "arrow"
    """An Arrow IPC stream."""


class TextFormat(StrEnum):
    """How a result that isn't a sheet is written."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object."""


CONFIG = Path("discreet.toml")
"""Where commands look for the configuration unless told otherwise."""

Config: TypeAlias = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration that says what is protected, and how.")
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="DISCREET_SERVER",
        help="Ask a server instead, as whoever holds the token in --token-file or the variable DISCREET_TOKEN.",
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="A file with the token, which nobody else can read.")
]
PublicKeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY",
        envvar="DISCREET_KEY",
        help="The public key that the server's answers must be signed by, as the custodian told it.",
    ),
]
Formatted: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]
Raw: TypeAlias = Annotated[
    bool,
    typer.Option("--raw", help="In CSV, put no ' before texts that a spreadsheet takes for formulas; for programs."),
]


def _read(question: str) -> str:
    """The question itself, or standard input for `-`."""
    return sys.stdin.read() if question == "-" else question


TextOrJson: TypeAlias = Annotated[TextFormat, typer.Option("--format", "-f", help="How to write the result.")]
Question: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="QUESTION", callback=_read, help="One SELECT in SQL; - reads it from standard input."),
]
Epsilon: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Offer ε: Laplace noise. Exact: 0.1 or 1/10.")
]
Delta: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="Offer δ: for groups that aren't public, and for Gaussian noise where that errs less."
    ),
]
Rho: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Offer ρ (zCDP): Gaussian noise.")]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]ERROR",
        help=(
            "Ask for ± this, of every column or of one, at the least cost that gives it: 50, or 5%@1000 for 5 % of "
            "every value of at least 1,000. With --epsilon or --rho: at that cost at the most. May be repeated."
        ),
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=NUMBER",
        help="Share the offer so that this column's relative error counts so many times. May be repeated.",
    ),
]
Expecting: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="ROWS",
        min=1,
        help="About how many rows a group has: for so many, the ± of averages and ratios is told; 1,000 if left out.",
    ),
]
LimitsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--limits",
        metavar="LIMITS",
        help=(
            "Limit what a unit contributes to this question: 50 rows in all, 50in8 for 50 rows in 8 groups, 5x10 for "
            "10 rows in each of 5 groups, or auto to have limits chosen privately, for a tenth of the offer."
        ),
    ),
]
BoundsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--bounds",
        metavar="COLUMN=LO..HI",
        help=(
            "Move a column's values into these bounds, or into bounds that are chosen privately, for a tenth of the "
            "offer: income=auto. May be repeated."
        ),
    ),
]
Consistent: TypeAlias = Annotated[
    bool, typer.Option("--consistent", help="Make the groups of ROLLUP add up to their totals.")
]
CutOff: TypeAlias = Annotated[
    bool, typer.Option("--cut-off", help="Measure what limits cut off and bounds move, for a tenth of the offer.")
]
Dialect: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The SQL dialect of the question.")]
Analyst: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who asks, where analysts have budgets of their own.")
]

Confidence: TypeAlias = Annotated[
    float, typer.Option(metavar="NUMBER", help="Of the intervals, and of --within, between 0 and 1.")
]


class TermOption(NamedTuple):
    """The option of one term of an offer.

    Args:
        kind: as Typer takes it.
        default: of the option.
        read: makes the term of what was typed.
    """

    kind: Any
    default: Any = None
    read: Callable[[Any], Any] = lambda typed: typed


def by_column(given: list[str] | None) -> dict[str, str] | None:
    """What is asked of columns, by column; `*` stands for every column that isn't named.

    Examples:
        >>> by_column(["n=5%@1000", "2"])
        {'n': '5%@1000', '*': '2'}
    """
    if not given:
        return None
    parts = [one.rpartition("=") for one in given]
    return {name if equals else "*": number for name, equals, number in parts}


def bounds_of(given: list[str] | None) -> dict[str, Bounds | Literal["auto"]] | None:
    """The bounds of columns.

    Raises:
        InvalidArgument: one isn't `COLUMN=LO..HI` or `COLUMN=auto`.

    Examples:
        >>> print(bounds_of(["age=0..110", "income=auto"])["age"])
        [0, 110]
    """
    from discreet.privacy import Bounds

    found: dict[str, Bounds | Literal["auto"]] = {}
    for one in given or ():
        name, _, ends = one.rpartition("=")
        lo, dots, hi = ends.partition("..")
        if not name or (ends.lower() != "auto" and not dots):
            raise InvalidArgument(f"bounds can't be {one!r}", hint="income=0..100000, or income=auto")
        found[name] = "auto" if not dots else Bounds(lo, hi)
    return found or None


def limits_of(text: str | None) -> Limits | Literal["auto"] | None:
    """The limits in one of their shapes.

    Raises:
        InvalidArgument: it is none of them.

    Examples:
        >>> for text in ("5x10", "50", "50in8"):
        ...     print(limits_of(text))
        5 groups × 10 rows
        50 rows
        50 rows in 8 groups
    """
    from discreet.privacy import Limits

    if text is None:
        return None
    if text.lower() == "auto":
        return "auto"
    for shape in _SHAPES:
        found = shape.fullmatch(text)
        if found is not None:
            return Limits(**{name: int(number) for name, number in found.groupdict().items()})
    raise InvalidArgument(f"limits can't be {text!r}", hint="50, 50in8, 5x10 or auto")


_SHAPES = [
    re.compile(shape, re.ASCII | re.IGNORECASE)
    for shape in (
        r"(?P<rows>\d{1,10})",
        r"(?P<rows>\d{1,10})in(?P<groups>\d{1,10})",
        r"(?P<groups>\d{1,10})[x×](?P<rows_per_group>\d{1,10})",
    )
]


def share_of(text: str, name: str) -> Fraction:
    """A share, exactly: a number, or one in percent.

    Raises:
        InvalidArgument: it isn't one from 0 to 1.

    Examples:
        >>> share_of("5%", "suppression"), share_of("0.1", "suppression"), share_of("1/3", "t")
        (Fraction(1, 20), Fraction(1, 10), Fraction(1, 3))
    """
    from discreet.exact.rational import rational

    number = text.strip()
    share = rational(number.removesuffix("%").strip(), name) / (100 if number.endswith("%") else 1)
    if not 0 <= share <= 1:
        raise InvalidArgument(f"{name} is a share, from 0 to 1, not {text}", hint="5%, 0.05 or 1/20")
    return share


TERMS: Mapping[str, TermOption] = {
    "epsilon": TermOption(Epsilon),
    "delta": TermOption(Delta),
    "rho": TermOption(Rho),
    "within": TermOption(Within, read=by_column),
    "weights": TermOption(Weights, read=by_column),
    "expecting": TermOption(Expecting),
    "limits": TermOption(LimitsOption, read=limits_of),
    "bounds": TermOption(BoundsOption, read=bounds_of),
    "consistent": TermOption(Consistent, default=False),
    "cut_off": TermOption(CutOff, default=False),
    "analyst": TermOption(Analyst),
    "confidence": TermOption(Confidence, default=0.95),
    "dialect": TermOption(Dialect, default="duckdb"),
}
"""The options of what may be said beside a question, as `discreet.query.planner.Terms` has them."""


def offering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each term; it is handed all of them as `terms`."""

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 — what Typer read of options
        terms = {name: option.read(given.pop(name)) for name, option in TERMS.items()}
        command(**given, terms=terms)

    own = [
        each.replace(annotation=get_type_hints(command, include_extras=True)[each.name])
        for each in signature(command).parameters.values()
        if each.name != "terms"
    ]
    offered = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=option.default, annotation=option.kind)
        for name, option in TERMS.items()
    ]
    shown = [own[0], *offered, *own[1:]]
    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def unfolded(place: str, kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give commands an option for each field of a dataclass, in the place of one parameter.

    Args:
        place: the parameter.
        kind: the dataclass; each field is annotated as Typer takes it, and has a default.
    """
    options = get_type_hints(kind, include_extras=True)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: object, **kwargs: Any) -> None:  # noqa: ANN401 — what Typer read of options
            made = kind(**{name: kwargs.pop(name) for name in options})
            command(*args, **{place: made}, **kwargs)

        own, taken = signature(command, eval_str=True), list[Parameter]()
        for each in own.parameters.values():
            if each.name != place:
                taken.append(each)
                continue
            taken += [
                Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(kind(), name), annotation=option)
                for name, option in options.items()
            ]
        vars(run)["__signature__"] = own.replace(parameters=taken)
        run.__annotations__ = {each.name: each.annotation for each in taken}
        return run

    return decorate


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where questions go: to the tables of a configuration, or to a server.

    Args:
        config: path of the configuration.
        server: address of the server, if there is one.
        token_file: that holds the token for it.
        key: that its answers must be signed by; None to take its word for it.
    """

    config: Config = CONFIG
    server: Server = None
    token_file: TokenFile = None
    key: PublicKeyOption = None

    def opened(self) -> Protected | Remote:
        """The tables behind their account, here or behind the server.

        Raises:
            ConfigError, LedgerError: as for `opened`.
            InvalidArgument: the address or the token is of no use, or both places are named.
        """
        if self.server is None:
            return opened(self.config)
        if self.config != CONFIG:
            raise InvalidArgument(
                "a question goes to a server or to a configuration, not to both",
                hint="leave out --config, or --server and the variable DISCREET_SERVER",
            )
        return reached(self.server, self.token_file, self.key)


def reached(server: str, token_file: Path | None, key: str | None) -> Remote:
    """The tables behind a server; who waits is shown so by the command.

    Raises:
        InvalidArgument: the address, the token or the key is of no use.
    """
    from discreet.interfaces.client import connect

    return connect(server, token_file, key=key, progress=lambda _: None)


somewhere = unfolded("where", Where)
"""Gives a command the options that say where questions go, in the place of its parameter `where`."""


def opened(config: Path) -> Protected:
    """The tables of a configuration behind their account.

    Args:
        config: path of the configuration.

    Raises:
        ConfigError: it is missing, or can't be read as a configuration.
        LedgerError: the account can't be used.
    """
    from discreet.gateway import load

    if config == CONFIG and "DISCREET_SERVER" in os.environ and not config.exists():
        raise ConfigError(
            f"there is no file {str(config)!r}, and this command asks no server",
            hint="it works where the ledger is, beside its discreet.toml; DISCREET_SERVER is for questions",
        )
    return load(config)
