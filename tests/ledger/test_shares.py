"""Shares that renew: each calendar month is had once, whatever the clock does, and adds up under the budget of all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import Barrier, Lock, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import charge_of
from discreet.errors import BudgetExhausted, InvalidArgument, LossNotAccepted
from discreet.ledger import Account, Attempt, Ledger, amounts_of, chain
from discreet.ledger.row import Kind, Row, to_body
from discreet.privacy import Budget, Event, MonthlyShare
from support.examples import examples
from support.ledgers import admitted, gaussian, laplace, rewrite, rows

ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
HALF = MonthlyShare(epsilon="1/2")
_NUMBERS = count(1)


@dataclass
class Clock:
    """What time it is."""

    at: str = "2023-01-01T00:00:00.000+00:00"

    def set(self, moment: str) -> None:
        """Set it, to a day or to a moment."""
        self.at = f"{moment}T12:00:00.000+00:00" if len(moment) == 10 else f"{moment}+00:00"


@dataclass
class Opened:
    """A ledger, its account, and the clock."""

    ledger: Ledger
    account: Account
    path: Path
    clock: Clock

    def token(self, digest: str, share: Budget | None = HALF) -> None:
        """Give ann a token."""
        content = {"role": "analyst", "expires": "2999-01-01T00:00:00+00:00"}
        self.account.tokens.grant(digest, "ann", content | ({} if share is None else {"share": amounts_of(share)}))

    def pay(self, event: Event | str, token: str = "", analyst: str = "ann") -> None:
        """Pay for a question of ann's; a text is its ε."""
        attempt = Attempt(id=str(next(_NUMBERS)), plan="p", seconds=1, token=token)
        paid = laplace(event) if isinstance(event, str) else event
        self.account.during(attempt).reserve(
            question="q", text="q", version=admitted(self.account), event=paid, analyst=analyst
        )

    def is_refused(self, event: Event | str, token: str = "", analyst: str = "ann") -> bool:
        """Whether it can't be paid."""
        try:
            self.pay(event, token, analyst)
        except BudgetExhausted:
            return True
        return False

    def problems(self) -> list[str]:
        """What a verification finds."""
        return [each.message for each in self.ledger.verify().problems]


