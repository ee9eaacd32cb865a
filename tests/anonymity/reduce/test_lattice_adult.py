"""The search on Adult with ARX's hierarchies: every node of smaller lattices, and the optima of the whole one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import floor
from pathlib import Path

import pytest

from discreet.anonymity import read
from discreet.anonymity.hierarchies import Hierarchy, Listed
from discreet.anonymity.loss import LOSSES
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.generalisation import optimum
from discreet.anonymity.reduce.lattice_search import search
from discreet.anonymity.reduce.lattice_table import table_of
from discreet.errors import InvalidArgument

NAMES = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
SECRET = "salary-class"  # noqa: S105 — a column
MODELS: tuple[tuple[Model, ...], ...] = (
    (KAnonymity(5),),
    (KAnonymity(100), DistinctDiversity(2, SECRET)),
    (AlphaK(Fraction(9, 10), 20, SECRET),),
    (EntropyDiversity(Fraction(3, 2), SECRET),),
    (KAnonymity(10), RecursiveDiversity(3, 2, SECRET)),
    (Closeness(Fraction(1, 5), SECRET),),
    (BetaLikeness(1, SECRET),),
    (DeltaDisclosure(1, SECRET),),
)
SHARES = (Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1))


def hierarchies(folder: Path, names: Sequence[str]) -> dict[str, Hierarchy]:
    """ARX's own."""
    return {
        name: Listed(
            rows=[line.split(";") for line in (folder / f"hierarchy_{name}.csv").read_text().splitlines() if line]
        )
        for name in names
    }


@pytest.fixture(scope="module")
def adult(trial_data: Path) -> Path:
    """The folder of the table and its hierarchies."""
    folder = trial_data / "adult_arx"
    if not folder.is_dir():
        pytest.skip("Adult with ARX's hierarchies isn't here")
    return folder


@pytest.fixture(scope="module")
def records(adult: Path) -> Records:
    """Adult."""
    return read(adult / "adult.csv")


def compare(records: Records, given: dict[str, Hierarchy], models: Sequence[Model], names: Sequence[str]) -> None:
    """The search against all nodes, for some losses and all limits."""
    table = table_of(records, given, models)
    for loss in names:
        every = table.problem(models, LOSSES[loss], table.units)
        facts = [every.find(levels) for levels in product(*(range(height + 1) for height in every.heights))]
        for share in SHARES:
            most = floor(share * table.units)
            fine = [
                (fact.loss, sum(fact.levels), fact.levels)
                for fact in facts
                if fact.loss is not None and (fact.out or 0) <= most
            ]
            asked = table.problem(models, LOSSES[loss], most)
            if not fine:
                with pytest.raises(InvalidArgument, match="no generalisation meets"):
                    search(asked, names=list(given), loss_name=loss)
                continue
            got = search(asked, names=list(given), loss_name=loss)
            assert got.search.optimal
            assert got.search.unknown == 0
            best, _, levels = min(fine)
            assert float(got.search.loss) == pytest.approx(float(every.meter.shown(best)), abs=1e-12)
            assert loss == "entropy" or got.levels == levels


@pytest.mark.parametrize("place", range(len(MODELS)))
def test_small_lattices_are_searched_right(records: Records, adult: Path, place: int) -> None:
    """Three columns at a time: each model with each loss, another three for each."""
    triples = list(combinations(NAMES, 3))
    for offset, loss in enumerate(LOSSES):
        names = triples[(5 * place + 11 * offset) % len(triples)]
        compare(records, hierarchies(adult, names), MODELS[place], [loss])


@pytest.mark.soak
@pytest.mark.parametrize("names", list(combinations(NAMES, 4)))
def test_larger_lattices_are_searched_right(records: Records, adult: Path, names: tuple[str, ...]) -> None:
    """All fours of columns, all models, all losses."""
    for models in MODELS:
        compare(records, hierarchies(adult, names), models, list(LOSSES))


@pytest.mark.parametrize(
    ("share", "levels", "suppressed"),
    [
        (0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0),
        (Fraction(1, 20), (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346),
        (1, (0, 3, 0, 0, 2, 1, 1, 1, 0), 2553),
    ],
)
def test_the_whole_lattice(
    records: Records, adult: Path, share: Fraction, levels: tuple[int, ...], suppressed: int
) -> None:
    """Nine columns, 12,960 nodes, 5-anonymity: the optima by NCP, with their proofs.

    They were found by trying all nodes; few are evaluated here.
    """
    got = optimum(records, hierarchies(adult, [*NAMES, SECRET]), [KAnonymity(5)], suppression=share)
    assert got.levels == levels
    assert got.recoding.suppressed == got.search.suppressed == suppressed
    assert (got.search.nodes, got.search.optimal, got.search.unknown) == (12_960, True, 0)
    assert got.search.evaluated < 500
    assert got.search.bound is None or got.search.bound >= got.search.loss


@pytest.mark.parametrize(
    ("k", "share", "loss"),
    [(5, 0, 0.6355), (5, Fraction(1, 20), 0.2696), (5, 1, 0.2277), (10, Fraction(1, 20), 0.3178)],
)
def test_the_optima_are_those_of_arx(adult: Path, records: Records, k: int, share: Fraction, loss: float) -> None:
    """By ARX's own measure, Loss with the arithmetic mean, over all nine columns of its example."""
    names = (*NAMES, SECRET)
    found = optimum(records, hierarchies(adult, names), [KAnonymity(k)], suppression=share, loss=LOSSES["arx"])
    assert found.search.optimal
    assert found.search.nodes == 12_960
    assert round(float(found.search.loss), 4) == loss
