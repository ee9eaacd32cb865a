"""The part of a report on risk that makes it one to file: what it is of, how it was made, and whom it may satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.show import pages
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.anonymity.risk import RiskReport
    from discreet.anonymity.risk.safe_harbor import Ticked

_NO_ADVICE = (
    "This report is no legal advice. It says what was counted, and what was found in names and values. Whether a law "
    "is satisfied is for people to judge who know the law, the data, and whom the data goes to. Neither the opinion of "
    "the European authorities nor the rule of HIPAA is met because a program found nothing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """Facts about a report.

    Args:
        command: as it was said.
        source: the table.
        release: what was made of it, if there is one.
        parameters: what was assumed, by name.
        of_release: the same report on the release, if there is one.
    """

    command: str
    source: Path
    release: Path | None
    parameters: Mapping[str, str]
    of_release: RiskReport | None

    def particulars(self, report: RiskReport) -> list[str]:
        """The head of the report: when, by what, of what."""
        body = [
            ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
            ("made by", f"discreet {__version__}"),
            ("command", self.command),
            ("table", f"{self.source.name}, {report.rows:,} rows"),
            ("its SHA-256", digest(self.source)),
        ]
        if self.release is not None and self.of_release is not None:
            body += [
                ("release", f"{self.release.name}, {self.of_release.rows:,} rows"),
                ("its SHA-256", digest(self.release)),
            ]
        return pages.section("Particulars", pages.facts([*body, *self.parameters.items()]))

    def risks(self, report: RiskReport) -> list[str]:
        """The three risks of WP216, for the table and for the release."""
        parts = [_risk_table(report, "table" if self.of_release else "")]
        if self.of_release is not None:
            parts.append(_risk_table(self.of_release, "release"))
            if report.unit and not self.of_release.unit:
                parts.append('<p class="note">The release doesn\'t say whose a row is, so its rows are counted.</p>')
        return pages.section("The three risks of WP216", *parts, f'<p class="note">{escape(_ON_RISKS)}</p>')

    def eighteen(self, report: RiskReport) -> list[str]:
        """The identifiers of HIPAA's safe harbor, for the table and for the release."""
        after = self.of_release
        body = list[tuple[str, ...]]()
        for number, each in enumerate(report.safe_harbor):
            told = [each] if after is None else [each, after.safe_harbor[number]]
            kind = each.identifier
            body.append((f"{kind.letter} {kind.what}", str(kind.looked), *map(_ticked, told)))
        head = ("identifier", "looked for", "in the table", *([] if after is None else ["in the release"]))
        return pages.section(
            "The eighteen identifiers of HIPAA's safe harbor",
            pages.table(head, body, numbers=0),
            f'<p class="note">{escape(_ON_IDENTIFIERS)}</p>',
        )

    @staticmethod
    def signature() -> list[str]:
        """The caveat, and lines to sign on."""
        lines = "".join(f'<div class="sign"><span>{each}</span></div>' for each in ("Name", "Date", "Signature"))
        return pages.section("Signed", f"<p>{escape(_NO_ADVICE)}</p>", f'<div class="signing">{lines}</div>')


_ON_RISKS = (
    "Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques. A risk that is not seen "
    "may be there: others may know other columns than those named here, or have other releases."
)
_ON_IDENTIFIERS = (
    "45 CFR 164.514(b)(2)(i). ☒ found · ☐ not found · – can't be told from a table. A column is found "
    "by its name or by the form of its values; what has no known form isn't. Years may stay, and so may the first "
    "three digits of a ZIP code where more than 20,000 people live. The rule also asks that nobody who releases the "
    "table knows a way to identify anyone by it."
)


def _risk_table(report: RiskReport, whose: str) -> str:
    """The three risks, each with its verdict."""
    body = [(f"{each.name}: {each.question}", each.verdict, each.says) for each in report.three_risks]
    return pages.table(("risk" if not whose else f"risk of the {whose}", "verdict", "figures"), body, numbers=0)


def _ticked(each: Ticked) -> str:
    """A sign, and the columns with reasons."""
    from discreet.anonymity.risk.safe_harbor import Looked

    if each.columns:
        return "☒ " + "; ".join(f"{name}, {why}" for name, why in each.columns.items())
    return "–" if each.identifier.looked is Looked.NEVER else "☐ not found"


def digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of the lines `sha256sum` prints of its files, in the order of names."""
    if path.is_dir():
        return f"{sha256(''.join(_lines(path)).encode()).hexdigest()} (of the list of its files)"
    with path.open("rb") as file:
        found = sha256()
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def _lines(folder: Path) -> Iterator[str]:
    """A line for each file below a folder."""
    for each in sorted(folder.rglob("*")):
        if each.is_file():
            yield f"{digest(each)}  {each.relative_to(folder).as_posix()}\n"
