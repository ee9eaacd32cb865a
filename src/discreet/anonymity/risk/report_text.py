"""A report as plain text, as wide as its reader's terminal, up to a hundred columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, TypeAlias

from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.repeated import rows_counted
from discreet.anonymity.risk.advice import Figures, advise
from discreet.anonymity.words import Noun, listed, percent, taken_as

if TYPE_CHECKING:
    from discreet.anonymity.risk.exposure import Exposure
    from discreet.anonymity.risk.population import PopulationUniqueness
    from discreet.anonymity.risk.reidentification import Risk

CAVEAT = (
    "These figures describe this table and the attackers named here. They say nothing of what other releases add, and "
    "none of them is a guarantee of differential privacy."
)
WIDTH = 100
"""Letters of a line at most; longer ones are hard to read."""
_NARROWEST = 60
_LABEL = 20
_NAMES = 20
"""How many columns are named at the top of a report; all are where they are looked at, and in the data."""
_SETS = 10
"""How many identifying sets are shown; the data has all."""
_Line: TypeAlias = tuple[str, int]
"""A line, and how far in it goes on where it is too long."""
_STEPS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where the histogram of class sizes is cut."""


def written(report: Figures, width: int = WIDTH) -> str:
    """All of a report.

    Args:
        report: with all figures.
        width: letters of a line; fewer than 60 are taken for 60, more than 100 for 100.
    """
    width, noun = min(max(width, _NARROWEST), WIDTH), Noun.of(report.unit)
    sections = {
        "What to do": [(f"{number}. {sentence}", 3) for number, sentence in enumerate(advise(report), start=1)],
        "Risks of rows, not of people" if report.repeated else "Risks": _risks(report),
        "What columns hold, by their values": _contents(report),
        "Class sizes; units by the smallest class that they are in" if report.unit else "Class sizes": _histogram(
            report.uniqueness.sizes, noun
        ),
        "Quasi-identifiers, the one that adds most first": _columns(report, width),
        _sets_title(report): _sets(report),
        **{f"What classes say of {each.sensitive}": _exposure(each, noun) for each in report.exposures},
        "Promises": _promises(report),
        "In the population": [] if report.population is None else _population(report.population),
        "Guessed": _guessed(report),
    }
    first = "" if not report.repeated else "\n".join(_folded(rows_counted(report.repeated), width, 0)) + "\n\n"
    parts = [
        first + _head(report, width),
        *(_section(title, lines, width) for title, lines in sections.items() if lines),
    ]
    return "\n\n".join([*parts, "\n".join(wrap(CAVEAT, width))])


def _head(report: Figures, width: int) -> str:
    """The subject of the report."""
    found, noun = report.uniqueness, Noun.of(report.unit)
    lines = [
        ("rows", f"{report.rows:,}"),
        *([("left out", report.left_out)] if report.silent else []),
        *([("units", f"{report.units:,}, by {', '.join(report.unit)}")] if report.unit else []),
        ("quasi-identifiers", _names(report.quasi_identifiers)),
        ("sensitive", _names(report.sensitive) or "none named"),
        ("identifying", _names(report.identifying) or "none named"),
        ("missing values", f"taken as {taken_as(report.missing)}"),
        *([("not read", "; ".join(report.not_read))] if report.not_read else []),
        ("k", "withheld, see above" if report.k is None else f"{report.k:,}"),
        ("unique", f"{noun.counted(found.unique)} ({percent(found.unique_share)})"),
    ]
    return "\n".join(line for label, text in lines for line in _folded(f"{label:<{_LABEL}}{text}", width, _LABEL))


def _names(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names if more <= 1 else [*names[:_NAMES], f"and {more:,} more"])


def _section(title: str, lines: Iterable[_Line], width: int) -> str:
    """A title with lines under it."""
    indented = (f"  {each}" for text, hang in lines for each in _folded(text, width - 2, hang))
    return "\n".join([*_folded(title, width, 0), *indented])


def _folded(text: str, width: int, hang: int) -> list[str]:
    """A line folded over as many as it needs, indented after the first; a number stays with its sign."""
    tied = text.replace(" %", "\u00a0%").replace("> ", ">\u00a0").replace("< ", "<\u00a0")
    lines = wrap(tied, width, subsequent_indent=" " * hang, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]


def _plain(lines: Iterable[str]) -> list[_Line]:
    """Lines that start at the edge when they go on."""
    return [(line, 0) for line in lines]


def _risks(report: Figures) -> list[_Line]:
    """The three attackers."""
    found, noun = report.reidentification, Noun.of(report.unit)
    seen = "looks in the population" if found.population else "at most: no population given"
    return [
        _risk("prosecutor", found.prosecutor, "knows who is in the table", noun),
        _risk("journalist", found.journalist, seen, noun),
        (f"{'marketer':<12}links {percent(found.marketer)} of the {noun.many} rightly, on average", 12),
        (f"{'':<12}at risk: above {percent(float(found.threshold))}", 12),
    ]


