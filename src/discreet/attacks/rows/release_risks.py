"""The risks of a release that anyone made, judged beside its original and beside people who aren't in it.

Synthetic rows, noise, swapping, classes: however a release was made, an attack on it is tried on those who are in its
original, and the same attack on others of the same population, the *control*. A success on both is what the release
says about the population; a greater success on the original is what it says about its people.

The three attacks are those that the data protection authorities of the EU ask about: singling out, linkability and
inference (Article 29 Working Party, Opinion 05/2014, WP216).

Source: Giomi, Boenisch, Wehmeyer, Tasnádi (2023), "A unified framework for quantifying privacy risk in synthetic data",
the definitions of the three attacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records import read
from discreet.attacks.attack_result import Guess
from discreet.errors import InvalidArgument, NotTried, SchemaMismatch

if TYPE_CHECKING:
    from discreet.anonymity.records import Records
from discreet.attacks.rows.neighbours import distances, linked
from discreet.attacks.rows.random_predicates import of_one, of_several
from discreet.attacks.rows.risk_result import RiskResult, judged
from discreet.attacks.rows.three_tables import Tables, drawn


def predicates(  # noqa: PLR0913 — three tables, and what of them is what
    release: object,
    original: object,
    control: object,
    *,
    on: Sequence[str] | None = None,
    columns: int = 1,
    trials: int = 1_000,
) -> RiskResult:
    """Single people out by what holds of exactly one released row, and see whether it holds of one person.

    On one column, predicates are "is this value", for values that one released row has, and "is at least the greatest",
    "is at most the least" of the release. On several, they are conjunctions about columns drawn at random, made from a
    row drawn at random: a number is at least, or at most, what the row has, whichever side of the median it is on, and
    anything else is the same. A predicate that isn't met by exactly one released row is drawn again.

    What isolates one depends on how many there are, so predicates are tried on as many people of the original as of the
    control, drawn from the larger of both. Some of those whom a predicate was made of aren't there to be found then, so
    the risk is divided by the share of the original that was drawn.

    Args:
        release: what was published: a table, as `read` reads it. A range of numbers counts as its middle.
        original: the rows it was made of.
        control: other people of the same population.
        on: columns that predicates are about; all that the three tables share if left out.
        columns: in how many of them each predicate is; 1 or more.
        trials: how many predicates, at most.

    Raises:
        InvalidArgument: an argument is out of range, or the control is too small or the original itself.
        NotTried: no column can be compared, or no predicate is met by exactly one released row.
        SchemaMismatch: a table lacks a column.

    Examples:
        >>> people = {"age": [*range(20, 90)], "zip": [str(7 * i % 10) for i in range(70)]}
        >>> others = {"age": [*range(19, 89)], "zip": [str(3 * i % 10) for i in range(70)]}
        >>> predicates(people, people, others, columns=2).success
        1.0
    """
    if columns < 1 or trials < 1:
        raise InvalidArgument("a predicate is about one column or more, and is tried once or more")
    tables = Tables.of(release, original, control, on)
    if columns > len(tables.columns):
        raise NotTried(f"only {len(tables.columns)} columns can be compared", hint="predicates of fewer columns")
    made = of_one(tables, trials) if columns == 1 else of_several(tables, columns, trials)
    if not made:
        raise NotTried("no predicate is met by exactly one released row", hint="predicates of more columns")
    theirs, others = (drawn(number, min(tables.rows[1:])) for number in tables.rows[1:])
    alone = [each.holds(1, theirs) == 1 for each in made]
    by_chance = sum(each.holds(2, others) == 1 for each in made)
    return judged(
        tables,
        attack="singling-out",
        against=f"a release, by {columns} {'column' if columns == 1 else 'columns'}",
        attacked=(sum(alone), len(made)),
        controls=(by_chance, len(made)),
        share=len(theirs) / tables.rows[1],
        guesses=[
            Guess(who="someone", what=str(each), confidence=sum(alone) / len(made), right=right)
            for each, right in zip(made, alone, strict=True)
        ],
    )


def linkability(  # noqa: PLR0913 — three tables, and what of them is what
    release: object,
    original: object,
    control: object,
    *,
    known: tuple[Sequence[str], Sequence[str]] | None = None,
    neighbors: int = 1,
    targets: int = 2_000,
) -> RiskResult:
    """Link what two parties know of a person: one knows some columns, the other knows others.

    Each looks for the released rows that are nearest to what it knows. If both find the same row, they have linked the
    person's two halves. Nearness is Gower's: numbers by their distance over the range, anything else by whether it is
    the same.

    Args:
        release: as in `predicates`.
        original: the rows it was made of.
        control: other people of the same population.
        known: the columns of the first party, and those of the second; if left out, all are dealt to both, so that
            those with most values are in both hands.
        neighbors: among how many nearest rows each looks; 1 or more.
        targets: how many people of each table are tried, at most.

    Raises:
        InvalidArgument: see `predicates`; or a column is in both hands.
        NotTried: a party has no column that can be compared.
        SchemaMismatch: a table lacks a column.

    Examples:
        >>> people = {"age": [*range(20, 90)], "pay": [(37 * i) % 71 for i in range(70)]}
        >>> others = {"age": [*range(19, 89)], "pay": [(29 * i + 5) % 73 for i in range(70)]}
        >>> linkability(people, people, others).success
        1.0
    """
    if neighbors < 1 or targets < 1:
        raise InvalidArgument("linking takes one neighbor or more, and one target or more")
    one, other = (None, None) if known is None else (tuple(known[0]), tuple(known[1]))
    if one is not None and other is not None and (set(one) & set(other) or not (one and other)):
        raise InvalidArgument("both parties know a column or more, and none of them twice")
    tables = Tables.of(release, original, control, None if one is None or other is None else [*one, *other])
    if one is None:
        ordered = sorted(tables.columns, key=lambda column: -column.different)
        hands = (
            [column for place, column in enumerate(ordered) if place % 4 in {0, 3}],
            [column for place, column in enumerate(ordered) if place % 4 in {1, 2}],
        )
    else:
        hands = (
            [each for each in tables.columns if each.name in one],
            [each for each in tables.columns if each.name not in one],
        )
    if not (hands[0] and hands[1]):
        raise NotTried("one of the parties has no column that can be compared", hint="say which each knows")
    found = [linked(hands, side, neighbors, tables.some(side, targets)) for side in (1, 2)]
    names = [", ".join(column.name for column in hand) for hand in hands]
    return judged(
        tables,
        attack="linkability",
        against=f"a release, of {names[0]} with {names[1]}",
        attacked=(int(found[0].sum()), len(found[0])),
        controls=(int(found[1].sum()), len(found[1])),
        guesses=[],
    )


def inference(  # noqa: PLR0913 — three tables, and what of them is what
    release: object,
    original: object,
    control: object,
    *,
    sensitive: str,
    on: Sequence[str] | None = None,
    targets: int = 2_000,
) -> RiskResult:
    """Infer a person's column from the released row that is nearest in the others.

    A guess is right if it is the same; of a number or a time, if it is off by 5 % of itself at most.

    Args:
        release: as in `predicates`.
        original: the rows it was made of.
        control: other people of the same population.
        sensitive: the column that is inferred.
        on: the columns that are known; all others that the three tables share if left out.
        targets: how many people of each table are tried, at most.

    Raises:
        InvalidArgument: see `predicates`; or the secret is known.
        NotTried: the sensitive, or no other column, can be compared.
        SchemaMismatch: a table lacks a column.

    Examples:
        >>> people = {"age": [*range(20, 90)], "ill": ["yes" if i % 3 else "no" for i in range(70)]}
        >>> others = {"age": [*range(19, 89)], "ill": ["yes" if i % 2 else "no" for i in range(70)]}
        >>> inference(people, people, others, sensitive="ill").success
        1.0
    """
    if targets < 1:
        raise InvalidArgument("an inference takes one target or more")
    if on is not None and sensitive in on:
        raise InvalidArgument(f"the column {sensitive!r} can't be both known and inferred")
    tables = Tables.of(release, original, control, None if on is None else [*on, sensitive])
    if sensitive in tables.left_out:
        raise NotTried(f"no released cell says anything about the values of {sensitive!r}")
    hidden = next((column for column in tables.columns if column.name == sensitive), None)
    if hidden is None:
        raise SchemaMismatch(f"not all tables have a column {sensitive!r}")
    known = [column for column in tables.columns if column.name != sensitive]
    if not known:
        raise NotTried("no other column can be compared")
    right, told = [], []
    for side in (1, 2):
        rows = tables.some(side, targets)
        nearest = np.concatenate([part.argmin(axis=1) for part in distances(known, side, rows)])
        right.append(hidden.agrees(nearest, side, rows))
        told.append((rows, nearest))
    return judged(
        tables,
        attack="inference",
        against=f"a release, of {sensitive}",
        attacked=(int(right[0].sum()), len(right[0])),
        controls=(int(right[1].sum()), len(right[1])),
        guesses=[
            Guess(
                who=f"row {row + 1} of the original",
                what=f"{sensitive} = {hidden.text(near)}",
                confidence=float(right[0].mean()),
                right=bool(fine),
            )
            for row, near, fine in zip(*(part[:20].tolist() for part in (*told[0], right[0])), strict=True)
        ],
    )


RISKS: dict[str, str] = {
    "singling-out": "single people out by predicates that hold of exactly one released row",
    "linkability": "link what two parties know of a person by the rows that are nearest to each",
    "inference": "infer a person's value in a column from the released row that is nearest in the others",
}
"""The three attacks on a release beside its original, by name, and what each does."""

_MOST_COLUMNS = 4
"""Predicates of more columns are nearly always those of a whole row."""


def risks(  # noqa: PLR0913 — three tables, and what of them is what
    name: str,
    release: object,
    original: object,
    control: object,
    *,
    on: Sequence[str] | None = None,
    sensitive: str | None = None,
    trials: int = 1_000,
    targets: int = 2_000,
) -> tuple[RiskResult, ...]:
    """One of the three attacks in all its forms: predicates of 1 to 4 columns; each column as the one to be inferred.

    An attack that can't be tried on this release says so, and has no figures.

    Args:
        name: one of `RISKS`.
        release: what was published.
        original: the rows it was made of.
        control: other people of the same population.
        on: the columns that are known. For linkability, those of the first party: the other has all others.
        sensitive: for inference, the column that is inferred; each in turn if left out.
        trials: how many predicates of each form.
        targets: how many people of each table are tried, at most.

    Raises:
        InvalidArgument: there is no such attack, or see `predicates`.
        SchemaMismatch: a table lacks a column.
        SourceError: a table can't be read.
    """
    tables = [read(each) for each in (release, original, control)]
    shared = [each for each in tables[0].names if all(each in table.names for table in tables[1:])]
    for column in [*(on or ()), *([] if sensitive is None else [sensitive])]:
        for table in tables:
            table.column(column)
    runs: dict[str, Callable[[], RiskResult]] = {}
    match name.replace("_", "-"):
        case "singling-out":
            for columns in range(1, min(_MOST_COLUMNS, len(on or shared)) + 1):
                runs[f"a release, by {columns} {'column' if columns == 1 else 'columns'}"] = _bound(
                    predicates, tables, on=on, columns=columns, trials=trials
                )
        case "linkability":
            rest = [column for column in shared if column not in (on or ())]
            known = None if on is None else (on, rest)
            runs["a release"] = _bound(linkability, tables, known=known, targets=targets)
        case "inference":
            for column in [sensitive] if sensitive is not None else shared:
                by = None if on is None else [each for each in on if each != column]
                runs[f"a release, of {column}"] = _bound(inference, tables, sensitive=column, on=by, targets=targets)
        case _:
            raise InvalidArgument(
                f"{name} isn't tried beside an original", hint=f"one of {', '.join(RISKS)}; others take a table alone"
            )
    return tuple(_tried(name, against, run) for against, run in runs.items())


def _bound(run: Callable[..., RiskResult], tables: Sequence[Records], **terms: object) -> Callable[[], RiskResult]:
    """An attack with everything it takes."""
    return lambda: run(*tables, **terms)


def _tried(name: str, against: str, run: Callable[[], RiskResult]) -> RiskResult:
    """The result, or one without figures."""
    try:
        return run()
    except NotTried as error:
        return RiskResult(
            attack=name, against=against, tried=0, success=None, baseline=None, baseline_is="", guesses=(),
            not_tried=str(error), risk=None, risk_from=None, risk_to=None, controls=0, left_out="",
        )  # fmt: skip
