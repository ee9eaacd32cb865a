"""The same ledger on a PostgreSQL server, which the tests start for themselves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from discreet.errors import (
    BudgetExhausted,
    InvalidArgument,
    LedgerCorrupt,
    LedgerMissing,
    LedgerUnavailable,
    LedgerVersion,
)
from discreet.ledger import Ledger, NamedQuestion, Verifier
from discreet.ledger.backup import restore
from discreet.ledger.declaration import Declaration
from discreet.privacy import Budget
from discreet.service import Role
from discreet.service.tokens import issue
from support.ledgers import admitted, ask, fill, laplace, marks_of, raised, run
from support.postgres import Postgres, connected, program, running_server


@pytest.fixture(scope="module")
def running() -> Iterator[Postgres]:
    """A server of our own."""
    with running_server() as started:
        yield started


@pytest.fixture(scope="module")
def server(running: Postgres) -> str:
    """Where its database is."""
    return running.url


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database without a ledger; the key of its marks is where programs keep it, too."""
    key = marks_of(server)
    assert key is not None
    monkeypatch.setattr("discreet.ledger.location.marks_path", lambda _: key)
    yield server
    key.unlink(missing_ok=True)
    with connected(server) as connection:
        tables = "discreet_ledger, discreet_entry, discreet_topic, discreet_large, discreet_named"
        connection.execute(f"DROP TABLE IF EXISTS {tables}")


def test_a_missing_ledger_is_made_only_if_asked(url: str) -> None:
    """A database without the tables has no ledger; `create` makes it once."""
    with pytest.raises(LedgerMissing):
        Ledger.open(url, create=False)
    for _ in range(2):
        with Ledger.open(url, create=True) as ledger:
            assert ledger.verify().entries == 1


def test_names_of_questions_are_kept_beside_the_chain(url: str) -> None:
    """As in a file: each analyst's own, once by name, until they are taken away."""
    with Ledger.open(url, create=True) as ledger:
        named = ledger.account("census", Budget(epsilon=1)).named
        assert named.of("ann") == []
        kept = NamedQuestion(name="n", content={"question": "SELECT 1 -- né\x00"}, version=1)
        for _ in range(2):
            named.keep("ann", kept)
        assert (named.of("ann"), named.of("bob")) == ([kept], [])
        assert [named.drop("ann", "n"), named.drop("ann", "n")] == [True, False]
        assert ledger.verify().problems == ()


def test_without_a_place_for_the_key_of_marks_nothing_is_admitted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger on a server doesn't say where one is; a key in the database would be in each copy of it."""
    monkeypatch.undo()
    with Ledger.open(url, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        assert "snapshots=" in raised(InvalidArgument, lambda: account.admit("x", after=0))
        assert account.versions() == 0


def test_a_question_is_paid_and_kept(url: str) -> None:
    """Debit, answer, shares, history and verification work as on SQLite, odd texts included."""
    fill(url)
    with Ledger.open(url, create=False) as ledger:
        shares = {"ada": Budget(epsilon=2), "bob": Budget(epsilon=1)}
        account = ledger.account("census", Budget(epsilon=3, delta=1e-6), shares)
        assert account.spent().epsilon == Fraction(4, 10)
        assert account.spent("ada").epsilon == Fraction(2, 10)
        paid = account.reserve(question="q", text="é \0 \ud800", version=1, event=laplace("1/10"), analyst="ada")
        account.commit(paid, certificate={}, answer={"z": "\0", "a": 10**30})
        stored = account.stored("q", 1)
        assert stored is not None
        assert stored.answer == {"z": "\0", "a": 10**30}
        assert account.entries()[-1].text == "é \0 \ud800"
        with pytest.raises(BudgetExhausted):
            ask(account, "dear", 2, "bob")
        found = ledger.verify()
        assert found.problems == ()
        assert found.entries == 18


def test_processes_spend_a_budget_exactly(url: str) -> None:
    """Of 8 × 15 questions at 1/53 of the budget, 53 are admitted."""
    with Ledger.open(url, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1)))
    assert sum(map(int, run("race", url, 8, 15, "1/53"))) == 53
    with Ledger.open(url, create=False) as ledger:
        assert ledger.account("census", Budget(epsilon=1)).remaining().epsilon == 0
        assert ledger.verify().problems == ()


