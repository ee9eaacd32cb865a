"""The generated parts of the documentation, each between `<!-- generated: WHAT -->` and `<!-- end -->`.

`make refresh` rewrites them; a test compares them with what they should be.
"""

from __future__ import annotations

import re

from support import api, commandline, foreign_reports
from support.pages import pages
from support.project import name

_PART = re.compile(r"(?P<open><!-- generated: (?P<what>.+?) -->\n).*?(?P<close><!-- end -->)", re.DOTALL)


def content(what: str) -> str:
    """What belongs in a generated part.

    Args:
        what: `help COMMAND`, or `http`: the paths of the API; or `leaks`: others' leaks.
    """
    kind, _, subject = what.partition(" ")
    if kind == "http":
        return api.reference()
    if kind == "leaks":
        return foreign_reports.page()
    if kind != "help":
        raise ValueError(f"nothing generates {what!r}")
    return f"{commandline.help_text(subject)}\n"


def refreshed(text: str) -> str:
    """The page with its generated parts as they should be."""
    return _PART.sub(lambda part: part["open"] + content(part["what"]) + part["close"], text)


def parts(text: str) -> dict[str, str]:
    """The generated parts of a page as they are."""
    return {part["what"]: part[0][len(part["open"]) : -len(part["close"])] for part in _PART.finditer(text)}


def main() -> None:
    """Rewrite the pages whose generated parts are out of date."""
    for page in pages():
        old = page.read_text(encoding="utf-8")
        new = refreshed(old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"rewrote {name(page)}")


if __name__ == "__main__":
    main()
