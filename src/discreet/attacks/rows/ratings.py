"""Made-up data for attacks that need it: ratings by people who don't exist, and tables with little errors in them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records.column import Reals, Value, Whole
from discreet.anonymity.records.records import Records
from discreet.attacks.rows.nearness import Near, Nearness, Typos
from discreet.census.pseudorandom import normal, pick, uniform

if TYPE_CHECKING:
    import pyarrow as pa

_STARS = 5
_FIRST_DAY, _DAYS = date(2020, 1, 1), 1_000
_WRONG = 0.25  # share of what is known that is off
_ERRORS = 0.1  # share of values that are blurred


def made_up_ratings(
    people: int = 2_000, films: int = 1_000, *, targets: int = 100, known: int = 8
) -> tuple[pa.Table, pa.Table]:
    """Ratings of films, and what is known of a few people: the same on every run.

    Few films are seen by many and many by few: the n-th is seen in proportion to 1/(n + 10). Everybody rates 10 films
    or more, 30 on average. Of what is known, a quarter of the ratings is off by a star, and a quarter of the dates by a
    fortnight.

    Args:
        people: how many rated.
        films: how many there are.
        targets: how many are known, at the most; the first ones.
        known: how many ratings are known of each.

    Returns:
        The ratings and what is known: person, item, value, date.

    Examples:
        >>> ratings, known = made_up_ratings(50, 100, targets=2)
        >>> ratings.column_names, known.num_rows
        (['person', 'item', 'value', 'date'], 16)
    """
    import pyarrow as pa

    numbers = np.maximum(np.rint(30 + 10 * normal("ratings of a person", people)), 10).astype(np.int64)
    person = np.repeat(np.arange(people), numbers)
    item = pick("film", 1 / (np.arange(films) + 10.0), len(person))
    keys, places = np.unique(person * films + item, return_index=True)
    order = np.argsort(places)
    person, item = np.divmod(keys[order], films)
    value = 1 + (uniform("stars", len(person)) * _STARS).astype(np.int64)
    day = (uniform("day", len(person)) * _DAYS).astype(np.int64)
    rank = np.arange(len(person)) - np.searchsorted(person, person)
    heard = np.flatnonzero((rank < known) & (person < targets))
    off = uniform("errors", len(heard))
    star = np.where(off < _WRONG, np.where(value[heard] > 1, -1, 1), 0)
    fortnight = np.where((off >= _WRONG) & (off < 2 * _WRONG), 14, 0)
    columns = {"person": person, "item": item, "value": value, "date": _dates(day)}
    told = {
        "person": person[heard],
        "item": item[heard],
        "value": value[heard] + star,
        "date": _dates(day[heard] + fortnight),
    }
    return pa.table(columns), pa.table(told)


def blurred(table: Records, how: Mapping[str, Nearness], number: str) -> pa.Table:
    """A table in which a tenth of the values that may be off are off, as far as they may be.

    Args:
        table: what is blurred.
        how: of each column that is, what may be off; the others stay as they are.
        number: the name of a column that is added: which row it is, or whose, where rows have units.
    """
    import pyarrow as pa

    known = {}
    for name, column in table.columns.items():
        values = column.values.take(column.codes)
        if name not in how:
            known[name] = values
            continue
        drawn = uniform(f"errors in {name}", table.rows)
        known[name] = pa.array(
            [
                _off(value, how[name], float(chance / _ERRORS)) if chance < _ERRORS else value
                for value, chance in zip(values.to_pylist(), drawn, strict=True)
            ],
            values.type,
        )
    whose = np.arange(table.rows) if table.units is None else table.units.codes
    return pa.table({**known, number: pa.array(whose)})


def _off(value: Value, how: Nearness, share: float) -> Value:
    """A value that is off as far as it may be; where in a text, or to which side, the share decides."""
    if isinstance(how, Typos) and isinstance(value, str) and value:
        place = int(share * len(value))
        other = "0" if value[place] != "0" else "1"
        return value[:place] + other + value[place + 1 :]
    if isinstance(how, Near):
        step = int(how.within) * (1 if share < 0.5 else -1)  # noqa: PLR2004 — either side in half of the cases
        if isinstance(value, date):
            return value + timedelta(days=step)
        if isinstance(value, int) and not isinstance(value, bool):
            return value + step
    return value


def _dates(days: Whole | Reals) -> pa.Array:
    """Days as dates."""
    import pyarrow as pa

    return pa.array(np.datetime64(_FIRST_DAY) + days.astype("timedelta64[D]"))