def test_without_the_lock_the_numbering_still_lets_one_writer_win(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a database ignores the lock, a second writer fails on the entry's number, and tries again."""
    from threading import Barrier, Thread

    from discreet.ledger import chain, store
    from discreet.ledger.chain import Chain

    monkeypatch.setattr(chain, "_LOCKED", chain._HEAD)
    with Ledger.open(url, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1)))
    together = Barrier(2)
    tried = []
    append = Chain.append

    def meet(self: Chain, *arguments: object, **columns: object) -> object:
        tried.append(self.head.seq)
        if len(tried) <= 2:
            together.wait(timeout=120)
        return append(self, *arguments, **columns)  # type: ignore[arg-type]  # handed on as they came

    class NoTurn:
        """Lets several threads in at once, as several processes would be."""

        def acquire(self, **_: object) -> bool:
            return True

        def release(self) -> None:
            """Nothing to give back."""

    monkeypatch.setattr(store, "_TURN", NoTurn())
    monkeypatch.setattr(Chain, "append", meet)

    def work(number: int) -> None:
        with Ledger.open(url, create=False) as ledger:
            ask(ledger.account("census", Budget(epsilon=1)), f"{number}")

    threads = [Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tried) == 3
    assert tried[0] == tried[1] == tried[2] - 1
    with Ledger.open(url, create=False) as ledger:
        assert ledger.account("census", Budget(epsilon=1)).spent().epsilon == Fraction(2, 10)
        assert ledger.verify().problems == ()


def test_forked_children_leave_the_connection_to_their_parent(url: str) -> None:
    """Parent and children all go on, each on a connection of its own."""
    with Ledger.open(url, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1000)))
    assert run("fork", url) == ["child True"] * 4 + ["parent 41/10"]


def test_a_dump_that_was_put_back_is_charged_what_it_lacks(url: str, tmp_path: Path) -> None:
    """In its place, by what a witness kept; once more charges nothing more."""
    declared = {"census": Declaration(budget=Budget(epsilon=1))}
    with Ledger.open(url, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        signing = account.signing(tmp_path / "discreet.key")
        signing.make()
        ask(account, "a", "1/4")
        dump = subprocess.run([program("pg_dump"), url], check=True, capture_output=True).stdout
        ask(account, "b", "1/2")
        head = json.dumps(signing.head())
    with connected(url) as connection:
        connection.execute("DROP TABLE discreet_ledger, discreet_entry")
    subprocess.run([program("psql"), "-q", "-v", "ON_ERROR_STOP=1", url], input=dump, check=True, capture_output=True)
    charged = [restore(url, None, head, declared=declared).charged["census"].epsilon for _ in range(2)]
    assert charged == [Fraction(1, 2), 0]
    with Ledger.open(url, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        assert account.spent().epsilon == Fraction(3, 4)
        with pytest.raises(BudgetExhausted):
            ask(account, "c", "1/2")
        assert ledger.verify().problems == ()


def test_a_server_that_was_restarted_is_found_again(url: str) -> None:
    """A connection that the server closed is replaced by a new one."""
    with Ledger.open(url, create=True) as ledger, connected(url) as connection:
        account = ledger.account("census", Budget(epsilon=1))
        admitted(account)
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        ask(account, "question")
        assert ledger.verify().problems == ()


def test_founders_make_one_ledger(url: str) -> None:
    """Of many processes that make the ledger at once, one does; and each admits a version of its own."""
    assert sorted(map(int, run("race_create", url, 6))) == list(range(1, 7))
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().problems == ()


def test_of_processes_that_admit_at_once_one_wins(url: str) -> None:
    """Of 6 that go on from version 1 at once, one admits version 2, and the others are told so."""
    with Ledger.open(url, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1)))
    said = sorted(line.split(maxsplit=1)[1] for line in run("race_admit", url, 6, 1))
    assert said == ["admission_conflict, version 2"] * 5 + ["admitted version 2"]
    with Ledger.open(url, create=False) as ledger:
        assert ledger.account("census", Budget(epsilon=1)).versions() == 2
        assert ledger.verify().problems == ()


