"""Events: what they refuse, and that ledgers read back exactly what was written or say that they can't."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.privacy import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)
from discreet.privacy.events import from_dict, to_dict

positives = st.fractions(min_value=Fraction(1, 2**80), max_value=2**80).filter(lambda number: number > 0)
laplace_events = st.integers(1, 2**70).flatmap(
    lambda l1: st.builds(LaplaceEvent, scale=positives, l1=st.just(l1), linf=st.one_of(st.none(), st.integers(1, l1)))
)
gaussian_events = st.builds(GaussianEvent, sigma=positives, l2_squared=positives, continuous=st.booleans())
selection_events = st.builds(SelectionEvent, delta=st.fractions(0, 1).filter(lambda delta: 0 < delta < 1))
exponential_events = positives.flatmap(
    lambda epsilon: st.builds(
        ExponentialEvent,
        epsilon=st.just(epsilon),
        each=st.none() | st.fractions(Fraction(1, 1000), 1).map(lambda share: share * epsilon),
    )
)
chances = st.fractions(0, 1).filter(lambda chance: 0 < chance < 1)
pure_events = st.builds(PureEvent, epsilon=positives)
approx_events = st.builds(ApproxEvent, epsilon=positives, delta=chances)
single_events = st.one_of(
    laplace_events, gaussian_events, selection_events, exponential_events, pure_events, approx_events
)
sampled_events = st.one_of(
    st.builds(SampledEvent, event=single_events, rate=chances),
    st.tuples(single_events, st.integers(2, 99)).flatmap(
        lambda pair: st.integers(1, pair[1] - 1).map(
            lambda drawn: SampledEvent(event=pair[0], rate=Fraction(drawn, pair[1]), size=pair[1])
        )
    ),
)
events: st.SearchStrategy[Event] = st.recursive(
    st.one_of(single_events, sampled_events),
    lambda parts: st.builds(ComposedEvent, st.lists(parts, max_size=4).map(tuple)),
    max_leaves=8,
)


@given(events)
def test_an_event_is_read_back_as_it_was_written(event: Event) -> None:
    """Through JSON and back, nothing is lost or rounded."""
    assert from_dict(json.loads(json.dumps(to_dict(event)))) == event


def test_an_event_written_before_linf_existed_is_read() -> None:
    """A new field is optional: ledgers outlive versions."""
    old = {"event": "laplace", "scale": "10", "l1": 3}
    assert from_dict(old) == LaplaceEvent(scale=Fraction(10), l1=3)
    assert to_dict(LaplaceEvent(scale=Fraction(10), l1=3)) == old


def test_gaussian_noise_that_was_written_before_it_could_be_continuous_is_discrete() -> None:
    """What a ledger holds keeps its meaning."""
    old = {"event": "gaussian", "sigma": "10", "l2_squared": "9"}
    discrete = GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(9))
    assert from_dict(old) == discrete
    assert not discrete.continuous
    assert to_dict(discrete) == old


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplaceEvent(scale=Fraction(0), l1=1),
        lambda: LaplaceEvent(scale=Fraction(-1), l1=1),
        lambda: LaplaceEvent(scale=Fraction(1), l1=0),
        lambda: LaplaceEvent(scale=Fraction(1), l1=-1),
        lambda: LaplaceEvent(scale=Fraction(1), l1=2, linf=3),
        lambda: LaplaceEvent(scale=Fraction(1), l1=2, linf=0),
        lambda: GaussianEvent(sigma=Fraction(0), l2_squared=Fraction(1)),
        lambda: GaussianEvent(sigma=Fraction(-1), l2_squared=Fraction(1)),
        lambda: GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(0)),
        lambda: ExponentialEvent(epsilon=Fraction(0)),
        lambda: ExponentialEvent(epsilon=Fraction(-1)),
        lambda: ExponentialEvent(epsilon=Fraction(1), each=Fraction(0)),
        lambda: ExponentialEvent(epsilon=Fraction(1), each=Fraction(-1)),
        lambda: ExponentialEvent(epsilon=Fraction(1), each=Fraction(10**9 + 1, 10**9)),
        lambda: SelectionEvent(delta=Fraction(0)),
        lambda: SelectionEvent(delta=Fraction(-1, 2)),
        lambda: SelectionEvent(delta=Fraction(1)),
        lambda: PureEvent(epsilon=Fraction(0)),
        lambda: PureEvent(epsilon=Fraction(-1)),
        lambda: ApproxEvent(epsilon=Fraction(0), delta=Fraction(1, 2)),
        lambda: ApproxEvent(epsilon=Fraction(1), delta=Fraction(0)),
        lambda: ApproxEvent(epsilon=Fraction(1), delta=Fraction(1)),
        lambda: SampledEvent(event=PureEvent(epsilon=Fraction(1)), rate=Fraction(0)),
        lambda: SampledEvent(event=PureEvent(epsilon=Fraction(1)), rate=Fraction(1)),
        lambda: SampledEvent(event=PureEvent(epsilon=Fraction(1)), rate=Fraction(1, 2), size=3),
        lambda: SampledEvent(event=PureEvent(epsilon=Fraction(1)), rate=Fraction(1, 2), size=0),
    ],
)
def test_an_event_that_would_cost_nothing_or_less_is_refused(make: Callable[[], Event]) -> None:
    """A negative charge is a refund, and would let a budget be overspent."""
    with pytest.raises(InvalidArgument):
        make()


MALFORMED: list[Any] = [
    None,
    17,
    "laplace",
    [],
    {},
    {"event": "uniform", "scale": "1", "l1": 1},
    {"event": "laplace"},
    {"event": "laplace", "scale": "1"},
    {"event": "laplace", "scale": 1, "l1": 1},
    {"event": "laplace", "scale": "1", "l1": "1"},
    {"event": "laplace", "scale": "1", "l1": True},
    {"event": "laplace", "scale": "1", "l1": 1.0},
    {"event": "laplace", "scale": "0", "l1": 1},
    {"event": "laplace", "scale": "-1", "l1": 1},
    {"event": "laplace", "scale": "1", "l1": -1},
    {"event": "laplace", "scale": "1", "l1": 0},
    {"event": "laplace", "scale": "1", "l1": 1, "linf": 2},
    {"event": "laplace", "scale": "1", "l1": 1, "linf": True},
    {"event": "laplace", "scale": "1", "l1": 1, "l2": 1},
    {"event": "laplace", "scale": "1/0", "l1": 1},
    {"event": "laplace", "scale": "1e999999999", "l1": 1},
    {"event": "laplace", "scale": "1.5", "l1": 1},
    {"event": "laplace", "scale": " 1", "l1": 1},
    {"event": "laplace", "scale": "1_0", "l1": 1},
    {"event": "laplace", "scale": "١", "l1": 1},
    {"event": "laplace", "scale": "1\n", "l1": 1},
    {"event": "laplace", "scale": "2/4", "l1": 1},
    {"event": "laplace", "scale": "01", "l1": 1},
    {"event": "laplace", "scale": "nan", "l1": 1},
    {"event": "laplace", "scale": "9" * 5000, "l1": 1},
    {"event": "gaussian", "sigma": "1", "l2_squared": "-1"},
    {"event": "gaussian", "sigma": "inf", "l2_squared": "1"},
    {"event": "gaussian", "sigma": "1"},
    {"event": "gaussian", "sigma": "1", "l2_squared": "1", "rho": "0"},
    {"event": "gaussian", "sigma": "1", "l2_squared": "1", "continuous": 1},
    {"event": "gaussian", "sigma": "1", "l2_squared": "1", "continuous": False},
    {"event": "exponential"},
    {"event": "exponential", "epsilon": 1},
    {"event": "exponential", "epsilon": "0"},
    {"event": "exponential", "epsilon": "1", "each": "2"},
    {"event": "exponential", "epsilon": "1", "each": 1},
    {"event": "exponential", "epsilon": "1", "each": "-1"},
    {"event": "exponential", "epsilon": "1", "rho": "0"},
    {"event": "selection", "delta": "0"},
    {"event": "selection", "delta": "1"},
    {"event": "selection", "delta": "-1/2"},
    {"event": "selection", "delta": 1e-6},
    {"event": "composed"},
    {"event": "composed", "events": {}},
    {"event": "composed", "events": [None]},
    {"event": "composed", "events": [], "note": "free"},
    {"event": "composed", "events": [{"event": "laplace", "scale": "-1", "l1": 1}]},
]


@pytest.mark.parametrize("data", MALFORMED, ids=[repr(data)[:60] for data in MALFORMED])
def test_what_is_no_event_makes_the_ledger_corrupt(data: Any) -> None:
    """To guess would be to undercount, so nothing is guessed, and no other error escapes."""
    with pytest.raises(LedgerCorrupt):
        from_dict(data)


def test_events_nested_beyond_all_reason_make_the_ledger_corrupt() -> None:
    """Depth that exhausts the stack is a typed error too."""
    data: dict[str, Any] = {"event": "selection", "delta": "1/2"}
    for _ in range(100_000):
        data = {"event": "composed", "events": [data]}
    with pytest.raises(LedgerCorrupt):
        from_dict(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["event", "scale", "l1", "sigma", "l2_squared", "delta", "epsilon", "each", "events"]),
                inner,
            )
        ),
    )
)
def test_any_json_is_read_as_an_event_or_refused(data: Any) -> None:
    """No input raises anything but `LedgerCorrupt`."""
    try:
        event = from_dict(data)
    except LedgerCorrupt:
        return
    assert to_dict(event) == data
