"""The figures of a report, and its advice: sentences on what to do about the risk, which follow from the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.anonymity.arrow import Unread
from discreet.anonymity.attributes import Attributes, told_by_content
from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.hierarchies.texts import has_decimal_commas, is_text, present, spelled_dates
from discreet.anonymity.models.model import Checked
from discreet.anonymity.records import Missing, Records
from discreet.anonymity.repeated import Repeated, say_whose
from discreet.anonymity.risk.exposure import Exposure
from discreet.anonymity.risk.identifiers import Identifiers
from discreet.anonymity.risk.population import PopulationUniqueness
from discreet.anonymity.risk.reidentification import Reidentification, smallest_safe
from discreet.anonymity.risk.remedies import TOLERATED, ColumnRisk, Remedy
from discreet.anonymity.risk.safe_harbor import SafeHarbor
from discreet.anonymity.risk.uniqueness import Uniqueness
from discreet.anonymity.words import Noun, hide, listed, percent
from discreet.tables.unit_candidates import some_of

if TYPE_CHECKING:
    from discreet.tables.content import ColumnContent

_HOPELESS = 0.5
"""A change that leaves more than this share at risk is no way to lower the risk."""
_STEPS = 3
"""The most changes listed for one way: nobody follows a longer list."""
TIMES, EITHER = "dates with a time of day", "dates with the day or the month first"
NUMBERS = "numbers with decimal commas"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurelyKnown:
    """The verdict for those of the guessed quasi-identifiers that something shows to be known to others.

    Args:
        columns: them; the rest is quasi-identifying only because nothing shows that it isn't.
        guessed: how many others there are.
        sizes: of the classes by these columns alone.
    """

    columns: tuple[str, ...]
    guessed: int
    sizes: ClassSizes

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "columns": list(self.columns),
            "guessed": self.guessed,
            "k": self.sizes.smallest,
            "unique": self.sizes.unique,
            "class_sizes": self.sizes.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figures:
    """The figures of a report on risk; the arguments are those of `RiskReport`."""

    rows: int
    silent: int
    units: int
    unit: tuple[str, ...]
    repeated: tuple[Repeated, ...]
    missing: Missing
    unread: Unread
    population_unread: Unread
    attributes: Attributes | None
    identifying: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    surely_known: SurelyKnown | None
    contents: Mapping[str, ColumnContent]
    lookalikes: Mapping[str, str]
    uniqueness: Uniqueness
    reidentification: Reidentification
    exposures: tuple[Exposure, ...]
    checked: tuple[Checked, ...]
    columns: tuple[ColumnRisk, ...]
    identifiers: Identifiers
    population: PopulationUniqueness | None
    remedies: tuple[Remedy, ...]
    plan: tuple[Remedy, ...]
    safe_harbor: SafeHarbor

    @property
    def not_read(self) -> tuple[str, ...]:
        """The parts of the table and the population that weren't read, in words; empty if everything was."""
        beside = (f"of the population: {each}" for each in self.population_unread.words())
        return (*self.unread.words(), *beside)

    @property
    def left_out(self) -> str:
        """The parts left out of the figures, in words; empty if nothing was."""
        if not self.silent:
            return ""
        says = "row says" if self.silent == 1 else "rows say"
        return f"{self.silent:,} {says} nothing, as all that others may know of them is *"

    @property
    def k(self) -> int | None:
        """The k of k-anonymity that the table has; 0 if it has no rows, None if rows were counted and not people."""
        return None if self.repeated else self.uniqueness.sizes.smallest


def lookalikes_of(records: Records) -> dict[str, str]:
    """Columns of texts that all seem to be numbers, or dates that can't be read as such, and how these look.

    Examples:
        >>> from discreet.anonymity import read
        >>> lookalikes_of(read({"born": ["1/2/1984", "1/3/1984"], "pay": ["1.200,50", None], "zip": ["1", "2"]}))
        {'born': 'dates with the day or the month first', 'pay': 'numbers with decimal commas'}
    """
    found = {}
    for name, column in records.columns.items():
        values = present(column)
        dates = spelled_dates(values) if is_text(values) else None
        if dates is not None and (dates.clock or not dates.settled):
            found[name] = TIMES if dates.settled else EITHER
        elif has_decimal_commas(values):
            found[name] = NUMBERS
    return found


