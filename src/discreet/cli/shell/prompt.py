"""The prompt: lines that are edited, remembered and completed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import create_output
from pygments.lexers.sql import SqlLexer

from discreet.cli.shell.completion import Words
from discreet.cli.shell.statements import cut
from discreet.errors import InvalidArgument
from discreet.private_files import CLOSE, IS_OPEN, is_open

_FIRST, _NEXT = "discreet> ", "       -> "


class Prompt:
    """The place where statements are typed.

    Args:
        schema: the declarations of what may be asked about, for completion.

    Raises:
        InvalidArgument: others can read the history.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        keys = KeyBindings()
        keys.add("enter")(_enter)
        self._session: PromptSession[str] = PromptSession(
            _FIRST,
            multiline=True,
            prompt_continuation=_NEXT,
            history=_history(),
            completer=_Completer(Words(schema)),
            complete_while_typing=False,
            key_bindings=keys,
            lexer=PygmentsLexer(SqlLexer),
            output=create_output(always_prefer_tty=not sys.stdout.isatty()),
        )

    def read(self) -> str:
        """One or several statements, all of them complete.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D, where nothing is typed.
        """
        return self._session.prompt()


def _enter(event: KeyPressEvent) -> None:
    """Take what is typed if it is complete, else begin another line."""
    buffer = event.current_buffer
    if cut(buffer.text)[1]:
        buffer.newline(copy_margin=False)
    else:
        buffer.validate_and_handle()


class _Completer(Completer):
    """What may be meant by the word before the cursor."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 — as it is called
        """The words that begin as what is typed does."""
        begun, found = self._words.for_(document.text_before_cursor)
        return [Completion(word, -len(begun), display_meta=kind) for word, kind in found]


def _history() -> History:
    """What was typed before, in a file of the user's state that nobody else can read; none if none can be kept.

    Raises:
        InvalidArgument: others can read it.
    """
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME", "")
    with suppress(OSError, RuntimeError):  # no home, or one that can't be written to
        folder = (Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state") / "discreet"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "shell_history"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        if is_open(path):
            raise InvalidArgument(f"the history {str(path)!r} {IS_OPEN}", hint=CLOSE)
        return FileHistory(path)
    return InMemoryHistory()
