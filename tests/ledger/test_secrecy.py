"""What a ledger must not tell: what the data are, and how long a question took."""

from __future__ import annotations

import logging
import re
import shutil
import traceback
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from discreet.errors import AdmissionConflict, DiscreetError, LedgerUnavailable, SnapshotMissing
from discreet.ledger import Ledger
from discreet.ledger.marks import mark
from discreet.ledger.row import Kind, Row, to_body
from discreet.privacy import Budget
from support.ledgers import ask, raised, rewrite, rows, sql

CANARY = "5ca1ab1e" * 8
"""A digest of what tables hold, as it would be made from private data."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger into which the canary was admitted."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        version = account.admit(CANARY, snapshot="first", after=0).version
        account.commit(ask(account, "question"), certificate={"version": version}, answer={"n": 1})
    return path


def test_what_tables_hold_is_nowhere_in_the_file(path: Path) -> None:
    """Neither as text, nor as bytes, nor by a hash that needs no secret."""
    content = path.read_bytes()
    assert len(content) > 1000
    hidden = [CANARY, f"census\0{CANARY}", f"1\0{CANARY}", f"census\0001\0{CANARY}"]
    traces = [trace for text in hidden for trace in (text.encode(), sha256(text.encode()).hexdigest().encode())]
    traces += [bytes.fromhex(CANARY), sha256(CANARY.encode()).digest(), CANARY[:16].encode()]
    assert [trace for trace in traces if trace in content] == []


def guessed(path: Path, contents: str, keys: list[bytes]) -> bool:
    """Whether some key makes the mark of these contents: a guess of the tables, tested on a copy of the ledger."""
    ((account, version, kept),) = sql(path, "SELECT account, version, digest FROM discreet_entry WHERE kind = 'data'")
    return any(mark(key, account, version, contents) == kept for key in keys)


def test_a_copy_of_the_ledger_tests_no_guess_of_the_tables(path: Path, tmp_path: Path) -> None:
    """By nothing that is in it; with the file of the key, which isn't, it does."""
    copy = tmp_path / "copy"
    shutil.copy(path, copy)
    inside = [bytes.fromhex(each) for each in re.findall(r"[0-9a-f]{64}", copy.read_bytes().decode("latin-1"))]
    assert len(inside) > 5
    assert not guessed(copy, CANARY, inside)
    key = path.with_name("census.ledger.marks")
    assert key.read_bytes() not in copy.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    assert guessed(copy, CANARY, [key.read_bytes()])
    assert not guessed(copy, CANARY[::-1], [key.read_bytes()])


def old(path: Path) -> bytes:
    """Make the ledger one of before keys were files; its secret, by which it made its mark."""
    ((secret,),) = sql(path, "SELECT secret FROM discreet_ledger")
    secret = "5a" * 32 if secret.startswith("forgotten") else secret

    def change(entries: list[Row]) -> None:
        entries[0] = replace(entries[0], body=to_body({"format": 1, "secret": sha256(secret.encode()).hexdigest()}))
        for place, row in enumerate(entries):
            if row.kind == "data":
                made = mark(bytes.fromhex(secret), "census", row.version or 0, CANARY)
                entries[place] = replace(row, body=to_body({"snapshot": "first"}), digest=made)

    rewrite(path, change)
    sql(path, "UPDATE discreet_ledger SET secret = ?, format = 1", secret)
    path.with_name("census.ledger.marks").unlink()
    return bytes.fromhex(secret)


def test_a_ledger_of_before_forgets_its_secret_once_tables_are_admitted(path: Path) -> None:
    """What was admitted is known as ever; after the next admission nothing in the file tests a guess of either."""
    secret = old(path)
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        first = account.admitted()
        assert first is not None
        assert account.holds(first, CANARY)
        assert not account.holds(first, CANARY[::-1])
        before = ledger.account("census", Budget(epsilon=1)).signing(None)
        assert before.public is None
        second = account.admit(CANARY, after=1)
        assert account.holds(second, CANARY)
        with pytest.raises(SnapshotMissing):
            account.holds(first, CANARY)
        assert ledger.verify().problems == ()
    assert secret.hex().encode() not in path.read_bytes()
    assert sql(path, "SELECT format FROM discreet_ledger") == [(2,)]


def test_the_secret_stays_while_a_version_in_force_needs_it(path: Path) -> None:
    """That of another group, or of another account of the ledger."""
    with Ledger.open(path, create=False) as ledger:
        ledger.account("visits", Budget(epsilon=1)).admit(CANARY, after=0)
    secret = old(path)
    with Ledger.open(path, create=False) as ledger:
        census, visits = (ledger.account(name, Budget(epsilon=1)) for name in ("census", "visits"))
        census.admit(CANARY, after=1)
        assert secret.hex().encode() in path.read_bytes()
        visits.admit(CANARY, after=1)
    assert secret.hex().encode() not in path.read_bytes()


