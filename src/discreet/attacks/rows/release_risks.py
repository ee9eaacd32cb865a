"""What anybody's release gives away, judged beside its original and beside people who aren't in it.

Synthetic rows, noise, swapping, classes: however a release was made, an attack on it is tried on those who are in its
original, and the same attack on others of the same population, the *control*. What works on both is what the release
says of the population; what works better on the original is what it says of them. The *risk* is the share of what
chance left over: (attack − control) / (1 − control).

The three attacks are those that the data protection authorities of the EU ask about: singling out, linkability and
inference (Article 29 Working Party, Opinion 05/2014, WP216).

Source: Giomi, Boenisch, Wehmeyer, Tasnádi (2023), "A unified framework for quantifying privacy risk in synthetic data",
the definitions of the three attacks, of the risk and of its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.attributes import repeated
from discreet.anonymity.hierarchies.texts import is_number, is_time, present
from discreet.anonymity.records import read
from discreet.attacks.attack_result import NOT_TRIED, AttackResult, Guess, surest
from discreet.attacks.people import shown
from discreet.attacks.targets.compatible import middle, plain
from discreet.errors import InvalidArgument, NotTried, SchemaMismatch
from discreet.noise import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.anonymity.columns import Coded, Mask, Reals, Whole
    from discreet.anonymity.records import Records
    from discreet.anonymity.words import Repeated

_CONFIDENCE = 0.95
_OTHERS = "the same among people who aren't in it"
_NEAR = 0.05
"""A guessed number is right if it is off by this share of itself at the most."""
_BLOCK = 1 << 21
"""So many distances are held at a time, for each column."""
_TRIES = 40
"""A predicate is drawn again so often, at the most and on average, if it isn't met by exactly one released row."""
_FEWEST = 2
"""A control of fewer than one person for so many in the original tells too little of chance."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskResult(AttackResult):
    """How much better an attack does on those who are in the original than on others.

    `success` is the share of attacks on the original that were right, `baseline` that of the control.

    Args:
        risk: (success − baseline) / (1 − baseline), at least 0; each share as the middle of its Wilson interval. See
            `predicates` for controls of another size.
        risk_from: the least that the risk may be, with 95 % confidence.
        risk_to: the most.
        controls: how many attacks were tried on the control.
        left_out: columns that couldn't be compared, by commas: no released cell says anything of the original's values.
    """

    risk: float | None
    risk_from: float | None
    risk_to: float | None
    controls: int
    left_out: str

    @property
    def between(self) -> str:
        """The risk and its interval, as tables have it."""
        if self.risk is None:
            return NOT_TRIED
        return f"{self.risk:.3f} ({self.risk_from:.3f} to {self.risk_to:.3f})"


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

    Of one column, predicates are "is this value", for values that one released row has, and "is at least the greatest",
    "is at most the least" of the release. Of several, they are conjunctions about columns drawn at random, made from a
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
        trials: how many predicates, at the most.

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
    tables = _Tables.of(release, original, control, on)
    if columns > len(tables.columns):
        raise NotTried(f"only {len(tables.columns)} columns can be compared", hint="predicates of fewer columns")
    made = _of_one(tables, trials) if columns == 1 else _of_several(tables, columns, trials)
    if not made:
        raise NotTried("no predicate is met by exactly one released row", hint="predicates of more columns")
    theirs, others = (drawn(number, min(tables.rows[1:])) for number in tables.rows[1:])
    alone = [each.holds(1, theirs) == 1 for each in made]
    by_chance = sum(each.holds(2, others) == 1 for each in made)
    return _judged(
        tables,
        attack="singling-out",
        against=f"a release, by {columns} {'column' if columns == 1 else 'columns'}",
        attacked=(sum(alone), len(made)),
        controls=(by_chance, len(made)),
        share=len(theirs) / tables.rows[1],
        guesses=[
            Guess(who="somebody", what=str(each), confidence=sum(alone) / len(made), right=right)
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
    """Link what two parties know of somebody: one knows some columns of a person, the other knows others.

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
        targets: how many people of each table are tried, at the most.

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
    tables = _Tables.of(release, original, control, None if one is None or other is None else [*one, *other])
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
    found = [_linked(hands, side, neighbors, tables.some(side, targets)) for side in (1, 2)]
    names = [", ".join(column.name for column in hand) for hand in hands]
    return _judged(
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
    """Infer a column of somebody from the released row that is nearest in the others.

    A guess is right if it is the same; of a number or a time, if it is off by 5 % of itself at the most.

    Args:
        release: as in `predicates`.
        original: the rows it was made of.
        control: other people of the same population.
        sensitive: the column that is inferred.
        on: the columns that are known; all others that the three tables share if left out.
        targets: how many people of each table are tried, at the most.

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
        raise InvalidArgument(f"the column {sensitive!r} can't be known and inferred")
    tables = _Tables.of(release, original, control, None if on is None else [*on, sensitive])
    if sensitive in tables.left_out:
        raise NotTried(f"no released cell says anything of the values of {sensitive!r}")
    hidden = next((column for column in tables.columns if column.name == sensitive), None)
    if hidden is None:
        raise SchemaMismatch(f"not all of the tables have a column {sensitive!r}")
    known = [column for column in tables.columns if column.name != sensitive]
    if not known:
        raise NotTried("no other column can be compared")
    right, told = [], []
    for side in (1, 2):
        rows = tables.some(side, targets)
        nearest = np.concatenate([part.argmin(axis=1) for part in _distances(known, side, rows)])
        right.append(hidden.agrees(nearest, side, rows))
        told.append((rows, nearest))
    return _judged(
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
    "linkability": "link what two parties know of somebody by the rows that are nearest to each",
    "inference": "infer a column of somebody from the released row that is nearest in the others",
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

    What can't be tried on this release says so, and has no figures.

    Args:
        name: one of `RISKS`.
        release: what was published.
        original: the rows it was made of.
        control: other people of the same population.
        on: the columns that are known. For linkability, those of the first party: the other has all others.
        sensitive: for inference, the column that is inferred; each in turn if left out.
        trials: how many predicates of each form.
        targets: how many people of each table are tried, at the most.

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


# ── The risk ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _judged(  # noqa: PLR0913 — what was attacked, and how often it was right on either side
    tables: _Tables,
    *,
    attack: str,
    against: str,
    attacked: tuple[float, int],
    controls: tuple[float, int],
    guesses: Sequence[Guess],
    share: float = 1.0,
) -> RiskResult:
    """The result, with its risk."""
    risk, low, high = risk_of(attacked, controls, share)
    return RiskResult(
        attack=attack,
        against=against,
        tried=attacked[1],
        success=attacked[0] / attacked[1],
        baseline=controls[0] / controls[1],
        baseline_is=_OTHERS,
        guesses=surest(guesses),
        repeated=tables.repeated,
        risk=risk,
        risk_from=low,
        risk_to=high,
        controls=controls[1],
        left_out=", ".join(tables.left_out) or "no column",
    )


def risk_of(attacked: tuple[float, int], controls: tuple[float, int], share: float = 1.0) -> tuple[float, float, float]:
    """The share of what chance left over that an attack gets, with a 95 % interval; each in [0, 1].

    Rates are the middles of Wilson's intervals, and their errors add up as those of independent samples.

    Args:
        attacked: how many attacks on the original were right, and how many there were.
        controls: the same of the control.
        share: of the original, how many people were there to be found.

    Source: Giomi et al. (2023), the definitions of the risk and of its interval.

    Examples:
        >>> [round(each, 3) for each in risk_of((620, 1_000), (200, 1_000))]
        [0.524, 0.483, 0.564]
        >>> risk_of((10, 100), (30, 100))[0]
        0.0
    """
    (rate, error), (chance, doubt) = _wilson(*attacked), _wilson(*controls)
    risk = (rate - chance) / (1 - chance) / share
    spread = sqrt((error / (1 - chance)) ** 2 + (doubt * (rate - 1) / (1 - chance) ** 2) ** 2) / share
    least, middle_, most = (min(max(each, 0.0), 1.0) for each in (risk - spread, risk, risk + spread))
    return middle_, least, most


def _wilson(right: float, tried: int) -> tuple[float, float]:
    """The middle of Wilson's interval, and half its width."""
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    middle_ = (right + z * z / 2) / (tried + z * z)
    return middle_, z / (tried + z * z) * sqrt(right * (tried - right) / tried + z * z / 4)


# ── Three tables that can be compared ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Column:
    """A column of the release, the original and the control, so that they can be compared.

    Args:
        name: of the column.
        cells: of each table, row → number, on a scale from 0 to 1, or the code of a text; a missing number is NaN.
        ordered: whether they are numbers or times.
        values: what the release has, for people.
        least: the least number of all three tables.
        spread: how far the greatest is from it.
    """

    name: str
    cells: tuple[Reals, Reals, Reals]
    ordered: bool
    values: Coded
    least: float = 0.0
    spread: float = 1.0

    @property
    def different(self) -> int:
        """How many different values the original has."""
        return len(np.unique(self.cells[1]))

    def text(self, row: int) -> str:
        """What a released row has, for people."""
        return shown(self.values.labels()[int(self.values.codes[row])])

    def apart(self, side: int, rows: Whole) -> NDArray[np.float32]:
        """How far people of a table are from each released row, in [0, 1]; a missing number is far from all others."""
        theirs, here = self.cells[side][rows][:, np.newaxis], self.cells[0][np.newaxis, :]
        if not self.ordered:
            return np.asarray(theirs != here, dtype=np.float32)
        far: NDArray[np.float32] = np.abs(theirs.astype(np.float32) - here.astype(np.float32))
        gone = np.isnan(theirs) & np.isnan(here)
        return np.asarray(np.where(gone, 0.0, np.nan_to_num(far, nan=1.0)), dtype=np.float32)

    def agrees(self, near: Whole, side: int, rows: Whole) -> Mask:
        """Whether released rows say the same as people of a table have, or nearly."""
        guessed, true = self.cells[0][near], self.cells[side][rows]
        if not self.ordered:
            return np.asarray(guessed == true)
        off = np.abs(guessed - true) * self.spread
        fine = (off <= _NEAR * np.abs(self.least + guessed * self.spread)) | (np.isnan(guessed) & np.isnan(true))
        return np.asarray(fine)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Tables:
    """A release, its original and a control.

    Args:
        columns: that can be compared.
        left_out: those that can't.
        rows: of each table, how many rows it has.
        repeated: columns of the original that identify and repeat.
    """

    columns: tuple[_Column, ...]
    left_out: tuple[str, ...]
    rows: tuple[int, int, int]
    repeated: tuple[Repeated, ...]

    @classmethod
    def of(cls, release: object, original: object, control: object, on: Sequence[str] | None) -> _Tables:
        """Read them.

        Raises:
            InvalidArgument: the control is too small, or the original itself; a table has no rows.
            NotTried: no column can be compared.
            SchemaMismatch: a table lacks a column.
        """
        tables = read(release), read(original), read(control)
        names = [each for each in tables[0].names if all(each in table.names for table in tables[1:])]
        if on is not None:
            names = [table.column(name).name for name in dict.fromkeys(on) for table in tables[:1]]
        if not all(table.rows for table in tables):
            raise InvalidArgument("the release, the original and the control need a row or more each")
        if _FEWEST * tables[2].rows < tables[1].rows:
            raise InvalidArgument(
                f"the control has {tables[2].rows:,} people for {tables[1].rows:,} in the original",
                hint="half as many or more, whom the release wasn't made of",
            )
        found = {name: _compared(name, [table.column(name) for table in tables]) for name in names}
        columns = tuple(column for column in found.values() if column is not None)
        if not columns:
            raise NotTried(
                "no column of the release can be compared with the original", hint="columns of the same names"
            )
        _refuse_the_same(columns)
        return cls(
            columns=columns,
            left_out=tuple(name for name, column in found.items() if column is None),
            rows=(tables[0].rows, tables[1].rows, tables[2].rows),
            repeated=repeated(tables[1]),
        )

    def some(self, side: int, most: int) -> Whole:
        """Rows of a table, drawn at random; all if there are no more."""
        return drawn(self.rows[side], most)


def drawn(number: int, most: int) -> Whole:
    """So many different places below a number, at random; all if there are no more."""
    if number <= most:
        return np.arange(number)
    return np.argsort(uniform(1 << 62, number), kind="stable")[:most]


def _refuse_the_same(columns: Sequence[_Column]) -> None:
    """Refuse the original as its own control: nothing would work better on it.

    Raises:
        InvalidArgument: both have the same rows.
    """
    sides = [np.stack([column.cells[side] for column in columns]) for side in (1, 2)]
    if sides[0].shape == sides[1].shape:
        one, other = (side[:, np.lexsort(side)] for side in sides)
        if np.array_equal(one, other, equal_nan=True):
            raise InvalidArgument("the control is the original", hint="people whom the release wasn't made of")


def _compared(name: str, columns: Sequence[Coded]) -> _Column | None:
    """A column of three tables on one scale; None if no released cell says anything of the original's values."""
    if all(is_number(column.values) for column in columns[1:]) or all(is_time(each.values) for each in columns[1:]):
        cells = [_numbers(column) for column in columns]
        if np.isnan(cells[0]).all() and not np.isnan(cells[1]).all():
            return None
        every = np.concatenate(cells)
        least, most = (float(end(every)) for end in (np.nanmin, np.nanmax)) if not np.isnan(every).all() else (0.0, 0.0)
        spread = most - least or 1.0
        one, two, three = ((each - least) / spread for each in cells)
        return _Column(name=name, cells=(one, two, three), ordered=True, values=columns[0], least=least, spread=spread)
    codes: dict[str | None, int] = {}
    coded = []
    for column in columns:
        places = [codes.setdefault(plain(value), len(codes)) for value in column.labels()]
        coded.append(np.array(places, dtype=np.float64)[column.codes])
    if not np.isin(coded[1], coded[0]).any():
        return None
    return _Column(name=name, cells=(coded[0], coded[1], coded[2]), ordered=False, values=columns[0])


def _numbers(column: Coded) -> Reals:
    """Row → number; the middle of a cell that is a range; times in nanoseconds; NaN of what is neither."""
    values = present(column)
    if is_time(values):
        import pyarrow as pa

        known = np.asarray(values.cast(pa.timestamp("us")).cast(pa.int64()), dtype=np.float64)
        each = [*known.tolist(), *([nan] if column.has_missing else [])]
    else:
        each = [middle(value) for value in column.labels()]
    return np.array(each, dtype=np.float64)[column.codes]


# ── Predicates ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Test:
    """What a predicate asks of one column: at least, at most, or the same as what a released row has."""

    column: _Column
    row: int
    sign: str

    def met(self, side: int) -> Mask:
        """Which rows of a table meet it."""
        value, cells = self.column.cells[0][self.row], self.column.cells[side]
        if np.isnan(value):
            return np.isnan(cells)
        return np.asarray({"≥": cells.__ge__, "≤": cells.__le__, "=": cells.__eq__}[self.sign](value))

    def __str__(self) -> str:
        return f"{self.column.name} {self.sign} {self.column.text(self.row)}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Predicate:
    """A conjunction."""

    tests: tuple[_Test, ...]

    def holds(self, side: int, rows: Whole | None = None) -> int:
        """Of how many rows of a table it holds; of these, if they are said."""
        met = self.tests[0].met(side)
        for test in self.tests[1:]:
            met = met & test.met(side)
        return int(np.count_nonzero(met if rows is None else met[rows]))

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests))


