"""Idempotency keys at a service: a question that is asked again is the same question, here and after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from threading import Barrier
from typing import Any

import pytest

import discreet as dp
from discreet.errors import (
    AboveCeiling,
    AskedAlready,
    AskedInPart,
    Forbidden,
    InvalidArgument,
    KeyReused,
    PlanChanged,
    QuestionFailed,
    TooManyWaiting,
)
from discreet.ledger import Account, Attempt, Ledger, State, attempts, key_digest
from discreet.privacy import LaplaceEvent
from discreet.service import Ask, Reply, Service, Ticket
from discreet.service.idempotency import Keys
from support import served
from support.served import COUNT, Served, served_in_threads, ticket_of

OWN = [f"{COUNT} WHERE id < {most}" for most in range(900, 909)]
"""Questions of which none follows from another."""

MOST = 8.0
"""How many seconds an answer is waited for, at the most."""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all."""
    with served_in_threads(tmp_path_factory.mktemp("service")) as found:
        yield found


def restart(service: Service) -> None:
    """Forget all that a server forgets when it ends: then its ledger alone knows of keys, like another server's."""
    service._questions._keys = Keys()


def outcome(ticket: Ticket) -> Any:
    """What became of a question, in time."""
    return served.outcome(ticket, within=MOST)


def unsigned(found: Any) -> Any:
    """An answer without its signature, which says when it was signed."""
    return {**found["answer"], "signature": None}


def test_threads_with_one_key_ask_once(running: Served) -> None:
    """They all have the same ticket, and one debit pays."""
    ann, before = running.callers["analyst"], len(running.states())
    barrier = Barrier(6)

    def ask(_: int) -> Ticket:
        barrier.wait()
        return running.service.ask(ann, Ask(OWN[0], {"epsilon": "1/7"}, key="threads"))

    with ThreadPoolExecutor(6) as pool:
        tickets = list(pool.map(ask, range(6)))
    assert len({ticket.id for ticket in tickets}) == 1
    assert "answer" in outcome(tickets[0])
    assert len(running.states()) == before + 1


def test_a_retry_has_the_answer_of_its_own_debit(running: Served) -> None:
    """Whatever was admitted or asked since, after a restart too; where limits are chosen first, all of it."""
    service, ann = running.service, running.callers["analyst"]
    asked: list[dict[str, Any]] = [{"epsilon": "1/9"}, {"epsilon": "1/2", "limits": "auto"}]
    first = [outcome(service.ask(ann, Ask(OWN[1 + n], terms, key=f"own{n}"))) for n, terms in enumerate(asked)]
    assert all("answer" in each for each in first)
    with dp.load(running.folder / "discreet.toml") as tables:
        tables.refresh()
    spent = len(running.states())
    restart(service)
    again = [service.ask(ann, Ask(OWN[1 + n], terms, key=f"own{n}")) for n, terms in enumerate(asked)]
    assert [unsigned(outcome(each)) for each in again] == [unsigned(each) for each in first]
    assert len(running.states()) == spent
    anew = outcome(service.ask(ann, Ask(OWN[1], asked[0], key="another")))
    assert anew["answer"]["entry"] != first[0]["answer"]["entry"]


def test_a_key_is_for_one_plan_of_one_subject(running: Served) -> None:
    """Another plan under it is refused, also after a restart; somebody else's key is another one."""
    service, ann, bob = running.service, running.callers["analyst"], running.callers["bob"]
    mine = service.ask(ann, Ask(OWN[3], {"epsilon": "1/11"}, key="same"))
    for _ in range(2):
        with pytest.raises(KeyReused):
            service.ask(ann, Ask(OWN[3], {"epsilon": "1/3"}, key="same"))
        outcome(mine)
        restart(service)
    theirs = service.ask(bob, Ask(OWN[4], {"epsilon": "1/13"}, key="same"))
    assert theirs.id != mine.id
    found = outcome(theirs)
    assert found["answer"]["certificate"]["analyst"] == "bob"


