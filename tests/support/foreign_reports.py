"""Public reports of leaks elsewhere, as data, and the page that is made of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from textwrap import wrap
from typing import Any

from support.project import ROOT

FOLDER = ROOT / "tests" / "conformance" / "foreign_reports"
_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report.

    Args:
        system: what it is about.
        name: in a few words.
        link: where it can be read.
        date: when it was made: a day, or a month.
        kind: of fault.
        leaked: what happened there.
        here: what happens here.
        account: whose account is asked: `rows`, `users` (5 groups of 1 row) or `swapped` (substitution, 5 of 3 rows).
        question: what is asked; empty if nothing is.
        refused: the code of the error that refuses it; empty if it is answered.
        answer: what it is answered with, but for noise that is too small to see.
        sensitivity: how far one unit moves what is measured, as the plan reckons; empty if it isn't compared.
        charged: whether the charge is compared with the offer.
        again: whether the question is asked again.
        test: a test that shows what is claimed; empty if the question alone does.
    """

    system: str
    name: str
    link: str
    date: str
    kind: str
    leaked: str
    here: str
    account: str = ""
    question: str = ""
    refused: str = ""
    answer: dict[str, float] | None = None
    sensitivity: str = ""
    charged: bool = False
    again: bool = False
    test: str = ""

    def proof(self) -> str:
        """What shows it, in words."""
        parts = []
        if self.refused:
            parts.append(f"`{self.question}` is refused: `{self.refused}`.")
        elif self.question:
            parts.append(f"`{self.question}` is answered, {' and '.join(self._compared())}.")
        if self.test:
            path, _, function = self.test.partition("::")
            parts.append(f"Shown by `{function}` in `{path}`.")
        return " ".join(parts)

    def _compared(self) -> Iterator[str]:
        """What of an answer is compared."""
        if self.answer is not None:
            yield "with " + ", ".join(f"{name} = {value:g}" for name, value in self.answer.items())
        if self.sensitivity:
            yield f"with noise for {int(self.sensitivity):,}"
        if self.charged:
            yield "at no more than what was offered"
        if self.again:
            yield "again with the same number, free"


@cache
def reports() -> tuple[Report, ...]:
    """All of them, system by system."""
    found: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("*.toml")):
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found += [{"system": told.get("system"), **each} for each in told["report"]]
    return tuple(Report(**each) for each in found)


def page() -> str:
    """The generated part of the page."""
    lines = [f"{len(reports())} reports, system by system."]
    for system, found in groupby(reports(), key=lambda each: each.system):
        lines += ["", f"### {system}"]
        for each in found:
            lines += ["", f"**[{each.name}]({each.link})** ({each.date}; {each.kind})", ""]
            lines += wrap(f"{each.leaked} *Here:* {each.here} {each.proof()}", _WIDTH, break_on_hyphens=False)
    return "\n".join([*lines, ""])
