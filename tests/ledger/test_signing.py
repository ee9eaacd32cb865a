"""The signing key: made once, its owner's alone, named by the chain, and in nothing that leaves."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from discreet.errors import LedgerCorrupt, LedgerUnavailable
from discreet.ledger import Account, Ledger
from discreet.ledger.location import key_path
from discreet.ledger.row import Kind, Row, to_body
from discreet.ledger.signing import SigningKey
from discreet.privacy import Budget
from discreet.results import verify_head
from support.ledgers import COLUMNS, ask, raised, rewrite, rows, sql


@pytest.fixture
def account(tmp_path: Path) -> Account:
    """An account in a fresh ledger."""
    return Ledger.open(tmp_path / "t.ledger", create=True).account("census", Budget(epsilon=1))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Where its key shall be."""
    return tmp_path / "t.ledger.key"


def test_a_key_is_made_once_and_is_its_owners_alone(account: Account, key: Path) -> None:
    """The chain names the public one; who opens the account again has the same."""
    signing = account.signing(key)
    assert signing.public is None
    assert signing.signer("q") is None
    made = signing.make()
    assert key.stat().st_mode & 0o777 == 0o600
    assert signing.make() == account.signing(key).make() == account.signing(key).public == made
    assert [each.name for each in key.parent.iterdir() if "key" in each.name] == [key.name]
    assert [row.kind for row in rows(key.with_suffix(""))] == ["open", "budget", "key"]
    assert account.entries()[-1].text == "signing key"


