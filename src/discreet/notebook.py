"""Notebooks: what they show of an object, as HTML in the colours of their own theme, escaped, and without scripts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from discreet.printable import keys_to_read, limits_to_read, printable

MOST = 40
"""How many rows of a table, or lines, are shown; of more it is said how many there are."""

_MINE = ".discreet" * 3  # more particular than what notebooks say of all tables

_STYLE = (
    f"{_MINE}{{line-height:1.45;max-width:76em}}"
    f"{_MINE} .scroll{{overflow-x:auto}}"
    f"{_MINE} table{{border-collapse:collapse;border:0;margin:.3em 0 .5em;font-variant-numeric:tabular-nums}}"
    f"{_MINE} caption{{caption-side:top;text-align:left;color:inherit;font-weight:600;padding:.2em 0"
    ";white-space:nowrap}"
    f"{_MINE} tr{{background:none;border:0}}"
    f"{_MINE} th,{_MINE} td{{border:0;border-bottom:1px solid rgba(128,128,128,.25);padding:.22em 0 .22em 1.6em;"
    "text-align:left;vertical-align:top;max-width:32em;overflow-wrap:anywhere;white-space:normal}"
    f"{_MINE} th{{border-bottom-color:rgba(128,128,128,.7);font-weight:600}}"
    f"{_MINE} th:first-child,{_MINE} td:first-child{{padding-left:0}}"
    f"{_MINE} .number{{text-align:right;white-space:nowrap}}"
    f"{_MINE} .dim{{opacity:.65}}"
    f"{_MINE} svg{{display:block;max-width:100%;margin:.7em 0}}"
    f"{_MINE} dl{{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:.5em 0;font-size:.93em}}"
    f"{_MINE} dt{{font-weight:400;opacity:.65;margin:0;white-space:nowrap}}"
    f"{_MINE} dd{{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}}"
)


def framed(*parts: str) -> str:
    """Parts of HTML below each other, in a style of their own that takes its colours from what is around it.

    Without the style, as where a notebook isn't trusted, it is a plain table and a plain list.
    """
    return f'<div class="discreet"><style>{_STYLE}</style>{"".join(parts)}</div>'


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    dim: Collection[tuple[int, int]] = (),
    caption: str = "",
) -> str:
    """A table, of at most `MOST` rows.

    Args:
        names: of the columns.
        rows: their texts.
        numbers: the places of the columns that are set to the right.
        dim: the cells, by row and column, that say nothing.
        caption: above it.

    Examples:
        >>> table(["n"], [["<b>"]])
        '<div class="scroll"><table><thead><tr><th>n</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table></div>'
    """  # noqa: E501 — one line as it is made
    head = "".join(_cell("th", name, ["number"] * (place in numbers)) for place, name in enumerate(names))
    body = "".join(
        "<tr>"
        + "".join(
            _cell("td", text, ["number"] * (place in numbers) + ["dim"] * ((row, place) in dim))
            for place, text in enumerate(texts)
        )
        + "</tr>"
        for row, texts in enumerate(rows[:MOST])
    )
    title = f"<caption>{_text(caption)}</caption>" if caption else ""
    made = f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    return made + (f'<p class="dim">… and {len(rows) - MOST:,} more rows</p>' if rows[MOST:] else "")


def notes(said: Iterable[tuple[str, str]]) -> str:
    """Lines of a title and a sentence each, in two columns.

    Examples:
        >>> notes([("cost", "ε = 0.1, entry 3")])
        '<dl><dt>cost</dt><dd>ε = 0.1, entry 3</dd></dl>'
    """
    return f"<dl>{''.join(f'<dt>{_text(title)}</dt><dd>{_text(words)}</dd>' for title, words in said)}</dl>"


def titled(text: str) -> str:
    r"""A text whose lines begin with a title or, below one, with blanks, as `notes`.

    Examples:
        >>> titled("cost      ε = 1\nerror     n: ± 3\n          m: ± 4")
        '<dl><dt>cost</dt><dd>ε = 1</dd><dt>error</dt><dd>n: ± 3\nm: ± 4</dd></dl>'
    """
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        title, _, words = line.partition(" ")
        if title or not found:
            found.append((title, words.strip()))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line.strip()}")
    return notes(found)


def lines(text: str) -> str:
    """A text as it is, line by line."""
    return f"<pre>{_text(text)}</pre>"


def schema(declared: Mapping[str, Any]) -> str:
    """What is declared: a table of columns for each table, with its unit and limits above it.

    Args:
        declared: as JSON-ready data, as the public schema has it.
    """
    return "".join(map(_declared, declared["tables"]))


def _declared(found: Mapping[str, Any]) -> str:
    """One declared table."""
    limits = "chosen for each question" if found["limits"] is None else limits_to_read(found["limits"])
    unit = "public" if found["public"] else f"unit {found['unit']}; limits {limits}"
    rows = [
        [
            column["name"],
            column["kind"],
            "" if column["bounds"] is None else "{} to {}".format(*column["bounds"]),
            "" if column["keys"] is None else keys_to_read(column["keys"]),
        ]
        for column in found["columns"]
    ]
    caption = f"{found['name']}: {'; '.join([unit, *found['links']])}"
    return table(("column", "kind", "bounds", "keys"), rows, caption=caption)


def _cell(tag: str, text: str, classes: Sequence[str]) -> str:
    """A cell of a table."""
    said = f' class="{" ".join(classes)}"' if classes else ""
    return f"<{tag}{said}>{_text(text)}</{tag}>"


def _text(text: str) -> str:
    """A text that is shown as it is, whoever wrote it."""
    return escape(printable(text))
