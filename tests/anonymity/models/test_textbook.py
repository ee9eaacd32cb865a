"""Tables from the papers that brought the models, and the cases in which other tools are wrong."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.anonymity.hierarchies.table import Taxonomy
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from discreet.anonymity.records import read
from discreet.errors import InvalidArgument
from support.examples import examples

DISEASES = Taxonomy(
    tree={
        "respiratory": {
            "infection": ["flu", "pneumonia", "bronchitis"],
            "vascular": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive": {
            "stomach": ["gastric ulcer", "gastritis", "stomach cancer"],
            "colon": ["colitis", "colon cancer"],
        },
    }
)
"""The hierarchy of Li, Li and Venkatasubramanian, of height 3."""


def inpatients(classes: str, conditions: str) -> Frequencies:
    """Inpatients of classes and conditions, one letter each."""
    return frequencies_of(read({"class": list(classes), "condition": list(conditions)}), ["class"], "condition")


def test_five_rows() -> None:
    """Ages, cities and jobs of five people are 1-anonymous, not 2-anonymous."""
    table = {"age": [42, 52, 36, 24, 73], "city": [4, 24, 31, 2, 3], "job": [25, 94, 57, 62, 70]}
    found = frequencies_of(read(table), list(table))
    assert KAnonymity(1).met(found).all()
    assert not KAnonymity(2).met(found).any()
    assert KAnonymity(2).reached(found) == 1


def test_inpatients_with_a_homogeneous_class() -> None:
    """Machanavajjhala et al.: 4-anonymous, and everybody of the third class has cancer."""
    found = inpatients("aaaabbbbcccc", "HHVVCHVVCCCC")
    assert KAnonymity(4).met(found).all()
    assert DistinctDiversity(2, "condition").met(found).tolist() == [True, True, False]
    assert EntropyDiversity(1, "condition").reached(found) == 1
    assert RecursiveDiversity(10**6, 2, "condition").met(found).tolist() == [True, True, False]
    assert AlphaK("1/2", 4, "condition").met(found).tolist() == [True, True, False]
    assert AlphaK("1/2", 4, "condition", values=["V"]).met(found).all()


def test_inpatients_that_are_3_diverse() -> None:
    """The same people, grouped otherwise: three conditions in every class."""
    found = inpatients("accabbbbaacc", "HHVVCHVVCCCC")
    assert KAnonymity(4).reached(found) == 4
    assert DistinctDiversity(3, "condition").reached(found) == 3
    assert EntropyDiversity(2, "condition").reached(found) == pytest.approx(8**0.5)
    assert RecursiveDiversity(3, 3, "condition").measure(found).tolist() == [2, 2, 2]


def test_salaries() -> None:
    """Li et al.: of the salaries 3k to 11k, {3, 4, 5} is at 0.375 and {6, 8, 11} at 0.167."""
    pay = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    first = frequencies_of(read({"class": list("111222333"), "pay": pay}), ["class"], "pay")
    assert Closeness(1, "pay", "ordered").measure(first)[:2].round(3).tolist() == [0.375, 0.167]
    better = frequencies_of(read({"class": list("131222313"), "pay": pay}), ["class"], "pay")
    assert Closeness("1/6", "pay", "ordered").met(better).all()
    assert round(Closeness(1, "pay", "ordered").reached(better), 3) == 0.167
    assert Closeness(1, "pay").measure(better) == pytest.approx([2 / 3] * 3)  # no order, no nearness


@pytest.mark.parametrize(
    ("disease", "expected"), [("flu", 0), ("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1)]
)
def test_diseases(disease: str, expected: float) -> None:
    """Li et al.: from flu, bronchitis is at ⅓, pulmonary embolism at ⅔, stomach cancer at 1. Halved: half moves."""
    table = read({"class": ["1", "2"], "ill": ["flu", disease]})
    found = frequencies_of(table, ["class"], "ill")
    model = Closeness(1, "ill", "hierarchical", DISEASES)
    assert model.measure(found) == pytest.approx([expected / 2] * 2)
    bound = Closeness(1, "ill", "hierarchical", DISEASES.ladder(table.column("ill")))
    assert bound.measure(found).tolist() == model.measure(found).tolist()


def test_a_missing_value_of_the_only_quasi_identifier_counts() -> None:
    """Whoever drops it finds k = 2 and l = 2; the person who misses it is alone."""
    frame = pd.DataFrame({"age": [1, 1, None], "ill": ["flu", "HIV", "HIV"]})
    found = frequencies_of(read(frame), ["age"], "ill")
    assert KAnonymity(2).reached(found) == 1
    assert DistinctDiversity(2, "ill").reached(found) == 1
    assert KAnonymity(2).met(found).tolist() == [True, False]


@pytest.mark.parametrize("index", [[3, 1, 2, 0], [10, 11, 12, 13], [0, 0, 0, 0], ["d", "c", "b", "a"]])
def test_labels_of_rows_mean_nothing(index: list[object]) -> None:
    """Whoever takes them for positions finds l = 2; both of class 1 have the flu."""
    frame = pd.DataFrame({"zip": ["1", "1", "2", "2"], "ill": ["flu", "flu", "flu", "HIV"]}, index=index)
    found = frequencies_of(read(frame), ["zip"], "ill")
    assert DistinctDiversity(2, "ill").measure(found).tolist() == [1, 2]


def test_absent_values_count() -> None:
    """Whoever skips them finds ln 2 where the definition gives infinity, and no distance."""
    found = inpatients("aabb", "xxyy")
    assert DeltaDisclosure(1, "condition").reached(found) == np.inf
    assert not DeltaDisclosure(100, "condition").met(found).any()
    shared = inpatients("aabbb", "xyxyy")
    assert DeltaDisclosure(1, "condition").measure(shared) == pytest.approx([log(5 / 4), log(6 / 5)])
    assert Closeness(1, "condition").measure(found).tolist() == [0.5, 0.5]
    assert Closeness("0.49", "condition").met(found).tolist() == [False, False]  # the threshold asked for is used


def test_entropy_stays_a_real_number() -> None:
    """Three of four share a value: exp(H) = 1.755, neither 1 nor 2."""
    found = inpatients("aaaa", "xxxy")
    assert round(EntropyDiversity(1, "condition").reached(found), 3) == 1.755
    assert EntropyDiversity("1.75", "condition").met(found).all()
    assert not EntropyDiversity("1.76", "condition").met(found).any()


@examples(25)
@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 2, st.sampled_from("xyz"), st.integers(0, 3)), min_size=3))
def test_agreement_with_pycanon(rows: list[tuple[str, str, str, int]]) -> None:
    """Without missing values and with rows labelled 0, 1, 2, … it is right, save for what the tests above name."""
    theirs = pytest.importorskip("pycanon.anonymity")
    frame = pd.DataFrame(rows, columns=["q", "r", "ill", "pay"]).astype({"q": object, "r": object, "ill": object})
    if frame["ill"].nunique() < 2 or frame["pay"].nunique() < 2:
        return
    keys, records = ["q", "r"], read(frame)
    ill, pay = (frequencies_of(records, keys, name) for name in ("ill", "pay"))
    assert KAnonymity(1).reached(ill) == theirs.k_anonymity(frame, keys)
    assert DistinctDiversity(1, "ill").reached(ill) == theirs.l_diversity(frame, keys, ["ill"])
    assert AlphaK(1, 1, "ill").reached(ill) == pytest.approx(theirs.alpha_k_anonymity(frame, keys, ["ill"])[0])
    cut = theirs.entropy_l_diversity(frame, keys, ["ill"])
    assert cut <= EntropyDiversity(1, "ill").reached(ill) + 1e-9 < cut + 2  # they cut exp(H), after rounding, to an int
    assert Closeness(1, "ill").reached(ill) == pytest.approx(theirs.t_closeness(frame, keys, ["ill"]))
    assert Closeness(1, "pay", "ordered").reached(pay) == pytest.approx(theirs.t_closeness(frame, keys, ["pay"]))
    assert BetaLikeness(1, "ill").reached(ill) == pytest.approx(theirs.basic_beta_likeness(frame, keys, ["ill"]))
    with pytest.raises(InvalidArgument):
        Closeness(1, "pay").reached(ill)
