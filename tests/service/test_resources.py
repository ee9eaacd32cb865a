"""What a question takes beside its cost: values, a slot's time and the ledger; each has its limit, told before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import TooManyValues, TooMuchAsked, Unsupported
from discreet.ledger import Allowance, Servers, servers_of
from discreet.service import Ask, AskingLimits, ReleaseTimes, Role, Service, Settings
from discreet.service.allowances import Allowances
from discreet.service.tokens import issue
from support.accounts import declared, founded, of_each_role
from support.postgres import running_server
from support.served import Served, in_threads, outcome

COLUMNS = """
id = { kind = "integer" }
age = { kind = "integer", bounds = [0, 125] }
city = { kind = "text", keys = ["a", "b", "c"] }
"""

LARGE = "SELECT age, city, COUNT(*) AS n FROM people GROUP BY age, city, age % 2, age % 3"

VALUES = 127 * 3 * 3 * 4
"""One for each value of its keys, NULL among them: for 85 characters and next to no ε."""


def serving(folder: Path, asking: AskingLimits) -> Iterator[Served]:
    """A service whose answers can't miss their time, with threads for processes."""
    with founded(folder, declared("people", COLUMNS), {"id": range(50), "age": [30] * 50, "city": ["a"] * 50}) as made:
        texts = of_each_role(made)
        texts["bob"] = issue(made.tokens, "bob", Role.ANALYST, days=1).text
    settings = Settings(times=ReleaseTimes(base=1.5, scan=0.5), asking=asking)
    with in_threads():
        service = Service(folder / "discreet.toml", settings)
        try:
            yield Served(service, folder, texts)
        finally:
            service.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """It lets an answer release 12,000 values, and the ledger grow by 2 MB a day for each analyst."""
    limits = AskingLimits(values=12_000, slot_seconds=1_000, ledger_bytes=2_000_000)
    yield from serving(tmp_path_factory.mktemp("resources"), limits)


def grown(running: Served) -> int:
    """How many bytes the ledger has, with what lies beside it."""
    files = [running.folder / "people.ledger", *running.folder.glob("people.ledger.answers/*")]
    return sum(path.stat().st_size for path in files)


def test_a_plan_says_what_a_question_takes(running: Served) -> None:
    """Beside its cost: how long it has a slot, how many values it releases, and how far the ledger grows by it."""
    plan = running.service.plan(running.callers["analyst"], LARGE, {"epsilon": "1e-9"})
    assert plan.values == VALUES
    assert 30_000 < plan.ledger_bytes < 160_000
    assert plan.words.splitlines()[-1].startswith(f"takes     {plan.seconds:g} s of a slot, ")
    assert plan.words.endswith("kB of the ledger; 4,572 values")


def test_a_large_answer_grows_the_ledger_by_what_its_plan_says(running: Served) -> None:
    """By less than a third of the JSON that leaves; asked again it is there at once, and nothing is taken for it."""
    service, ann = running.service, running.callers["analyst"]
    for number in range(1, 100):  # a busy machine may miss a time, whatever it is
        terms = {"epsilon": f"{number}e-9"}
        plan, before = service.plan(ann, LARGE, terms), grown(running)
        ticket = service.ask(ann, Ask(LARGE, terms))
        if "answer" in outcome(ticket):
            break
    assert ticket.answer is not None
    assert ticket.answer.values >= VALUES
    assert (grown(running) - before) < plan.ledger_bytes + 20_000 < len(ticket.answer.content) / 3
    left = service.budget(ann)["own"]
    assert left["ledger_bytes"]["remaining"] <= 2_000_000 - plan.ledger_bytes + 1_000
    again, size = service.ask(ann, Ask(LARGE, terms)), grown(running)
    assert again.is_done
    assert outcome(again)["answer"]["rows"] == outcome(ticket)["answer"]["rows"]
    assert grown(running) == size
    own = service.budget(ann)["own"]
    assert own["ledger_bytes"]["remaining"] >= left["ledger_bytes"]["remaining"]


def test_what_releases_too_many_values_is_refused_before_it_is_charged(running: Served) -> None:
    """Planned or asked; for public keys that follows from their number, and nothing is read or written for it."""
    service, ann, before = running.service, running.callers["analyst"], running.states()
    question = LARGE.replace("age % 3", "age % 3, age % 5")
    terms = {"epsilon": "1e-9"}
    for act in (lambda: service.plan(ann, question, terms), lambda: service.ask(ann, Ask(question, terms))):
        with pytest.raises(TooManyValues, match="27,432 values, and one may release 12,000"):
            act()
    assert running.states() == before


