"""Spill folders: what a killed process left behind is swept, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.duckdb.session import Session
from discreet.duckdb.spill import SpillFolder, sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders aren't locked there")

LEAVES = """
import os, sys
from discreet.duckdb.spill import SpillFolder
(SpillFolder().path / "rows").write_text("x")
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def killed(place: Path) -> tuple[int, Path]:
    """A process that was killed, and what it left behind."""
    process = subprocess.Popen([sys.executable, "-c", LEAVES], env={**os.environ, "TMPDIR": str(place)})
    assert process.wait() == -9
    (left,) = place.glob(f"*-{process.pid}-*")
    return process.pid, left


def age(path: Path, seconds: float) -> None:
    """Make a folder look older."""
    then = path.lstat().st_mtime - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def test_what_a_killed_process_left_behind_goes(place: Path) -> None:
    """At once if one says which process it was, and otherwise after a minute; what is in use stays, however old."""
    (number, first), (_, second) = killed(place), killed(place)
    sweep()
    assert first.is_dir()
    sweep(number)
    assert not first.exists()
    assert second.is_dir()
    with Session() as session:
        (own,) = place.glob(f"*-{os.getpid()}-*")
        age(own, 3600)
        age(second, 3600)
        sweep(os.getpid())
        assert session.is_whole
        assert not second.exists()
    assert list(place.iterdir()) == []


def test_nothing_goes_that_is_not_ours(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No link is followed, at the top or within; no other name, no file, and no other user's folder goes."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").write_text("x", encoding="utf-8")
    link = place / "discreet-spill-1-link"
    link.symlink_to(other)
    within = place / "discreet-spill-1-within"
    within.mkdir()
    (within / "link").symlink_to(other)
    (place / "discreet-spill-1-file").touch()
    (place / "discreet-demo-1").mkdir()
    for path in place.iterdir():
        age(path, 3600)
    sweep(1)
    left = {path.name for path in place.iterdir()}
    assert left == {"discreet-spill-1-link", "discreet-spill-1-file", "discreet-demo-1"}
    assert (other / "kept").is_file()
    within.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep(1)
    assert within.is_dir()


def test_a_folder_that_was_removed_is_free_again(place: Path) -> None:
    """Its lock goes with it, and removing it twice does nothing."""
    folder = SpillFolder()
    folder.remove()
    folder.remove()
    assert list(place.iterdir()) == []
