"""What an account does: debits, outcomes, stored answers, shares, declarations, history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BudgetExhausted, InvalidArgument, LossNotAccepted
from discreet.ledger import Account, Ledger, State, chain
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Budget, ComposedEvent, Event, LaplaceEvent
from support.ledgers import admitted, ask, gaussian, laplace, raised, selection, sql


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger."""
    with Ledger.open(tmp_path / "census.ledger", create=True) as ledger:
        yield ledger
        assert ledger.verify().problems == ()


@pytest.fixture
def account(ledger: Ledger) -> Account:
    """An account with ε = 1."""
    return ledger.account("census", Budget(epsilon=1))


def pay(account: Account, event: Event) -> None:
    """Reserve for an event."""
    account.reserve(question="q", text="SELECT", version=admitted(account), event=event)


def test_a_budget_is_spent_to_the_last_unit(account: Account) -> None:
    """Three thirds fit into one, and then nothing does, however small."""
    for number in range(3):
        assert ask(account, f"{number}", "1/3").entry == number + 1
    assert account.spent().epsilon == 1
    assert account.remaining().epsilon == 0
    with pytest.raises(BudgetExhausted):
        ask(account, "more", Fraction(1, 10**30))
    assert account.spent().epsilon == 1


def test_what_is_refused_is_not_charged(account: Account) -> None:
    """A question too dear leaves room for a cheaper one."""
    ask(account, "a", "3/4")
    with pytest.raises(BudgetExhausted):
        ask(account, "b", "1/2")
    assert ask(account, "c", "1/4").entry == 2


def test_the_refusal_says_what_was_asked_spent_and_left(account: Account) -> None:
    """Three figures, each by its name, in the amounts of the budget."""
    ask(account, "a", "3/4")
    message = raised(BudgetExhausted, lambda: ask(account, "b", "1/2"))
    assert message == (
        "the budget (ε = 1) can't pay for this: asked ε = 0.5; spent ε = 0.75; remaining ε = 0.25 (offer what "
        "remains, or less; what was asked before is answered again for free)"
    )
    assert "asked ε = over 1e+15" in raised(BudgetExhausted, lambda: ask(account, "b", 10**400))


def test_nothing_is_paid_back(account: Account) -> None:
    """Failed and unfinished questions stay charged."""
    account.fail(ask(account, "a"))
    ask(account, "b")
    account.commit(ask(account, "c"), certificate={}, answer={})
    assert account.spent().epsilon == Fraction(3, 10)
    assert [entry.state for entry in account.entries() if entry.number] == [
        State.FAILED,
        State.RESERVED,
        State.COMMITTED,
    ]


def test_a_reservation_has_one_outcome(account: Account) -> None:
    """Whichever comes first stands; a second one is refused."""
    failed, answered = ask(account, "a"), ask(account, "b")
    account.fail(failed)
    account.commit(answered, certificate={}, answer={"n": 1})
    for reservation in (failed, answered):
        with pytest.raises(InvalidArgument, match="already has its outcome"):
            account.fail(reservation)
        with pytest.raises(InvalidArgument, match="already has its outcome"):
            account.commit(reservation, certificate={}, answer={"n": 2})
    stored = account.stored("b", 1)
    assert stored is not None
    assert stored.answer == {"n": 1}


def test_an_outcome_needs_its_own_reservation(ledger: Ledger, account: Account, tmp_path: Path) -> None:
    """A reservation of another account, or of another ledger, doesn't count."""
    paid = ask(account, "a")
    other = ledger.account("visits", Budget(epsilon=1))
    ask(other, "a")
    with pytest.raises(InvalidArgument, match="no such reservation"):
        other.commit(paid, certificate={}, answer={})
    with Ledger.open(tmp_path / "other.ledger", create=True) as elsewhere:
        namesake = elsewhere.account("census", Budget(epsilon=1))
        ask(namesake, "a")
        with pytest.raises(InvalidArgument, match="no such reservation"):
            namesake.fail(paid)


