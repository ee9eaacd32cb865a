"""`discreet shell`: at a prompt, or from a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.ask import Yes
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.extras import require_extras
from discreet.cli.common.reporting import end_at_once, reported
from discreet.cli.common.terms import Analyst, Delta, Epsilon, Rho, Within
from discreet.cli.common.where import Where, somewhere
from discreet.cli.shell.modes import Mode
from discreet.cli.shell.session import Session
from discreet.cli.shell.statements import cut
from discreet.cli.show.screen import say
from discreet.cli.show.standing import here, of_everyone
from discreet.cli.show.waiting import working
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.cli.shell.prompt import Prompt


@reported
@somewhere
def shell(  # noqa: PLR0913 — what a session begins with, each by name
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    within: Within = None,
    analyst: Analyst = None,
    mode: Annotated[Mode, typer.Option("--mode", help="How answers are shown.")] = Mode.TABLE,
    yes: Yes = False,
    where: Where,
) -> None:
    r"""Ask question after question in one process, which is much faster than a command for each.

    A question ends with a semicolon, may take several lines, and is asked at what is set: `\set epsilon 0.1`. Commands
    begin with a backslash or a point; `\h` lists them. Tab completes names of tables and columns, keys, functions and
    settings. Ctrl-C cancels the line, or stops waiting for an answer, and says whether it is charged; Ctrl-D leaves.

    If standard input isn't a terminal, the statements in it are carried out one after the other, until one goes wrong:
    the rest isn't asked, and the exit code is that of its error. The history of what was typed is kept in a file that
    nobody else can read; answers aren't.
    """
    from discreet.query.planner import SessionSettings

    at_prompt = sys.stdin.isatty()
    if at_prompt:
        require_extras("shell", doing="a prompt")
    said = {"epsilon": epsilon, "delta": delta, "rho": rho, "within": "; ".join(within or ())}
    settings = SessionSettings.of({name: text for name, text in said.items() if text})
    with working("opening"):
        tables = where.opened()
    with tables:
        config = where.config if where.server is None else None
        session = Session(tables, settings, config=config, mode=mode, analyst=analyst, yes=yes)
        if at_prompt:
            from discreet.cli.shell.prompt import Prompt

            _converse(session, Prompt(tables.schema))
        else:
            _follow(session, sys.stdin.read())


def _follow(session: Session, script: str) -> None:
    """Carry out the statements of a script, until one goes wrong.

    Raises:
        Exit: one did.
    """
    statements, rest = cut(script)
    for said in [*statements, *filter(None, [rest.strip()])]:
        try:
            code = session.carry_out(said)
        except EOFError:
            return
        sys.stdout.flush()  # so that a file that takes errors, too, has them in their places
        if code is not None:
            raise typer.Exit(code)


def _converse(session: Session, prompt: Prompt) -> None:
    """Carry out what is typed, until the end of input."""
    with working("connecting"):
        left = of_everyone(session.tables).remaining
    say(printable(f"left       {left}\nhelp       \\h; a question ends with ; and Ctrl-D leaves"))
    warned = False
    while True:
        try:
            for said in cut(prompt.read())[0]:
                code = session.carry_out(said)
                say()
                if code is not None:
                    break  # what was typed or pasted behind it may rest on it
        except KeyboardInterrupt:
            continue
        except EOFError:
            if warned or not session.is_waited_for or here(session.tables) is None:
                break
            warned = True
            say("a question still runs here, and ends with the shell; its cost stays spent: Ctrl-D again leaves")
    if session.is_waited_for:
        end_at_once(ExitCode.OK)
