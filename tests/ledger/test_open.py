"""Opening a ledger: what isn't one is refused with its cause, and nothing is ever overwritten."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest

from discreet.errors import (
    InvalidArgument,
    LedgerCorrupt,
    LedgerError,
    LedgerMissing,
    LedgerUnavailable,
    LedgerVersion,
)
from discreet.ledger import Ledger
from discreet.ledger.location import locate
from discreet.privacy import Budget
from support.ledgers import admitted, ask, fill, raised, sql


def opened(url: str | Path, *, create: bool = False) -> int:
    """Open a ledger, and count its entries."""
    with Ledger.open(url, create=create) as ledger:
        return ledger.verify().entries


def test_a_missing_ledger_is_not_made_unasked(tmp_path: Path) -> None:
    """Without `create` a missing ledger is an error that says what a new one would mean."""
    path = tmp_path / "census.ledger"
    message = raised(LedgerMissing, lambda: opened(path))
    assert str(path) in message
    assert "forget what was spent" in message
    assert not path.exists()


def test_a_ledger_is_made_once(tmp_path: Path) -> None:
    """With `create` a missing ledger is made, and one that is there is opened as it is."""
    path = tmp_path / "census.ledger"
    assert opened(path, create=True) == 1
    fill(path)
    entries = opened(path)
    assert opened(path, create=True) == entries > 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["census.ledger", "census.ledger.marks"]


def test_a_new_ledger_is_its_owners_alone(tmp_path: Path) -> None:
    """Questions and answers are in it, so nobody else may read the file."""
    path = tmp_path / "census.ledger"
    opened(path, create=True)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("create", [False, True])
def test_an_empty_file_is_damage(tmp_path: Path, *, create: bool) -> None:
    """An empty file where a ledger should be isn't filled: what it held is gone."""
    path = tmp_path / "census.ledger"
    path.touch()
    assert "is empty" in raised(LedgerCorrupt, lambda: opened(path, create=create))
    assert path.stat().st_size == 0


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("content", [b"name,age\nAda,36\n", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes, *, create: bool) -> None:
    """A file of another kind is left as it is."""
    path = tmp_path / "adult.csv"
    path.write_bytes(content)
    assert "isn't an SQLite database" in raised(LedgerUnavailable, lambda: opened(path, create=create))
    assert path.read_bytes() == content


@pytest.mark.parametrize("create", [False, True])
def test_another_database_is_refused(tmp_path: Path, *, create: bool) -> None:
    """No tables are added to an SQLite database that is something else."""
    path = tmp_path / "other.db"
    sql(path, "CREATE TABLE people (name TEXT)")
    assert "not a ledger" in raised(LedgerUnavailable, lambda: opened(path, create=create))
    assert sql(path, "SELECT name FROM sqlite_master") == [("people",)]


@pytest.mark.parametrize("table", ["discreet_ledger", "discreet_entry"])
def test_half_a_ledger_is_damage(tmp_path: Path, table: str) -> None:
    """A ledger that lost a table isn't mended."""
    path = tmp_path / "census.ledger"
    fill(path)
    sql(path, f"DROP TABLE {table}")
    for create in (False, True):
        assert table in raised(LedgerCorrupt, lambda create=create: opened(path, create=create))  # type: ignore[misc]  # mypy can't infer a lambda with a default


def test_lost_columns_are_damage(tmp_path: Path) -> None:
    """A table that isn't as it should be is named as damage."""
    path = tmp_path / "census.ledger"
    fill(path)
    sql(path, "ALTER TABLE discreet_entry DROP COLUMN share_rho")
    assert "a ledger's tables" in raised(LedgerCorrupt, lambda: opened(path))


def test_a_file_cut_short_is_damage(tmp_path: Path) -> None:
    """A file that lost its second half is refused or reported, never read as if it were whole."""
    path = tmp_path / "census.ledger"
    fill(path)
    whole = path.read_bytes()
    for part in (1, 2, 3):
        path.write_bytes(whole[: len(whole) * part // 4])
        with pytest.raises(LedgerCorrupt):
            opened(path)


def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    """The message names both formats; nothing is changed."""
    path = tmp_path / "census.ledger"
    opened(path, create=True)
    sql(path, "UPDATE discreet_ledger SET format = 7")
    for create in (False, True):
        message = raised(LedgerVersion, lambda create=create: opened(path, create=create))  # type: ignore[misc]  # mypy can't infer a lambda with a default
        assert "format 7" in message
        assert "reads formats up to 2" in message


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    """A folder in a ledger's place, or none where it should lie, is named as the cause."""
    assert "can't be opened" in raised(LedgerUnavailable, lambda: opened(tmp_path))
    nowhere = tmp_path / "nowhere" / "census.ledger"
    assert "no ledger can be made" in raised(LedgerUnavailable, lambda: opened(nowhere, create=True))
    with pytest.raises(LedgerMissing):
        opened(nowhere)
    below = tmp_path / "file"
    below.write_text("text")
    with pytest.raises(LedgerUnavailable):
        opened(below / "census.ledger")


def test_a_ledger_that_vanishes_is_missed(tmp_path: Path) -> None:
    """A running process doesn't make a new ledger in the place of one that was removed."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        admitted(account)
        path.unlink()
        with pytest.raises(LedgerMissing):
            ask(account, "question")
    assert not path.exists()


@pytest.mark.parametrize(
    "url",
    [
        "",
        ":memory:",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:x?mode=memory",
    ],
)
def test_a_ledger_in_memory_is_refused(url: str) -> None:
    """An account that is forgotten with its process is no account."""
    with pytest.raises(InvalidArgument):
        Ledger.open(url, create=True)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///census.ledger?nolock=1",
        "sqlite:///census.ledger?immutable=1&uri=true",
        "sqlite:///census.ledger?mode=rwc",
        "sqlite+aiosqlite:///census.ledger",
        "nonsense://host/database",
        "postgresql://host:port/database",
        "://",
        "census\0.ledger",
    ],
)
def test_an_unreadable_url_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """URLs that can't be read, or would switch off what protects the ledger, are refused."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument):
        Ledger.open(url, create=True)
    assert list(tmp_path.iterdir()) == []


def test_every_spelling_of_a_path_is_the_same_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths and SQLite URLs, with odd characters in them, lead to the same file, and go on leading there."""
    folder = tmp_path / "a b%20c#d?e"
    folder.mkdir()
    monkeypatch.chdir(folder)
    name = "zensüs %41?.ledger"
    with Ledger.open(name, create=True) as ledger:
        monkeypatch.chdir(tmp_path)
        ledger.account("census", Budget(epsilon=1))
        assert [file.name for file in folder.iterdir()] == [name]
    assert opened(folder / name) == 2
    assert opened(f"{folder}/{name}") == 2
    plain = tmp_path / "plain.ledger"
    shutil.copy(folder / name, plain)
    for url in (f"sqlite:///{plain}", f"sqlite+pysqlite:///{plain}", f"sqlite:///file:{plain}?mode=ro&uri=true"):
        assert opened(url) == 2


def test_a_locked_ledger_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    """While another program holds the lock, a question waits as long as it was told to, and is then refused."""
    path = tmp_path / "census.ledger"
    fill(path)
    with Ledger.open(path, create=False, patience=0.2) as ledger:
        account = ledger.account("visits", Budget(epsilon=1))
        with closing(connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for action in (lambda: ask(account, "question"), account.spent, ledger.verify):
                assert "locked by other processes" in raised(LedgerUnavailable, action)
        ask(account, "question")


@pytest.mark.parametrize("patience", [0, -1, 1e9, float("nan"), float("inf")])
def test_patience_has_limits(tmp_path: Path, patience: float) -> None:
    """Waiting takes some time, and at most an hour."""
    with pytest.raises(InvalidArgument):
        Ledger.open(tmp_path / "census.ledger", create=True, patience=patience)


def test_an_unreachable_server_is_named_without_its_password() -> None:
    """The message has the server's place, and not the password."""
    url = "postgresql://ada:opensesame@127.0.0.1:9/ledger"
    message = raised(LedgerError, lambda: opened(url))
    assert "127.0.0.1:9/ledger" in message
    assert "opensesame" not in message
    assert "opensesame" not in raised(InvalidArgument, lambda: opened("nonsense://ada:opensesame@host/ledger"))
    assert "opensesame" not in raised(InvalidArgument, lambda: opened("postgresql://ada:opensesame@host:port/x"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644])
def test_a_ledger_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    """Until its owner alone may."""
    path = tmp_path / "census.ledger"
    Ledger.open(path, create=True).close()
    path.chmod(mode)
    assert "chmod 600" in raised(LedgerUnavailable, lambda: Ledger.open(path, create=False))
    path.chmod(0o600)
    Ledger.open(path, create=False).close()


FAR = "sslmode=verify-full"


@pytest.mark.parametrize(
    ("url", "environment", "is_taken"),
    [
        ("postgresql://u@db.example.org/d", {}, False),
        ("postgresql://u@db.example.org/d?sslmode=require", {}, False),
        ("postgresql://u@db.example.org/d?sslmode=verify-ca", {}, False),
        (f"postgresql://u@db.example.org/d?{FAR}", {}, True),
        ("postgresql://u@db.example.org/d", {"PGSSLMODE": "verify-full"}, True),
        ("postgresql://u@db.example.org/d?sslmode=disable", {"PGSSLMODE": "verify-full"}, False),
        ("postgresql://u@10.0.0.1/d", {}, False),
        ("postgresql://u@/d?host=db.example.org", {}, False),
        ("postgresql://u@/d?host=localhost,db.example.org", {}, False),
        ("postgresql://u@/d?host=localhost&host=db.example.org", {}, False),
        ("postgresql://u@localhost/d?hostaddr=10.0.0.1", {}, False),
        ("postgresql://u@/d", {"PGHOST": "db.example.org"}, False),
        ("postgresql://u@/d", {"PGHOSTADDR": "10.0.0.1"}, False),
        ("postgresql://u@/d?service=elsewhere", {}, False),
        ("postgresql://u@/d", {"PGSERVICE": "elsewhere"}, False),
        ("postgresql+psycopg://u@db.example.org/d", {}, False),
        ("postgresql://u@/d", {}, True),
        ("postgresql://u@localhost/d", {}, True),
        ("postgresql://u@127.0.0.1:5433/d", {}, True),
        ("postgresql://u@/d?host=/var/run/postgresql", {}, True),
    ],
)
def test_a_server_elsewhere_must_show_a_certificate(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str], is_taken: bool
) -> None:
    """However its place is said; one on this machine needn't."""
    for name in ("PGHOST", "PGHOSTADDR", "PGSSLMODE", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if is_taken:
        locate(url)
    else:
        assert "verify-full" in raised(InvalidArgument, lambda: locate(url))