def test_an_answer_is_stored_with_its_question_and_its_data(account: Account) -> None:
    """Another question, another version, or no outcome yet: nothing is stored. The keys keep their order."""
    paid = ask(account, "a")
    assert account.stored("a", 1) is None
    answer = {"z": [1, 2.5, None, "é\ud800\0"], "a": {"big": 10**60, "tiny": 5e-324}}
    kept = account.commit(paid, certificate={"text": "SELECT"}, answer=answer)
    stored = account.stored("a", 1)
    assert stored == kept
    assert stored is not None
    assert stored.entry == paid.entry
    assert stored.certificate == {"text": "SELECT"}
    assert list(stored.answer.items()) == list(answer.items())
    assert account.admit("the data", after=1).version == 2
    assert account.stored("a", 2) is None
    assert account.stored("b", 1) is None


def test_the_first_answer_stays_the_answer(account: Account) -> None:
    """Of two answers to one question, the one committed first is given from then on, whichever paid first."""
    first, second = ask(account, "a"), ask(account, "a")
    account.commit(second, certificate={}, answer={"n": 2})
    account.commit(first, certificate={}, answer={"n": 1})
    stored = account.stored("a", 1)
    assert stored is not None
    assert (stored.entry, stored.answer) == (second.entry, {"n": 2})


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), {1, 2}, b"bytes", Fraction(1, 3), [10**5000]])
def test_an_answer_that_is_not_json_is_refused_without_quoting_it(account: Account, wrong: object) -> None:
    """What can't be stored can't be shown, and the error doesn't show it either."""
    paid = ask(account, "a")
    message = raised(InvalidArgument, lambda: account.commit(paid, certificate={}, answer={"n": wrong}))
    assert message == "a certificate and an answer must be JSON-ready, without NaN or infinities"
    assert account.stored("a", 1) is None


@pytest.mark.parametrize("version", [0, -1, 2, 2**70])
def test_a_question_needs_data(account: Account, version: int) -> None:
    """A version that nobody admitted can't be asked."""
    admitted(account)
    with pytest.raises(InvalidArgument, match="has no data version"):
        account.reserve(question="q", text="SELECT", version=version, event=laplace("1/10"))


def test_accounts_do_not_pay_for_each_other(ledger: Ledger, account: Account) -> None:
    """Two accounts in one ledger have totals and numbers of their own."""
    visits = ledger.account("visits", Budget(epsilon=1))
    ask(account, "a", 1)
    assert ask(visits, "a", "1/2").entry == 1
    assert account.spent().epsilon == 1
    assert visits.spent().epsilon == Fraction(1, 2)
    assert visits.stored("a", 1) is None


@pytest.mark.parametrize(
    ("budget", "accepted", "refused"),
    [
        (Budget(epsilon=1), [laplace("1/10")], [gaussian("1/100"), selection("1/10000000", "1/10")]),
        (Budget(epsilon=1, delta=1e-6), [laplace(1), gaussian("1/1000"), selection("1/10000000", "1/10")], []),
        (Budget(rho=1, delta=1e-6), [laplace("1/10"), gaussian("1/100"), selection("1/10000000", "1/10")], []),
    ],
    ids=str,
)
def test_a_budget_holds_the_losses_it_can_count(
    ledger: Ledger, budget: Budget, accepted: list[Event], refused: list[Event]
) -> None:
    """Gaussian noise and any δ are refused by a pure budget by kind, not by size."""
    for number, event in enumerate(accepted):
        account = ledger.account(f"accepted {number}", budget)
        pay(account, event)
    account = ledger.account("refused", budget)
    for event in refused:
        assert "can't hold a loss of this kind" in raised(LossNotAccepted, lambda event=event: pay(account, event))  # type: ignore[misc]  # mypy can't infer a lambda with a default
    assert account.spent().epsilon == 0


def test_shares_bind_besides_the_budget(ledger: Ledger) -> None:
    """An analyst may spend neither more than the share, nor more than is left of the budget."""
    account = ledger.account("census", Budget(epsilon=1), {"ada": Budget(epsilon="3/4"), "bob": Budget(epsilon="1/2")})
    ask(account, "a", "1/2", "ada")
    assert account.remaining("ada").epsilon == Fraction(1, 4)
    assert account.remaining("bob").epsilon == account.remaining().epsilon == Fraction(1, 2)
    assert "the share of analyst 'ada'" in raised(BudgetExhausted, lambda: ask(account, "b", "1/2", "ada"))
    ask(account, "c", "3/8", "bob")
    assert "the budget" in raised(BudgetExhausted, lambda: ask(account, "d", "1/4", "ada"))
    assert account.spent("ada").epsilon == Fraction(1, 2)
    assert account.spent("bob").epsilon == Fraction(3, 8)
    assert account.spent().epsilon == Fraction(7, 8)


