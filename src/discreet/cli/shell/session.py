"""A session: tables that are open, what is set for each question, and the form in which answers are shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import typer

from discreet.cli.ask import confirm, read_first
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.interrupt import Abandoned, Errand
from discreet.cli.common.reporting import Scene
from discreet.cli.shell.commands import Leave, command, setting
from discreet.cli.shell.modes import Mode
from discreet.cli.shell.spelling import in_shell
from discreet.cli.shell.statements import SIGNS, cut
from discreet.cli.show.answers import laid_out, show_answer, show_notes
from discreet.cli.show.entries import Line, price
from discreet.cli.show.plans import show_plan
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_markdown, show_records, show_table
from discreet.cli.show.standing import here
from discreet.cli.show.summaries import show_summary
from discreet.cli.show.waiting import working
from discreet.errors import DiscreetError, SqlSyntax
from discreet.results import Answer, Summary

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan, SessionSettings

Found: TypeAlias = "Answer | Summary | list[Answer]"


class Session:
    """What stays between two statements.

    Args:
        tables: that are asked; whoever opened them closes them.
        settings: what is offered for each question, until it is set otherwise.
        config: the file in which an error's place may lie; None behind a server.
        mode: in which answers are shown.
        analyst: who asks, of tables on this machine whose budget analysts share.
        yes: pay even where a warning says that a question may not be what was meant.
    """

    def __init__(  # noqa: PLR0913 — what a session begins with, each by name
        self,
        tables: Protected | Remote,
        settings: SessionSettings,
        *,
        config: Path | None,
        mode: Mode = Mode.TABLE,
        analyst: str | None = None,
        yes: bool = False,
    ) -> None:
        self.tables, self.settings, self.mode = tables, settings, mode
        self._config, self._analyst, self._yes = config, analyst, yes
        self._left: dict[str, Errand[Found]] = {}

    @property
    def is_waited_for(self) -> bool:
        """Whether a question goes on that somebody stopped waiting for."""
        return not all(errand.is_done for errand in self._left.values())

    def carry_out(self, said: str) -> ExitCode | None:
        """Carry out a statement, and report whatever goes wrong in it.

        Args:
            said: a question, or a command.

        Returns:
            None where it went well; else the exit code of what went wrong. What a person chose not to pay for is 1.

        Raises:
            EOFError: it was the command to leave.
            KeyboardInterrupt: Ctrl-C; what became of a question was said.
        """
        is_command = said.startswith(SIGNS)
        try:
            with Scene(
                as_json=self.mode is Mode.JSON,
                question="" if is_command else said,
                config=self._config,
                spelled=in_shell,
            ):
                try:
                    (command if is_command else Session.ask)(self, said)
                except KeyboardInterrupt:
                    raise Stopped from None
        except Leave:
            raise EOFError from None
        except Stopped:
            raise KeyboardInterrupt from None
        except typer.Abort:
            say("not asked; nothing is charged")
            return ExitCode.REFUSED
        except typer.Exit as ended:
            return ExitCode(ended.exit_code)
        return None

    def plan(self, question: str) -> Plan | RemotePlan:
        """Plan a question at what is set, but for what it says itself.

        Raises:
            QueryError, InvalidArgument, AccessError, ServerError: it is refused.
        """
        from discreet.query.sql import options

        own = options(question, self.settings.show("dialect"))
        terms = self.settings.beside({"analyst": self._analyst}, own)
        with working("planning"):
            return self.tables.plan(question, **terms)

    def explain(self, question: str) -> None:
        """Show the plan of a question, which is free."""
        show_plan(self.plan(question), self.tables, self.mode.elsewhere)

    def ask(self, said: str) -> None:
        """Ask a question and show its answer; or its plan, where it begins with EXPLAIN; or change a setting.

        Raises:
            DiscreetError: it is refused, or fails.
            KeyboardInterrupt: Ctrl-C; whether anything is charged was said.
        """
        from discreet.query.sql import explained

        if cut(said)[0]:
            lines = said.count("\n") + 1
            raise SqlSyntax("a question ends with ; and this one doesn't; nothing was asked", place=(lines, 1))
        if setting(self, said):
            return
        if (inner := explained(said)) is not None:
            self.explain(inner)
            return
        try:
            plan = self.plan(said)
            if plan.digest not in self._left:
                if not self._yes:
                    confirm(plan)
                read_first(self.tables)
        except KeyboardInterrupt:
            say("stopped before it was asked; nothing is charged")
            raise
        self._show(self._answered(plan, said))

    def _answered(self, plan: Plan | RemotePlan, said: str) -> Found:
        """Carry out a plan, or go on waiting for it if it is being carried out.

        Raises:
            KeyboardInterrupt: Ctrl-C; whether the question is paid for was said.
        """
        errand = self._left.pop(plan.digest, None) or self._begun(plan)
        try:
            with working("asking"):
                return errand.wait()
        except Abandoned:
            self._left[plan.digest] = errand
            say(self._standing_of(said))
            raise

    def _begun(self, plan: Plan | RemotePlan) -> Errand[Found]:
        """Begin to carry out a plan; on a server under a key, so that what is sent twice is paid once."""
        asking: Any = self.tables  # each takes plans of its own
        if here(self.tables) is not None:
            return Errand(lambda: asking.ask(plan))
        from discreet.interfaces.client import fresh_key

        key = fresh_key()
        return Errand(lambda: asking.ask(plan, idempotency_key=key))

    def _standing_of(self, said: str) -> str:
        """What became of a question that isn't waited for any more, as far as the ledger knows."""
        entry: Line | None = None
        with suppress(DiscreetError, KeyboardInterrupt):
            entries: Sequence[Line] = self.tables.history()
            questions = (each for each in reversed(entries) if each.kind == "question")
            entry = next((each for each in questions if each.text.strip() == said.strip()), None)
        if entry is None or entry.cost is None:
            return "no longer waited for. It isn't charged yet, but may be: ask it again to go on waiting"
        return (
            f"no longer waited for. Entry {entry.number} is charged, {price(entry.cost)}, and stays so: ask it again "
            "to go on waiting, at no further cost"
        )

    def _show(self, found: Found) -> None:
        """Show an answer."""
        if isinstance(found, Summary):
            show_summary(found, self.tables, self.mode.elsewhere)
        elif isinstance(found, Answer):
            self._show_answer(found, float(self.settings.show("confidence")))

    def _show_answer(self, answer: Answer, confidence: float) -> None:
        """Show the answer to one question."""
        if self.mode is Mode.JSON or self.mode is Mode.CSV:
            show_answer(answer, self.tables, self.mode.elsewhere, confidence)
            return
        rows, right = laid_out(answer, confidence)
        match self.mode:
            case Mode.MARKDOWN:
                show_markdown(answer.names, rows, right=right)
                say()
            case Mode.LINE:
                show_records(answer.names, rows)
            case Mode.TABLE:
                show_table(answer.names, rows, right=right)
            case mode:
                assert_never(mode)
        show_notes(answer, in_shell)


class Stopped(typer.Exit):
    """Ctrl-C, after what became of the question was said."""