def test_a_commit_waits_for_the_disk(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the server was told not to wait, each write does."""
    from discreet.ledger.chain import Chain

    settings = []
    append = Chain.append

    def note(self: Chain, *arguments: object, **columns: object) -> object:
        settings.append(self._connection.exec_driver_sql("SHOW synchronous_commit").scalar())
        return append(self, *arguments, **columns)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(Chain, "append", note)
    with Ledger.open(url, create=True) as ledger, connected(url) as connection:
        account = ledger.account("census", Budget(epsilon=1))
        account.commit(ask(account, "question"), certificate={}, answer={})
        shown = connection.execute("SHOW synchronous_commit").fetchone()
    assert shown == ("off",)
    assert settings == ["on"] * 4


CHANGES: list[tuple[LiteralString, int]] = [
    ("UPDATE discreet_entry SET spent_epsilon = '0' WHERE seq = 8", 8),
    ("UPDATE discreet_entry SET body = '{}' WHERE seq = 5", 5),
    ("DELETE FROM discreet_entry WHERE seq = 16", 15),
]


@pytest.mark.parametrize(("change", "entry"), CHANGES)
def test_tampering_is_found(url: str, change: LiteralString, entry: int) -> None:
    """What is changed on the server is found by verification."""
    fill(url)
    with connected(url) as connection:
        connection.execute(change)
    with Ledger.open(url, create=False) as ledger:
        assert entry in {problem.entry for problem in ledger.verify().problems}


def test_faults_have_their_cause(url: str) -> None:
    """A read-only server, a lock that isn't given back, another format and lost tables each say what they are."""
    fill(url)
    budget = Budget(epsilon=1)
    with Ledger.open(url, create=False, patience=0.2) as ledger, connected(url) as connection:
        account = ledger.account("visits", budget)
        with connection.transaction():
            connection.execute("SELECT * FROM discreet_ledger FOR UPDATE")
            assert "locked" in raised(LedgerUnavailable, lambda: ask(account, "question"))
        connection.execute("ALTER ROLE ledger SET default_transaction_read_only = on")
        with Ledger.open(url, create=False) as reader:
            assert "read-only" in raised(LedgerUnavailable, lambda: reader.account("new", budget))
        connection.execute("ALTER ROLE ledger RESET default_transaction_read_only")
        ask(account, "question")
        connection.execute("UPDATE discreet_ledger SET format = 7")
        with pytest.raises(LedgerVersion):
            Ledger.open(url, create=False)
        connection.execute("DROP TABLE discreet_entry")
        with pytest.raises(LedgerCorrupt):
            Ledger.open(url, create=True)
    with pytest.raises(LedgerUnavailable):
        Ledger.open(url.replace("/postgres?", "/nowhere?"), create=True)


@pytest.mark.usefixtures("url")
def test_a_token_is_a_password_by_its_verifier(running: Postgres) -> None:
    """PostgreSQL takes the verifier as it is in the ledger, and its client comes in by the token, and by no other.

    What the client's own library makes of the same token, with the same salt, is the same.
    """
    rules = running.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all holder scram-sha-256\n{rules.read_text()}")
    running.control("reload")
    url = running.url.replace("ledger@", "holder@")
    with Ledger.open(running.url, create=True) as ledger:
        tokens = ledger.account("census", Budget(epsilon=1)).tokens
        token, other = (issue(tokens, "ann", Role.ANALYST, days=2).text for _ in range(2))
        verifier = tokens.all()[0].content["scram"]
        assert ledger.verify().problems == ()
    with connected(running.url) as connection:
        connection.execute(sql.SQL("CREATE ROLE holder LOGIN PASSWORD {}").format(verifier))
        (kept,) = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'holder'").fetchall()
        theirs = connection.pgconn.encrypt_password(token.encode(), b"holder", b"scram-sha-256").decode()
    assert kept == (verifier,)
    assert str(Verifier.make(token, Verifier.read(theirs).salt)) == theirs
    with psycopg.connect(url, password=token, client_encoding="utf8") as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("holder",)
    for wrong in (other, token[:-1], token.upper(), ""):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(url, password=wrong or None, passfile="/dev/null")


def test_large_answers_lie_in_a_table_of_their_own(url: str) -> None:
    """Written with their entries; lost or changed, they are damage there as well."""
    answer = {"parts": [{"key": [number]} for number in range(9000)]}
    with Ledger.open(url, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=3))
        for question in ("a", "b"):  # with the same content
            account.commit(ask(account, question), certificate={}, answer=answer)
        stored = account.stored("a", 1)
        assert stored is not None
        assert stored.part("parts") == answer["parts"]
        assert ledger.verify().holds
        with connected(url) as connection:
            ((size,),) = connection.execute("SELECT max(length(body)) FROM discreet_entry").fetchall()
            assert 50 * size < len(json.dumps(answer))
            connection.execute("UPDATE discreet_large SET content = 'x'")
        assert len(ledger.verify().problems) == 2
        with connected(url) as connection:
            connection.execute("DELETE FROM discreet_large")
        with pytest.raises(LedgerCorrupt, match="missing"):
            stored.part("parts")