@pytest.mark.parametrize("analyst", [None, "eve", "ADA", "ada\u2009"])
def test_strangers_are_refused_where_analysts_have_shares(ledger: Ledger, analyst: str | None) -> None:
    """Nobody but those who are listed may ask, and names are taken to the letter."""
    account = ledger.account("census", Budget(epsilon=1), {"ada": Budget(epsilon=1)})
    with pytest.raises((BudgetExhausted, InvalidArgument)):
        ask(account, "a", analyst=analyst)
    assert account.spent().epsilon == 0


def test_a_share_declared_later_counts_what_came_before(ledger: Ledger) -> None:
    """What an analyst spent before there were shares is spent of the share."""
    ask(ledger.account("census", Budget(epsilon=1)), "a", "1/2", "ada")
    account = ledger.account("census", Budget(epsilon=1), {"ada": Budget(epsilon="1/2")})
    assert account.remaining("ada").epsilon == 0
    with pytest.raises(BudgetExhausted):
        ask(account, "b", analyst="ada")


def test_a_new_declaration_forgets_nothing(ledger: Ledger) -> None:
    """A budget that was lowered below what is spent admits nothing; raised, it admits the difference."""
    ask(ledger.account("census", Budget(epsilon=1)), "a", "1/2")
    account = ledger.account("census", Budget(epsilon="1/4"))
    assert account.spent().epsilon == Fraction(1, 2)
    assert account.remaining().epsilon == 0
    with pytest.raises(BudgetExhausted):
        ask(account, "b", Fraction(1, 10**9))
    raised_again = ledger.account("census", Budget(epsilon=2), weaken=["budget"])
    assert raised_again.remaining().epsilon == Fraction(3, 2)


def test_a_new_declaration_binds_who_opened_before(ledger: Ledger) -> None:
    """Of two processes with different budgets, both are held to the one that was declared last."""
    before = ledger.account("census", Budget(epsilon=1))
    admitted(before)
    ledger.account("census", Budget(epsilon="1/20"))
    with pytest.raises(BudgetExhausted):
        ask(before, "a", "1/10")


def test_a_budget_of_another_kind_counts_the_same_losses(ledger: Ledger) -> None:
    """Losses are kept in every currency, so a change from ε to ρ loses none; one that ε can't hold blocks it."""
    mixed = ledger.account("census", Budget(rho=1, delta=1e-6))
    pay(mixed, laplace(1))
    pure = ledger.account("census", Budget(epsilon=2), weaken=["budget"])
    assert pure.remaining().epsilon == 1
    pay(ledger.account("census", Budget(rho=1, delta=1e-6), weaken=["budget"]), gaussian("1/100"))
    blocked = ledger.account("census", Budget(epsilon=2), weaken=["budget"])
    assert blocked.remaining().epsilon == 0
    assert blocked.spent().epsilon is None
    with pytest.raises(BudgetExhausted):
        pay(blocked, laplace("1/1000"))


def test_an_unchanged_declaration_is_not_recorded_again(ledger: Ledger) -> None:
    """Opening an account a hundred times leaves one entry, whatever the order of analysts."""
    one, two = {"ada": Budget(epsilon=1), "bob": Budget(rho=1, delta=1e-6)}, {}
    for name in reversed(one):
        two[name] = one[name]
    for shares in (one, two, one):
        account = ledger.account("census", Budget(epsilon=3, delta=1e-6), shares)
    assert [entry.text for entry in account.entries()] == [
        "ε = 3, δ = 1e-06; ada: ε = 1; bob: ρ = 1, δ = 1e-06 (add-remove); at most 10 failures"
    ]


def test_the_adjacency_is_fixed_by_the_first_loss(ledger: Ledger) -> None:
    """It may change while nothing is spent; then losses under two relations would be added up, so it is refused."""
    early = ledger.account("census", Budget(epsilon=1), adjacency=SUBSTITUTION)
    account = ledger.account("census", Budget(epsilon=1), adjacency=ADD_REMOVE)
    with pytest.raises(InvalidArgument, match="was declared under add_remove in the meantime"):
        ask(early, "a")
    ask(account, "a")
    with pytest.raises(InvalidArgument, match="has losses under add_remove"):
        ledger.account("census", Budget(epsilon=1), adjacency=SUBSTITUTION)


