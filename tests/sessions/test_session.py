"""A session reaches nothing but the files that it was opened for."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from discreet.duckdb.session import Session
from discreet.machine import usable_memory

FORBIDDEN = [
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM glob('{folder}/*')",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "ATTACH '{folder}/new.duckdb'",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "SET memory_limit = '1TB'",
    "RESET lock_configuration",
    "SELECT getenv('HOME')",
    "SELECT * FROM variable",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_what_is_forbidden_fails(statement: str, tmp_path: Path) -> None:
    """No other file is read, none is written, nothing is loaded, no setting changes; even beside an allowed file."""
    variable = "of Python's, which a query must not see"
    assert variable
    folder = tmp_path / "beside"
    folder.mkdir()
    secret = folder / "secret.csv"
    secret.write_text("x\n1\n", encoding="utf-8")
    allowed = folder / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS x) TO '{allowed}'")
    with Session() as session:
        session.lock(allowed=[str(allowed)])
        counted = f"SELECT count(*) FROM read_parquet('{allowed}')"
        assert session.execute(counted) == [(1,)]
        with pytest.raises(duckdb.Error):
            session.execute(statement.format(secret=secret, folder=folder))
        assert session.execute(counted) == [(1,)]
    assert sorted(path.name for path in folder.iterdir()) == ["secret.csv", "t.parquet"]


def test_a_folder_is_open_to_what_comes_to_be_in_it_and_no_other(tmp_path: Path) -> None:
    """Nor is one whose name begins alike."""
    for name in ("staged", "staged-too"):
        (tmp_path / name).mkdir()
    with Session() as session:
        session.lock(folders=[str(tmp_path / "staged")])
        session.execute(
            f"COPY (SELECT 1 AS x, 2 AS piece) TO '{tmp_path}/staged/in' (FORMAT parquet, PARTITION_BY (piece))"
        )
        assert session.execute(f"SELECT x FROM read_parquet('{tmp_path}/staged/in/*/*')") == [(1,)]
        for place in ("staged-too/t.parquet", "t.parquet", "staged/../t.parquet"):
            with pytest.raises(duckdb.Error):
                session.execute(f"COPY (SELECT 1 AS x) TO '{tmp_path}/{place}' (FORMAT parquet)")


def test_an_open_session_would_reach_it(tmp_path: Path) -> None:
    """The wrong twin: without the lock, the same statements work."""
    secret = tmp_path / "secret.csv"
    secret.write_text("x\n1\n", encoding="utf-8")
    with Session() as session:
        assert session.execute(f"SELECT count(*) FROM read_csv('{secret}')") == [(1,)]


def test_memory_is_left_for_others() -> None:
    """A session takes a share of the machine, or of the container, and never nothing."""
    assert usable_memory() >= 2**29
    with Session(memory=2**30) as session:
        assert session.execute("SELECT current_setting('memory_limit')") == [("1.0 GiB",)]


def test_an_interrupted_start_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while DuckDB starts: what was made for it is gone; started, it is there until the session ends."""

    def interrupted(*_: object, **__: object) -> None:
        """Ctrl-C."""
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(duckdb, "connect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Session()
    assert not list(tmp_path.iterdir())
    with Session():
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_in_memory_spills_where_nobody_else_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory of a session is its user's alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Session():
        (spill,) = tmp_path.iterdir()
        assert spill.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []
