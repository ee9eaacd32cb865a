"""Backup and restore: an old copy is no refund, and no head but the ledger's own counts."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import (
    BudgetExhausted,
    InvalidArgument,
    LedgerCorrupt,
    LedgerError,
    LedgerUnavailable,
    NotApproved,
)
from discreet.ledger import Account, Approver, Attempt, Ledger, RequestState, State
from discreet.ledger.backup import Restored, back_up, key_beside, restore
from discreet.ledger.declaration import Declaration
from discreet.privacy import Budget
from discreet.results import PublicKey
from support.examples import examples
from support.ledgers import admitted, ask, gaussian, laplace, raised, sql

BUDGET = Budget(epsilon=3)
TOKEN = "1" * 64


@dataclass
class Town:
    """A ledger with one account, its witness, and where it is restored to."""

    folder: Path
    budget: Budget = BUDGET
    analysts: dict[str, Budget] = field(default_factory=dict)
    witnessed: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger.open(self.path, create=True)
        self.account.signing(self.key).make()

    @property
    def path(self) -> Path:
        """Of the ledger."""
        return self.folder / "t.ledger"

    @property
    def key(self) -> Path:
        """Of its account."""
        return self.folder / "t.ledger.key"

    @property
    def copy(self) -> Path:
        """Of the ledger."""
        return self.folder / "copy"

    @property
    def account(self) -> Account:
        """The one that there is."""
        return self.ledger.account("census", self.budget, self.analysts, weaken=["budget"])

    @property
    def declared(self) -> dict[str, Declaration]:
        """What the configuration says."""
        return {"census": Declaration(budget=self.budget, analysts=self.analysts)}

    def witness(self) -> None:
        """Send a head."""
        self.witnessed.append(self.account.signing(self.key).head())

    def lose(self) -> None:
        """Lose the ledger's file."""
        self.ledger.close()
        self.path.unlink()

    def restore(self, heads: str | None = None, **others: Any) -> Restored:
        """Put the copy back, by what was witnessed."""
        text = "\n".join(map(json.dumps, self.witnessed)) if heads is None else heads
        restored = restore(str(self.path), self.copy, text, declared=self.declared, **others)
        self.ledger = Ledger.open(self.path, create=False)
        return restored

    def verified(self) -> None:
        """It holds."""
        assert self.ledger.verify().problems == ()


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """With one question, and a token."""
    made = Town(tmp_path)
    made.account.commit(ask(made.account, "a", 1), certificate={"text": "a"}, answer={"n": 17})
    made.account.tokens.grant(TOKEN, "ann", {})
    return made


def test_a_copy_at_the_witnessed_head_goes_on(town: Town) -> None:
    """Nothing is charged, tokens hold, answers are there, the key fits, and questions are asked."""
    town.witness()
    found = back_up(str(town.path), town.copy, key=town.key)
    assert found.holds
    assert (town.copy.stat().st_mode & 0o777, key_beside(town.copy).stat().st_mode & 0o777) == (0o600, 0o600)
    assert key_beside(town.copy).read_bytes() == town.key.read_bytes()
    town.lose()
    restored = town.restore()
    assert (restored.is_whole, restored.revoked, restored.latest) == (True, 0, town.witnessed[-1]["at"])
    assert set(restored.charged["census"].to_dict().values()) == {"0"}
    assert town.path.stat().st_mode & 0o777 == 0o600
    stored = town.account.stored("a", 1)
    assert stored is not None
    assert stored.answer == {"n": 17}
    found_token = town.account.tokens.find(TOKEN)
    assert found_token is not None
    assert found_token.revoked is None
    ask(town.account, "b", 1)
    town.witness()
    town.verified()


def test_a_copy_that_is_behind_is_charged_what_it_lacks(town: Town) -> None:
    """Exactly, as one debit without an answer; tokens are revoked; what was exhausted stays so."""
    back_up(str(town.path), town.copy)
    ask(town.account, "b", "3/2")
    town.witness()
    spent = town.account.spent()
    town.lose()
    restored = town.restore()
    assert (restored.is_whole, restored.revoked) == (False, 1)
    assert restored.charged["census"].epsilon == Fraction(3, 2)
    assert town.account.spent() == spent
    *_, gap = (each for each in town.account.entries() if each.kind == "question")
    assert (gap.state, gap.cost) == (State.FAILED, restored.charged["census"])
    token = town.account.tokens.find(TOKEN)
    assert token is not None
    assert token.revoked is not None
    town.verified()
    with pytest.raises(BudgetExhausted):
        ask(town.account, "c", 1)
    ask(town.account, "c", "1/2")
    town.verified()


REQUEST = {"question": "SELECT 1", "terms": {}, "plan": "p" * 64, "purpose": "a trial", "cost": {}}
HEAD = Approver(subject="head")


def test_an_approval_that_was_used_since_the_copy_was_made_isnt_good_again(town: Town) -> None:
    """Nor one that was taken back; of who signs in by OpenID Connect, no token is revoked that would end it."""
    requests, terms = town.account.requests, {"plan": "p" * 64, "declarations": "d", "days": 7, "any_version": True}
    names = ["used", "taken back", "open", "denied", "used before"]
    for name in names:
        requests.open(name, "ann", "", REQUEST)
    for name in ("used", "taken back", "used before"):
        requests.approve(name, HEAD, **terms)
    requests.deny("denied", HEAD, "no")

    def use(name: str, attempt: str = "1") -> None:
        used = Attempt(id=f"{name} {attempt}", plan="p" * 64, seconds=1, approval=name, declarations="d", token="")
        account = town.account.during(used)
        account.reserve(question=name, text=name, version=1, event=laplace("1/10"), analyst="ann")

    use("used before")
    back_up(str(town.path), town.copy)
    use("used")
    requests.deny("taken back", HEAD, "no more")
    town.witness()
    town.lose()
    restored = town.restore()
    assert (restored.is_whole, restored.denied) == (False, 3)
    found = {each.id: (each.state, each.reason) for each in town.account.requests.all()}
    behind = (RequestState.DENIED, "restored from an older copy")
    assert [found[name] for name in names[:4]] == [behind, behind, behind, (RequestState.DENIED, "no")]
    assert found["used before"][0] is RequestState.USED
    for name in names:
        with pytest.raises(NotApproved):
            use(name, "2")
    town.verified()


def test_a_copy_that_is_whole_keeps_its_requests(town: Town) -> None:
    """Nothing was used since."""
    town.account.requests.open("open", "ann", "", REQUEST)
    town.witness()
    back_up(str(town.path), town.copy)
    town.lose()
    assert town.restore().denied == 0
    assert [each.state for each in town.account.requests.all()] == [RequestState.OPEN]
    town.verified()


def test_the_same_copy_twice_is_no_refund(town: Town) -> None:
    """Where a ledger is, none is restored; once it is moved away, all that any head says counts, in whatever order."""
    back_up(str(town.path), town.copy)
    ask(town.account, "b", 1)
    town.witness()
    with pytest.raises(InvalidArgument, match="may know more"):
        town.restore()
    town.lose()
    town.restore()
    with pytest.raises(InvalidArgument, match="may know more"):
        town.restore()
    ask(town.account, "c", "1/2")
    town.witness()
    for heads in (town.witnessed, town.witnessed[::-1]):
        town.lose()
        town.restore("\n".join(map(json.dumps, heads)))
        assert town.account.spent().epsilon == Fraction(5, 2)
        town.verified()


def forge(head: dict[str, Any], **changes: Any) -> str:
    """A head with something changed."""
    return json.dumps({**head, **changes})


def test_no_head_but_the_ledgers_own_counts(town: Town, tmp_path: Path) -> None:
    """One that was forged, is of another ledger, of another account, unsigned, or none at all: nothing is restored."""
    back_up(str(town.path), town.copy)
    ask(town.account, "b", 1)
    town.witness()
    (head,) = town.witnessed
    (tmp_path / "elsewhere").mkdir()
    other = Town(tmp_path / "elsewhere")
    other.key.write_bytes(town.key.read_bytes())
    other.ledger = Ledger.open(other.folder / "second.ledger", create=True)
    other.account.signing(other.key).make()
    other.witness()
    visits = town.ledger.account("visits", BUDGET).signing(town.key)
    visits.make()
    town.lose()
    unsigned = {name: value for name, value in head.items() if name != "signature"}
    refused = [
        (forge(head, spent={**head["spent"], "epsilon": "1"}), "isn't signed"),
        (forge(head, entries=head["entries"] - 1), "isn't signed"),
        (json.dumps(unsigned), "isn't signed"),
        (json.dumps(head) + "\n" + forge(head, account="visits"), "isn't signed"),
        (json.dumps(other.witnessed[0]), "of another ledger"),
        ("", "no head is given"),
        ("{", "no head is given"),
        (json.dumps(head)[:-20], "no head is given"),
    ]
    before = sorted(each.name for each in tmp_path.iterdir())
    for heads, words in refused:
        with pytest.raises(InvalidArgument, match=words):
            town.restore(heads)
        assert sorted(each.name for each in tmp_path.iterdir()) == before
    torn = f"{json.dumps(head)[:50]}\n{json.dumps(head)}\n"
    assert town.restore(torn).charged["census"].epsilon == 1


def test_each_account_needs_its_head(town: Town) -> None:
    """Else the others of the ledger would be refunded."""
    visits = town.ledger.account("visits", BUDGET)
    visits.signing(town.key).make()
    ask(visits, "v", 1)
    back_up(str(town.path), town.copy)
    ask(visits, "w", 1)
    town.witness()
    heads = json.dumps(visits.signing(town.key).head())
    town.lose()
    with pytest.raises(InvalidArgument, match="account 'visits'"):
        town.restore()
    with pytest.raises(InvalidArgument, match="account 'census'"):
        town.restore(heads)
    restored = town.restore(f"{json.dumps(town.witnessed[0])}\n{heads}")
    assert (restored.charged["census"].epsilon, restored.charged["visits"].epsilon) == (0, 1)
    assert town.ledger.account("visits", BUDGET).spent().epsilon == 2
    town.verified()


def test_what_cannot_be_charged_is_not_restored(tmp_path: Path) -> None:
    """A copy of before there were tables, and one whose budget is too small; with the greater budget, it is."""
    town = Town(tmp_path)
    back_up(str(town.path), town.copy)
    ask(town.account, "a", 2)
    town.witness()
    back_up(str(town.path), tmp_path / "later")
    town.budget = Budget(epsilon=9)
    ask(town.account, "b", 4)
    town.witness()
    town.lose()
    with pytest.raises(InvalidArgument, match="older than the first question"):
        town.restore()
    town.copy.unlink()
    shutil.copy(tmp_path / "later", town.copy)
    town.budget = BUDGET
    with pytest.raises(InvalidArgument, match="can't be charged to account 'census'"):
        town.restore()
    assert not town.path.exists()
    town.budget = Budget(epsilon=9)
    town.restore()
    assert town.account.spent().epsilon == 6
    town.verified()


def test_losses_without_a_finite_epsilon_and_shares_are_charged_too(tmp_path: Path) -> None:
    """What nobody knows the asker of is nobody's share, and the ledger holds all the same."""
    town = Town(tmp_path, Budget(epsilon=3, delta=1e-6), {"ann": Budget(epsilon=2, delta=1e-7)})
    ask(town.account, "a", "1/4", analyst="ann")
    back_up(str(town.path), town.copy)
    town.account.reserve(question="b", text="b", version=1, event=gaussian("1/100"), analyst="ann")
    town.witness()
    spent = town.account.spent()
    assert spent.epsilon is None
    town.lose()
    assert town.restore().charged["census"].epsilon is None
    assert town.account.spent() == spent
    town.verified()
    ask(town.account, "c", "1/4", analyst="ann")
    town.verified()


