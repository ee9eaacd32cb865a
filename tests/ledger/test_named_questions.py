"""Named questions: kept for each analyst of an account, beside the chain, and nothing rests on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger import Ledger, NamedQuestion
from discreet.privacy import Budget
from support.ledgers import ask, sql


def question(name: str, text: str = "SELECT 1", version: int = 1) -> NamedQuestion:
    """A question of that name."""
    return NamedQuestion(name=name, content={"question": text}, version=version)


def test_names_are_of_an_analyst_and_an_account(tmp_path: Path) -> None:
    """They are there when the ledger is opened again; the chain is what it was; a name stands for one question."""
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        first, other = (ledger.account(name, Budget(epsilon=9)) for name in ("first", "other"))
        ask(first, "a")
        before = ledger.verify()
        assert first.named.of("ann") == []
        assert not first.named.drop("ann", "n")
        first.named.keep("ann", question("n", "old"))
        first.named.keep("ann", question("n", "né\u202e", 3))
        first.named.keep("ann", question("a"))
        first.named.keep("bob", question("n", "of bob"))
        other.named.keep("ann", question("n", "elsewhere"))
        assert ledger.verify() == before
    with Ledger.open(tmp_path / "l", create=False) as ledger:
        named = ledger.account("first", Budget(epsilon=9)).named
        assert named.of("ann") == [question("a"), question("n", "né\u202e", 3)]
        assert named.drop("ann", "n")
        assert not named.drop("ann", "n")
        assert named.of("ann") == [question("a")]
        assert named.of("bob") == [question("n", "of bob")]


def test_what_was_altered_is_said_and_opens_nothing(tmp_path: Path) -> None:
    """Whoever can write the ledger's file can rename; what can't be read is damage, of which no word is repeated."""
    path = tmp_path / "l"
    with Ledger.open(path, create=True) as ledger:
        named = ledger.account("t", Budget(epsilon=9)).named
        named.keep("ann", question("n"))
        for content in ("[1]", "{", "null", "[" * 100_000):
            sql(path, "UPDATE discreet_named SET content = ?", content)
            with pytest.raises(LedgerCorrupt, match="names of questions can't be read"):
                named.of("ann")
        for wrong in ("", " a", "a\n"):
            with pytest.raises(InvalidArgument, match="the name of a question"):
                named.keep("ann", question(wrong))
