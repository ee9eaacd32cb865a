"""Plans in words: what will be done, what it costs, and how accurate it will be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, prod

from discreet.privacy import Loss
from discreet.query.draft import Draft
from discreet.query.sharing.expected import cost_shares, expected_errors
from discreet.query.words.described import choices_in_words, measure_in_words


def explain(drafts: Sequence[Draft], cost: Loss, profiles: Sequence[Loss] = ()) -> str:
    """The plan in words; with grouping sets, each has its groups, limits and measures.

    Args:
        drafts: of the question.
        cost: all of it.
        profiles: what each of the questions costs that are asked first.
    """
    draft = drafts[0]
    head = [
        ("question", [draft.question.text.strip()]),
        ("cost", [f"{cost}, for each {draft.unit}, neighbours by {_relation(draft)}"]),
    ]
    if profiles:
        asked = "a private question" if len(profiles) == 1 else f"{len(profiles)} private questions"
        costs = " or ".join(str(each) for each in dict.fromkeys(profiles))
        head.append(("first", [f"{asked}, how much units contribute or how large values are: {costs} each"]))
    sections = head + [section for each in drafts for section in _level(each)]
    return "\n".join(_section(title, lines) for title, lines in sections)


def _level(draft: Draft) -> list[tuple[str, list[str]]]:
    """One grouping set."""
    return [
        ("groups", [_groups(draft)]),
        ("limits", [_limits(draft)]),
        ("error", _errors(draft)),
        ("measures", _measures(draft)),
    ]


def _measures(draft: Draft) -> list[str]:
    """What is measured and chosen, each with its part of the cost."""
    measured = [(noise.measure.name, measure_in_words(noise)) for noise in draft.noises]
    return [f"{words}{_share(draft, name)}" for name, words in (*measured, *choices_in_words(draft))]


def _errors(draft: Draft) -> list[str]:
    """The error to expect of each column, and what a better one would cost."""
    lines = [f"{error.column}: {error}" for error in expected_errors(draft)]
    request = draft.request
    symbol, offer = ("ε", request.epsilon) if request.rho is None else ("ρ", request.rho)
    if request.within and draft.needed is None:
        lines.append(
            f"no {symbol} reaches the accuracy asked for; this is the best that {symbol} = {_short(offer)} does"
        )
    elif draft.needed is not None and offer is not None and draft.needed > offer:
        needed = f"the accuracy asked for takes {symbol} = {_short(draft.needed)}"
        lines.append(f"{needed}; this is the best that {symbol} = {_short(offer)} does")
    return lines or ["nothing is measured"]


def _short(amount: Fraction | None) -> str:
    """An amount to read."""
    return f"{float(amount or 0):.4g}"


def _share(draft: Draft, name: str) -> str:
    """Which part of the cost a measure takes, if it isn't all of it."""
    share = cost_shares(draft)[name]
    return "" if share == 1 else f" ({100 * float(share):.3g} %)"


def _section(title: str, lines: list[str]) -> str:
    """A title with its lines hanging to the right of it."""
    head, *rest = "\n".join(lines).splitlines() or [""]
    return "\n".join([f"{title:<10}{head}", *(f"{'':<10}{line}" for line in rest)])


def _relation(draft: Draft) -> str:
    """The adjacency in words."""
    return str(draft.adjacency).replace("_", " or ")


def _groups(draft: Draft) -> str:
    """Which groups are answered, in words."""
    if not draft.keys:
        return "one: the question has no GROUP BY"
    names = ", ".join(key.name for key in draft.keys)
    if draft.threshold is None:
        count = prod(len(key.values or ()) for key in draft.keys)
        return f"{count:,} public groups of {names}; each is answered, also when it is empty"
    whose = "rows" if draft.unit.is_row else "units"
    return (
        f"groups of {names} aren't public: those with a noisy number of {whose} of at least "
        f"{_threshold(draft):,} are answered (δ = {float(draft.threshold.delta):.3g}); near that, those are seen whose "
        "noise was high, so numbers are too high and intervals may hold less often than they say"
    )


def _threshold(draft: Draft) -> int:
    """The threshold in units, rounded up from the steps in which they are counted."""
    if draft.threshold is None:
        raise TypeError("the groups are public")
    step = next(noise.step for noise in draft.noises if noise.measure.name == draft.selector)
    return ceil(draft.threshold.value * step)


def _limits(draft: Draft) -> str:
    """The limits in force, in words."""
    if draft.unit.is_row:
        return "each row is a unit of its own"
    limits, unit = draft.limits, draft.unit
    if limits.rows is not None:
        rows = f"{limits.rows:,} rows of each {unit} in all; the rows of one with more count for less"
        return rows if limits.groups is None else f"{rows}; in {limits.groups:,} groups it is counted as a unit"
    return (
        f"{limits.groups:,} groups of each {unit}, and {limits.rows_per_group:,} rows in each; "
        "the rows of one with more count for less"
    )
