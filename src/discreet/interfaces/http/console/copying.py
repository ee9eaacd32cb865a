"""Copying: an answer as others paste it, as a table, and as the lines that ask it again in Python or a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from discreet.privacy import Limits

_FLAGS = ("epsilon", "rho", "delta", "expecting", "confidence")


def in_python(address: str, question: str | Sequence[str], terms: Mapping[str, Any]) -> str:
    """The lines that ask a question from Python.

    Args:
        address: of the server.
        question: or questions.
        terms: of the offer.

    Examples:
        >>> print(in_python("https://gate.example.org", "SELECT COUNT(*) AS n FROM people", {"epsilon": "0.1"}))
        import discreet as dp
        <BLANKLINE>
        with dp.connect("https://gate.example.org", "~/discreet.token") as people:
            answer = people.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.1")
    """
    asked = [_literal(each) for each in ([question] if isinstance(question, str) else question)]
    text = asked[0] if isinstance(question, str) else f"[{', '.join(asked)}]"
    said = "".join(f", {name}={_term(value)}" for name, value in terms.items())
    lines = [
        "import discreet as dp",
        "",
        f'with dp.connect({_literal(address)}, "~/discreet.token") as people:',
        f"    answer = people.ask({text}{said})",
    ]
    return "\n".join(lines)


def on_command_line(address: str, question: str | Sequence[str], terms: Mapping[str, Any]) -> str:
    r"""The command that asks a question; the token is in a file.

    Examples:
        >>> print(on_command_line("https://gate.example.org", "SELECT COUNT(*) FROM people", {"within": {"n": "9"}}))
        discreet ask 'SELECT COUNT(*) FROM people' --within n=9 \
          --server https://gate.example.org --token-file ~/discreet.token
    """
    asked = [question] if isinstance(question, str) else question
    parts = [quote(each) for each in asked]
    for name, value in terms.items():
        if name == "within" and isinstance(value, Mapping):
            parts += [f"--within {quote(f'{column}={wanted}')}" for column, wanted in value.items()]
        elif name == "limits":
            parts.append(f"--limits {quote(limits_as_typed(value))}")
        elif name in (*_FLAGS, "within"):
            parts.append(f"--{name} {quote(str(value))}")
    return f"discreet ask {' '.join(parts)} \\\n  --server {quote(address)} --token-file ~/discreet.token"


def in_markdown(names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    r"""A table in Markdown, whose cells can't break out of it.

    Examples:
        >>> print(in_markdown(["ward", "n"], [{"ward": "A|B", "n": "40 ± 3"}]))
        | ward | n |
        | --- | --- |
        | A\|B | 40 ± 3 |
    """
    lines = [_line(names), _line(["---"] * len(names))]
    return "\n".join([*lines, *(_line([row[name] for name in names]) for row in rows)])


def limits_as_typed(limits: Limits | Mapping[str, int] | str) -> str:
    """Limits as people type them.

    Args:
        limits: as a term, or as JSON has them.

    Examples:
        >>> [limits_as_typed(each) for each in (Limits(rows=50), Limits(rows=50, groups=8), "auto")]
        ['50', '50in8', 'auto']
    """
    if isinstance(limits, str):
        return limits
    limits = Limits(**limits) if isinstance(limits, Mapping) else limits
    if limits.rows is None:
        return f"{limits.groups}x{limits.rows_per_group}"
    return str(limits.rows) if limits.groups is None else f"{limits.rows}in{limits.groups}"


def _line(cells: Sequence[str]) -> str:
    """A line of a table."""
    escaped = (" ".join(each.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for each in cells)
    return f"| {' | '.join(escaped)} |"


def _literal(text: str) -> str:
    """A text as Python has it, over several lines where it has them."""
    if "\n" in text and '"""' not in text and "\\" not in text and not text.endswith('"') and text.isascii():
        return f'"""{text}"""'
    return repr(text) if '"' in text else f'"{repr(text)[1:-1]}"' if "'" not in text else repr(text)


def _term(value: object) -> str:
    """A term as Python has it."""
    if isinstance(value, str):
        return _literal(value)
    return f"dp.{value!r}" if isinstance(value, Limits) else repr(value)
