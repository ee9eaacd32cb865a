"""Tokens in a ledger: entries of its chain, found by digest, revoked for good, and verified like all others."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from discreet.errors import InvalidArgument
from discreet.ledger import Account, Ledger
from discreet.ledger.row import Row
from discreet.privacy import Budget

ONE, TWO = "1" * 64, "2" * 64


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A fresh one."""
    return Ledger.open(tmp_path / "t.ledger", create=True)


@pytest.fixture
def account(ledger: Ledger) -> Account:
    """An account in it."""
    return ledger.account("census", Budget(epsilon=1))


def test_a_token_is_found_by_its_digest(ledger: Ledger, account: Account) -> None:
    """With whose it is, what it allows, and when it was made."""
    before = datetime.now(UTC)
    made = account.tokens.grant(ONE, "ann", {"role": "analyst"})
    found = account.tokens.find(ONE)
    assert found == made
    assert (made.subject, made.content, made.id, made.revoked) == ("ann", {"role": "analyst"}, "1" * 12, None)
    assert (before - made.at).total_seconds() < 0.001
    assert account.tokens.find(TWO) is None
    assert ledger.account("other", Budget(epsilon=1)).tokens.find(ONE) is None
    assert ledger.verify().holds


def test_a_revoked_token_stays_revoked(ledger: Ledger, account: Account) -> None:
    """Revoking it once more writes nothing; nobody can be given it again."""
    account.tokens.grant(ONE, "ann", {})
    account.tokens.grant(TWO, "bob", {})
    gone = account.tokens.revoke(ONE)
    entries = ledger.verify().entries
    assert account.tokens.revoke(ONE) == gone == account.tokens.find(ONE)
    assert gone.revoked is not None
    assert ledger.verify().entries == entries
    assert [each.revoked is None for each in account.tokens.all()] == [False, True]
    with pytest.raises(InvalidArgument, match="already"):
        account.tokens.grant(ONE, "ann", {})
    with pytest.raises(InvalidArgument, match="no such token"):
        account.tokens.revoke("3" * 64)
    assert ledger.verify().holds


@pytest.mark.parametrize(("digest", "subject"), [("1" * 63, "ann"), ("G" * 64, "ann"), (ONE, ""), (ONE, " ann")])
def test_what_can_not_be_stored_is_refused(account: Account, digest: str, subject: str) -> None:
    """A digest that is none, and a name that can't be read."""
    with pytest.raises(InvalidArgument):
        account.tokens.grant(digest, subject, {})


def test_the_history_names_tokens(account: Account) -> None:
    """By what they are called, and whose they are."""
    account.tokens.grant(ONE, "ann", {})
    account.tokens.revoke(ONE)
    lines = [(entry.kind, entry.analyst, entry.text) for entry in account.entries()[1:]]
    assert lines == [("token", "ann", f"token {'1' * 12}"), ("revoke", "ann", f"token {'1' * 12} revoked")]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE discreet_entry SET analyst = 'bob' WHERE kind = 'token'", "was altered"),
        ("DELETE FROM discreet_entry WHERE kind = 'revoke'", "the head names entry"),
    ],
)
def test_tampering_is_found(ledger: Ledger, account: Account, tmp_path: Path, change: str, problem: str) -> None:
    """A token that was given to somebody else, and a revocation that was taken back."""
    account.tokens.grant(ONE, "ann", {})
    account.tokens.revoke(ONE)
    engine = create_engine(f"sqlite:///{tmp_path / 't.ledger'}")
    with engine.begin() as connection:
        connection.execute(text(change))
    engine.dispose()
    found = Ledger.open(tmp_path / "t.ledger", create=False).verify() if "head" not in problem else ledger.verify()
    assert any(problem in each.message for each in found.problems), found.problems


def test_every_change_of_a_column_is_found(ledger: Ledger, account: Account, tmp_path: Path) -> None:
    """Whatever one column of a token's or a revocation's entry is changed to."""
    account.tokens.grant(ONE, "ann", {"role": "analyst"})
    account.tokens.revoke(ONE)
    engine = create_engine(f"sqlite:///{tmp_path / 't.ledger'}")
    for seq in (3, 4):
        for column in Row.__dataclass_fields__:
            with engine.begin() as connection:
                (before,) = connection.execute(text(f"SELECT {column} FROM discreet_entry WHERE seq = {seq}")).one()
                change = text(f"UPDATE discreet_entry SET {column} = :value WHERE seq = :seq")
                connection.execute(change, {"value": "9" if before is None else f"{before}0", "seq": seq})
            assert not ledger.verify().holds, (seq, column)
            with engine.begin() as connection:
                place = f"{seq}0" if column == "seq" else seq
                connection.execute(change, {"value": before, "seq": place})
            assert ledger.verify().holds
    engine.dispose()
