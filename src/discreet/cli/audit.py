"""`discreet audit`: a lower bound on the ε of a mechanism or a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.reporting import reported
from discreet.cli.common.terms import Delta, Dialect, Epsilon, Rho
from discreet.cli.show.formats import Format, TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.audit import Audit

_GALLERY = "gallery"
Subject = Annotated[
    str | None,
    typer.Argument(
        metavar="[SUBJECT]",
        help="A mechanism by name, `gallery` for those broken on purpose, or one SELECT in SQL. If left out, the names "
        "are listed.",
    ),
]


@reported
def audit(  # noqa: PLR0913 — each is an option of the command
    subject: Subject = None,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    draws: Annotated[
        int | None, typer.Option(metavar="COUNT", min=16, help="How many outputs to draw on each neighbour.")
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="NUMBER", help="The confidence of the bound, between 0 and 1.")
    ] = "0.999",
    format_: options.TextOrJson = TextFormat.TABLE,
    config: options.Config = options.CONFIG,
    dialect: Dialect = "duckdb",
) -> None:
    """Try to break a mechanism or a question, and print a lower bound on its ε, at a confidence.

    It draws outputs on two neighbours and tells them apart as well as it can. An audit can reject a claim, but never
    prove one. A mechanism is audited at the offered ε (by default 1) and δ (1e-6).

    A question is audited on the custodian's own data: it takes away one unit after another, and draws answers over and
    over from a throw-away account. What it prints isn't private. The exit code is 6 if a claim is rejected.
    """
    with working("auditing"):
        found = _found(subject, epsilon, delta, rho, draws, confidence, config, dialect)
    if not found:
        _list(format_)
    elif format_ is TextFormat.JSON:
        show_json(found[0].to_dict() if subject != _GALLERY else [one.to_dict() for one in found])
    elif subject == _GALLERY:
        Sheet(
            ("mechanism", "claim", "bound", "verdict"),
            [(one.subject, str(one.claim), one.bound, "rejected" if one.rejects else "missed") for one in found],
        ).show(Format.TABLE)
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
    """Run the audits that were asked for; none if nothing was named."""
    from discreet.audit.named_mechanisms import BROKEN, audit_named

    if subject is None:
        return []
    if len(subject.split()) == 1:
        if rho is not None:
            raise InvalidArgument("a mechanism is audited at an epsilon", hint="--rho is for questions")
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


def _list(format_: TextFormat) -> None:
    """Print the names of what can be audited."""
    from discreet.audit.gallery import GALLERY
    from discreet.audit.named_mechanisms import BROKEN, SOUND

    if format_ is TextFormat.JSON:
        show_json({"sound": list(SOUND), "broken": list(BROKEN)})
        return
    for name in SOUND:
        say(name)
    for name, broken in zip(BROKEN, GALLERY, strict=True):
        say(f"{name}: broken, {broken.wrong}")
