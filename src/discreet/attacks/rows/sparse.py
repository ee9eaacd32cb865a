"""Sparse data: a few things that a person did, known roughly, single them out among those who did many."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.grouping import distinct
from discreet.attacks.attack_result import AttackResult, Guess
from discreet.attacks.naming import first, shown
from discreet.attacks.rows.nearness import numbers
from discreet.attacks.rows.record_pairs import equal, keys_of
from discreet.attacks.targets.candidates import Relation, expand, summed
from discreet.attacks.targets.compatible import relate, stands_for
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument, NotTried

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.anonymity.columns import Coded, Mask, Reals, Value, Whole
    from discreet.anonymity.records import Records

_SCORES = 1 << 22  # scores, target × person, that are held at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparseResult(AttackResult):
    """How many people were found by what they did.

    `success` is the share of targets who are named, and right; None without an answer key.

    Args:
        people: how many are in the release.
        named: how many targets are claimed to be found: their best score stands out.
        named_right: how many of those claims are right; None without an answer key.
        best_right: targets whose best score is the right person's, claimed or not; None without an answer key.
        known: mean number of things known of a target.
        eccentricities: of each target how far the best score stands out, ascending.
    """

    people: int
    named: int
    named_right: int | None
    best_right: int | None
    known: float
    eccentricities: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The columns of a long table, which has one row per person and thing.

    Args:
        person: who; in what is known, the target.
        item: what they rated, bought, visited.
        value: how: a rating, an amount; None if there is none.
        date: when; None if there is none.
    """

    person: str = "person"
    item: str = "item"
    value: str | None = None
    date: str | None = None