def test_what_was_answered_is_read_whatever_the_limit_is(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was paid for; to ask it anew is refused."""
    service, bob = running.service, running.callers["bob"]
    question = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    for number in range(1, 100):
        terms = {"epsilon": f"1/{number}"}
        first = service.ask(bob, Ask(question, terms))
        if "answer" in outcome(first):
            break
    lower = AskingLimits(values=100, slot_seconds=1_000, ledger_bytes=2_000_000)
    monkeypatch.setattr(service._questions, "_settings", Settings(times=service.settings.times, asking=lower))
    monkeypatch.setattr(service._questions.allowances, "_limits", lower)
    again = service.ask(bob, Ask(question, terms))
    assert outcome(again)["answer"]["rows"] == outcome(first)["answer"]["rows"]
    assert service.plan(bob, question, terms).values == 127
    with pytest.raises(TooManyValues):
        service.ask(bob, Ask(question, {"epsilon": "1/1000"}))
    service._tables.refresh()
    with pytest.raises(TooManyValues):  # answered of an earlier version alone
        service.ask(bob, Ask(question, terms))


def test_who_has_taken_a_day_of_it_is_refused_and_others_are_not(running: Served) -> None:
    """Each analyst has an allowance of their own; what is refused is told when it may be asked, and costs nothing."""
    service, ann, bob, before = running.service, running.callers["analyst"], running.callers["bob"], running.states()
    service._questions.allowances.take("analyst", 1, service.budget(ann)["own"]["ledger_bytes"]["remaining"] - 5)
    with pytest.raises(TooMuchAsked, match="kB of the ledger") as refused:
        service.ask(ann, Ask("SELECT COUNT(*) AS n FROM people", {"epsilon": "1/77"}))
    assert 1 < refused.value.retry_after < 86_400
    assert running.states() == before
    ticket = service.ask(bob, Ask("SELECT COUNT(*) AS n FROM people", {"epsilon": "1/77"}))
    assert ticket.wait(120)
    assert service.budget(bob)["own"]["slot_seconds"] == {
        "a_day": 1_000,
        "remaining": pytest.approx(service._questions.allowances.left("bob")["slot_seconds"]["remaining"], abs=1),
    }


@pytest.fixture(scope="module", params=["file", "postgres"])
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """That count: of one server, and of several."""
    if request.param == "file":
        found = servers_of(str(tmp_path_factory.mktemp("one") / "l"), "census")
        yield found
        found.close()
        return
    with running_server() as started:
        found = servers_of(started.url, "census")
        yield found
        found.close()


def test_an_allowance_is_taken_as_far_as_it_goes(servers: Servers) -> None:
    """A day's worth at once, and then no more; what is given back may be taken again. Each name has its own."""
    allowance, other = Allowance("slot", 100), Allowance("ledger", 100)
    assert servers.take("ann", allowance, 60) == 0
    assert servers.take("ann", allowance, 60) == pytest.approx(0.2 * 86_400, abs=120)
    assert servers.left("ann", allowance) == pytest.approx(40, abs=1)
    assert servers.take("ann", allowance, 39) == 0
    assert servers.take("ann", other, 100) == 0
    assert servers.take("bob", allowance, 100) == 0
    assert servers.take("ann", allowance, 10) > 0
    assert servers.take("ann", allowance, -60) == 0
    assert servers.take("ann", allowance, 10) == 0
    assert servers.left("carol", allowance) == 100


def test_two_servers_give_no_more_than_one() -> None:
    """What one has taken, the other knows."""
    with running_server() as started:
        one, two = (servers_of(started.url, "census") for _ in range(2))
        allowance = Allowance("slot", 10)
        assert one.take("ann", allowance, 8) == 0
        assert two.take("ann", allowance, 8) > 0
        assert two.left("ann", allowance) == pytest.approx(2, abs=0.1)
        one.close()
        two.close()


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), max_size=20))
def test_both_are_taken_or_neither(asked: list[tuple[float, float]]) -> None:
    """Where too little is left of the ledger, the slot's time is given back."""

    class Counting:
        """Counts exactly, by a clock that stands still."""

        def __init__(self) -> None:
            self.used = dict[str, float]()

        def take(self, _: str, allowance: Allowance, amount: float) -> float:
            used = self.used.get(allowance.name, 0) + amount
            if used > allowance.a_day:
                return 1
            self.used[allowance.name] = used
            return 0

    counting = Counting()
    allowances = Allowances(AskingLimits(slot_seconds=5, ledger_bytes=5), counting)  # type: ignore[arg-type]  # as much as is used
    taken = [0.0, 0.0]
    for seconds, stored in asked:
        try:
            allowances.take("ann", seconds, stored)
        except TooMuchAsked:
            continue
        taken = [taken[0] + seconds, taken[1] + stored]
    assert list(counting.used.values()) == pytest.approx([each for each in taken if counting.used])


def test_one_question_that_takes_more_than_a_day_is_refused() -> None:
    """No waiting helps, so none is advised."""
    allowances = Allowances(AskingLimits(slot_seconds=5), None)  # type: ignore[arg-type]  # it isn't asked
    with pytest.raises(Unsupported, match="more than your questions may take in a day"):
        allowances.take("ann", 6, 1)