def advise(report: Figures) -> tuple[str, ...]:
    """Advice, the most urgent first; one or two sentences each.

    Args:
        report: with all figures.
    """
    if not report.rows:
        return ("The table has no rows, so there is nothing to protect in it.",)
    if report.repeated:
        return (say_whose(report.repeated), *_identifying(report), *_contents(report))
    safe = smallest_safe(report.reidentification.threshold)
    return (
        *_identifying(report),
        *_contents(report),
        *_surely_known(report, safe),
        *_small(report, safe),
        *_remedies(report, safe),
        *_plan(report, safe),
        *_together(report),
        *_sensitive(report),
        *_population(report),
        *_register(report),
        *_lookalikes(report),
    )


def _identifying(report: Figures) -> tuple[str, ...]:
    """Columns that name people."""
    if not report.identifying:
        return ()
    names = "it names" if len(report.identifying) == 1 else "they name"
    alone = "by itself" if len(report.identifying) == 1 else "by themselves"
    return (f"Leave out {listed(report.identifying)}: {names} people {alone}.",)


def _contents(report: Figures) -> tuple[str, ...]:
    """Columns that hold what leads to people, and aren't said to name them."""
    return tuple(
        f"{name} holds {' and '.join(map(str, held))}: leave it out, or take that out of its values."
        for name, content in report.contents.items()
        if name not in report.identifying and (held := told_by_content(name, content))
    )


def _surely_known(report: Figures, safe: int) -> tuple[str, ...]:
    """The risk by only those columns that others surely know, if most of the rest was guessed."""
    found = report.surely_known
    if found is None:
        return ()
    noun, total = Noun.of(report.unit), max(report.units, 1)
    number = "1 column was" if found.guessed == 1 else f"{found.guessed:,} columns were"
    guessed = f"{number} taken to be known only because nothing shows the opposite: name those that are"
    if not found.columns:
        return (f"{guessed} (--quasi-identifying, in Python quasi_identifiers=[…]).",)
    few, unique = found.sizes.below(safe), found.sizes.unique
    alone = f"By {some_of(found.columns)} alone, which others may know, {percent(few / total)} of the {noun.many} hide"
    named = "(--quasi-identifying, in Python quasi_identifiers=[…])"
    return (f"{guessed} {named}. {alone} among fewer than {safe}, and {percent(unique / total)} are unique.",)


def _small(report: Figures, safe: int) -> tuple[str, ...]:
    """Rows in small classes, and what suppressing them would cost."""
    noun = Noun.of(report.unit)
    sizes, total = report.uniqueness.sizes, report.units
    exposed, unique = sizes.below(safe), sizes.unique
    if not exposed:
        return (f"Every {noun.one} hides among {sizes.smallest:,} or more: nobody is at risk above the threshold.",)
    found = f"{exposed:,} of {noun.counted(total)} ({percent(exposed / total)}) {hide(exposed)} among fewer than {safe}"
    found += f"{_alone(unique, exposed)}."
    if report.missing is Missing.WILDCARD:
        # the rows that go may be those among which others hide
        return (found, f"To make the table {safe}-anonymous by suppression alone, at least these rows must go.")
    if sizes.sizes[-1] < safe:
        return (found, "Suppression alone would leave nothing.")
    share = f"{percent(exposed / total)} of the {noun.many}"
    if report.uniqueness.held > total:  # if all rows of a person go, others lose someone they hid among
        these = f"Suppressing the rows by which they do, and no others of theirs, makes the table {safe}-anonymous"
        return (found, f"{these}: {share} lose rows.")
    return (found, f"Suppressing them makes the table {safe}-anonymous at the cost of {share}.")


def _alone(unique: int, exposed: int) -> str:
    """How many of the rows in small classes are unique."""
    if not unique:
        return ""
    if unique == exposed:
        return ", and is unique" if exposed == 1 else ", and all of them are unique"
    return f"; {unique:,} of them {'is' if unique == 1 else 'are'} unique"


def _remedies(report: Figures, safe: int) -> tuple[str, ...]:
    """The best column to leave out and the best to coarsen; only what helps."""
    exposed = report.uniqueness.sizes.below(safe)
    better = [each for each in report.remedies if each.exposed < exposed]
    best = [next((each for each in better if each.action == action), None) for action in ("leave out", "coarsen")]
    if better and min(each.exposed for each in better) > _HOPELESS * report.units:
        return (_no_way(min(better, key=lambda each: each.exposed), report, safe),)
    return tuple(_remedy(each, report, exposed, safe) for each in best if each is not None)


def _no_way(least: Remedy, report: Figures, safe: int) -> str:
    """A sentence that changing one column isn't enough, and what the best such change would leave."""
    what = "leaving out" if least.action == "leave out" else "coarsening"
    noun = Noun.of(report.unit).many
    return (
        f"No way was found by changing one column: {what} {least.column}, which helps most, leaves "
        f"{percent(least.exposed / report.units)} of the {noun} among fewer than {safe}."
    )


