"""Lettering: how wide texts are, how long ones are cut and still told apart, and how numbers are set."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from discreet.printable import printable

_WIDTHS = bytes(
    [
        32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34,
        84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99,
        69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52,
        39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
    ]
)  # fmt: skip
"""Widths from the blank to the tilde in hundredths of the size, in DejaVu Sans: few fonts of a screen are wider."""

BOLD = 1.13
"""How much wider bold letters are."""


def line_of(text: str) -> str:
    r"""A text that others wrote as one line, without what is obeyed instead of shown.

    Examples:
        >>> line_of("a\n b\x00")
        'a b�'
    """
    return " ".join(printable(text).split())


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text is, in pixels, and rather more.

    Examples:
        >>> round(width_of("1,234", 12))
        35
    """
    hundredths = sum(map(_width, text))
    return hundredths * size / 100 * (BOLD if bold else 1)


def _width(sign: str) -> int:
    """The width of a sign, in hundredths of the size."""
    if " " <= sign <= "~":
        return _WIDTHS[ord(sign) - 32]
    if unicodedata.combining(sign):
        return 0
    return 100 if unicodedata.east_asian_width(sign) in "WF" else 66


def cut(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """A text as long as there is room, with `…` in place of what doesn't fit.

    Examples:
        >>> cut("Internal Medicine", 80, 12), cut("short", 80, 12)
        ('Internal Me…', 'short')
    """
    return text if width_of(text, size, bold=bold) <= room else f"{_start(text, room, size, bold=bold)}…"


def _start(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """As much of the beginning as fits with an ellipsis."""
    left, kept = room - width_of("…", size, bold=bold), 0
    for sign in text:
        left -= width_of(sign, size, bold=bold)
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip()


def told_apart(labels: Sequence[str], room: float, size: float) -> list[str]:
    """Labels cut to fit; those that would be cut to the same text keep their ends, or what differs, or get numbers.

    Examples:
        >>> told_apart(["Internal Medicine, men", "Internal Medicine, women", "Surgery"], 95, 12)
        ['Internal…, men', 'Internal…omen', 'Surgery']
    """
    shown = {label: cut(label, room, size) for label in dict.fromkeys(labels)}
    for shorter in (_ended, _without_start, _numbered):
        many = Counter(shown.values())
        alike = [label for label, text in shown.items() if many[text] > 1]
        if not alike:
            break
        shown |= zip(alike, shorter(alike, room, size), strict=True)
    return [shown[label] for label in labels]


def _ended(labels: Sequence[str], room: float, size: float) -> list[str]:
    """Each with its beginning and its end."""
    return [_middle_out(label, room, size) for label in labels]


def _middle_out(label: str, room: float, size: float) -> str:
    """A label without its middle."""
    tail = _start(label[::-1], room / 2, size)[::-1]
    return f"{_start(label, room - width_of(tail, size), size)}…{tail}"


def _without_start(labels: Sequence[str], room: float, size: float) -> list[str]:
    """Each without what all begin with."""
    shared = next((place for place, signs in enumerate(zip(*labels, strict=False)) if len(set(signs)) > 1), 0)
    return [cut(f"…{label[shared:]}", room, size) for label in labels]


def _numbered(labels: Sequence[str], room: float, size: float) -> list[str]:
    """Each with a number."""
    ends = [f" ({place})" for place, _ in enumerate(labels, 1)]
    return [f"{_start(label, room - width_of(end, size), size)}…{end}" for label, end in zip(labels, ends, strict=True)]


_LONG = re.compile(r"(?<![\d.,])\d{4,}(?![\d,])")
_MINUS = re.compile(r"(?<![\w)])-(?=[\d.])")


def typeset(text: str) -> str:
    """Numbers in a text with their digits in groups, and a minus for a hyphen.

    Examples:
        >>> typeset("-17432 ± 1530.25"), typeset("38.58164")
        ('−17,432 ± 1,530.25', '38.58164')
    """
    return _MINUS.sub("−", _LONG.sub(lambda found: f"{int(found[0]):,}", text))