@contextmanager
def with_clock(path: Path, budget: Budget) -> Iterator[Opened]:
    """A new ledger that goes by a clock of its own."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "now", lambda: clock.at)
        with Ledger.open(path, create=True) as ledger:
            yield Opened(ledger, ledger.account("census", budget), path, clock)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """With a clock of its own."""
    with with_clock(tmp_path / "t.ledger", Budget(epsilon=3, delta=1e-6)) as found:
        yield found


EDGES = [
    ("2024-01-31T23:59:59.999", "2024-02-01T00:00:00.000"),
    ("2024-02-29T23:59:59.999", "2024-03-01T00:00:00.000"),
    ("2023-02-28T23:59:59.999", "2023-03-01T00:00:00.000"),
    ("2023-12-31T23:59:59.999", "2024-01-01T00:00:00.000"),
]


@pytest.mark.parametrize(("last", "first"), EDGES)
def test_a_share_renews_with_the_month_and_not_before(opened: Opened, last: str, first: str) -> None:
    """To the millisecond; what is left and when it renews is told beforehand."""
    opened.clock.set(f"{last[:8]}01")
    opened.token(ONE)
    opened.pay("2/5", ONE)
    opened.clock.set(last)
    standing = opened.account.standing("ann", ONE)
    assert standing.remaining.epsilon == Fraction(1, 10)
    assert standing.renews is not None
    assert standing.renews.isoformat() == f"{first[:-4]}+00:00"
    assert opened.is_refused("1/5", ONE)
    opened.clock.set(first)
    standing = opened.account.standing("ann", ONE)
    assert (standing.spent.epsilon, standing.this_month.epsilon) == (Fraction(2, 5), 0)
    assert standing.remaining.epsilon == Fraction(1, 2)
    opened.pay("1/2", ONE)
    assert opened.is_refused("1/1000", ONE)
    assert opened.problems() == []


def test_the_leap_day_is_of_its_february(opened: Opened) -> None:
    """The 29th opens no month."""
    opened.clock.set("2024-02-28T23:59:59.999")
    opened.token(ONE)
    opened.pay("1/2", ONE)
    opened.clock.set("2024-02-29T00:00:00.000")
    assert opened.is_refused("1/2", ONE)


def test_a_refusal_says_when_it_renews(opened: Opened) -> None:
    """And what it is a month."""
    opened.token(ONE)
    opened.pay("1/2", ONE)
    with pytest.raises(BudgetExhausted) as caught:
        opened.pay("1/2", ONE)
    assert "what your token may spend (ε = 0.5 a month)" in caught.value.message
    assert "it renews on 2023-02-01, in UTC" in caught.value.hint


def test_months_add_up_under_the_budget_of_all(opened: Opened) -> None:
    """Of a budget of 3, six months of 1/2 are had, and the seventh is refused; so is a question of no share."""
    opened.token(ONE)
    for month in range(1, 7):
        opened.clock.set(f"2024-{month:02}-03")
        opened.pay("1/2", ONE)
        assert opened.is_refused("1/2", ONE)
    opened.clock.set("2024-07-03")
    assert opened.account.standing("ann", ONE).remaining.epsilon == 0
    assert opened.is_refused("1/2", ONE)
    assert opened.is_refused("1/2", analyst="bob")
    assert opened.account.spent().epsilon == 3
    assert opened.problems() == []


def test_a_clock_that_is_set_back_opens_no_month_again(opened: Opened) -> None:
    """Nor one that was set forward before: each month is had once, and then nothing until the next one begins."""
    opened.clock.set("2024-03-31")
    opened.token(ONE)
    opened.pay("1/2", ONE)
    opened.clock.set("2024-02-10")
    assert opened.is_refused("1/10", ONE)
    opened.clock.set("2024-04-10")  # it runs ahead: April is had early
    opened.pay("1/2", ONE)
    for day in ("2024-03-31", "2024-04-10", "2024-04-30"):
        opened.clock.set(day)
        assert opened.is_refused("1/10", ONE)
    opened.clock.set("2024-05-01")
    opened.pay("1/2", ONE)
    assert opened.problems() == []


def test_a_ledger_that_went_by_the_clock_alone_is_found(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that trusts its clock gives a month twice; verification doesn't."""
    opened.clock.set("2024-03-31")
    opened.token(ONE)
    opened.pay("1/2", ONE)
    monkeypatch.setattr(chain.Chain, "time", lambda _: chain.now())
    opened.clock.set("2024-02-10")
    opened.pay("1/2", ONE)
    found = opened.problems()
    assert "it overspends what its token allows" in found


def test_all_tokens_of_a_subject_count_together(opened: Opened) -> None:
    """Whatever was asked in their name this month counts: with another token, with none, with one that was revoked."""
    opened.token(ONE)
    opened.token(TWO, MonthlyShare(epsilon="3/10"))
    opened.pay("1/5", ONE)
    assert opened.account.standing("ann", TWO).remaining.epsilon == Fraction(1, 10)
    assert opened.is_refused("1/5", TWO)
    opened.pay("1/10")
    assert opened.is_refused("1/10", TWO)
    opened.account.tokens.revoke(ONE)
    opened.token(THREE)
    assert opened.account.standing("ann", THREE).remaining.epsilon == Fraction(1, 5)
    assert opened.is_refused("1/4", THREE)
    opened.pay("1/5", THREE)
    assert opened.is_refused("1/100", THREE)
    opened.pay("1/100", analyst="bob")
    assert opened.problems() == []


