"""Where nothing can be written, that is said before anything is computed, and nothing is left behind."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.files import refuse_to_replace
from discreet.errors import InvalidArgument

COMMANDS: dict[str, Callable[[str], Sequence[str]]] = {
    "table": lambda folder: ["anonymize", "nothing.csv", "--output", f"{folder}/out.csv"],
    "report": lambda folder: ["anonymize", "nothing.csv", "--report", f"{folder}/out.html"],
    "page": lambda folder: ["risk", "nothing.csv", "--html", f"{folder}/out.html"],
}
"""Commands on a table that isn't there: what they complain of is what they looked at first."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_takes_no_files_is_noticed_first(
    here: Path, run: Any, monkeypatch: pytest.MonkeyPatch, command: str, error: int
) -> None:
    """Before the table is read, and naming the folder; a twin whose folder takes files complains of the table."""
    (here / "locked").mkdir()
    (here / "open").mkdir()
    make = tempfile.mkstemp

    def refuse(*, dir: Path, **named: Any) -> tuple[int, str]:  # noqa: A002 — as the library calls it
        """Make no file in one of the folders."""
        if Path(dir).name == "locked":
            raise OSError(error, "no such luck")
        return make(dir=dir, **named)

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    refused = run(*COMMANDS[command]("locked"), "--force")
    assert refused.exit_code == ExitCode.REFUSED
    assert f"nothing can be written to the folder {str(here / 'locked')!r}: no such luck" in refused.stderr
    assert "hint: write to another folder" in refused.stderr
    assert "there is no file 'nothing.csv'" in run(*COMMANDS[command]("open"), "--force").stderr
    assert [path.name for path in here.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("path", "says", "hint"),
    [
        ("folder", "'folder' is a folder", "name a file in it"),
        ("folder.csv", "'folder.csv' is a folder", "name a file in it"),
        ("nowhere/out.csv", "there is no folder", "make it first"),
        ("file.csv/out.csv", "there is no folder", "make it first"),
        ("file.csv", "already exists", "--force replaces it"),
        ("out.txt", "doesn't end in .csv", ""),
        (f"{'x' * 300}.csv", "File name too long", ""),
    ],
)
def test_what_is_in_the_way_is_named(here: Path, path: str, says: str, hint: str) -> None:
    """With what to do about it; what is there stays as it is."""
    (here / "folder").mkdir()
    (here / "folder.csv").mkdir()
    (here / "file.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidArgument) as error:
        refuse_to_replace(Path(path), force=False, endings=(".csv",))
    assert says in error.value.message
    assert error.value.hint.startswith(hint)
    assert sorted(each.name for each in here.iterdir()) == ["file.csv", "folder", "folder.csv"]
    assert (here / "file.csv").read_text(encoding="utf-8") == "mine"


def test_what_can_be_written_is_let_through(here: Path) -> None:
    """And the trial leaves nothing."""
    (here / "file.csv").write_text("mine", encoding="utf-8")
    refuse_to_replace(Path("out.csv"), force=False, endings=(".csv",))
    refuse_to_replace(Path("file.csv"), force=True, endings=(".csv",))
    assert [each.name for each in here.iterdir()] == ["file.csv"]
