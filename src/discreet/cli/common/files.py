"""Files that commands read, and those they write: whole, or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from discreet.errors import InvalidArgument

Write: TypeAlias = Callable[[Path], object]
"""Writes a file to the path it is given, which has the final file's ending."""


def refuse_to_replace(path: Path, *, force: bool, read: Iterable[str | Path] = (), endings: Sequence[str] = ()) -> None:
    """Refuse before anything is computed, where a file is in the way or couldn't be written.

    Args:
        path: the file to write.
        force: whether a file that is there may be replaced.
        read: files that are read; none of them may be replaced, `force` or not.
        endings: that the file may have; any, if there are none.

    Raises:
        InvalidArgument: there is a file, and it may not be replaced; or it is a folder; or its own folder isn't there,
            or takes no files; or its ending is another.
    """
    with _named(path):
        if path.is_dir():
            raise InvalidArgument(f"{str(path)!r} is a folder", hint="name a file in it")
        if endings and path.suffix.lower() not in endings:
            raise InvalidArgument(f"{path.name!r} doesn't end in {' or '.join(endings)}")
        for each in read:
            if path.resolve() == Path(each).resolve():
                raise InvalidArgument(f"{str(path)!r} would replace a file that is read", hint="write to another file")
        if path.exists() and not force:
            raise InvalidArgument(f"the file {str(path)!r} already exists", hint="--force replaces it")
        _refuse_folder(path)


def _refuse_folder(path: Path) -> None:
    """Refuse a folder that takes no files. Only making one tells, so one is made and removed.

    Raises:
        InvalidArgument: there is no such folder, or nothing can be written to it.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidArgument(f"there is no folder {str(folder)!r}", hint="make it first, or write to another")
    try:
        with ExitStack() as cleaning:
            _draft(path, cleaning)
    except OSError as error:
        raise InvalidArgument(
            f"nothing can be written to the folder {str(folder)!r}: {error.strerror}", hint="write to another folder"
        ) from None


def write_all(files: Mapping[Path, Write]) -> None:
    """Write each file under another name beside its place, and move them there once all are complete.

    Whatever goes wrong meanwhile, Ctrl-C included, none of them is there, nor half of one; what was there before, is.

    Args:
        files: where each belongs, and what writes it.

    Raises:
        InvalidArgument: one can't be written.
    """
    with ExitStack() as cleaning:
        drafts: dict[Path, Path] = {}
        for path, write in files.items():
            with _named(path):
                drafts[path] = _draft(path, cleaning)
                write(drafts[path])
                drafts[path].chmod(0o666 & ~_umask())
        with ExitStack() as undoing:
            for path, draft in drafts.items():
                with _named(path):
                    _undo_by(undoing, path, cleaning)
                    draft.replace(path)
            undoing.pop_all()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises:
        InvalidArgument: it can't be written.
    """
    write_all({path: lambda draft: draft.write_text(text, encoding="utf-8")})


def _draft(path: Path, cleaning: ExitStack) -> Path:
    """A new file beside a file's place, removed in the end."""
    handle, name = tempfile.mkstemp(prefix=f".{path.stem[:100]}.", suffix=path.suffix, dir=path.absolute().parent)
    draft = Path(name)
    cleaning.callback(draft.unlink, missing_ok=True)
    os.close(handle)
    return draft


def _undo_by(undoing: ExitStack, path: Path, cleaning: ExitStack) -> None:
    """Keep what is at a place, so that it can be put back if a later file fails."""
    if not path.exists():
        undoing.callback(path.unlink, missing_ok=True)
        return
    kept = _draft(path, cleaning)
    kept.unlink()
    with suppress(OSError):  # a file system without links: then what was there can't be put back
        os.link(path, kept)
        undoing.callback(kept.replace, path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn the system's error into one that names the file.

    Raises:
        InvalidArgument: the file can't be written.
    """
    try:
        yield
    except OSError as error:
        raise InvalidArgument(f"the file {str(path)!r} can't be written: {error.strerror}") from None


def _umask() -> int:
    """The process's umask, which temporary files don't follow: they are their owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


_LONGEST_PATH = 1000


def read_text(path: Path) -> str:
    """The text in a file, or on standard input for `-`.

    Raises:
        InvalidArgument: it can't be read as a text.
    """
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"the file {str(path)!r} can't be read as text") from None


def read_key(key: str) -> str:
    """A key, given as it is or by its file."""
    return read_text(Path(key)) if len(key) < _LONGEST_PATH and Path(key).is_file() else key
