"""The optimal search against every node of the lattice, and against searches that rule out too much."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.columns import Mask, Reals
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.hierarchies import Flat, Listed
from discreet.anonymity.loss import LOSSES, loss_named
from discreet.anonymity.models import AlphaK, Closeness, DeltaPresence, KAnonymity, Model
from discreet.anonymity.reduce.generalisation import Optimum, optimum
from discreet.errors import InvalidArgument
from support.examples import examples
from support.slow_generalising import FLOATS, PROMISES, Case, Promise, both, cases
from support.slow_generalising import LOSSES as NAMES
from support.slow_models import equal_distance

LIMITS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
PROMISED = st.lists(st.one_of(*PROMISES.values()), min_size=1, max_size=2)


def found(
    case: Case, models: Sequence[Model], share: Fraction, loss: str = "ncp", most_nodes: int | None = None
) -> Optimum | None:
    """The optimum; None if there is no solution."""
    with suppress(InvalidArgument):
        return optimum(
            read(case.columns()),
            case.hierarchies(),
            models,
            suppression=share,
            loss=loss_named(loss),
            most_nodes=most_nodes,
        )
    return None


@examples(250)
@given(cases(), PROMISED, st.sampled_from(NAMES), LIMITS)
def test_the_search_finds_what_trying_all_nodes_finds(
    case: Case, promises: list[Promise], name: str, share: Fraction
) -> None:
    """The same loss, and of several nodes the same one, for all models, losses and limits."""
    met, models = both(promises), [each.model for each in promises]
    k = max([model.k for model in models if isinstance(model, KAnonymity | AlphaK)], default=1)
    want = case.best(name, met, k, floor(share * len(case.rows)))
    got = found(case, models, share, name)
    if want is None or got is None:
        assert want is None
        assert got is None
        return
    least = pytest.approx(want[0], abs=1e-9) if name in FLOATS else want[0]
    assert got.search.loss == least
    assert case.loss(name, got.levels, met, k) == least
    assert name in FLOATS or got.levels == want[1]
    assert got.search.optimal
    assert got.search.unknown == 0
    kept = case.kept(got.levels, met)
    assert got.recoding.suppressed == got.search.suppressed == len(case.rows) - sum(h.total() for h in kept.values())
    for place, column in enumerate(got.recoding.columns.values()):
        shown = [column.cells.labels[cell] for cell in column.codes]
        groups = [case.paths[place][codes[place]][got.levels[place]] for codes, _ in case.rows]
        assert len(set(zip(shown, groups, strict=True))) == len(set(shown)) == len(set(groups))


@examples(100)
@given(cases(), PROMISED, st.sampled_from(NAMES), LIMITS, st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(
    case: Case, promises: list[Promise], name: str, share: Fraction, dice: Any
) -> None:
    """Not even to ties or to the search's own figures."""
    rows = list(case.rows)
    dice.shuffle(rows)
    models = [each.model for each in promises]
    one = found(case, models, share, name)
    other = found(Case(rows=tuple(rows), paths=case.paths, numeric=case.numeric), models, share, name)
    assert (one is None) == (other is None)
    assert one is None or other is None or one.search == other.search


@examples(100)
@given(cases(), PROMISED, st.sampled_from(NAMES), LIMITS, st.integers(1, 4))
def test_a_search_cut_short_proves_its_gap(
    case: Case, promises: list[Promise], name: str, share: Fraction, nodes: int
) -> None:
    """The true optimum lies between its bound and its loss."""
    models = [each.model for each in promises]
    best, cut = found(case, models, share, name), found(case, models, share, name, most_nodes=nodes)
    if cut is None:
        return
    assert best is not None
    assert cut.search.evaluated <= nodes
    assert cut.search.loss >= best.search.loss
    assert cut.search.optimal == (cut.search.unknown == 0)
    assert float(cut.search.loss) - cut.search.gap <= float(best.search.loss) + 1e-9
    if cut.search.optimal:
        assert cut.search.loss == best.search.loss


class Bold:
    """A model that claims more than is true: that rows may be added, and classes joined, at will."""

    def __init__(self, model: Model) -> None:
        self._model = model

    sensitive = property(lambda self: self._model.sensitive)
    grows = True
    merges = True
    relative = property(lambda self: self._model.relative)

    def measure(self, frequencies: Frequencies) -> Reals:
        """As it is."""
        return self._model.measure(frequencies)

    def met(self, frequencies: Frequencies) -> Mask:
        """As it is."""
        return self._model.met(frequencies)

    def reached(self, frequencies: Frequencies) -> float:
        """As it is."""
        return self._model.reached(frequencies)

    def __str__(self) -> str:
        return str(self._model)


def rows(*held: tuple[str, str]) -> tuple[tuple[tuple[int, ...], str], ...]:
    """Rows from classes: the codes as digits, and the sensitive values of their rows."""
    return tuple((tuple(map(int, codes)), value) for codes, values in held for value in values)


TWO = {0: (0, 0), 1: (1, 0)}
HALF = Case(rows=rows(("0", "aabb"), ("1", "a")), paths=(TWO,), numeric=(None,))
CLOSE = Case(rows=rows(("00", "aab"), ("01", "bb"), ("10", "a")), paths=(TWO, TWO), numeric=(None, None))