def test_without_the_key_of_its_mark_a_version_is_not_known_again(path: Path) -> None:
    """Nor with another one; a key that others can read, or that isn't one, is refused. Admitting again makes one."""
    key = path.with_name("census.ledger.marks")
    whole = key.read_bytes()
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        version = account.admitted()
        assert version is not None
        key.unlink()
        assert "copy it there" in raised(SnapshotMissing, lambda: account.holds(version, CANARY))
        key.write_bytes(bytes(32))
        key.chmod(0o600)
        assert "is missing" in raised(SnapshotMissing, lambda: account.holds(version, CANARY))
        key.chmod(0o640)
        assert "chmod 600" in raised(LedgerUnavailable, lambda: account.holds(version, CANARY))
        key.chmod(0o600)
        key.write_bytes(whole[1:])
        assert "was altered" in raised(LedgerUnavailable, lambda: account.holds(version, CANARY))
        key.unlink()
        assert account.holds(account.admit(CANARY, after=1), CANARY)
        assert len(key.read_bytes()) == 32


def test_marks_of_equal_data_differ(tmp_path: Path) -> None:
    """Who holds two ledgers, or one with two accounts or versions, can't see that they are about the same data."""
    for name in ("one", "two"):
        with Ledger.open(tmp_path / name, create=True) as ledger:
            for account in ("census", "copy"):
                for after in range(2):
                    ledger.account(account, Budget(epsilon=1)).admit(CANARY, after=after)
    marks = [
        mark
        for name in ("one", "two")
        for (mark,) in sql(tmp_path / name, "SELECT digest FROM discreet_entry WHERE kind = 'data'")
    ]
    assert len(marks) == len(set(marks)) == 8
    assert {len(mark) for mark in marks} == {64}


def test_a_ledger_tells_how_often_tables_were_admitted_and_nothing_of_them(tmp_path: Path) -> None:
    """Whether tables stayed as they were, changed, or changed back: all entries are the same but for their marks."""
    told = []
    for name, contents in {"same": "xxx", "changed": "xyz", "back": "xyx"}.items():
        path = tmp_path / name
        with Ledger.open(path, create=True) as ledger:
            account = ledger.account("census", Budget(epsilon=1), marks=tmp_path / "key")
            for after, data in enumerate(contents):
                account.admit(data, snapshot=f"folder {after}", after=after)
                ask(account, "question")
        found = rows(path)
        marks = {row.digest for row in found if row.kind == Kind.DATA}
        assert len(marks) == 3
        columns = [row.columns() for row in found if row.kind != Kind.OPEN]
        hidden = {"at", "previous", "hash"}
        told.append(
            [
                {name: value for name, value in row.items() if name not in hidden and value not in marks}
                for row in columns
            ]
        )
    assert told[0] == told[1] == told[2]
    assert [row["version"] for row in told[0] if row["kind"] == Kind.DATA] == [1, 2, 3]


def test_what_tables_hold_is_in_no_description(path: Path) -> None:
    """Neither objects, nor the history, nor a refused admission show the digest that they were given."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        found = account.admitted()
        assert found is not None
        assert account.holds(found, CANARY)
        shown = [repr(found), str(found), repr(account), repr(account.entries()), repr(ledger.verify())]
        with pytest.raises(AdmissionConflict) as caught:
            account.admit(f"new {CANARY}", after=0)
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
        assert [text for text in shown if CANARY in text] == []


def test_errors_do_not_show_what_was_to_be_written(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the database complains, neither digest nor answer gets into error, traceback or log."""
    caplog.set_level(logging.DEBUG)
    with Ledger.open(path, create=False) as writable:
        paid = ask(writable.account("census", Budget(epsilon=1)), "another")
    with Ledger.open(f"sqlite:///{path}?mode=ro", create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for action in (
            lambda: account.admit(f"new {CANARY}", after=1),
            lambda: account.commit(paid, certificate={}, answer={"n": CANARY}),
        ):
            with pytest.raises(LedgerUnavailable) as caught:
                action()
            assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert CANARY not in caplog.text


def test_numbers_do_not_tell_when_a_question_was_done(path: Path) -> None:
    """Whether an outcome comes before or after another question, that question's number is the same."""
    numbers = []
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for early in (True, False):
            first = ask(account, "slow")
            if early:
                account.fail(first)
            second = ask(account, "probe")
            if not early:
                account.fail(first)
            numbers.append(second.entry - first.entry)
    assert numbers == [1, 1]


def test_a_refusal_depends_on_public_facts_only(path: Path, tmp_path: Path) -> None:
    """The same questions of other data are charged and refused in the same words."""
    other = tmp_path / "other.ledger"
    with Ledger.open(other, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        account.admit("other data", snapshot="first", after=0)
        ask(account, "question")
    texts = []
    for place in (path, other):
        with Ledger.open(place, create=False) as ledger:
            account = ledger.account("census", Budget(epsilon=1))
            texts.append(raised(DiscreetError, lambda account=account: ask(account, "dear", 5)))  # type: ignore[misc]  # mypy can't infer a lambda with a default
    assert len(set(texts)) == 1
