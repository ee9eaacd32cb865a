"""The screen: lines of text, folded where a terminal is narrow."""

from __future__ import annotations

import re
import sys
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

ENDLESS = 100_000
"""The width of rules in output to a file or another program, whose lines aren't folded."""

_LINES = 25


def width() -> int | None:
    """The terminal's width, by COLUMNS or its own word; None if output goes to a file or a program."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def console() -> Console:
    """Standard output; plain text, never folded, if it isn't a terminal."""
    from rich.console import Console

    # Without a height, Rich takes 80 columns for the width of a plain terminal, whatever is said.
    return Console(width=width() or ENDLESS, height=_LINES, highlight=False, markup=False, emoji=False)


def error_console() -> Console:
    """Standard error; plain text, one message a line, if it isn't a terminal."""
    from rich.console import Console

    watched = sys.stderr.isatty()
    columns = get_terminal_size().columns if watched else None
    return Console(
        stderr=True,
        width=columns,
        height=_LINES if watched else None,
        soft_wrap=not watched,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show(found: RenderableType) -> None:
    """Print what Rich lays out; off a terminal, without the spaces that it pads lines with."""
    screen = console()
    if screen.is_terminal:
        screen.print(found)
        return
    with screen.capture() as captured:
        screen.print(found)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def say(text: str = "", hang: int | None = None) -> None:
    """Print lines, folded to the terminal's width, but never between a number and its percent sign.

    Args:
        text: one line or several.
        hang: columns that the rest of a folded line is set in; None: as far as the text behind its title, if it has
            one, else a little further than the line.
    """
    limit = width()
    for line in text.split("\n"):
        sys.stdout.write(f"{line if limit is None else folded(line, limit, hang)}\n")


def folded(line: str, limit: int, hang: int | None = None) -> str:
    r"""A line, folded to `limit` columns.

    Examples:
        >>> print(folded("cost       none: the same answer again", 24))
        cost       none: the
                   same answer
                   again
    """
    if len(line) <= limit:
        return line
    lead = len(line) - len(line.lstrip())
    titled = re.match(r"\s*\S+(?: \S+)*?\s{2,}", line)
    wanted = hang if hang is not None else titled.end() if titled else lead + 2
    wanted = wanted if wanted <= limit // 2 else min(lead + 2, limit // 2)
    tied = line.replace(" %", "\u00a0%")
    return fill(tied, limit, subsequent_indent=" " * wanted, break_on_hyphens=False).replace("\u00a0", " ")


def say_command(command: str, indent: int = 4) -> None:
    r"""Print a command that can be pasted into a shell, even if it takes several lines.

    A line ends in a backslash; within a question, where a line break is a space, in nothing.
    """
    limit, lines, line, quote, is_question = width() or ENDLESS, list[str](), " " * indent, "", False
    for word in command.split(" "):
        fits = len(line) + len(word) + 3 <= limit
        if not fits and line.strip() and (not quote or is_question):
            lines.append(line.rstrip() if quote else f"{line.rstrip()} \\")
            line = " " * (indent + 2)
        line += f"{word} "
        for sign in word:
            if sign == quote:
                quote = ""
            elif not quote and sign in "'\"":
                quote, is_question = sign, word[1:].upper() == "SELECT"
    say_whole("\n".join([*lines, line.rstrip()]))


def say_whole(text: str) -> None:
    """Print lines as they are: those that are pasted, or read by a program."""
    sys.stdout.write(f"{text}\n")


MOST_LINES = 30
"""How many lines a section or list shows; the rest is only counted unless --all asks for it."""


def cut_sections(text: str, *, whole: bool) -> str:
    r"""A text with its long sections cut, each saying how many lines were left out.

    Examples:
        >>> cut_sections("title\n" + "  line\n" * 40 + "\nend", whole=False).splitlines()[-3:]
        ['  and 11 more: --all', '', 'end']
    """
    sections = [section.strip("\n").split("\n") for section in text.split("\n\n")]
    for lines in sections:
        left = len(lines) - MOST_LINES
        if left > 1 and not whole:
            lines[MOST_LINES:] = [f"  and {left:,} more: --all"]
    return "\n\n".join("\n".join(lines) for lines in sections)


def say_sections(text: str) -> None:
    """Print sections, which empty lines part; on a terminal their titles stand out.

    A title is the line above lines that are set in.
    """
    if not sys.stdout.isatty():
        say(text)
        return
    from rich.text import Text

    screen, lines, limit = console(), text.split("\n"), width() or ENDLESS
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_title = following.startswith("  ") and line[:1].strip()
        screen.print(Text(folded(line, limit), style="bold" if is_title else ""), soft_wrap=True)
