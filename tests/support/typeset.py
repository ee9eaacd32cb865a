"""What the site's Markdown has beside Markdown: formulas as MathML, and marks of what may be wrapped.

Formulas are written as GitHub reads them: `$…$` within a sentence, and a fenced block of `math` on lines of their own.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor

_INLINE = r"(?<![\\$\w])\$(?P<formula>[^\s$](?:[^$]*[^\s$])?)\$(?![\w$])"
_SIGN = re.compile(r"<mi>([^\w<&])</mi>")
_PRIMED = re.compile(r"<msup>(<mi>\w</mi>)<mi>&#x02032;</mi></msup>")
_NAME = re.compile(r"(?<!<munder>)(?<!<msub>)<mo(?: movablelimits=\"true\")?>([A-Za-z]{2,})</mo>")
_THOUSANDS = "</mn><mrow><mo>&#x0002C;</mo></mrow><mn>"
_BAR = re.compile(r"<mo[^>]*>&#x0007C;</mo>")
_APART = re.compile(r"(?<=</m[in]>)(?=<mi>[A-Za-z]{2})|(?<=<mi>ln</mi>)(?=<m(?:i|n|row|frac|sqrt|sup|sub)>)")
_WORD = re.compile(r"<code>(?=[^<\n]{1,24}</code>)")
_PATH = re.compile(r"<code>[^<\n]{25,}</code>")
_SET_IN = re.compile(r'<span id="__span-[\d-]+"(?=>(?:<span class="\w+">)?(?P<space> +)[^ \n])')
_RULE = re.compile(r'<span id="__span-[\d-]+">(?=(?:<[^>]+>)*[ ─═━]+(?:<[^>]+>)*\n)')


def mathml(formula: str, display: str = "inline") -> str:
    """A formula in MathML, which browsers set without a script; its words stay as they are, for search."""
    found = _PRIMED.sub(r"<mrow>\1<mo>′</mo></mrow>", convert(" ".join(formula.split()), display=display))
    named = _NAME.sub(
        r"<mi>\1</mi>", _SIGN.sub(r"<mo>\1</mo>", found.replace(_THOUSANDS, ","))
    )  # `Pr` has less room about it than a sign
    spaced = _APART.sub('<mspace width="0.17em"/>', named)
    return _BAR.sub('<mo stretchy="false" lspace="0" rspace="0">|</mo>', spaced)  # each is a bracket


def display(source: str, *_: Any, **__: Any) -> str:
    """A fenced block of `math`, as superfences asks for it."""
    return f'<div class="formula">{mathml(source, "block")}</div>'


class Formula(InlineProcessor):
    """A formula within a sentence."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002, N802 — as it is called
        """What stands for the formula until the page is whole."""
        return self.md.htmlStash.store(mathml(m["formula"])), m.start(), m.end()


class Wrapping(Postprocessor):
    """Marks short code, which isn't broken; where a path may be; lines that are only a rule; how far one is set in."""

    def run(self, text: str) -> str:
        """The page, with the marks."""
        text = _SET_IN.sub(lambda line: f'{line[0]} style="--in: {min(len(line["space"]), 24)}ch"', text)
        text = _PATH.sub(lambda path: re.sub(r"(?<=\w)([/_])(?=\w)", r"\1<wbr>", path[0]), text)
        return _WORD.sub('<code class="word">', _RULE.sub('<span class="rule">', text))


class Typeset(Extension):
    """Both of them."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 — as it is called
        """Let a page have them."""
        md.inlinePatterns.register(Formula(_INLINE, md), "formula", 186)  # after code spans, before escapes
        md.postprocessors.register(Wrapping(md), "wrapping", 1)  # once blocks are back in their places


def makeExtension(**settings: Any) -> Typeset:  # noqa: N802 — as it is called
    """What Markdown calls to have the extension."""
    return Typeset(**settings)
