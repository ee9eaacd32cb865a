"""What an engine is: its promises, what it answers, and how one is found.

Every engine keeps the same promises, ours or a third party's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Never, Protocol, cast, final

from discreet.errors import EngineUnavailable
from discreet.privacy import KeyValue
from discreet.query.ir import Exact
from discreet.tables import Table
from discreet.tables.admission import Snapshot

GROUP = "discreet.engines"
"""The entry point group: an engine's name, and its class, called with a snapshot."""

EMBEDDED = "duckdb"
"""The engine that comes with discreet."""


class Engine(Protocol):
    """The tables of one snapshot, which answer exact questions together.

    Files of tables in place are read while `Snapshot.held_open` holds them, which sees whether they are what they were.

    Guarantee: `prepare` is a function of the plan and of the machine, so it says what is wrong with either. `run`
    touches rows, so it either returns or raises `QuestionFailed`, which has one constant text; a plan that the engine
    can't carry out is an `InvalidArgument`, raised before any row is touched. What can't be started is an
    `EngineUnavailable`, save in `run`. All are safe to call from several threads.
    """

    def check(self, table: Table) -> None:
        """Check that what a public table declares as unique holds no value twice; NULL may occur often.

        Values count as questions see them: two that bounds move to one end are one.

        Raises:
            SchemaMismatch: a value occurs twice.
        """
        ...

    def known(self, table: Table) -> Table:
        """A public table with what it holds, as questions see it: everybody may know.

        Args:
            table: public.

        Returns:
            The same, with its different `rows` if these are `MOST_VALUES` at the most; and with the `values` of each
            column that can be a key: all different ones in order, NULL at the end if there is any; or one more than
            `MOST_VALUES`, if there are more. A table that is too large to be looked through, as it is.
        """
        ...

    def prepare(self, exact: Exact) -> None:
        """Do all that a question takes on tables without rows, made from what is declared; no snapshot is opened.

        What fails here would fail on any data. So it is found before anything is charged, and its cause is told.

        Raises:
            InvalidArgument: the plan is beyond this engine.
            EngineUnavailable: the engine can't be started, or fails; the message passes on why.
            ImportError: a library that it needs isn't there.
        """
        ...

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question.

        Raises:
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        ...

    def close(self) -> None:
        """Release the snapshot. Afterwards nothing else may be called."""
        ...


@final
class ExactResult:
    """The exact answer to one question: private until a mechanism has added its noise.

    Guarantee: it never shows its values by accident. Its repr is constant, it can't be pickled, copied, turned into
    JSON or into a dictionary, and it can't be changed. A number has to be taken by name.

    Args:
        keys: one tuple of key values per group, in no particular order. Under public keys, those groups that have
            rows; the caller fills in the rest with zeros. Without keys, the one empty tuple.
        measures: for each measure of the question but histograms, by name, one integer per group, in the order of
            `keys`.
        histograms: for each histogram, by name, one mapping per group, likewise: from a bin's number to its count in
            steps. What isn't mentioned is 0.

    Examples:
        >>> ExactResult(keys=[("NY",)], measures={"n": [3]})
        <ExactResult: private>
    """

    __slots__ = ("histograms", "keys", "measures")

    keys: Sequence[tuple[KeyValue, ...]]
    measures: Mapping[str, Sequence[int]]
    histograms: Mapping[str, Sequence[Mapping[int, int]]]

    def __init__(
        self,
        *,
        keys: Sequence[tuple[KeyValue, ...]],
        measures: Mapping[str, Sequence[int]],
        histograms: Mapping[str, Sequence[Mapping[int, int]]] = MappingProxyType({}),
    ) -> None:
        """Keep the parts; nothing can be changed later."""
        parts = {"keys": keys, "measures": measures, "histograms": histograms}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> Never:
        """Refuse."""
        raise TypeError("an exact result can't be changed")

    def __delattr__(self, name: str) -> Never:
        """Refuse."""
        raise TypeError("an exact result can't be changed")

    def __repr__(self) -> str:
        """The same for every result, so that a log or a traceback that prints it says nothing."""
        return "<ExactResult: private>"

    def __reduce_ex__(self, protocol: object) -> Never:
        """Refuse: a pickle or a copy would carry the values past the mechanism."""
        raise TypeError("an exact result is private and can't be pickled or copied")

    def __getstate__(self) -> Never:
        """Refuse, for libraries that ask for the state directly."""
        raise TypeError("an exact result is private and can't be pickled or copied")


def open_engine(snapshot: Snapshot, name: str = EMBEDDED) -> Engine:
    """Open an engine over a snapshot. No row is read yet.

    Args:
        snapshot: the tables as they were admitted.
        name: of the engine.

    Raises:
        EngineUnavailable: no engine of that name is installed.
    """
    found = _installed(name, tuple(sys.path))
    if found is not None:
        return cast("Engine", found.load()(snapshot))
    raise EngineUnavailable(
        f"no engine named {name!r} is installed",
        hint=f"pip install 'discreet[{name}]'" if name != EMBEDDED else "reinstall discreet; its engine is missing",
    )


@lru_cache(maxsize=8)
def _installed(name: str, path: tuple[str, ...]) -> EntryPoint | None:  # noqa: ARG001 — where libraries are looked for
    """Where an engine is found. It is asked once: each time, the metadata of all that is installed would be read."""
    return next(iter(entry_points(group=GROUP, name=name)), None)
