"""Requests and approvals in a ledger: whatever an approval isn't for is refused, and found if it was forged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from discreet.errors import DiscreetError, Forbidden, InvalidArgument, NotApproved, TooManyWaiting, Unauthenticated
from discreet.ledger import Account, Approver, Attempt, Ledger, RequestState, chain
from discreet.ledger.requests import MOST_OPEN
from discreet.ledger.row import Kind, Row, to_body
from discreet.privacy import Budget
from support.ledgers import admitted, laplace, rewrite, rows, sql

ANN, BOB, HEAD = "a" * 64, "b" * 64, "c" * 64
"""Tokens of the analysts ann and bob, and of the custodian."""

ID, PLAN, NOW = "1" * 32, "p" * 64, "declared"
CONTENT = {"question": "SELECT 1", "terms": {}, "plan": PLAN, "purpose": "a trial", "cost": {}}
CUSTODIAN = Approver(subject="head", token=HEAD)


@dataclass
class Opened:
    """A ledger with two analysts, a custodian and an admitted table."""

    ledger: Ledger
    account: Account
    path: Path

    def approve(self, by: Approver = CUSTODIAN, **said: Any) -> None:
        """Approve the request, for what was requested unless something else is said."""
        terms = {"plan": PLAN, "declarations": NOW, "days": 7, "any_version": False, **said}
        self.account.requests.approve(ID, by, **terms)

    def ask(self, attempt: Attempt, analyst: str = "ann") -> int:
        """Pay for a question in an attempt; its number."""
        version = admitted(self.account)
        under = self.account.during(attempt)
        paid = under.reserve(question="q", text="q", version=version, event=laplace("1/10"), analyst=analyst)
        return paid.entry

    @property
    def state(self) -> RequestState:
        """Of the request."""
        found = self.account.requests.find(ID)
        assert found is not None
        return found.state

    def entries(self, kind: Kind) -> int:
        """How many there are of a kind."""
        return sum(row.kind == kind for row in rows(self.path))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """With a request of ann's."""
    path = tmp_path / "t.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=3))
        admitted(account)
        expires = (datetime.now(UTC) + timedelta(days=30)).isoformat()
        for digest, subject, role in ((ANN, "ann", "analyst"), (BOB, "bob", "analyst"), (HEAD, "head", "custodian")):
            account.tokens.grant(digest, subject, {"role": role, "expires": expires})
        account.requests.open(ID, "ann", ANN, CONTENT)
        yield Opened(ledger, account, path)


def attempt(number: int = 1, **said: Any) -> Attempt:
    """An attempt by the approval."""
    return replace(Attempt(id=f"{number}", plan=PLAN, seconds=1, approval=ID, declarations=NOW, token=ANN), **said)


def test_an_approval_is_used_once(opened: Opened) -> None:
    """By one attempt, which may make several debits; and each state is told."""
    assert opened.state is RequestState.OPEN
    opened.approve()
    assert opened.state is RequestState.APPROVED
    assert [opened.ask(attempt()), opened.ask(attempt())] == [1, 2]
    assert opened.state is RequestState.USED
    with pytest.raises(NotApproved, match="used up"):
        opened.ask(attempt(2))
    assert (opened.entries(Kind.RESERVE), opened.entries(Kind.USE)) == (2, 1)
    assert opened.ledger.verify().problems == ()
    kinds = [entry.kind for entry in opened.account.entries()]
    assert kinds[-4:] == ["request", "approval", "question", "question"]


def test_threads_that_use_one_approval_pay_once(opened: Opened) -> None:
    """Sixteen attempts at a time."""
    opened.approve()
    barrier, outcomes = Barrier(16), list[object]()

    def use(number: int) -> None:
        barrier.wait()
        try:
            outcomes.append(opened.ask(attempt(number)))
        except NotApproved as error:
            outcomes.append(error.code)

    threads = [Thread(target=use, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["1", *["not_approved"] * 15]
    assert opened.entries(Kind.RESERVE) == 1


MISUSES: dict[str, Callable[[Opened], object]] = {
    "nobody approved it": lambda _: None,
    "it was denied": lambda each: each.account.requests.deny(ID, CUSTODIAN, "no"),
    "it was taken back": lambda each: (each.approve(), each.account.requests.deny(ID, CUSTODIAN, "no")),
    "another version is in force": lambda each: (each.approve(), each.account.admit("more", after=1)),
    "another budget is declared": lambda each: (each.approve(), each.ledger.account("census", Budget(epsilon=2))),
    "it was for other declarations": lambda each: each.approve(declarations="others"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_was_not_approved_is_not_asked(opened: Opened, misuse: str) -> None:
    """Nothing is charged."""
    MISUSES[misuse](opened)
    with pytest.raises(NotApproved):
        opened.ask(attempt())
    assert opened.entries(Kind.RESERVE) == opened.entries(Kind.USE) == 0
    assert opened.ledger.verify().holds


@pytest.mark.parametrize(
    ("said", "analyst"), [({"plan": "x"}, "ann"), ({"token": BOB}, "bob"), ({"approval": "2" * 32}, "ann")]
)
def test_an_approval_is_for_one_plan_of_one_analyst(opened: Opened, said: dict[str, str], analyst: str) -> None:
    """Not for another's question, nor for another question; and none is made up."""
    opened.approve()
    with pytest.raises(NotApproved):
        opened.ask(attempt(**said), analyst)


def test_an_approval_of_another_account_is_none(opened: Opened) -> None:
    """Accounts of one ledger don't know each other's requests."""
    opened.approve()
    other = opened.ledger.account("visits", Budget(epsilon=3))
    admitted(other)
    with pytest.raises(NotApproved, match="no such request"):
        Opened(opened.ledger, other, opened.path).ask(attempt(token=""))


def test_an_approval_may_be_for_any_version(opened: Opened) -> None:
    """If the custodian says so."""
    opened.approve(any_version=True)
    opened.account.admit("more", after=1)
    assert opened.ask(attempt()) == 1
    assert opened.ledger.verify().holds


def test_a_revoked_token_takes_its_requests_with_it(opened: Opened) -> None:
    """Also for another token of the same analyst; and what is asked with it is refused in the debit itself."""
    opened.approve()
    opened.account.tokens.grant("d" * 64, "ann", {"role": "analyst", "expires": "2999-01-01T00:00:00+00:00"})
    opened.account.tokens.revoke(ANN)
    with pytest.raises(NotApproved, match="expired"):
        opened.ask(attempt(token="d" * 64))
    with pytest.raises(Unauthenticated):
        opened.ask(attempt(approval=""))


def test_nobody_decides_about_their_own(opened: Opened) -> None:
    """Whatever token they show, and however the name is spelled; nor with a token that was revoked."""
    opened.account.tokens.grant("d" * 64, "Ann", {"role": "custodian", "expires": "2999-01-01T00:00:00+00:00"})
    for by in (Approver(subject="ann"), Approver(subject="Ann", token="d" * 64), Approver(subject="ａｎｎ")):
        with pytest.raises(Forbidden):
            opened.approve(by)
        with pytest.raises(Forbidden):
            opened.account.requests.deny(ID, by, "")
    opened.account.tokens.revoke(HEAD)
    with pytest.raises(Forbidden, match="revoked"):
        opened.approve()


def test_a_request_is_decided_once(opened: Opened) -> None:
    """Its plan is that which it was made for."""
    with pytest.raises(InvalidArgument, match="declarations"):
        opened.approve(plan="x")
    for days in (0, 367):
        with pytest.raises(InvalidArgument, match="days"):
            opened.approve(days=days)
    opened.approve()
    with pytest.raises(InvalidArgument, match="approved"):
        opened.approve()
    opened.ask(attempt())
    with pytest.raises(InvalidArgument, match="used"):
        opened.account.requests.deny(ID, CUSTODIAN, "")


def test_an_approval_ends_with_its_token(opened: Opened) -> None:
    """However many days are said."""
    opened.approve(days=366)
    found = opened.account.requests.find(ID)
    assert found is not None
    assert found.until is not None
    assert found.until - datetime.now(UTC) < timedelta(days=30, seconds=60)


def test_a_clock_that_was_set_back_renews_no_approval(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """What had expired by the last entry's time has ended, whatever the clock says now."""
    opened.approve(days=1)
    later = (datetime.now(UTC) + timedelta(days=2)).isoformat(timespec="milliseconds")
    with monkeypatch.context() as patch:
        patch.setattr(chain, "now", lambda: later)
        assert opened.state is RequestState.EXPIRED
        opened.account.tokens.grant("d" * 64, "eve", {})
    with pytest.raises(NotApproved, match="expired"):
        opened.ask(attempt())
    assert opened.account.tokens.shown("d" * 64)[1].isoformat(timespec="milliseconds") == later


def test_what_is_requested_has_its_limits(opened: Opened) -> None:
    """A purpose that can be read, and so many requests at a time."""
    for purpose in ("", " ", "x" * 1001, "a\x1b[2J"):
        with pytest.raises(InvalidArgument):
            opened.account.requests.open("2" * 32, "ann", ANN, {**CONTENT, "purpose": purpose})
    for number in range(MOST_OPEN - 1):
        opened.account.requests.open(f"2{number:031}", "ann", ANN, CONTENT)
    with pytest.raises(TooManyWaiting):
        opened.account.requests.open("3" * 32, "ann", ANN, CONTENT)
    opened.account.requests.open("3" * 32, "bob", BOB, CONTENT)
    assert len(opened.account.requests.all("bob")) == 1


def test_the_share_of_a_token_binds(opened: Opened) -> None:
    """All that its subject ever spent counts; a debit above it is refused, and found if it was forged."""
    shared = {"role": "analyst", "expires": "2999-01-01T00:00:00+00:00", "share": {"epsilon": "1/5"}}
    opened.account.tokens.grant("d" * 64, "bob", shared)
    spend = attempt(approval="", token="d" * 64)
    opened.ask(spend, "bob")
    opened.ask(spend, "bob")
    with pytest.raises(DiscreetError, match="your token"):
        opened.ask(spend, "bob")
    assert opened.ledger.verify().holds
    forge(opened, lambda row: row.kind == Kind.TOKEN and row.digest == "d" * 64, share={"epsilon": "1/10"})
    assert "what its token allows" in problems(opened)


def forge(opened: Opened, which: Callable[[Row], bool], *, drop: bool = False, **content: object) -> None:
    """Change the bodies of entries, or leave them out, and chain the rest anew."""

    def change(found: list[Row]) -> None:
        for place, row in reversed(list(enumerate(found))):
            if which(row) and drop:
                del found[place]
            elif which(row):
                columns = {name: value for name, value in content.items() if name in Row.__dataclass_fields__}
                body = {name: value for name, value in content.items() if name not in columns}
                found[place] = replace(row, **{"body": to_body({**row.content(), **body}), **columns})  # type: ignore[arg-type]  # of each column its own

    sql(opened.path, "DROP INDEX IF EXISTS discreet_entry_number")
    rewrite(opened.path, change)


def problems(opened: Opened) -> str:
    """What verification finds, in one text."""
    with Ledger.open(opened.path, create=False) as ledger:
        return "; ".join(map(str, ledger.verify().problems))


FORGERIES: list[tuple[Kind, dict[str, Any], str]] = [
    (Kind.USE, {"plan": "x"}, "another plan"),
    (Kind.USE, {"declarations": "x"}, "other declarations"),
    (Kind.USE, {"number": 7}, "follow its debit"),
    (Kind.USE, {"digest": "2" * 32}, "doesn't exist"),
    (Kind.ATTEMPT, {"number": 7}, "follow its debit"),
    (Kind.ATTEMPT, {"attempt": None}, "can't be read"),
    (Kind.APPROVAL, {"by": "ANN", "token": ""}, "the custodian's own request"),
    (Kind.APPROVAL, {"token": ANN}, "its token"),
    (Kind.APPROVAL, {"by": "bob", "token": BOB}, "of another role than custodian"),
    (Kind.TOKEN, {"role": "auditor"}, "of another role than analyst"),
    (Kind.TOKEN, {"role": "auditor"}, "of another role than custodian"),
    (Kind.APPROVAL, {"plan": "x"}, "another plan"),
    (Kind.APPROVAL, {"version": 2}, "wasn't in force"),
    (Kind.APPROVAL, {"until": "2999-01-01T00:00:00+00:00"}, "longer than it may"),
    (Kind.APPROVAL, {"until": "2000-01-01T00:00:00+00:00"}, "had expired"),
    (Kind.APPROVAL, {"until": "soon"}, "can't be read"),
    (Kind.REQUEST, {"token": "e" * 64}, "its token"),
    (Kind.REQUEST, {"analyst": "bob"}, "this subject didn't make"),
    (Kind.RESERVE, {"token": BOB}, "its token"),
]


@pytest.mark.parametrize(("kind", "changes", "problem"), FORGERIES)
def test_forged_entries_are_found(opened: Opened, kind: Kind, changes: dict[str, Any], problem: str) -> None:
    """Also where the whole chain was written anew over them."""
    opened.approve()
    opened.ask(attempt(key="k" * 64))
    assert problems(opened) == ""
    forge(opened, lambda row: row.kind == kind, **changes)
    assert problem in problems(opened)


@pytest.mark.parametrize("kind", [Kind.APPROVAL, Kind.REQUEST])
def test_left_out_entries_are_found(opened: Opened, kind: Kind) -> None:
    """An approval can't be used that nobody gave."""
    opened.approve()
    opened.ask(attempt())
    forge(opened, lambda row: row.kind == kind, drop=True)
    assert "doesn't exist" in problems(opened)


def test_every_change_of_a_column_is_found(opened: Opened) -> None:
    """Whatever one column of one of these entries is changed to."""
    opened.approve()
    opened.ask(attempt(key="k" * 64))
    opened.account.requests.open("2" * 32, "bob", BOB, CONTENT)
    opened.account.requests.deny("2" * 32, CUSTODIAN, "no")
    kinds = {Kind.REQUEST, Kind.APPROVAL, Kind.DENIAL, Kind.USE, Kind.ATTEMPT}
    found = [row for row in rows(opened.path) if row.kind in kinds]
    assert {row.kind for row in found} == kinds
    for row in found:
        for column, before in row.columns().items():
            where = f"{row.seq}0" if column == "seq" else row.seq
            value = "9" if before is None else f"{before}0"
            sql(opened.path, f"UPDATE discreet_entry SET {column} = ? WHERE seq = ?", value, row.seq)
            assert not opened.ledger.verify().holds, (row.kind, column)
            sql(opened.path, f"UPDATE discreet_entry SET {column} = ? WHERE seq = ?", before, where)
    assert opened.ledger.verify().holds
