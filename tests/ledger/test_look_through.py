"""Looking through a chain: what is new is looked at at once, and what was seen before page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.errors import LedgerCorrupt
from discreet.ledger import Account, Ledger, State, chain, look_through
from discreet.ledger.row import Row
from discreet.privacy import Budget
from support.ledgers import ask, sql


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a ledger."""
    return tmp_path / "t.ledger"


@pytest.fixture
def account(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """With a dozen questions, which are several pages."""
    monkeypatch.setattr(chain, "PAGE", 5)
    monkeypatch.setattr(look_through, "_EVERY", 0.0)
    with Ledger.open(path, create=True) as ledger:
        found = ledger.account("census", Budget(epsilon=100), failures=1000)
        for number in range(12):
            ask(found, f"q{number}", analyst="ann" if number % 2 else "bob")
        yield found


def looks(account: Account, most: int = 10) -> int:
    """After how many looks damage is noticed; 0 if it isn't."""
    return next((number + 1 for number in range(most) if not account.is_whole()), 0)


CHANGES = {
    "a value": "UPDATE discreet_entry SET analyst = 'eve' WHERE seq = ?",
    "a missing entry": "DELETE FROM discreet_entry WHERE seq = ?",
    "a body": "UPDATE discreet_entry SET body = body || ' ' WHERE seq = ?",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_damage_in_what_is_new_is_noticed_at_once(account: Account, path: Path, change: str) -> None:
    """Before anything else; also where nothing was looked at before."""
    sql(path, change, 9)
    assert looks(account) == 1


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("seq", [2, 9, 13])
def test_damage_in_what_was_seen_is_noticed_after_as_many_looks_as_there_are_pages(
    account: Account, path: Path, change: str, seq: int
) -> None:
    """Whatever was looked at last; and until it is mended."""
    for before in range(4):
        assert account.is_whole(), before
        ask(account, f"more {before}")
    assert account.is_whole()
    (row,) = sql(path, "SELECT * FROM discreet_entry WHERE seq = ?", seq)
    sql(path, change, seq)
    assert 1 <= looks(account) <= 5
    assert not account.is_whole()
    sql(path, "DELETE FROM discreet_entry WHERE seq = ?", seq)
    sql(path, f"INSERT INTO discreet_entry VALUES ({', '.join('?' * len(row))})", *row)
    assert looks(account) == 0


def test_an_end_that_was_cut_off_is_noticed(account: Account, path: Path) -> None:
    """The head names another entry; a head that was set back is behind what was seen."""
    assert account.is_whole()
    ((last,),) = sql(path, "SELECT MAX(seq) FROM discreet_entry")
    sql(path, "DELETE FROM discreet_entry WHERE seq = ?", last)
    assert looks(account) == 1
    ((found,),) = sql(path, "SELECT hash FROM discreet_entry WHERE seq = ?", last - 1)
    sql(path, "UPDATE discreet_ledger SET seq = ?, hash = ?", last - 1, found)
    with pytest.raises(LedgerCorrupt, match="went back"):
        account.is_whole()


def test_what_was_seen_is_not_hashed_again_within_a_second(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is new."""
    assert account.is_whole()
    monkeypatch.setattr(look_through, "_EVERY", 1e9)
    assert account.is_whole()
    hashed, seal = list[int](), Row.seal

    def counted(row: Row) -> str:
        hashed.append(row.seq)
        return seal(row)

    monkeypatch.setattr(Row, "seal", counted)
    assert account.is_whole()
    assert len(hashed) == 1  # the last one
    ask(account, "new")
    hashed.clear()
    assert account.is_whole()
    assert len(set(hashed)) == 2


def test_an_analyst_has_their_own_questions(account: Account, path: Path) -> None:
    """With what became of each, over several pages; what of it is damaged is left out, and said."""
    for number in range(20, 25):
        paid = ask(account, f"q{number}", analyst="ann")
        if number % 2:
            account.fail(paid)
        else:
            account.commit(paid, certificate={}, answer={})
    entries, are_whole = account.entries_of("ann")
    every = [each for each in account.entries() if each.kind == "question" and each.analyst == "ann"]
    assert (list(entries), are_whole) == (every, True)
    assert {each.state for each in entries} == set(State)
    assert account.entries_of("eve") == ([], True)
    sql(path, "UPDATE discreet_entry SET body = body || ' ' WHERE kind = 'reserve' AND number = 2")
    entries, are_whole = account.entries_of("ann")
    assert (list(entries), are_whole) == ([each for each in every if each.number != 2], False)
    assert account.entries_of("bob")[1]