def test_a_share_of_all_time_binds_beside_one_that_renews(opened: Opened) -> None:
    """The token's is for all time, and the declared one for each month."""
    opened.token(ONE, Budget(epsilon="4/5"))
    declared = {"ann": HALF}
    opened.account = opened.ledger.account("census", Budget(epsilon=3, delta=1e-6), declared)
    opened.pay("1/2", ONE)
    assert opened.is_refused("1/10", ONE)
    opened.clock.set("2024-02-01")
    assert opened.is_refused("1/2", ONE)
    assert opened.account.standing("ann", ONE).remaining.epsilon == Fraction(3, 10)
    assert opened.account.standing("ann").remaining.epsilon == Fraction(1, 2)
    opened.pay("3/10", ONE)
    assert opened.is_refused("1/10", ONE)
    opened.pay("1/5")
    assert opened.problems() == []


def test_noise_without_a_finite_epsilon_is_over_with_its_month(opened: Opened) -> None:
    """What was spent in all has no finite ε from then on; what was spent in the next month has."""
    opened.token(ONE, MonthlyShare(epsilon="1/2", delta="1e-7"))
    opened.pay(gaussian("1/1000"), ONE)
    assert opened.account.standing("ann", ONE).this_month.epsilon is None
    opened.clock.set("2024-02-01")
    opened.pay("1/2", ONE)
    assert opened.account.standing("ann", ONE).this_month.epsilon == Fraction(1, 2)
    opened.token(TWO, HALF)
    with pytest.raises(LossNotAccepted):
        opened.pay(gaussian("1/1000"), TWO)
    assert opened.problems() == []