def test_a_later_key_is_taken_where_it_is_given(town: Town) -> None:
    """A head that was signed after the copy was made, with a key that the copy doesn't name."""
    back_up(str(town.path), town.copy)
    later = town.account.signing(town.key).make(anew=True)
    town.witness()
    town.lose()
    with pytest.raises(InvalidArgument, match="newer key"):
        town.restore()
    with pytest.raises(InvalidArgument, match="newer key"):
        town.restore(key=PublicKey(bytes(32)))
    assert not town.restore(key=later).is_whole
    assert "the ledger names" in raised(LedgerUnavailable, town.account.signing(town.key).load)


def test_a_ledger_that_is_in_place_is_charged_there(town: Town) -> None:
    """As one that a server's own tools restored; once more charges nothing more."""
    back_up(str(town.path), town.copy)
    ask(town.account, "b", 1)
    town.witness()
    heads = json.dumps(town.witnessed[0])
    town.ledger.close()
    town.copy.replace(town.path)
    for charged in (1, 0):
        found = restore(str(town.path), None, heads, declared=town.declared)
        assert found.charged["census"].epsilon == charged
    town.ledger = Ledger.open(town.path, create=False)
    assert town.account.spent().epsilon == 2
    town.verified()


def test_a_damaged_copy_is_refused(town: Town) -> None:
    """Whatever is wrong with it; nothing is left behind."""
    town.witness()
    back_up(str(town.path), town.copy)
    town.lose()
    whole = town.copy.read_bytes()
    sql(town.copy, "UPDATE discreet_entry SET spent_epsilon = '0' WHERE kind = 'reserve'")
    with pytest.raises(LedgerCorrupt):
        town.restore()
    for content in (b"", b"no ledger", whole[: len(whole) // 2]):
        town.copy.write_bytes(content)
        with pytest.raises(LedgerError):
            town.restore()
    town.copy.unlink()
    with pytest.raises(LedgerError):
        town.restore()
    assert sorted(each.name for each in town.folder.iterdir()) == [town.key.name, "t.ledger.marks"]


def test_a_backup_replaces_nothing(town: Town) -> None:
    """Nor is one made of a server's ledger, or of none."""
    back_up(str(town.path), town.copy)
    with pytest.raises(InvalidArgument, match="there is a file"):
        back_up(str(town.path), town.copy)
    with pytest.raises(InvalidArgument, match="on a database server"):
        back_up("postgresql://u@localhost/d", town.folder / "other")
    with pytest.raises(LedgerError):
        back_up(str(town.folder / "none"), town.folder / "other")
    with pytest.raises(LedgerUnavailable):
        back_up(str(town.path), town.folder / "nowhere" / "other")
    assert not (town.folder / "other").exists()


@given(
    steps=st.lists(st.tuples(st.sampled_from(["ask", "witness", "token"]), st.integers(1, 20)), min_size=3, max_size=9),
    copied=st.integers(0, 8),
)
@examples(40)
def test_whatever_was_witnessed_stays_spent(
    steps: list[tuple[str, int]], copied: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Questions, heads and a copy in any order: afterwards at least what any head says is spent, and it holds."""
    town = Town(tmp_path_factory.mktemp("steps"), Budget(epsilon=100))
    admitted(town.account)
    town.witness()
    for number, (what, amount) in enumerate(steps):
        if number == min(copied, len(steps) - 1):
            back_up(str(town.path), town.copy)
            had = town.account.spent()
        match what:
            case "ask":
                ask(town.account, str(number), Fraction(amount, 7))
            case "witness":
                town.witness()
            case _:
                town.account.tokens.grant(f"{number:064x}", "ann", {})
    town.lose()
    restored = town.restore()
    spent = town.account.spent().epsilon
    assert spent == max(had.epsilon or 0, *(Fraction(head["spent"]["epsilon"]) for head in town.witnessed))
    left = [each for each in town.account.tokens.all() if each.revoked is None]
    assert restored.is_whole or not left
    town.verified()