def test_ruling_out_what_is_below_a_miss_loses_the_optimum() -> None:
    """With rows left out, a model that doesn't grow may be met below a node that misses it. Found by brute force.

    Five rows, a, a, b, b and a, of which one may be left out, and no value may fill more than half of a class. At the
    bottom the last row is alone and left out. At the top all are one class, and a fills ⅗ of it.
    """
    model, share = AlphaK(Fraction(1, 2), 1, "ill"), Fraction(1, 4)
    got = found(HALF, [model], share)
    want = HALF.best("ncp", lambda held, _: max(held.values()) * 2 <= held.total(), 1, 1)
    assert got is not None
    assert (got.search.loss, got.levels) == want == (Fraction(1, 5), (0,))
    assert found(HALF, [Bold(model)], share) is None


def test_wrong_pruning_may_find_something_and_not_the_best() -> None:
    """The same, where the twin comes back with a solution that loses more."""
    model, share = Closeness(Fraction(1, 5), "ill"), Fraction(1, 2)
    got, twin = found(CLOSE, [model], share), found(CLOSE, [Bold(model)], share)
    want = CLOSE.best("ncp", lambda held, table: equal_distance(held, table) <= Fraction(1, 5), 1, 3)
    assert got is not None
    assert twin is not None
    assert want is not None
    assert (got.search.loss, got.levels) == want
    assert got.search.loss == Fraction(1, 2) < twin.search.loss == Fraction(7, 12)
    assert twin.search.optimal  # so it says: it takes the model's word


def test_without_suppression_a_model_must_merge() -> None:
    """A lower end of presence is lost when people outside the table join; a search that forgets it finds nothing."""
    table, town = read({"q": ["v0", "v1"]}), read({"q": ["v0", "v1", "v2", "v3"]})
    hierarchy = Case(rows=(), paths=({code: (code, 0) for code in range(4)},), numeric=(None,)).hierarchies()["q0"]
    model = DeltaPresence(1, 1)
    got = optimum(table, {"q": hierarchy}, [model], suppression=0, population=town)
    assert got.levels == (0,)
    with pytest.raises(InvalidArgument, match="no generalisation meets the models"):
        optimum(table, {"q": hierarchy}, [Bold(model)], suppression=0, population=town)


def test_what_cannot_be_met_says_what_would_have_to_give() -> None:
    """How many rows are in the way, and what is reached with them."""
    table = read({"age": ["1", "2", "3"], "ill": ["a", "a", "a"]})
    with pytest.raises(InvalidArgument) as error:
        optimum(table, {"age": Flat()}, [KAnonymity(5)], suppression=0)
    assert error.value.message == (
        "no generalisation meets the models with at most 0 of 3 rows left out; at the highest levels 3 rows would have "
        "to be (without that, 5-anonymity would be 3)"
    )
    assert "suppression" not in error.value.hint  # of all rows, which would leave nothing
    some, parts = read({"age": ["1", "1", "2"]}), Listed(rows=[("1", "odd"), ("2", "even")])
    with pytest.raises(InvalidArgument) as error:
        optimum(some, {"age": parts}, [KAnonymity(2)], suppression=0)
    assert "suppression of 1 rows or more" in error.value.hint
    half = AlphaK(Fraction(1, 2), 1, "ill")
    with pytest.raises(InvalidArgument, match="1 generalisations that were tried don't meet"):
        optimum(read(HALF.columns()), HALF.hierarchies(), [half], suppression=Fraction(1, 4), most_nodes=1)


@pytest.mark.parametrize("share", [Fraction(-1, 10), Fraction(11, 10), float("nan")])
def test_a_share_is_a_share(share: Fraction | float) -> None:
    """From 0 to 1."""
    with pytest.raises(InvalidArgument, match="suppression"):
        optimum(read({"a": ["1"]}), {"a": Flat()}, [KAnonymity(1)], suppression=share)


def test_the_limit_is_exact() -> None:
    """One tenth of thirty rows is three, not two."""
    table = read({"a": ["x"] * 27 + ["1", "2", "3"]})
    got = optimum(table, {"a": Flat()}, [KAnonymity(5)], suppression=0.1)
    assert (got.levels, got.search.suppressed, got.search.most) == ((0,), 3, 3)
    with pytest.raises(InvalidArgument, match="at least one node"):
        optimum(table, {"a": Flat()}, [KAnonymity(5)], most_nodes=0)


def test_a_lattice_too_large_is_refused_before_it_is_made() -> None:
    """With what else to do."""
    names = [f"q{place}" for place in range(24)]
    with pytest.raises(InvalidArgument, match="16,777,216 generalisations") as error:
        optimum(read({name: ["x", "y"] for name in names}), {name: Flat() for name in names}, [KAnonymity(2)])
    assert "mondrian" in error.value.hint


@pytest.mark.parametrize("name", LOSSES)
def test_a_table_without_rows_is_its_own_optimum(name: str) -> None:
    """Nothing to lose, nothing to generalise."""
    table = read({"age": ["1", "2"]}).take(read({"x": [1]}).column("x").counts()[:0])
    got = optimum(table, {"age": Flat()}, [KAnonymity(5)], loss=loss_named(name))
    assert got.levels == (0,)
    assert got.search.loss == 0
    assert got.recoding.suppressed == 0
