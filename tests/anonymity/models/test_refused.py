"""Thresholds that make no sense are refused, as are frequencies that lack what a model is about; and the names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.records import read
from discreet.errors import DiscreetError, InvalidArgument, SchemaMismatch

FLAT = Ladder(name="ill", maps=(np.arange(2, dtype=np.int32),), labels=(("0", "1"),))
NEITHER = [True, nan, inf, -inf, "many", None, [1], -1]
READING: dict[str, tuple[Callable[[Any], Model], list[object]]] = {
    "k": (KAnonymity, [0, 2.0, 2**31 + 1, "5"]),
    "k of a map": (KMap, [0, 2.0, 2**31 + 1]),
    "alpha": (lambda alpha: AlphaK(alpha, 2, "ill"), [0, 1.01]),
    "k beside alpha": (lambda k: AlphaK(1, k, "ill"), [0, 1.5]),
    "distinct l": (lambda n: DistinctDiversity(n, "ill"), [0, 2.5]),
    "entropy l": (lambda n: EntropyDiversity(n, "ill"), [0.99, 2**40]),
    "c": (lambda c: RecursiveDiversity(c, 2, "ill"), [0, 2**40]),
    "recursive l": (lambda n: RecursiveDiversity(1, n, "ill"), [1, 2.5]),
    "t": (lambda t: Closeness(t, "ill"), [1.01, "3/2"]),
    "beta": (lambda beta: BetaLikeness(beta, "ill"), [0, "1e999"]),
    "delta": (lambda delta: DeltaDisclosure(delta, "ill"), [0, 2**31 + 1]),
    "lo": (lambda lo: DeltaPresence(lo, 1), [1.01]),
    "hi": (lambda hi: DeltaPresence(0, hi), [1.01]),
}
MODELS: dict[str, Model] = {
    "5-anonymity": KAnonymity(5),
    "5-map": KMap(np.int64(5)),  # type: ignore[arg-type]  # NumPy's whole numbers are welcome
    "(0.1, 1/3)-presence": DeltaPresence(0.1, Fraction(1, 3)),
    "(α=0.5, k=3)-anonymity of ill": AlphaK(Decimal("0.5"), 3, "ill"),
    "(α=0.5, k=3)-anonymity of ill in 'HIV', None": AlphaK(0.5, 3, "ill", values=["HIV", None]),
    "distinct 3-diversity of ill": DistinctDiversity(3, "ill"),
    "entropy 1.755-diversity of ill": EntropyDiversity(1.755, "ill"),
    "(c=3, l=2)-diversity of ill": RecursiveDiversity(c=3, l=2, sensitive="ill"),
    "(t=0.15)-closeness of ill by equal distance": Closeness(0.15, "ill"),
    "(t=0.15)-closeness of ill by ordered distance": Closeness("0.15", "ill", distance="ordered"),
    "(t=0)-closeness of ill by hierarchical distance": Closeness(0, "ill", "hierarchical", FLAT),
    "(β=1)-likeness of ill": BetaLikeness(1, "ill"),
    "enhanced (β=1)-likeness of ill": BetaLikeness(1, "ill", enhanced=True),
    "(δ=0.7)-disclosure privacy of ill": DeltaDisclosure(0.7, "ill"),
}
BEST = {name: inf if name.startswith(("5", "distinct", "entropy")) else 0.0 for name in MODELS} | {
    "(0.1, 1/3)-presence": 0.1
}


@pytest.mark.parametrize(
    ("make", "value"), [(make, value) for make, own in READING.values() for value in [*NEITHER, *own]]
)
def test_thresholds_are_read_strictly(make: Callable[[Any], Model], value: object) -> None:
    """Truth values, NaN, infinities, texts that aren't numbers and numbers out of range raise a typed error."""
    with pytest.raises(InvalidArgument):
        make(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeltaPresence(0.5, 0.4),
        lambda: DistinctDiversity(2, ""),
        lambda: DistinctDiversity(2, None),  # type: ignore[arg-type]  # what is tried
        lambda: AlphaK(1, 1, "ill", values="HIV"),
        lambda: AlphaK(1, 1, "ill", values=[]),
        lambda: Closeness(0.1, "ill", distance="euclidean"),  # type: ignore[arg-type]  # what is tried
        lambda: Closeness(0.1, "ill", distance="hierarchical"),
        lambda: Closeness(0.1, "ill", distance="ordered", hierarchy=FLAT),
    ],
)
def test_other_arguments_are_read_strictly(make: Callable[[], Model]) -> None:
    """Ends in the wrong order, no attribute, a text for a list, a distance without its hierarchy."""
    with pytest.raises(InvalidArgument):
        make()


