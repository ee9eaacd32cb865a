"""A full or read-only disk refuses before the data are touched, and takes nothing back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from discreet.errors import LedgerUnavailable
from discreet.ledger import Ledger
from discreet.privacy import Budget
from support.ledgers import admitted, ask, raised, run, sql

REFUSED = "reserve ledger_unavailable"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with data."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1000)))
    return path


def mounted(script: str) -> tuple[str, ...]:
    """A command's beginning that mounts what the script says, for that command alone."""
    unshare = shutil.which("unshare")
    prefix = (unshare or "", "--mount", "--propagation", "private", "sh", "-ec", f'{script}\nexec "$@"', "sh")
    if unshare is None or subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
        pytest.skip("mounting needs rights that this user or container doesn't have")
    return prefix


def test_a_full_disk(tmp_path: Path, path: Path) -> None:
    """On a full disk nothing is admitted, reserved or committed; once there is room it goes on where it was."""
    disk = tmp_path / "disk"
    disk.mkdir()
    prefix = mounted(f'mount -t tmpfs -o size=256k none "{disk}"; cp "{path}" "{disk}"')
    lines = run("full", disk / path.name, disk / "filler", prefix=prefix)
    refused = [REFUSED, "commit ledger_unavailable", "stored None", "counted True", "in force True", "verify True"]
    assert lines == [*refused, "commit done", "reserve done", "admit done", "verify True"]


def test_a_full_quota(path: Path) -> None:
    """Where the journal can't be written, and where the ledger can't grow, nothing is reserved or committed."""
    refused = [REFUSED, "commit ledger_unavailable", "counted True", "verify True"]
    assert run("limited", path) == [*refused, *refused, "commit done", "reserve done"]


def test_a_read_only_disk(path: Path) -> None:
    """On a disk mounted read-only nothing is reserved or admitted; what is there can be read and verified."""
    folder = path.parent
    prefix = mounted(f'mount --bind "{folder}" "{folder}"; mount -o remount,bind,ro "{folder}"')
    assert run("refused", path, prefix=prefix) == [REFUSED, "admit ledger_unavailable", "spent 0", "verify True"]
    assert sql(path, "SELECT kind FROM discreet_entry ORDER BY seq") == [("open",), ("budget",), ("data",)]


def test_a_read_only_connection(path: Path) -> None:
    """A ledger opened to be read refuses to reserve, to admit tables, and to declare a budget; the rest works."""
    with Ledger.open(f"sqlite:///{path}?mode=ro", create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        assert admitted(account) == 1
        assert "read-only" in raised(LedgerUnavailable, lambda: ask(account, "question"))
        assert "read-only" in raised(LedgerUnavailable, lambda: account.admit("other data", after=1))
        assert account.versions() == 1
        assert "read-only" in raised(LedgerUnavailable, lambda: ledger.account("census", Budget(epsilon=2)))
        assert account.spent().epsilon == 0
        assert account.stored("question", 1) is None
        assert len(account.entries()) == 2
        assert ledger.verify().problems == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_file(path: Path) -> None:
    """A file without the right to write it refuses to reserve."""
    path.chmod(0o400)
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        assert "read-only" in raised(LedgerUnavailable, lambda: ask(account, "question"))


def test_a_new_ledger_needs_a_disk_to_be_on(tmp_path: Path) -> None:
    """No ledger is made where nothing can be written, and no half ledger is left."""
    prefix = mounted(f'mount --bind "{tmp_path}" "{tmp_path}"; mount -o remount,bind,ro "{tmp_path}"')
    with pytest.raises(AssertionError, match="no ledger can be made at"):
        run("race_create", tmp_path / "new.ledger", 1, prefix=prefix)
    small = tmp_path / "small"
    small.mkdir()
    prefix = mounted(f'mount -t tmpfs -o size=8k none "{small}"; ls -A "{small}"')
    with pytest.raises(AssertionError, match="the disk is full"):
        run("race_create", small / "new.ledger", 1, prefix=prefix)