def test_a_crash_is_not_made_good_by_a_second_run(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another server may still run it, the retry is pending; from then on it failed. Nothing more is paid."""
    service, ann = running.service, running.callers["analyst"]
    terms = {"epsilon": "1/17"}
    plan = service.plan(ann, OWN[5], terms)
    with Ledger.open(running.folder / "people.ledger", create=False) as ledger:
        declared = service._tables.dataset
        account = ledger.account(declared.name, declared.budget, failures=declared.failures)
        crashed = Attempt(id="crashed", plan=plan.digest, seconds=0, key=key_digest("analyst", "crash"))
        event = LaplaceEvent(scale=Fraction(17), l1=1)
        version = account.versions()
        account.during(crashed).reserve(question="x", text=COUNT, version=version, event=event, analyst="analyst")
    spent = len(running.states())
    with monkeypatch.context() as patch:
        patch.setattr(attempts, "MARGIN", timedelta(hours=1))
        pending = service.ask(ann, Ask(OWN[5], terms, key="crash"))
        assert outcome(pending)["error"]["code"] == AskedAlready.code
        assert service.ticket(ann, pending.id) is pending
        assert outcome(pending)["error"]["code"] == AskedAlready.code
    monkeypatch.setattr(attempts, "MARGIN", timedelta(0))
    assert service.ticket(ann, pending.id) is pending
    assert outcome(pending)["error"]["code"] == QuestionFailed.code
    restart(service)
    assert outcome(service.ask(ann, Ask(OWN[5], terms, key="crash")))["error"]["code"] == QuestionFailed.code
    assert len(running.states()) == spent
    assert running.states()[-1] is State.RESERVED


def test_what_was_refused_may_be_asked_again(running: Served) -> None:
    """Its key is free: nothing was paid under it."""
    service, ann = running.service, running.callers["analyst"]
    assert outcome(service.ask(ann, Ask(OWN[6], {"epsilon": 1000}, key="dear")))["error"]["code"] == "budget_exhausted"
    assert "answer" in outcome(service.ask(ann, Ask(OWN[6], {"epsilon": "1/19"}, key="dear")))


@pytest.mark.parametrize("key", ["", " a", "a\n", "é", "x" * 201, "\x00"])
def test_what_is_no_key_is_refused(running: Served, key: str) -> None:
    """1 to 200 printable ASCII characters."""
    with pytest.raises(InvalidArgument):
        running.service.ask(running.callers["analyst"], Ask(COUNT, {"epsilon": "1/10"}, key=key))


def test_what_is_asked_is_the_plan_that_was_named(running: Served) -> None:
    """Or nothing."""
    service, ann = running.service, running.callers["analyst"]
    digest = service.plan(ann, COUNT, {"epsilon": "1/23"}).digest
    with pytest.raises(PlanChanged):
        service.ask(ann, Ask(COUNT, {"epsilon": "1/29"}, digest=digest))
    assert service.ask(ann, Ask(COUNT, {"epsilon": "1/23"}, digest=digest)).plan.digest == digest


def test_a_ceiling_is_looked_at_before_what_is_stored(running: Served) -> None:
    """What others paid for isn't free for who may not ask it; with an approval it is, and nothing is used up."""
    service, ann, bob, head = running.service, *(running.callers[name] for name in ("analyst", "bob", "custodian"))
    terms = {"epsilon": "3/2"}
    assert "answer" in outcome(service.ask(ann, Ask(COUNT, terms)))
    with pytest.raises(AboveCeiling):
        service.ask(bob, Ask(COUNT, terms))
    request = service.request(bob, COUNT, terms, "the yearly report")
    service.approve(head, request["id"])
    assert outcome(service.ask(bob, Ask(COUNT, terms, approval=request["id"])))["answer"]["reused"]
    assert service.requests(bob)[-1]["state"] == "approved"


def test_what_is_stored_of_an_earlier_version_is_read_by_its_number(running: Served) -> None:
    """For nothing, by who may ask it within their own ceiling; what isn't stored isn't asked."""
    service, ann, bob = running.service, running.callers["analyst"], running.callers["bob"]
    terms = {"epsilon": "4/3"}
    first = outcome(service.ask(ann, Ask(OWN[8], terms)))
    number = first["answer"]["certificate"]["data_version"]
    with dp.load(running.folder / "discreet.toml") as tables:
        tables.refresh()
    spent = len(running.states())
    for key in (None, "a key", "a key"):
        again = outcome(service.ask(ann, Ask(OWN[8], terms, version=number, key=key)))
        assert again["answer"]["rows"] == first["answer"]["rows"]
        assert again["answer"]["reused"]
    digest = service.plan(ann, OWN[8], terms).digest
    assert service.ask(ann, Ask(OWN[8], terms, version=number, digest=digest)).is_done
    for wrong in (number + 1, number - 1, 2**40):
        with pytest.raises(InvalidArgument, match=f"is stored for version {wrong}"):
            service.ask(ann, Ask(OWN[8], terms, version=wrong))
    with pytest.raises(PlanChanged):
        service.ask(ann, Ask(OWN[8], terms, version=number, digest="x"))
    with pytest.raises(AboveCeiling):
        service.ask(bob, Ask(OWN[8], terms, version=number))
    with pytest.raises(AboveCeiling):
        service.ask(bob, Ask(OWN[8], terms, version=2**40))
    with pytest.raises(InvalidArgument, match="an answer stored for an earlier version needs none"):
        service.ask(bob, Ask(OWN[8], terms, version=number, approval="x"))
    with pytest.raises(Forbidden):
        service.ask(running.callers["auditor"], Ask(OWN[8], terms, version=number))
    assert len(running.states()) == spent


def test_what_was_refused_after_a_part_was_paid_says_so_again(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody spends the rest while limits are being chosen: the refusal is public, and no failure.

    The same server says it again under the same key. One that was started since knows from the ledger that a part was
    paid for, and that nothing runs any more; under a new key, that part is free.
    """
    service, ann = running.service, running.callers["analyst"]
    terms = {"epsilon": "1/2", "limits": "auto"}
    reserve, debits = Account.reserve, list[int]()

    def outrun(account: Account, **said: Any) -> Any:
        debits.append(len(debits))
        if len(debits) == 2:  # the first step was measured; had it failed, the rest would still be there
            left = account.remaining().epsilon - Fraction(1, 100)
            other = copy(account)
            other._attempt = None
            reserve(other, **{**said, "question": "another", "event": LaplaceEvent(scale=1 / left, l1=1)})
        return reserve(account, **said)

    asked = partial(Ask, OWN[7], terms)
    with monkeypatch.context() as patch:
        patch.setattr(Account, "reserve", outrun)
        found = outcome(service.ask(ann, asked(key="part")))
    assert found["error"]["code"] == "budget_exhausted"
    assert "the measurements before it are paid for" in found["error"]["hint"]
    spent = len(running.states())
    assert outcome(service.ask(ann, asked(key="part"))) == found
    restart(service)
    assert outcome(service.ask(ann, asked(key="part")))["error"]["code"] == AskedAlready.code
    monkeypatch.setattr(attempts, "MARGIN", timedelta(days=-1))
    assert outcome(service.ask(ann, asked(key="part")))["error"]["code"] == AskedInPart.code
    assert len(running.states()) == spent
    assert outcome(service.ask(ann, asked(key="anew")))["error"]["code"] == "budget_exhausted"
    assert len(running.states()) == spent


def test_the_ledger_holds(running: Served) -> None:
    """After all of this."""
    assert running.service.verify(running.callers["custodian"]).problems == ()


def test_who_comes_with_the_key_of_a_question_that_is_refused_hears_the_same() -> None:
    """Also after how many seconds to come again; and the key is free."""
    keys, ticket = Keys(), ticket_of(step=1.0)
    ticket.attempt = replace(ticket.attempt, key="k")
    assert keys.claim(ticket) is ticket
    with pytest.raises(TooManyWaiting), keys.taking(ticket):
        raise TooManyWaiting("two of yours wait", retry_after=7)
    assert ticket.reply == Reply.of(TooManyWaiting("two of yours wait", retry_after=7))
    another = ticket_of(step=1.0)
    another.attempt = replace(another.attempt, key="k")
    assert keys.claim(another) is another