def test_threads_at_the_edge_of_a_month_have_each_once(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen that ask while the clock jumps to and fro over the edge: of each month at most its share is spent."""
    opened.clock.set("2024-01-31")
    opened.token(ONE)
    admitted(opened.account)
    ticks, lock, barrier = count(), Lock(), Barrier(16)

    def now() -> str:
        with lock:
            return ("2024-01-31T23:59:59.999+00:00", "2024-02-01T00:00:00.000+00:00")[next(ticks) // 3 % 2]

    monkeypatch.setattr(chain, "now", now)

    def ask() -> None:
        barrier.wait()
        for _ in range(3):
            opened.is_refused("1/10", ONE)

    threads = [Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    months = Counter(row.at[:7] for row in rows(opened.path) if row.kind == Kind.RESERVE)
    assert months["2024-02"] == 5
    assert 1 <= months["2024-01"] <= 5
    assert opened.problems() == []


def _without_month(row: Row) -> Row:
    """A debit that doesn't say what was spent in its month."""
    content = json.loads(row.body)
    del content["month"]
    return replace(row, body=to_body(content))


def _saying(epsilon: str) -> Callable[[Row], Row]:
    """A debit that says another amount of its month."""

    def change(row: Row) -> Row:
        content = json.loads(row.body)
        return replace(row, body=to_body(content | {"month": {**content["month"], "epsilon": epsilon}}))

    return change


FORGERIES: list[tuple[Callable[[Row], Row], str]] = [
    (_without_month, "it doesn't say what was spent in its month, by which what its token allows was decided"),
    (_saying("1/5"), "the analyst's total of the month is less than the sum of their debits in it"),
    (_saying("0.4"), "an amount in entry"),
    (lambda row: replace(row, at="2024-02-01T00:00:00.000+00:00"), "it is dated before the debit before it"),
    (lambda row: replace(row, at="2024-03-03T11:59:59.999+00:00"), "it is dated before the debit before it"),
    (lambda row: replace(row, at="2024-03-03T12:00:00.000+01:00"), "it is dated before the debit before it"),
    (lambda row: replace(row, at="soon"), "a time in the ledger can't be read"),
]


@pytest.mark.parametrize(("change", "message"), FORGERIES)
def test_a_forged_month_is_found(opened: Opened, change: Callable[[Row], Row], message: str) -> None:
    """By its meaning, though all hashes fit: left out, too low, misspelt; dated back into a month that was over."""
    opened.token(ONE)
    opened.pay("1/5", ONE)
    opened.clock.set("2024-02-03")
    opened.pay("1/5", ONE)
    opened.clock.set("2024-03-03")
    opened.pay("1/5", ONE)
    opened.pay("1/5", ONE)
    debits = [row.seq for row in rows(opened.path) if row.kind == Kind.RESERVE]

    def forge(entries: list[Row]) -> None:
        entries[debits[3] - 1] = change(entries[debits[3] - 1])

    rewrite(opened.path, forge)
    with Ledger.open(opened.path, create=False) as ledger:
        found = ledger.verify().problems
    assert found
    assert {each.entry for each in found} == {debits[3]}
    assert any(message in each.message for each in found), found


def test_a_debit_that_was_slipped_in_is_found(opened: Opened) -> None:
    """A month that adds up to more than the share, in every total rightly."""
    opened.token(ONE)
    opened.pay("1/2", ONE)
    opened.token(TWO, Budget(epsilon=3))
    opened.pay("1/2", TWO)

    def forge(entries: list[Row]) -> None:
        content = json.loads(entries[-1].body)
        entries[-1] = replace(entries[-1], body=to_body(content | {"token": ONE}))

    rewrite(opened.path, forge)
    with Ledger.open(opened.path, create=False) as ledger:
        assert [each.message for each in ledger.verify().problems] == ["it overspends what its token allows"]


def test_a_ledger_of_before_there_were_months_goes_on(opened: Opened) -> None:
    """What was asked this month counts, though no debit says so; what was asked before doesn't."""
    for month, cost in (("2023-12", "1/3"), ("2024-01", "1/5"), ("2024-01", "1/10")):
        opened.clock.set(f"{month}-20")
        opened.pay(cost)

    def forge(entries: list[Row]) -> None:
        entries[:] = [_without_month(row) if row.kind == Kind.RESERVE else row for row in entries]

    rewrite(opened.path, forge)
    with Ledger.open(opened.path, create=False) as ledger:
        again = replace(opened, ledger=ledger, account=ledger.account("census", Budget(epsilon=3, delta=1e-6)))
        assert again.problems() == []
        again.token(ONE)
        assert again.account.standing("ann", ONE).this_month.epsilon == Fraction(3, 10)
        assert again.is_refused("3/10", ONE)
        again.pay("1/5", ONE)
        assert again.is_refused("1/100", ONE)
        assert again.problems() == []


def test_the_budget_of_all_never_renews(opened: Opened) -> None:
    """A share does, or nothing."""
    with pytest.raises(InvalidArgument, match="never renews"):
        opened.ledger.account("other", HALF)


def test_how_often_a_question_can_be_asked_counts_the_month(opened: Opened) -> None:
    """The token's share, too."""
    opened.token(ONE)
    opened.pay("1/5", ONE)
    (last,) = (row for row in rows(opened.path) if row.kind == Kind.RESERVE)
    assert json.loads(last.body)["month"]["epsilon"] == "1/5"
    tenth = charge_of(laplace("1/10"))
    assert opened.account.affordable(tenth, "ann", ONE).times == 3
    assert opened.account.affordable(tenth, "ann") == opened.account.affordable(tenth)


_STEPS = st.lists(st.tuples(st.integers(0, 70), st.sampled_from(["1/10", "1/4", "1/2"])), max_size=12)


@given(_STEPS)
@examples(60)
def test_whatever_the_clock_does_each_month_has_one_share(tmp_path_factory: Any, steps: list[tuple[int, str]]) -> None:
    """Against a model: months go on and never back, and each has its sum."""
    with with_clock(tmp_path_factory.mktemp("model") / "t.ledger", Budget(epsilon=100)) as opened:
        opened.token(ONE)
        admitted(opened.account)
        sums, latest = Counter[str](), ""
        for day, cost in steps:
            opened.clock.set(f"2024-{day // 28 + 1:02}-{day % 28 + 1:02}")
            month = max(latest, opened.clock.at[:7])
            fits = sums[month] + Fraction(cost) <= Fraction(1, 2)
            assert opened.is_refused(cost, ONE) is not fits
            if fits:
                sums[month] += Fraction(cost)  # type: ignore[assignment]  # a Fraction counts as well
                latest = month
        assert opened.problems() == []
