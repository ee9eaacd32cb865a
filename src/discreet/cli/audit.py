"""Promises, put to the test: `discreet audit`, of a mechanism or a question; `discreet conform`, of a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.app import ExitCode, reported
from discreet.cli.common import options
from discreet.cli.common.screen import Sheet, say, show_json, working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.audit import Audit
    from discreet.interfaces.conformance import Report


# ── Of a mechanism or a question ──────────────────────────────────────────────────────────────────────────────────────

_GALLERY = "gallery"

Subject = Annotated[
    str | None,
    typer.Argument(
        metavar="[SUBJECT]",
        help="A mechanism by name, `gallery` for those broken on purpose, or one SELECT in SQL. None: the names.",
    ),
]


@reported
def audit(  # noqa: PLR0913 — each is an option of the command
    subject: Subject = None,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    rho: options.Rho = None,
    draws: Annotated[
        int | None, typer.Option(metavar="COUNT", min=16, help="How many outputs to draw of each neighbour.")
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="NUMBER", help="Of the bound, between 0 and 1.")] = "0.999",
    format_: options.TextOrJson = options.TextFormat.TABLE,
    config: options.Config = options.CONFIG,
    dialect: options.Dialect = "duckdb",
) -> None:
    """Try to break a mechanism or a question, and print an ε that it has at the least, at a confidence.

    Outputs are drawn for two neighbours and told apart as well as it can. An audit rejects a claim, it never proves
    one. A mechanism is audited at the offered ε (1 if nothing is said) and δ (1e-6).

    A question is audited on the data, which are the custodian's: units are taken away in turn, and answers are drawn
    over and over against a throw-away account. What is printed isn't private. Exit code 6 if a claim is rejected.
    """
    with working("auditing"):
        found = _found(subject, epsilon, delta, rho, draws, confidence, config, dialect)
    if not found:
        _list(format_)
    elif format_ is options.TextFormat.JSON:
        show_json(found[0].to_dict() if subject != _GALLERY else [one.to_dict() for one in found])
    elif subject == _GALLERY:
        Sheet(
            ("mechanism", "claim", "bound", "verdict"),
            [(one.subject, str(one.claim), one.bound, "rejected" if one.rejects else "missed") for one in found],
        ).show(options.Format.TABLE)
    else:
        say(printable(str(found[0])))
    if any(one.rejects for one in found):
        raise typer.Exit(ExitCode.REJECTED)


def _found(  # noqa: PLR0913, PLR0917 — what was said on the command line
    subject: str | None,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    draws: int | None,
    confidence: str,
    config: object,
    dialect: str,
) -> Sequence[Audit]:
    """The audits; none if nothing was named."""
    from discreet.audit.named_mechanisms import BROKEN, audit_named

    if subject is None:
        return []
    if len(subject.split()) == 1:
        if rho is not None:
            raise InvalidArgument("a mechanism is audited at an epsilon", hint="rho is an offer for a question")
        names = list(BROKEN) if subject == _GALLERY else [subject]
        return [
            audit_named(name, epsilon=epsilon or 1, delta=delta or "1e-6", draws=draws, confidence=confidence)
            for name in names
        ]
    from discreet.audit.question import QUESTION_DRAWS, audit_question
    from discreet.query.planner import Terms
    from discreet.tables import load_config

    terms = Terms(epsilon=epsilon, delta=delta, rho=rho, dialect=dialect)
    return [
        audit_question(load_config(str(config)), subject, terms, draws=draws or QUESTION_DRAWS, confidence=confidence)
    ]


def _list(format_: options.TextFormat) -> None:
    """The names of what can be audited."""
    from discreet.audit.gallery import GALLERY
    from discreet.audit.named_mechanisms import BROKEN, SOUND

    if format_ is options.TextFormat.JSON:
        show_json({"sound": list(SOUND), "broken": list(BROKEN)})
        return
    for name in SOUND:
        say(name)
    for name, broken in zip(BROKEN, GALLERY, strict=True):
        say(f"{name}: broken, {broken.wrong}")


# ── Of a server ───────────────────────────────────────────────────────────────────────────────────────────────────────

_PREFIX = "dsc_"


@reported
def conform(  # noqa: PLR0913 — each is an option of the command
    url: Annotated[str, typer.Argument(metavar="URL", help="The server, like https://host:8443.")],
    *,
    token: Annotated[
        list[str],
        typer.Option(
            "--token",
            metavar="FILE",
            envvar="DISCREET_TOKEN",
            help="A file that nobody else can read, with a test account's tokens; or a token. May be said again.",
        ),
    ],
    spend: Annotated[str, typer.Option(metavar="NUMBER", help="The most that may be offered, in ε.")] = "0.5",
    twin: Annotated[
        str | None, typer.Option(metavar="URL", help="A second server, whose tables differ by one person.")
    ] = None,
    canary: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A marked value that no reply may have. May be said again.")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Try this family alone. May be said again.")
    ] = None,
    written: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="What the server writes: its log, its standard error. May be said again."),
    ] = None,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Try on a server what has been done to servers of its kind, over the protocol that strangers use.

    It takes an analyst's token. With those of a second analyst, a custodian, an auditor and an operator it tries more;
    what it couldn't try it says, and never counts as held. Tokens that hold no more may be among them: they are tried,
    too. Use test accounts: questions are asked, and a token is made and revoked.

    No more is offered than `--spend` says, whatever the server charges. That nothing broke proves nothing. Exit code 1
    if something did.
    """
    from discreet.interfaces.conformance import conform as tried

    tokens = [each for said in token for each in _tokens(said)]
    with working("trying"):
        found = tried(
            url, tokens, spend=spend, twin=twin, canaries=canary or (), families=family or None, written=written or ()
        )
    if format_ is options.TextFormat.JSON:
        show_json(found.to_dict())
    else:
        _show_report(found)
    if found.is_broken:
        raise typer.Exit(ExitCode.REFUSED)


def _tokens(said: str) -> list[str]:
    """The tokens in a file; or the one that was said.

    Raises:
        InvalidArgument: there is no such file, or others can read it.
    """
    if said.startswith(_PREFIX):
        return [said]
    path = Path(said)
    if not path.is_file():
        raise InvalidArgument("there is no such file with tokens", hint="--token FILE, or DISCREET_TOKEN")
    if path.stat().st_mode & 0o077:
        raise InvalidArgument("others can read the file with the tokens", hint=f"chmod 600 {printable(said)}")
    return path.read_text(encoding="utf-8").split()


def _show_report(found: Report) -> None:
    """Print the table, what broke, and what it cost."""
    rows = [[each.family, str(each.verdict), each.tries, each.tried] for each in found.findings]
    Sheet(("family", "verdict", "tries", "tried"), rows).show(options.Format.TABLE)
    for each in found.findings:
        for evidence in each.evidence:
            say(printable(f"{each.family}, {each.verdict}: {evidence}"), hang=2)
    offered = sum(float(each.offered) for each in found.findings)
    say(f"offered at the most ε = {offered:.6g}; spent, as the server says: {printable(found.spent)}", hang=2)
