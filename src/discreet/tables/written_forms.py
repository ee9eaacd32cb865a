"""Everyday forms in which numbers and dates are written, found among those that a column can declare.

For those who look at a table before they declare it; admission reads what is declared, and guesses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from discreet.tables.schema.source import DecimalMark

_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_DAYS = (
    *(f"%d{mark}%b{mark}%Y" for mark in "- /"),
    *(f"%d{mark}%B{mark}%Y" for mark in "- /"),
    *(f"%d{mark}%b{mark}%y" for mark in "- /"),
    "%b %d, %Y",
    "%B %d, %Y",
    "%a, %d %b %Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
)
_STRIPPED = "$€£¥₣₹%"
"""Currency signs and the percent sign."""
_PLAIN = "[+-]?[0-9]+(?:{decimal}[0-9]*)?"
_GROUPED = "[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})*(?:{decimal}[0-9]*)?"
_TYPOGRAPHY = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'"})


def format_of(texts: Sequence[str]) -> str | None:
    """The one format in which all texts are dates or times; None if there is none, or several.

    Args:
        texts: at least one.

    Examples:
        >>> format_of(["31-OCT-2023", "1-Nov-2023"]), format_of(["3/14/2024 2:05 PM"])
        ('%d-%b-%Y', '%m/%d/%Y %I:%M %p')
        >>> format_of(["1/2/2024 2:05 PM"]), format_of(["soon"])
        (None, None)
    """
    if not all(any(sign.isdigit() for sign in text) for text in texts):
        return None
    fitting = [form for day in _DAYS for clock in _CLOCKS if _all_fit(texts, form := day + clock)]
    # May is its own short form, so that both names of months fit.
    fitting = [form for form in fitting if "%B" not in form or form.replace("%B", "%b") not in fitting]
    return fitting[0] if len(fitting) == 1 else None


def _all_fit(texts: Sequence[str], form: str) -> bool:
    """Whether all texts are times of a format."""
    try:
        for text in texts:
            datetime.strptime(text, form)  # noqa: DTZ007 — nothing is done with it
    except ValueError:
        return False
    return True


def number_form_of(texts: Sequence[str], decimal: DecimalMark) -> dict[str, str] | None:
    """A declaration that makes numbers of all texts that aren't numbers as they are; None if there is none.

    Commas or points between three digits aren't among it where they may as well be decimal.

    Args:
        texts: at least one.
        decimal: the mark between whole and broken part.

    Examples:
        >>> number_form_of(["$1,234.50", "$7"], "."), number_form_of(["1 234", "12"], ".")
        ({'strip': '$', 'thousands': ','}, {'thousands': ' '})
        >>> number_form_of(["20,731"], "."), number_form_of(["45%", "7%"], ".")
        (None, {'strip': '%'})
    """
    bare = [text.translate(_TYPOGRAPHY) for text in texts]
    strip = "".join(sign for sign in _STRIPPED if any(sign in text for text in bare))
    for sign in strip:
        bare = [text.replace(sign, "") for text in bare]
    bare = [text.strip() for text in bare]
    found = {"strip": strip} if strip else {}
    mark = re.escape(decimal)
    if found and all(re.fullmatch(_PLAIN.format(decimal=mark), text) for text in bare):
        return found
    for thousands in (each for each in ",. '" if each != decimal):
        form = _GROUPED.format(mark=re.escape(thousands), decimal=mark)
        if all(re.fullmatch(form, text) for text in bare) and _is_surely_grouped(bare, thousands, decimal):
            return found | {"thousands": thousands}
    return None


def _is_surely_grouped(texts: Sequence[str], thousands: str, decimal: str) -> bool:
    """Whether a mark stands between thousands, and can't be decimal."""
    if thousands in " '":
        return any(thousands in text for text in texts)
    return any(text.count(thousands) > 1 or (thousands in text and decimal in text) for text in texts)
