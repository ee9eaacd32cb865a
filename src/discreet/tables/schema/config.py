"""discreet.toml: loading and saving everything public about private tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from discreet.errors import ConfigError
from discreet.tables.schema.dataset import Dataset
from discreet.tables.schema.decode import decode
from discreet.tables.schema.encode import Notes, encode
from discreet.tables.schema.toml import MOST_BYTES, parse


def load_config(path: str | os.PathLike[str]) -> Dataset:
    """Read a configuration; relative paths in it start at its own folder, and come out absolute.

    Guarantee: whatever the file holds, the outcome is a dataset of which every key was understood, or a
    `ConfigError`. Amounts are exact: 0.1 is one tenth.

    Args:
        path: of the file, usually `discreet.toml`.

    Raises:
        ConfigError: the file can't be read, isn't TOML (`place` says where), or has a key that is unknown, missing,
            of a wrong type or value, or at odds with another; the message names the key by its full path.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(path)!r}", hint="`discreet init FILE` writes one") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the file {str(path)!r} can't be read: {_reason(error)}") from None
    folder = file.absolute().parent
    return _relocated(decode(parse(data)), lambda location: str(folder / location))


def loads(text: str) -> Dataset:
    """Read the text of a configuration; paths stay as they are written.

    Raises:
        ConfigError: as for `load_config`.
    """
    return decode(parse(text.encode("utf-8", "surrogatepass")))


def dumps(dataset: Dataset, *, folder: str | os.PathLike[str] | None = None, notes: Notes | None = None) -> str:
    """Write a configuration as text: `loads(dumps(dataset)) == dataset`.

    Args:
        dataset: what to write.
        folder: where the file will stand; paths inside of it are written relative to it, so that it can be moved as
            a whole. None leaves paths as they are.
        notes: comments, by the path of the entry they're on.

    Raises:
        ConfigError: a table exists in memory only, or a name or number can't be written.

    Examples:
        >>> from discreet.tables import Column, Kind, Source, Table
        >>> from discreet.privacy import Bounds, Budget, Unit
        >>> age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 125))
        >>> table = Table(name="census", source=Source.of("census.csv"), columns=(age,), unit=Unit.row())
        >>> print(dumps(Dataset(name="census", tables=(table,), budget=Budget(3), ledger="census.ledger")))
        name = "census"
        ledger = "census.ledger"
        adjacency = "add_remove"
        <BLANKLINE>
        [budget]
        epsilon = 3
        <BLANKLINE>
        [tables.census]
        source = "census.csv"
        unit = "row"
        <BLANKLINE>
        [tables.census.columns]
        age = { kind = "integer", bounds = [0, 125] }
        <BLANKLINE>
    """
    if folder is not None:
        base = Path(folder).absolute()
        dataset = _relocated(dataset, lambda location: _relative(Path(location).absolute(), base))
    return encode(dataset, notes)


def save_config(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a configuration to a file, whole or not at all; one that is there is replaced.

    Raises:
        ConfigError: a table exists in memory only, a name or number can't be written, or the file can't be.
    """
    write_config(dumps(dataset, folder=Path(path).absolute().parent), path, replacing=True)


def write_config(text: str, path: str | os.PathLike[str], *, replacing: bool) -> None:
    """Write the text of a configuration to a file, whole or not at all.

    Args:
        text: the configuration.
        path: of the file.
        replacing: whether a file that is there may be replaced: it holds a custodian's decisions.

    Raises:
        ConfigError: the file can't be written, or is there and may not be replaced.
    """
    file = Path(path)
    try:
        if not replacing:
            file.open("xb").close()  # takes the name, or finds it taken
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        try:
            part.write_bytes(text.encode())
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except FileExistsError:
        raise ConfigError(f"the file {str(path)!r} is there already", hint="move it away first") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the file {str(path)!r} can't be written: {_reason(error)}") from None


def _relocated(dataset: Dataset, move: Callable[[str], str]) -> Dataset:
    """The dataset with each path moved. What has a scheme, such as a database's URL, is no path."""

    def moved(location: str) -> str:
        return location if "://" in location else move(location)

    tables = tuple(
        table
        if table.source.kind == "memory"
        else replace(table, source=replace(table.source, location=moved(table.source.location)))
        for table in dataset.tables
    )
    snapshots = None if dataset.snapshots is None else moved(dataset.snapshots)
    return replace(dataset, tables=tables, ledger=moved(dataset.ledger), snapshots=snapshots)


def _relative(location: Path, folder: Path) -> str:
    """The path as seen from the folder if it lies inside, else as it is."""
    return location.relative_to(folder).as_posix() if location.is_relative_to(folder) else str(location)


def _reason(error: Exception) -> str:
    """The system's words for what went wrong, without the path, which is named already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