@pytest.mark.parametrize("name", ["", " ", "a ", "a\n", "a\0", "x" * 256, "\ud800", "a\u200b"])
def test_names_can_be_read(ledger: Ledger, account: Account, name: str) -> None:
    """Names of accounts, analysts and questions are short and printable."""
    for action in (
        lambda: ledger.account(name, Budget(epsilon=1)),
        lambda: ledger.account("census", Budget(epsilon=1), {name: Budget(epsilon=1)}),
        lambda: ask(account, "a", analyst=name),
        lambda: ask(account, name),
    ):
        assert "printable characters" in raised(InvalidArgument, action)


def test_any_text_can_be_asked(account: Account) -> None:
    """The text of a question comes back from the history as it was, whatever is in it."""
    texts = ["", "SELECT 'é' -- \0 \ud800 \u202e", "x" * 100_000, "'; DROP TABLE discreet_entry; --"]
    for text in texts:
        account.reserve(question="q", text=text, version=admitted(account), event=laplace("1/100"))
    assert [entry.text for entry in account.entries() if entry.number] == texts


def test_noise_that_cannot_be_written_down_is_refused(account: Account) -> None:
    """Parameters too long to be read back at a verification aren't accepted."""
    for scale in (Fraction(10) ** 1001, Fraction(10**6000 + 1, 10**5999)):
        with pytest.raises(InvalidArgument, match="too many digits for a ledger"):
            pay(account, LaplaceEvent(scale=scale, l1=1))
    assert account.spent().epsilon == 0


def test_nothing_is_free(account: Account) -> None:
    """An event without a loss would be an answer without noise, so it is refused."""
    with pytest.raises(InvalidArgument):
        pay(account, ComposedEvent(()))
    assert [entry.kind for entry in account.entries()] == ["budget", "data"]


def test_awkward_costs_do_not_make_entries_grow(account: Account, tmp_path: Path) -> None:
    """Costs with unrelated denominators are rounded up to a common grid instead of growing without end."""
    exact = Fraction(0)
    for number in range(1, 40):
        cost = Fraction(1, 10**20 + 2 * number + 1)
        exact += cost
        account.commit(ask(account, f"{number}", cost), certificate={}, answer={})
    spent = account.spent().epsilon
    assert spent is not None
    assert exact < spent < exact + Fraction(1, 10**38)
    longest = sql(tmp_path / "census.ledger", "SELECT max(length(spent_epsilon)) FROM discreet_entry")[0][0]
    assert longest < 100


def test_the_history_tells_what_happened(ledger: Ledger) -> None:
    """Budgets, data versions and questions, in order, each question with cost, analyst, text and state."""
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    account = ledger.account("census", Budget(epsilon=1))
    account.commit(ask(account, "a", analyst="ada"), certificate={}, answer={})
    account.admit("new data", after=1)
    ledger.account("visits", Budget(epsilon=1))
    account.fail(ask(account, "b"))
    found = [(entry.number, entry.kind, entry.analyst, entry.text, entry.state) for entry in account.entries()]
    assert found == [
        (None, "budget", None, "ε = 1 (add-remove); at most 10 failures", None),
        (None, "data", None, "data version 1", None),
        (1, "question", "ada", "SELECT a", State.COMMITTED),
        (None, "data", None, "data version 2", None),
        (2, "question", None, "SELECT b", State.FAILED),
    ]
    costs = [entry.cost.epsilon for entry in account.entries() if entry.cost is not None]
    assert costs == [Fraction(1, 10)] * 2
    times = [entry.at for entry in account.entries()]
    assert before <= times[0]
    assert times == sorted(times)
    assert all(time.utcoffset() == timedelta(0) for time in times)


def test_a_long_history_is_read_page_by_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with more entries than one page has them all, in order; and all of them are verified."""
    monkeypatch.setattr(chain, "PAGE", 7)
    account = ledger.account("census", Budget(epsilon=1000), failures=1000)
    for number in range(12):
        account.fail(ask(account, f"{number}"))
    assert [entry.number for entry in account.entries() if entry.number] == list(range(1, 13))
    assert ledger.verify().entries == 27
