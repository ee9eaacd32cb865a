"""The three risks by which the European authorities judge anonymisation, in words, from the figures of a report.

Source: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216): singling out,
linkability and inference. A risk is measured against the columns that are named here as known or sought, so none of
them is ever said to be absent.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymity.risk.advice import Figures
from discreet.anonymity.words import Noun, listed, percent

_INDIRECT = {"B", "C"}
"""Of the eighteen identifiers, those that lead to a person only with others: places and dates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRisk:
    """One of the three.

    Args:
        name: as WP216 has it.
        question: what it asks.
        remains: whether the figures show it; None if they can't tell.
        says: the figures, in a sentence or two.
    """

    name: str
    question: str
    remains: bool | None
    says: str

    @property
    def verdict(self) -> str:
        """Whether it remains, in words that don't promise what figures can't."""
        return "not measured" if self.remains is None else "remains" if self.remains else "not seen"

    def to_dict(self) -> dict[str, object]:
        """All of it as JSON-ready data."""
        return {"name": self.name, "question": self.question, "verdict": self.verdict, "says": self.says}


def three_risks(report: Figures) -> tuple[NamedRisk, NamedRisk, NamedRisk]:
    """What a report's figures say of the three.

    Args:
        report: with all figures.

    Examples:
        >>> from discreet.anonymity.risk import assess
        >>> people = {"zip": ["1", "1", "2"], "ill": ["a", "a", "b"]}
        >>> first, _, last = three_risks(assess(people, quasi_identifiers=["zip"], sensitive=["ill"]))
        >>> for each in (first, last):
        ...     print(f"{each.name} {each.verdict}: {each.says}")
        singling out remains: 1 of 3 rows (33.3 %) is alone with its zip. The smallest class has 1.
        inference remains: ill: 3 of 3 rows have a class of one value. A guess is right for 100 % by class, else 66.7 %.
    """
    return (
        NamedRisk(
            name="singling out",
            question="Can one person be isolated in the table?",
            remains=None if _untold(report) else bool(_naming(report)) or report.uniqueness.unique > 0,
            says=_singled_out(report),
        ),
        NamedRisk(
            name="linkability",
            question="Can rows of one person, here or in another table, be linked?",
            remains=None if _untold(report) else bool(_naming(report)) or _linked(report) > 0,
            says=_links(report),
        ),
        NamedRisk(
            name="inference",
            question="Can a sensitive value be deduced of someone, without their row being known?",
            remains=None if _untold(report) or not report.exposures else _inferred(report),
            says=_inference(report),
        ),
    )


def _untold(report: Figures) -> bool:
    """Whether the figures tell nothing of people."""
    return not report.rows or bool(report.repeated)


def _reason(report: Figures) -> str:
    """Why they don't."""
    if not report.rows:
        return "The table has no rows."
    return f"Rows were counted, and {report.repeated[0].column} shows that several may be one person's: name the unit."


def _naming(report: Figures) -> list[str]:
    """The columns that lead to one person by themselves: said, guessed or found to, and without another role."""
    ticked = (each.columns for each in report.safe_harbor if each.identifier.letter not in _INDIRECT)
    found = {name for columns in ticked for name in columns}
    has_role = {*report.quasi_identifiers, *report.sensitive}
    return [*report.identifying, *sorted(found - has_role - {*report.identifying})]


def _named(report: Figures) -> str:
    """The columns that name people, at the head of what is said; empty if there are none."""
    naming = _naming(report)
    return (
        f"By themselves, {listed(naming)} {'leads' if len(naming) == 1 else 'lead'} to one person. " if naming else ""
    )


def _singled_out(report: Figures) -> str:
    """How many are alone with what others may know."""
    if _untold(report):
        return _reason(report)
    unique, noun, known = report.uniqueness.unique, Noun.of(report.unit), listed(report.quasi_identifiers)
    smallest = f"The smallest class has {report.reidentification.sizes.smallest:,}."
    are = "is alone with its" if unique == 1 else "are alone with their"
    share = f" ({percent(report.uniqueness.unique_share)})" if unique else ""
    return f"{_named(report)}{unique:,} of {noun.counted(report.units)}{share} {are} {known}. {smallest}"


def _linked(report: Figures) -> float:
    """The share of units above the threshold of one attacker who knows that somebody is in the table."""
    return report.reidentification.prosecutor.at_risk


def _links(report: Figures) -> str:
    """How many an attacker links who has a register."""
    if _untold(report):
        return _reason(report)
    noun, found = Noun.of(report.unit), report.reidentification
    threshold = percent(float(found.threshold))
    return (
        f"{_named(report)}An attacker who has {listed(report.quasi_identifiers)} of everyone links "
        f"{percent(found.marketer)} of the {noun.many} right, on average; {percent(_linked(report))} of them are at a "
        f"risk above {threshold}."
    )


def _inferred(report: Figures) -> bool:
    """Whether a class tells more of a sensitive column than the table does."""
    return any(each.homogeneous or each.guessed > each.baseline for each in report.exposures)


def _inference(report: Figures) -> str:
    """What classes say of sensitive columns."""
    if _untold(report):
        return _reason(report)
    if not report.exposures:
        return "No column is named as sensitive, so nothing was looked for."
    noun = Noun.of(report.unit)
    return " ".join(
        f"{each.sensitive}: {each.homogeneous:,} of {noun.counted(report.units)} have a class of one value. A guess is "
        f"right for {percent(each.guessed)} by class, else {percent(each.baseline)}."
        for each in report.exposures
    )