def test_two_who_make_it_at_once_have_the_same(account: Account, key: Path) -> None:
    """One file, one entry."""
    start, made = Barrier(4), []

    def make() -> None:
        start.wait(60)
        made.append(account.signing(key).make())

    threads = [Thread(target=make) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(made) == 4
    assert len(set(made)) == 1
    assert sum(row.kind == Kind.KEY for row in rows(key.with_suffix(""))) == 1


def test_a_new_key_signs_from_then_on(account: Account, key: Path) -> None:
    """What was signed before is verified with the old one."""
    signing = account.signing(key)
    first = signing.make()
    head = signing.head()
    second = signing.make(anew=True)
    assert second != first
    assert list(signing.all()) == [first, second]
    assert verify_head(head, first).holds
    assert verify_head(head, second).problems[0].startswith("it names another key")
    assert verify_head(signing.head(), second).holds
    assert verify_head(account.signing(key).head(), second).holds


def test_another_key_in_its_place_is_refused(account: Account, key: Path, tmp_path: Path) -> None:
    """So is one that others can read, and whatever else is there; none at all signs nothing. Nothing is charged."""
    account.signing(key).make()
    right = key.read_bytes()
    SigningKey.written(tmp_path / "other.key")
    key.write_bytes((tmp_path / "other.key").read_bytes())
    assert "the ledger names" in raised(LedgerUnavailable, account.signing(key).load)
    key.write_bytes(right)
    key.chmod(0o640)
    assert "can be read by users other" in raised(LedgerUnavailable, account.signing(key).load)
    key.chmod(0o600)
    account.signing(key).load()
    key.write_bytes(right[:-40])
    assert "was altered" in raised(LedgerUnavailable, account.signing(key).load)
    key.unlink()
    bare = account.signing(key)
    bare.load()
    assert bare.signer("q") is None
    for refused in (bare.head, bare.make):
        assert str(key) in raised(LedgerUnavailable, refused)
    assert not key.exists()
    assert "nowhere" in raised(LedgerUnavailable, account.signing(None).make)


def test_two_servers_do_not_sign_with_two_keys(account: Account, tmp_path: Path) -> None:
    """Whoever comes second is told to copy the key of the first."""
    first, second = account.signing(tmp_path / "1.key"), account.signing(tmp_path / "2.key")
    first.make()
    assert "isn't at" in raised(LedgerUnavailable, second.make)
    made = SigningKey.written(tmp_path / "2.key").public
    assert "the ledger names" in raised(LedgerUnavailable, second.make)
    assert first.public != made
    (tmp_path / "2.key").unlink()
    SigningKey.copied(tmp_path / "1.key", tmp_path / "2.key")
    assert account.signing(tmp_path / "2.key").make() == first.public


def test_the_private_key_is_nowhere_else(account: Account, key: Path) -> None:
    """Not in the ledger, nor in what is shown, copied or pickled of what holds it."""
    signing = account.signing(key)
    signing.make()
    account.admit("data", after=0)
    signing.head()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    private = load_pem_private_key(key.read_bytes(), password=None)
    secret = private.private_bytes_raw()  # type: ignore[union-attr]  # it is such a key
    signer = signing.signer("q")
    held = SigningKey.read(key)
    assert held is not None
    for each in (signer, held):
        assert pickle.loads(pickle.dumps(each)) is None  # noqa: S301 — its own bytes
        assert copy.deepcopy(each) is copy.copy(each) is None
        assert secret not in pickle.dumps(each)
    shown = " ".join(map(repr, (signing, signer, held, account, account.entries()))) + str(signer)
    stored = key.with_suffix("").read_bytes()
    for trace in (secret.hex(), key.read_text().splitlines()[1]):
        assert trace not in shown
        assert trace.encode() not in stored
    assert secret not in stored


def test_a_head_says_what_was_spent(account: Account, key: Path) -> None:
    """With entries, hash and ledger; a pending question is in it as soon as it was paid for."""
    signing = account.signing(key)
    public = signing.make()
    ask(account, "a", "1/4")
    head = signing.head()
    assert verify_head(head, public).holds
    assert head["spent"] == account.spent().to_dict()
    assert head["spent"]["epsilon"] == "1/4"
    last = rows(key.with_suffix(""))[-1]
    assert (head["entries"], head["head"]) == (last.seq, last.hash)
    sql(key.with_suffix(""), "UPDATE discreet_ledger SET hash = ?", "0" * 64)
    again = Ledger.open(key.with_suffix(""), create=False).account("census", Budget(epsilon=1))
    assert "was altered" in raised(LedgerCorrupt, again.signing(key).head)


def test_every_change_of_a_keys_entry_is_found(account: Account, key: Path) -> None:
    """Whatever one column is changed to; and a key that is named by the digest of another, chained anew."""
    account.signing(key).make()
    path = key.with_suffix("")
    ledger = Ledger.open(path, create=False)
    for column in COLUMNS:
        ((before,),) = sql(path, f"SELECT {column} FROM discreet_entry WHERE seq = 3")
        sql(path, f"UPDATE discreet_entry SET {column} = ? WHERE seq = 3", "9" if before is None else f"{before}0")
        assert not ledger.verify().holds, column
        sql(path, f"UPDATE discreet_entry SET {column} = ? WHERE seq = ?", before, 30 if column == "seq" else 3)
        assert ledger.verify().holds

    def exchange(entries: list[Row]) -> None:
        entries[2] = replace(entries[2], body=to_body({"public": "A" * 43 + "="}))

    rewrite(path, exchange)
    assert [str(each) for each in Ledger.open(path, create=False).verify().problems] == [
        "entry 3: it names a key by another key's digest"
    ]


@pytest.mark.parametrize(
    ("ledger", "config", "place"),
    [
        ("/a/t.ledger", "/b/discreet.toml", "/a/t.ledger.key"),
        ("sqlite:////a/t.ledger?mode=ro", None, "/a/t.ledger.key"),
        ("postgresql://u@localhost/d", "/b/other.toml", "/b/other.key"),
        ("postgresql://u@localhost/d", None, None),
    ],
)
def test_the_key_is_beside_the_ledger_or_the_configuration(ledger: str, config: str | None, place: str | None) -> None:
    """Where a ledger on a server has no configuration, there is none."""
    found = key_path(ledger, None if config is None else Path(config))
    assert (None if found is None else str(found)) == place
