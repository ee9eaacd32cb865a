"""Pages of HTML that fetch nothing, can be sent, printed and kept, and escape every name in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet.errors import ExtraMissing
from discreet.results.charts import NARROW, WIDE, Drawing, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2227; --paper: #fff; --dim: #595f64; --line: #d5d9dc; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e9eb; --paper: #1b2024; --dim: #a3abb1; --line: #3d454b; } }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 48rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.key { font-size: 1.15rem; } .note { color: var(--dim); } code, pre { font-size: .88em; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; border: 1px solid var(--line); padding: .5rem .7rem; }
div.wide { overflow-x: auto; margin-bottom: .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { font-weight: normal; min-width: 7.5rem; overflow-wrap: anywhere; }
td:last-child { overflow-wrap: anywhere; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; white-space: nowrap; }
thead th.n { white-space: normal; } tr :last-child { padding-right: 0; }
dl { display: grid; grid-template-columns: fit-content(9.5rem) 1fr; margin: 0; font-size: .92rem; }
dt, dd { margin: 0; padding: .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
dt { color: var(--dim); padding-right: 1.2rem; }
figure { margin: 1rem 0 1.6rem; overflow-x: auto; } figure svg { max-width: 100%; min-width: 34rem; height: auto; }
figure.paper svg { background: #fff; }
figure .narrow { display: none; }
ol li, ul li { margin-bottom: .4rem; }
.signing { display: flex; flex-wrap: wrap; gap: 2.6rem 2rem; margin-top: 3.2rem; }
.sign { flex: 1 1 12rem; border-top: 1px solid var(--ink); font-size: .85rem; padding-top: .2rem; break-inside: avoid; }
@media (max-width: 30rem) { table { font-size: .8rem; } tbody th { min-width: 5.5rem; }
  th, td { padding-right: .5rem; }
  figure .wide { display: none; } figure .narrow { display: inline; } figure .narrow { min-width: 0; } }
@media print { @page { margin: 16mm; } body { margin: 0; padding: 0; max-width: none; font-size: 10.5pt; }
  h2 { break-after: avoid; } tr, dt, dd, figure, li, .signing { break-inside: avoid; }
  thead { display: table-header-group; } div.wide, figure { overflow: visible; } }
"""

ENDINGS = (".html", ".htm")
"""How a page's file may end."""

REMEDY = (
    "<p>Coarser columns and left-out rows make this table safer, but never safe: two such releases can be intersected, "
    "and a class can say what everyone in it has. Answers with calibrated noise, from a budget, are protected whoever "
    "asks and whatever else they know; <code>discreet init</code> sets that up.</p>"
)
"""The closing words of reports on rows: what protects better."""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page. No line breaks between a number and its percent sign, nor within ε = 1.

    Args:
        title: in words, not escaped.
        parts: of its body, in HTML.

    Examples:
        >>> print(page("a < b", ["<p>so</p>"]).splitlines()[-3])
        <h1>a &lt; b</h1>
    """
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>"
    )
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts])
    body = re.sub(r"(?<=[ερδ]) = ", "\u00a0=\u00a0", re.sub(r"(?<=\d) %", "\u00a0%", body))
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body><main>\n{body}\n</main></body></html>\n'


def section(heading: str, *parts: str) -> list[str]:
    """A heading, which is escaped, above parts that are HTML already."""
    return [f"<h2>{escape(heading)}</h2>", *parts]


def items(sentences: Iterable[str], *, numbered: bool = False) -> str:
    """Sentences as a list.

    Examples:
        >>> items(["1 < 2"])
        '<ul><li>1 &lt; 2</li></ul>'
    """
    kind = "ol" if numbered else "ul"
    return f"<{kind}>" + "".join(f"<li>{escape(each)}</li>" for each in sentences) + f"</{kind}>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for, one below the other.

    Examples:
        >>> facts([("k", "1 < 2")])
        '<dl><dt>k</dt><dd>1 &lt; 2</dd></dl>'
    """
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs) + "</dl>"


def table(head: Sequence[str], body: Iterable[Sequence[str]], *, numbers: int) -> str:
    """A table whose first column names its rows, and whose last `numbers` columns are numbers.

    Args:
        head: names of the columns.
        body: rows with as many texts.
        numbers: how many columns are set to the right.
    """
    kinds = ["" if place < len(head) - numbers else ' class="n"' for place in range(len(head))]
    names = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, head, strict=True))
    rows = "".join(f"<tr>{_row(kinds, row)}</tr>\n" for row in body)
    return f'<div class="wide"><table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'


def _row(kinds: Sequence[str], row: Sequence[str]) -> str:
    """The cells of a row."""
    first, *rest = (f"{kind}>{escape(cell)}" for kind, cell in zip(kinds, row, strict=True))
    return f'<th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in rest)


def figures(draw: Iterable[Callable[[], Figure]]) -> list[str]:
    """Figures as parts of a page, or a note where Matplotlib isn't installed.

    Args:
        draw: makes each of them.
    """
    try:
        from discreet.textbook.plots import saving

        drawn = [saving.svg(each()) for each in draw]
    except ExtraMissing as error:
        return [f'<p class="note">Figures are left out: {escape(error.message)} ({escape(error.hint)}).</p>']
    # On a phone a figure keeps letters that can be read, and is moved sideways; so the keyboard must reach it.
    return [
        f'<figure class="paper" tabindex="0">{inlined(svg, f"figure{number}")}</figure>'
        for number, svg in enumerate(drawn, 1)
    ]


def chart(draw: Callable[[float], Drawing]) -> str:
    """A chart as a part of a page, once as wide as a desk and once as a phone; the style sheet shows one.

    Args:
        draw: at a width.
    """
    both = ((WIDE, "wide"), (NARROW, "narrow"))
    return f"<figure>{''.join(svg(draw(width), kind=kind) for width, kind in both)}</figure>"


def inlined(svg: str, prefix: str) -> str:
    """An SVG file as an element of a page, with its ids made unique there; its texts stay as they are.

    Args:
        svg: a whole file.
        prefix: that no other figure of the page has.

    Examples:
        >>> inlined('<?xml?><svg aria-labelledby="t d"><g id="t"/><use href="#t"/>id="t"</svg>', "f")
        '<svg aria-labelledby="f-t f-d"><g id="f-t"/><use href="#f-t"/>id="t"</svg>'
    """
    return re.sub(r"<[^<>]+>", lambda tag: _owned(tag[0], prefix), svg[svg.index("<svg") :].strip())


def _owned(tag: str, prefix: str) -> str:
    """A tag whose names have a prefix."""
    tag = re.sub(r'(?<=[\s])id="([^"]+)"', rf'id="{prefix}-\1"', tag)
    tag = re.sub(r'((?:xlink:)?href)="#([^"]+)"', rf'\1="#{prefix}-\2"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", tag)
    return re.sub(
        r'aria-labelledby="([^"]+)"',
        lambda names: f'aria-labelledby="{" ".join(f"{prefix}-{name}" for name in names[1].split())}"',
        tag,
    )