def _risk(name: str, risk: Risk, note: str, noun: Noun) -> _Line:
    """One attacker."""
    return (
        f"{name:<12}highest {percent(risk.highest)}, average {percent(risk.average)}, "
        f"{percent(risk.at_risk)} of {noun.many} at risk ({note})"
    ), 12


def _contents(report: Figures) -> list[_Line]:
    """How the values of columns look, and how far they were looked at."""
    told = [(f"{name}: {content}", 2) for name, content in report.contents.items() if content.found]
    sampled = [name for name, content in report.contents.items() if content.sampled]
    if sampled:
        told.append((f"Of {listed(sampled)} only some values were looked at, so others may hold more.", 0))
    return told


def _histogram(sizes: ClassSizes, noun: Noun) -> list[_Line]:
    """How many classes and units there are, by size."""
    total = sizes.total
    lines = []
    for low, high in zip(_STEPS, (*_STEPS[1:], None), strict=True):
        chosen = (sizes.sizes >= low) & (True if high is None else sizes.sizes < high)
        if chosen.any():
            held = int(sizes.units[chosen].sum())
            span = f"{low:,} or more" if high is None else f"{low}" if high == low + 1 else f"{low} to {high - 1}"
            classes = int(sizes.classes[chosen].sum())
            kind, what = "class" if classes == 1 else "classes", noun.one if held == 1 else noun.many
            lines.append(f"{span:<12}{classes:>10,} {kind:<7} {held:>12,} {what:<5}{percent(held / total):>9}")
    return _plain(lines)


def _columns(report: Figures, width: int) -> list[_Line]:
    """The quasi-identifiers, with the risk that each adds."""
    total = max(report.units, 1)
    longest = max((len(each.name) for each in report.columns), default=0)
    names = min(max(longest, len("column")) + 2, width - 2 - 44)
    lines = [
        f"{_cut(each.name, names):<{names}}{each.values:>9,}{percent(each.alone / total):>15}"
        f"{percent(each.without / total):>20}"
        for each in report.columns
    ]
    return _plain([f"{'column':<{names}}{'values':>9}{'unique alone':>15}{'unique without it':>20}", *lines])


def _sets_title(report: Figures) -> str:
    """The title above the identifying sets."""
    found = report.identifiers
    limit = "" if found.at_most is None else f" of {found.at_most} or fewer columns"
    share = percent(float(found.share))
    return (
        f"Minimal sets{limit} that single out over {share} of the {Noun.of(report.unit).many}: {len(found.minimal):,}"
    )


def _sets(report: Figures) -> list[_Line]:
    """The identifying sets, smallest first."""
    minimal = report.identifiers.minimal
    lines = [(f"{percent(each.unique_share):>8}  {', '.join(each.columns)}", 10) for each in minimal[:_SETS]]
    more = len(minimal) - _SETS
    return [*lines, *_plain([f"and {more:,} more"] if more > 0 else [])] or _plain(["none"])


def _exposure(found: Exposure, noun: Noun) -> list[_Line]:
    """The measure that every model reaches."""
    guess = f"a guess from the class is right for {percent(found.guessed)} of the {noun.many}"
    certain = f"{noun.counted(found.homogeneous)} in classes with one value"
    return [
        *((f"{each.name:<28}{_number(each.value):>10}  {each.says}", 40) for each in found.measures),
        (
            f"{certain}; {guess}, and {percent(found.baseline)} without it",
            0,
        ),
    ]


def _promises(report: Figures) -> list[_Line]:
    """The models that were asked for."""
    noun = Noun.of(report.unit)
    return [
        (
            f"{'kept' if each.met else 'broken':<8}{each.promise} (reached {_number(each.reached)}"
            + (")" if each.met else f"; {noun.counted(each.failing)} in classes that break it)"),
            8,
        )
        for each in report.checked
    ]


def _population(found: PopulationUniqueness) -> list[_Line]:
    chosen = f"{found.estimate:,.0f} unique people, {percent(found.share)} of all"
    models = {"zayatz": found.zayatz, "slide neg. binomial": found.snb, "pitman": found.pitman}
    lines = [
        f"{name:<22}{'did not converge' if value is None else f'{value:,.0f} unique people'}"
        for name, value in models.items()
    ]
    return _plain(
        [
            f"sample of {percent(found.fraction)}: {found.units:,} of about {found.people:,} people",
            *lines,
            f"by the decision rule ({found.chosen}): {chosen}",
        ]
    )


def _guessed(report: Figures) -> list[_Line]:
    """The guesses about columns, for the user to confirm."""
    guesses = () if report.attributes is None else report.attributes.guesses
    return [(f"{each.column}: {each.kind}, {each.reason}", 2) for each in guesses]


def _number(value: float) -> str:
    """A figure with four digits."""
    return "∞" if value == float("inf") else f"{value:.4g}"


def _cut(name: str, width: int) -> str:
    return name if len(name) < width else name[: width - 2] + "…"