def sparse(  # noqa: PLR0913 — both tables and what of them counts as near, each by name
    release: object,
    known: object,
    *,
    log: Log | None = None,
    near_value: float = 1.5,
    near_days: float = 30.0,
    eccentricity: float = 1.5,
    truth: bool = False,
) -> SparseResult:
    """Find people in a release of what they did by a few things that are known of them, with errors.

    Each known thing adds to the score of everyone who has the item, the more so the rarer the item and the nearer value
    and date are, w · (e^(−|Δ value| / near_value) + e^(−|Δ days| / near_days)), w = 1 / ln(people who have it), where
    an item of one person weighs like one of two. A target is claimed to be found if the best score is ahead of the
    second by more than `eccentricity` standard deviations of all scores. An attacker who is right that way need not
    know which of the known things are wrong.

    A generalised cell counts for the mean of the values that it covers, and a cell of m items for one m-th of each.

    Args:
        release: a long table, an `Anonymized` or `Rows`; persons are pseudonyms.
        known: another, with the same columns; persons are targets.
        log: what the columns are called; `person`, `item`, and `value` and `date` if the release has them, if left out.
        near_value: how far a value may be off before its part falls to 1/e; above 0.
        near_days: the same for dates, in days.
        eccentricity: how far the best score must stand out, in standard deviations; 0 or more.
        truth: whether targets are called as the release calls them, so that claims can be scored.

    Raises:
        InvalidArgument: a scale isn't above 0, or cells are generalised and the table before isn't there.
        NotTried: nobody is known, or nobody is in the release.
        SchemaMismatch: a table lacks a column.

    Source: Narayanan, Shmatikov (2008), "Robust de-anonymization of large sparse datasets", Algorithm Scoreboard-RH.

    Examples:
        >>> ratings = {"person": [1, 1, 2, 2, 3, 3], "item": list("ABACBD"), "value": [5, 1, 2, 4, 3, 5]}
        >>> heard = {"person": ["Ann", "Ann"], "item": ["A", "C"], "value": [3, 4]}
        >>> found = sparse(ratings, heard, eccentricity=1)
        >>> print(found.guesses[0])
        Ann: is 2 in the release, 79.9 % sure
    """
    from discreet.anonymity.records import read

    if not (near_value > 0 and near_days > 0 and eccentricity >= 0):
        raise InvalidArgument("near_value and near_days must be above 0, eccentricity at least 0")
    published, heard = Rows.of(release), read(known)
    if not (heard.rows and published.records.rows):
        raise NotTried("nobody is known, or nobody is in the release", hint="tables of one row or more")
    names = log or guessed_log(published.records)
    board = _Board.of(published, heard, names, (near_value, near_days))
    parts = [_stand_out(scores) for scores in board.scores()]
    best, second, spread, belief = (np.concatenate(side) for side in zip(*parts, strict=True))
    place = best.astype(np.int64)
    ahead = np.divide(second, spread, out=np.where(second > 0, inf, 0.0), where=spread > 0)
    claimed = ahead > eccentricity
    right = (board.theirs[place] == board.mine) if truth else None
    count = max(len(place), 1)
    return SparseResult(
        attack="sparse",
        against=f"{published.name} of what people did",
        tried=len(place),
        success=None if right is None else float((claimed & right).sum() / count),
        baseline=1 / max(len(board.theirs), 1),
        baseline_is="a person drawn from all",
        guesses=_guesses(board, place, belief, (claimed, right)),
        people=len(board.theirs),
        named=int(claimed.sum()),
        named_right=None if right is None else int((claimed & right).sum()),
        best_right=None if right is None else int(right.sum()),
        known=heard.rows / count,
        eccentricities=tuple(np.sort(ahead).tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Board:
    """The scoreboard's input: for each known thing, everyone who has the item.

    Args:
        target: of each known thing, whose it is: a place among targets.
        item: of each known thing, the item's code among known items.
        goes: known items → the released ones, or cells, that they may be.
        starts: released items + 1: the released rows with each item, in the order of `rows`.
        rows: released rows, by item.
        person: of each released row, a place among people.
        parts: how values and dates are compared.
        rarity: of each known item, what having it weighs.
        share: of each released item, how likely a row with it is about any one of the items that it covers.
        mine: for each target, a key that equals the key of the person of the same name.
        theirs: for each person, that key.
        labels: how targets, and how people, are called.
    """

    target: Whole
    item: Whole
    goes: Relation
    starts: Whole
    rows: Whole
    person: Whole
    parts: tuple[_Near, ...]
    rarity: Reals
    share: Reals
    mine: Whole
    theirs: Whole
    labels: tuple[tuple[Value, ...], tuple[Value, ...]]

    @classmethod
    def of(cls, published: Rows, heard: Records, log: Log, scales: tuple[float, float]) -> _Board:
        """Sort the release by item."""
        person, target = published.records.column(log.person), heard.column(log.person)
        asked, items = heard.column(log.item), published.records.column(log.item)
        goes, share = _items(asked, items, published)
        rows = np.argsort(items.codes, kind="stable")
        haves = distinct(items.codes.astype(np.int64) * max(person.size, 1) + person.codes) // max(person.size, 1)
        one, other = goes.pairs()
        supports = summed(one, np.bincount(haves, minlength=items.size)[other], asked.size)
        pairs = [(log.value, scales[0]), (log.date, scales[1])]
        parts = [_Near.of(heard.column(name), published, scale) for name, scale in pairs if name]
        mine, theirs = keys_of(target, person)
        keys = np.zeros(target.size, dtype=np.int64), np.zeros(person.size, dtype=np.int64)
        keys[0][target.codes], keys[1][person.codes] = mine, theirs
        return cls(
            target=target.codes.astype(np.int64),
            item=asked.codes.astype(np.int64),
            goes=goes,
            starts=np.searchsorted(items.codes[rows], np.arange(items.size + 1)),
            rows=rows,
            person=person.codes.astype(np.int64),
            parts=tuple(parts),
            rarity=1 / np.log(np.maximum(supports, 2)),
            share=share,
            mine=keys[0],
            theirs=keys[1],
            labels=(target.labels(), person.labels()),
        )

    def scores(self) -> Iterator[Reals]:
        """Targets × people, some targets at a time, in order."""
        people, targets = max(len(self.theirs), 1), len(self.mine)
        order = np.argsort(self.target, kind="stable")
        step = max(_SCORES // people, 1)
        for start in range(0, max(targets, 1), step):
            end = min(start + step, targets)
            low, high = np.searchsorted(self.target[order], [start, end])
            yield self._added(order[low:high], start, end - start)

    def _added(self, things: Whole, start: int, targets: int) -> Reals:
        """The scores of some targets: of a person with an item several times, the nearest counts."""
        people = max(len(self.theirs), 1)
        asked, pair = expand(self.goes.starts, self.item[things])
        which, place = expand(self.starts, self.goes.cells[pair])
        owner = asked[which]
        thing, row = things[owner], self.rows[place]
        near = sum((part.nearness(thing, row) for part in self.parts), np.zeros(len(row)))
        worth = self.rarity[self.item[thing]] * self.share[self.goes.cells[pair][which]]
        gained = worth * (near if self.parts else 1.0)
        keys = owner * people + self.person[row]
        order = np.lexsort((-gained, keys))
        ones = np.ones(len(order), dtype=np.bool_)
        ones[1:] = keys[order][1:] != keys[order][:-1]
        best = order[ones]
        cells = (self.target[thing[best]] - start) * people + self.person[row[best]]
        return summed(cells, gained[best], targets * people).reshape(targets, people)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Near:
    """One column in which a known thing and a released row can be near.

    Args:
        known: of each known thing, its number.
        released: of each released row, its number.
        scale: the distance at which nearness is 1/e.
    """

    known: Reals
    released: Reals
    scale: float

    @classmethod
    def of(cls, known: Coded, published: Rows, scale: float) -> _Near:
        """The marks of a column of both tables."""
        released, covered = published.records.column(known.name), published.covered(known.name)
        if covered is None:
            values = numbers(released)
        else:
            cells, original = covered
            before = numbers(original)
            values = np.array([_mean(before[codes]) for codes in stands_for(released, cells)], dtype=np.float64)
        return cls(known=numbers(known)[known.codes], released=values[released.codes], scale=scale)

    def nearness(self, things: Whole, rows: Whole) -> Reals:
        """In (0, 1] where both are known, else 0."""
        apart = np.abs(self.known[things] - self.released[rows])
        return np.nan_to_num(np.exp(-apart / self.scale), nan=0.0)


def _items(asked: Coded, items: Coded, published: Rows) -> tuple[Relation, Reals]:
    """Which released items the known ones may be, and of each released item, one in how many items it covers."""
    covered = published.covered(items.name)
    if covered is None:
        return equal(asked, items), np.ones(items.size)
    cells, original = covered
    numbers_of = [len(codes) for codes in stands_for(items, cells)]
    return relate(asked, items, cells=cells, original=original), 1 / np.array(numbers_of, dtype=np.float64)


def _mean(values: Reals) -> float:
    """The mean of what is known; NaN if nothing is."""
    held = values[np.isfinite(values)]
    return float(held.mean()) if len(held) else nan


def guessed_log(released: Records) -> Log:
    """The usual names: `value` and `date` if there are such columns."""
    return Log(
        value="value" if "value" in released.columns else None, date="date" if "date" in released.columns else None
    )


def _stand_out(scores: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """For each row of scores: place of the best, its lead over the second, their spread, and belief in the best.

    Belief is e^(score/σ) over its sum, as the paper's entropic output has it.
    """
    best = scores.argmax(axis=1)
    top = scores.max(axis=1)
    second = np.partition(scores, -2, axis=1)[:, -2] if scores.shape[1] > 1 else np.zeros(len(scores))
    spread = scores.std(axis=1)
    scaled = (scores - top[:, np.newaxis]) / np.where(spread > 0, spread, 1.0)[:, np.newaxis]
    return best.astype(np.float64), top - second, spread, 1 / np.exp(scaled).sum(axis=1)


def _guesses(board: _Board, place: Whole, belief: Reals, told: tuple[Mask, Mask | None]) -> tuple[Guess, ...]:
    """The claims, the surest first."""
    claimed, right = told
    return tuple(
        Guess(
            who=shown(board.labels[0][target]),
            what=f"is {shown(board.labels[1][place[target]])} in the release",
            confidence=float(belief[target]),
            right=None if right is None else bool(right[target]),
        )
        for target in first(belief, np.flatnonzero(claimed))
    )
