"""Query log: what the answers to many harmless questions give away together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from discreet.anonymity.columns import Codes
from discreet.anonymity.records import read
from discreet.attacks.answers.linear_systems import Basis, Determined, Mask, determined
from discreet.attacks.attack_result import AttackResult, Guess, surest
from discreet.attacks.naming import Namer, named
from discreet.attacks.targets.answering import Answering, Bill, Reply, deviation_of, is_right, sureness
from discreet.attacks.targets.exact_answers import Exact, Imputed
from discreet.attacks.targets.sql_conditions import where
from discreet.errors import InvalidArgument, NotTried

_MOST_PAIRS = 1000
"""How many pairs a result lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Two questions whose rows differ in a few only.

    Args:
        one: the place of the first in the log.
        other: of the second.
        rows: how many rows are in one of them and not in both.
    """

    one: int
    other: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryLogResult(AttackResult):
    """The values that a query log gives away.

    Args:
        queries: how many there are.
        answered: how many were; the first refusal ends the log, and what follows is about the answers before it.
        rank: how many of them are independent of one another.
        determined: places of the rows whose value follows from the answers, but for the noise in them. Rows of one unit
            that no question tells apart are taken together, and called by the first.
        groups: rows that no question tells apart, whose total follows.
        pairs: questions whose rows differ in fewer than the threshold, the closest first; at most 1,000.
        close_pairs: how many such pairs there are.
        deviation: the standard deviation of the noise in the value that is known best; None if no row's value follows,
            or the noise is unknown.
        epsilon: what the answers cost.
    """

    queries: int
    answered: int
    rank: int
    determined: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    pairs: tuple[Close, ...]
    close_pairs: int
    deviation: float | None
    epsilon: float


def query_log(  # noqa: PLR0913 — who is asked and what, and about whose rows
    target: Answering,
    measure: str,
    conditions: Sequence[str],
    *,
    table: Exact | None = None,
    closer_than: int = 3,
    naming: str | Sequence[str] | None = None,
) -> QueryLogResult:
    """Find the rows whose value the answers to a log of questions give away, and prove it for each.

    Where rows have units, people are units: rows of one that no question tells apart count as one, with their total,
    and a unit is found if the value of any of its rows is right.

    All questions ask for the same measure, each of other rows. The count of a question is a measure too: that of
    `COUNT(*) WHERE city = 'Bern' AND ill` is `COUNT_IF(ill)`, under the condition `city = 'Bern'`.

    Which rows each question is about is known, and so is with which factors the answers add up to a row's value. Exact
    answers give it to the last digit. Of answers with independent noise of standard deviations s_j, the factors f_j
    make a value with noise of √Σ(f_j·s_j)², and of a sureness to match. How far anonymised rows are off isn't known, so
    nothing is said of how sure their values are: 0 %, though some may be right.

    Args:
        target: answers the questions.
        measure: an additive aggregate in SQL, such as `SUM(income)`.
        conditions: of the questions, in SQL; one or more.
        table: who knows the rows that each question is about, whose they are, and the true values; the target itself if
            left out, which then must hold the table as it is.
        closer_than: pairs of questions whose rows differ in 1 or more, but fewer than this, are listed.
        naming: a column whose values say who a row is about, or several; its place if left out.

    Raises:
        QueryError: the questions aren't ones that the target answers.
        InvalidArgument: there is no question, or one that can't be run; or the target doesn't hold the table as it is,
            and that isn't handed in.
        NotTried: the first question is refused.

    Source: Dobkin, Jones, Lipton (1979), "Secure Databases: Protection Against User Influence", the definition of
        a compromise; see `linear_systems`.

    Examples:
        >>> staff = Exact({"name": ["Ada", "Bob", "Cy", "Di"], "pay": [70, 56, 48, 61]}, name="staff")
        >>> log = ["TRUE", "name < 'C'", "name > 'Ada'"]
        >>> found = query_log(staff, "SUM(pay)", log, naming="name")
        >>> found.determined, str(found.guesses[0])
        ((0, 1), 'Ada: SUM(pay) = 70, 100 % sure, right')
    """
    if not conditions:
        raise InvalidArgument("a query log has one question or more")
    known = _known(target, table)
    sets = np.array([known.rows(condition) for condition in conditions], dtype=np.bool_)
    rows = sets.shape[1]
    if not rows:
        raise InvalidArgument("the table has no rows")
    replies = _replies(target, measure, conditions)
    answered = [reply for reply in replies if not reply.refusal]
    if not answered:
        raise NotTried("the budget doesn't last for one question of the log", hint="offer less per question")
    sets = sets[: len(answered)]
    parts = _parts(sets, known.owners)
    found = determined(sets[:, [part[0] for part in parts]])
    values, deviations = _solved(sets[:, [part[0] for part in parts]], answered, found)
    learned = [parts[place] for place in found.rows]
    guesses = _guesses(known, measure, naming, learned, values, deviations)
    right = np.zeros(rows, dtype=np.bool_)
    right[[part[0] for part, guess in zip(learned, guesses, strict=True) if guess.right]] = True
    people = known.people(np.ones(rows, dtype=np.bool_))
    pairs = _close(sets, closer_than)
    return QueryLogResult(
        attack="query log",
        against=target.against,
        tried=people,
        success=known.people(right) / people,
        baseline=None,
        baseline_is="an attacker without the answers",
        guesses=surest(guesses),
        queries=len(conditions),
        answered=len(answered),
        rank=found.rank,
        determined=tuple(part[0] for part in learned),
        groups=tuple(tuple(parts[place][0] for place in group) for group in found.groups),
        pairs=tuple(pairs[:_MOST_PAIRS]),
        close_pairs=len(pairs),
        deviation=min((each for each in deviations if each is not None), default=None),
        epsilon=Bill.of(replies).epsilon,
    )


def _known(target: Answering, table: Exact | None) -> Exact:
    """The target that knows the rows.

    Raises:
        InvalidArgument: nobody does. Rows whose values were drawn aren't the people's own.
    """
    if table is not None:
        return table
    if not isinstance(target, Exact) or isinstance(target, Imputed):
        raise InvalidArgument("say which rows the questions are about", hint="table=Exact(…), the table as it is")
    return target


def _parts(sets: Mask, owners: Codes | None) -> list[list[int]]:
    """The rows that are learned about together: those of one unit that no question tells apart, by their first."""
    if owners is None:
        return [[row] for row in range(sets.shape[1])]
    kinds = np.unique(sets, axis=1, return_inverse=True)[1].reshape(-1)
    parts: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row, part in enumerate(zip(owners.tolist(), kinds.tolist(), strict=True)):
        parts[part].append(row)
    return list(parts.values())


def _replies(target: Answering, measure: str, conditions: Sequence[str]) -> list[Reply]:
    """The replies, up to the first refusal.

    Raises:
        InvalidArgument: an answer isn't finite, so that nothing can be added up.
    """
    replies: list[Reply] = []
    for condition in conditions:
        replies.append(target.aggregate(measure, condition))
        value = replies[-1].value
        if value is None:
            break
        if not isfinite(value):
            raise InvalidArgument("an answer isn't a finite number")
    return replies


def _solved(
    sets: Mask, replies: Sequence[Reply], found: Determined
) -> tuple[tuple[float, ...], tuple[float | None, ...]]:
    """For each part that follows, its value and the standard deviation of the noise in that."""
    if not found.rows:
        return (), ()
    basis = Basis.of(sets, found.rank)
    answers = [reply.value for reply in replies if reply.value is not None]
    values = tuple(float(value) for value in basis.values(answers, found.rows))
    kinds = {reply.deviation for reply in replies}
    if kinds in ({0.0}, {None}):  # whatever the factors, which take far longer than the values
        return values, tuple(kinds) * len(values)
    return values, tuple(deviation_of(replies, factors) for factors in basis.factors(found.rows))


def _guesses(  # noqa: PLR0913, PLR0917 — rows, with what is claimed of each
    table: Exact,
    measure: str,
    naming: str | Sequence[str] | None,
    parts: Sequence[Sequence[int]],
    values: Sequence[float],
    deviations: Sequence[float | None],
) -> list[Guess]:
    """A guess for each part, beside what the table says of its rows alone."""
    if not parts:
        return []
    import pyarrow as pa

    taken = {name.casefold() for name in table.data.column_names}
    place = next(name for name in (f"place{'_' * more}" for more in range(len(taken) + 1)) if name not in taken)
    numbered = Exact(table.data.append_column(place, pa.array(range(table.data.num_rows))), name=table.table)
    called = _namer(table, naming)
    return [
        Guess(
            who=called(rows[0]),
            what=f"{measure} = {value:,.10g}",
            confidence=sureness(deviation),
            right=is_right(value, numbered.aggregate(measure, where({place: rows})).value),
        )
        for rows, value, deviation in zip(parts, values, deviations, strict=True)
    ]


def _namer(table: Exact, naming: str | Sequence[str] | None) -> Namer:
    """How rows are called."""
    if naming is None:
        return lambda row: f"row {row}"
    columns = [naming] if isinstance(naming, str) else list(naming)
    records = read(table.data.select(columns))
    return named(records, columns, naming if isinstance(naming, str) else None)


def _close(sets: Mask, closer_than: int) -> list[Close]:
    """The pairs of questions whose rows differ, but in fewer than this number; the closest first."""
    flags = sets.astype(np.float64)  # products of flags are exact in floats, and fast
    sizes = flags.sum(axis=1)
    apart = np.rint(sizes[:, np.newaxis] + sizes - 2 * flags @ flags.T).astype(np.int64)
    places = np.argwhere(np.triu((apart > 0) & (apart < closer_than), 1)).tolist()
    pairs = [Close(one=one, other=other, rows=int(apart[one, other])) for one, other in places]
    return sorted(pairs, key=lambda pair: pair.rows)