def _remedy(remedy: Remedy, report: Figures, exposed: int, safe: int) -> str:
    """One change, and what it would save."""
    noun, total = Noun.of(report.unit), report.units
    if remedy.action == "leave out":
        what = f"Leaving out {remedy.column}"
    else:
        what = f"Coarsening {remedy.column} from {remedy.before:,} values to {remedy.after:,} bands"
    fewer = f"{percent(exposed / total)} to {percent(remedy.exposed / total)}"
    before, after = percent(report.uniqueness.unique_share), percent(remedy.unique / total)
    unique = "" if before == after else f", and the unique ones from {before} to {after}"
    return f"{what} brings the {noun.many} that hide among fewer than {safe} from {fewer}{unique}."


def _plan(report: Figures, safe: int) -> tuple[str, ...]:
    """One way to get to a table that few rows must be suppressed of."""
    if not report.plan:
        return ()
    steps = [
        f"leave out {each.column}" if each.action == "leave out" else f"coarsen {each.column} to {each.after:,} bands"
        for each in report.plan
    ]
    more = len(steps) - _STEPS
    told = listed(steps) if more <= 0 else f"{', '.join(steps[:_STEPS])}, and {more:,} more"
    noun, left = Noun.of(report.unit), report.plan[-1]
    share = percent(left.exposed / report.units)
    still = f"{noun.counted(left.exposed)} ({share}) then still {hide(left.exposed)} among fewer than {safe}"
    if left.exposed > TOLERATED * report.units:
        no_way = f"No way was found by leaving out and coarsening columns: {told}; still {share} of the "
        no_way += f"{noun.many} hide among fewer than {safe}. Ask anonymize for what loses least, or give no rows away."
        return (no_way,)
    if not left.exposed:
        still = f"No {noun.one} then hides among fewer than {safe}"
    return (f"One way to lower the risk: {told}. {still}. anonymize searches for the way that loses least.",)


def _together(report: Figures) -> tuple[str, ...]:
    """The smallest set that identifies."""
    if not report.identifiers.minimal:
        return ()
    worst = report.identifiers.minimal[0]
    singled = f"{percent(worst.unique_share)} of the {Noun.of(report.unit).many}"
    if len(worst.columns) == 1:
        return (f"{worst.columns[0]} alone singles out {singled}: treat it as identifying, or coarsen it.",)
    return (f"{listed(worst.columns)} together single out {singled}: coarsen or leave out one of them.",)


def _sensitive(report: Figures) -> tuple[str, ...]:
    """Rows whose class gives their sensitive value away, and values that may be one."""
    misspelt = tuple(
        f"Values of {each.sensitive} that differ from another only in case or blanks: {each.alike:,}. If they mean the "
        "same, classes are less diverse than they look."
        for each in report.exposures
        if each.alike
    )
    noun = Noun.of(report.unit)
    homogeneous = tuple(
        f"The class gives away {each.sensitive} of {noun.counted(each.homogeneous)} "
        f"({percent(each.homogeneous / report.units)}), as all in it have one value: ask for l-diversity, too."
        for each in report.exposures
        if each.homogeneous and each.values > 1
    )
    return (*homogeneous, *misspelt)


def _population(report: Figures) -> tuple[str, ...]:
    """The sample's estimates about the population."""
    found = report.population
    if found is None or not found.unique:
        return ()
    noun = Noun.of(report.unit)
    if found.chosen == "census":
        return (f"The {noun.many} are the whole population, so those who are unique among them are unique.",)
    sentence = (
        f"Of the {noun.many} that are unique in the sample, about {percent(found.stays)} are unique in the population "
        f"of {found.people:,}, too (by the {found.chosen} model): who finds one of these there has found the person."
    )
    return (sentence,)


def _register(report: Figures) -> tuple[str, ...]:
    """Rows that the register lacks."""
    lacking = report.reidentification.lacking
    if not lacking:
        return ()
    why = "either people are missing from it, or it writes their values otherwise"
    return (
        f"The population lacks {Noun.of(report.unit).counted(lacking)} of the table: {why}. It is taken to have them.",
    )


def _lookalikes(report: Figures) -> tuple[str, ...]:
    """Columns that were probably meant to be read otherwise."""
    meant = {
        TIMES: "write 1984-02-29 12:30 for 29.02.1984 12:30",
        EITHER: "say which with --dates dmy or mdy",
        NUMBERS: "write 3.14 for 3,14",
    }
    return tuple(
        f"{name} looks like {what}, but is taken as text, without an order: {meant[what]}."
        for name, what in report.lookalikes.items()
    )
