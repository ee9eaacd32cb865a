"""Local recoding against rounds by hand, and the promises that its release must keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.hierarchies import Flat
from discreet.anonymity.loss import loss_named
from discreet.anonymity.models import DeltaPresence, KAnonymity, KMap
from discreet.anonymity.reduce.anonymize import anonymize
from discreet.anonymity.reduce.generalisation import optimum
from discreet.anonymity.reduce.local_recoding import LocalRecoding, recode_locally
from discreet.errors import InvalidArgument
from support.examples import examples
from support.slow_generalising import PROMISES, Case, Levels, Promise, both, cases

LIMITS = st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
ABSOLUTE = [promise for name, promise in PROMISES.items() if name not in {"close", "likeness", "disclosure"}]
"""What is asked of a class by itself."""


def recoded(case: Case, promises: list[Promise], share: Fraction, loss: str = "ncp") -> LocalRecoding | None:
    """The recoding; None if there is no optimum to start from."""
    models = [each.model for each in promises]
    try:
        first = optimum(read(case.columns()), case.hierarchies(), models, suppression=share, loss=loss_named(loss))
    except InvalidArgument:
        return None
    return recode_locally(first, models, loss_named(loss))


def by_hand(case: Case, k: int, share: Fraction) -> tuple[tuple[Levels, int], ...] | None:
    """Rounds for k-anonymity by precision, which looks at no other row: so the rest is searched like any table."""

    def met(held: Counter[object], _: Counter[object]) -> bool:
        return held.total() >= k

    found: list[tuple[Levels, int]] = []
    rest, most = case, floor(share * len(case.rows))
    while rest.rows:
        best = rest.best("precision", met, k, most)
        if best is None:
            return tuple(found) if found else None
        kept = rest.kept(best[1], met)
        found.append((best[1], sum(held.total() for held in kept.values())))
        left = [
            (codes, value)
            for codes, value in rest.rows
            if tuple(rest.paths[i][code][best[1][i]] for i, code in enumerate(codes)) not in kept
        ]
        rest, most = replace(rest, rows=tuple(left)), len(left) - 1
    return tuple(found)


@examples(120)
@given(cases(rows=16), st.integers(1, 4), LIMITS)
def test_rounds_are_searches_of_what_is_left(case: Case, k: int, share: Fraction) -> None:
    """Round by round the same levels and the same numbers of rows as by hand."""
    promise = Promise(KAnonymity(k), lambda held, _: held.total() >= k)
    got, want = recoded(case, [promise], share, "precision"), by_hand(case, k, share)
    assert (got is None) == (want is None)
    assert got is None or got.rounds == want


@examples(120)
@given(cases(), st.lists(st.one_of(*ABSOLUTE), min_size=1, max_size=2), LIMITS)
def test_what_is_released_meets_the_models_together(case: Case, promises: list[Promise], share: Fraction) -> None:
    """Classes of all rounds, as the release shows them; cells tell the truth; never more rows are lost than before."""
    got = recoded(case, promises, share)
    if got is None:
        return
    met, kept = both(promises), got.recoding.kept
    columns = [column.tidied(kept) for column in got.recoding.columns.values()]
    rows = [row for row, keep in zip(case.rows, kept, strict=True) if keep]
    classes: dict[tuple[str, ...], Counter[object]] = {}
    for place, (_, value) in enumerate(rows):
        shown = tuple(column.cells.labels[column.codes[place]] for column in columns)
        classes.setdefault(shown, Counter())[value] += 1
    assert all(met(held, held) for held in classes.values())
    assert sum(count for _, count in got.rounds) == len(rows)
    assert got.recoding.suppressed <= len(case.rows) - got.rounds[0][1]
    original = read(case.columns())
    for name, column in zip(got.recoding.columns, columns, strict=True):
        values = original.column(name).codes[kept]
        assert all(
            column.codes[place] in column.cells.covering(int(code)).tolist() for place, code in enumerate(values)
        )


@examples(60)
@given(cases(), st.integers(2, 3), LIMITS, st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(case: Case, k: int, share: Fraction, dice: Any) -> None:
    """To the release, or to anything said of it."""
    rows = list(case.rows)
    dice.shuffle(rows)
    tables = [case.columns(), replace(case, rows=tuple(rows)).columns()]
    found = []
    for table in tables:
        try:
            made = anonymize(
                table,
                hierarchies=case.hierarchies(),
                sensitive=["ill"],
                models=[KAnonymity(k)],
                suppression=share,
                local_recoding=True,
            )
        except InvalidArgument:
            found.append(None)
        else:
            found.append((made.table.to_pylist(), made.to_dict()))
    assert found[0] == found[1]


def test_fewer_rows_are_lost() -> None:
    """What the optimum leaves out is kept at higher levels."""
    ages = {"age": ["21"] * 6 + ["34", "35"]}
    one = anonymize(ages, hierarchies={"age": Flat()}, models=[KAnonymity(2)], suppression=Fraction(1, 4))
    local = anonymize(
        ages, hierarchies={"age": Flat()}, models=[KAnonymity(2)], suppression=Fraction(1, 4), local_recoding=True
    )
    assert (one.suppressed, local.suppressed) == (2, 0)
    assert local.table.column("age").to_pylist() == ["*"] * 2 + ["21"] * 6
    assert local.losses["ncp"] == one.losses["ncp"] == pytest.approx(0.25)  # all is said of them now, and nothing
    assert local.losses["discernibility"] < one.losses["discernibility"]
    assert local.cells["age"].covering(0).tolist() == [0, 1]
    assert local.algorithm == "optimal with local recoding"


def test_rounds_end() -> None:
    """At the last one as many rows as possible are kept."""
    table = read({"age": [f"{row // 2}" for row in range(8)] + ["8", "9"]})
    first = optimum(table, {"age": Flat()}, [KAnonymity(2)], suppression=1)
    assert first.search.suppressed == 2
    found = recode_locally(first, [KAnonymity(2)], loss_named("ncp"), rounds=2)
    assert found.rounds == (((0,), 8), ((1,), 2))
    assert recode_locally(first, [KAnonymity(2)], loss_named("ncp"), rounds=1).recoding.suppressed == 2
    with pytest.raises(InvalidArgument, match="at least one round"):
        recode_locally(first, [KAnonymity(2)], loss_named("ncp"), rounds=0)


def test_what_cannot_be_joined_is_refused() -> None:
    """Models that don't merge, and models about a population."""
    table = {"age": ["1", "1", "2"]}
    for model in (DeltaPresence(Fraction(1, 2), 1), KMap(1)):
        with pytest.raises(InvalidArgument, match=r"look alike|in a population"):
            anonymize(
                table, hierarchies={"age": Flat()}, models=[model], population=table, suppression=1, local_recoding=True
            )