def _of_one(tables: _Tables, trials: int) -> list[_Predicate]:
    """The predicates of one column, or some of them."""
    found = []
    for column in tables.columns:
        cells = column.cells[0]
        values, first, times = np.unique(cells, return_index=True, return_counts=True)
        found += [_Test(column=column, row=row, sign="=") for row in first[times == 1].tolist()]
        known = np.flatnonzero(~np.isnan(values))
        if column.ordered and len(known):
            ends = ((first[known[-1]], "≥"), (first[known[0]], "≤"))
            found += [_Test(column=column, row=int(row), sign=sign) for row, sign in ends]
    made = [_Predicate(tests=(test,)) for test in found]
    made = [each for each in made if each.holds(0) == 1]
    return [made[place] for place in drawn(len(made), trials).tolist()]


def _of_several(tables: _Tables, columns: int, trials: int) -> list[_Predicate]:
    """Predicates of several columns, drawn until there are enough that exactly one released row meets."""
    medians = [float(np.nanmedian(each.cells[0])) if each.ordered else nan for each in tables.columns]
    found: dict[tuple[object, ...], _Predicate] = {}
    for row in uniform(tables.rows[0], _TRIES * trials).tolist():
        chosen = sorted(drawn(len(tables.columns), columns).tolist())
        tests = tuple(
            _Test(
                column=each,
                row=row,
                sign=("≥" if each.cells[0][row] > medians[place] else "≤") if each.ordered else "=",
            )
            for place, each in ((place, tables.columns[place]) for place in chosen)
        )
        made = _Predicate(tests=tests)
        key = tuple((test.column.name, test.sign, float(test.column.cells[0][row])) for test in tests)
        if key not in found and made.holds(0) == 1:
            found[key] = made
            if len(found) == trials:
                break
    return list(found.values())


# ── Neighbours ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _distances(columns: Sequence[_Column], side: int, rows: Whole) -> Iterator[NDArray[np.float32]]:
    """People of a table × released rows: Gower's distance, times the number of columns; some people at a time."""
    released = len(columns[0].cells[0])
    step = max(1, _BLOCK // released)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        total = columns[0].apart(side, part)
        for column in columns[1:]:
            total += column.apart(side, part)
        yield total


def _linked(hands: tuple[list[_Column], list[_Column]], side: int, neighbors: int, rows: Whole) -> Mask:
    """Of people of a table, whether what either party knows leads to the same released row."""
    found = []
    for one, other in zip(*(_distances(hand, side, rows) for hand in hands), strict=True):
        if neighbors == 1:
            found.append(one.argmin(axis=1) == other.argmin(axis=1))
            continue
        nearest = [
            np.argpartition(each, min(neighbors, each.shape[1]) - 1, axis=1)[:, :neighbors] for each in (one, other)
        ]
        found.append(np.array([len(np.intersect1d(a, b)) > 0 for a, b in zip(*nearest, strict=True)]))
    return np.concatenate(found)