@pytest.mark.parametrize(("name", "model"), MODELS.items())
def test_a_model_says_what_it_promises(name: str, model: Model) -> None:
    """In words that tell models apart; and it can't be changed afterwards."""
    assert str(model) == name
    with pytest.raises(FrozenInstanceError):
        setattr(model, fields(model)[0].name, 1)  # type: ignore[arg-type]  # each is a dataclass


@pytest.mark.parametrize(("name", "model"), MODELS.items())
def test_a_model_needs_what_it_is_about(name: str, model: Model) -> None:
    """Without its attribute or a population, or with another attribute, it raises and names what it misses."""
    table = read({"zip": ["1", "2"], "ill": ["flu", "HIV"], "pay": [1, 2]})
    bare, other = frequencies_of(table, ["zip"]), frequencies_of(table, ["zip"], "pay")
    for ask in (model.measure, model.met, model.reached):
        if model.sensitive:
            with pytest.raises(InvalidArgument, match="'ill', but the frequencies hold no sensitive attribute"):
                ask(bare)
            with pytest.raises(InvalidArgument, match="'ill', but the frequencies hold 'pay'"):
                ask(other)
        elif name != "5-anonymity":
            with pytest.raises(InvalidArgument, match="population"):
                ask(bare)


@pytest.mark.parametrize(("name", "model"), MODELS.items())
def test_no_classes_are_the_best_there_is(name: str, model: Model) -> None:
    """An empty table has no class that fails."""
    table = read({"zip": np.array([], dtype=str), "ill": np.array([], dtype=str)})
    found = frequencies_of(table, ["zip"], "ill", population=table)
    if name.endswith("hierarchical distance"):
        ladder = Ladder(name="ill", maps=(np.zeros(0, np.int32),) * 3, labels=((), (), ()))
        model = Closeness(0, "ill", "hierarchical", ladder)
    assert model.measure(found).tolist() == []
    assert model.met(found).tolist() == []
    assert model.reached(found) == BEST[name]


def test_a_misspelt_value_is_no_protection() -> None:
    """A value to be protected that never occurs is refused rather than passed by every class."""
    found = frequencies_of(read({"zip": ["1"], "ill": ["HIV"]}), ["zip"], "ill")
    with pytest.raises(InvalidArgument, match="never holds 'hiv'"):
        AlphaK(0.5, 1, "ill", values=["hiv"]).met(found)
    assert not AlphaK(0.5, 1, "ill", values=["HIV"]).met(found).any()


def test_a_hierarchy_must_fit() -> None:
    """A ladder of other values, or a hierarchy that lacks one, is refused."""
    found = frequencies_of(read({"zip": ["1"] * 3, "ill": ["a", "b", "c"]}), ["zip"], "ill")
    with pytest.raises(InvalidArgument, match="2 values, and 'ill' has 3"):
        Closeness(1, "ill", "hierarchical", FLAT).met(found)

    class Unknowing:
        """A hierarchy that knows nothing."""

        def ladder(self, column: object) -> Ladder:
            """Refuse."""
            raise SchemaMismatch(f"nothing is known of {type(column).__name__}")

    with pytest.raises(DiscreetError, match="nothing is known"):
        Closeness(1, "ill", "hierarchical", Unknowing()).met(found)
