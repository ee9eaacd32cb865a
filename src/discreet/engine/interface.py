"""Engines: their promises, their answers, how one is found, and what they demand of a question beforehand.

Every engine keeps the same promises, ours or a third party's. Its demands concern the plan alone. A planner keeps to
all of it; it is checked here as well, because an answer would be wrong otherwise, or would depend on more of a unit
than its limits allow.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, ClassVar, Never, Protocol, cast, final

from discreet.errors import EngineUnavailable, InvalidArgument, unforeseen
from discreet.privacy import KeyValue
from discreet.query.ir import (
    DistinctValues,
    Exact,
    Histogram,
    Join,
    JoinKind,
    Measure,
    PerUnit,
    Relation,
    Scan,
    Sum,
    Units,
    Window,
    nodes,
    owner_of,
)
from discreet.suggestions import nearest
from discreet.tables import Kind, Table
from discreet.tables.admission import Snapshot
from discreet.tables.schema.dataset import CHOSEN_BY, EMBEDDED
from discreet.tables.schema.spark import SparkConnect

GROUP = "discreet.engines"
"""The entry point group: an engine's name, and its class, called with a snapshot."""


class Engine(Protocol):
    """The tables of one snapshot, which answer exact questions together.

    Files of tables in place are read while `Snapshot.held_open` holds them, which sees whether they are what they were.

    Guarantee: `prepare` is a function of the plan and of the machine, so it says what is wrong with either. `run`
    touches rows, so it either returns or raises `QuestionFailed`, which has one constant text; a plan that the engine
    can't carry out is an `InvalidArgument`, raised before any row is touched. An engine that can't be started is an
    `EngineUnavailable`, except in `run`. All are safe to call from several threads.

    Attributes:
        chosen_by: the hash by which it chooses what a unit over its limits keeps, and in which version: another hash
            chooses other rows, so that plans name it. Said of the class, before there is any data.
    """

    chosen_by: ClassVar[str]

    def check(self, table: Table) -> None:
        """Check that what a public table declares as unique holds no value twice; NULL may occur often.

        Values count as questions see them: two that bounds move to one end are one.

        Raises:
            SchemaMismatch: a value occurs twice.
        """
        ...

    def known(self, table: Table) -> Table:
        """A public table with what it holds, as questions see it: everyone may know.

        Args:
            table: public.

        Returns:
            The same, with its different `rows` if these are at most `MOST_VALUES`; and with the `values` of each
            column that can be a key: all different ones in order, NULL at the end if there is any; or one more than
            `MOST_VALUES`, if there are more. A table that is too large to be looked through, as it is.
        """
        ...

    def prepare(self, exact: Exact) -> None:
        """Do all that a question takes on tables without rows, made from what is declared; no snapshot is opened.

        A plan that fails here would fail on any data. So it is found before anything is charged, and its cause is told.

        Raises:
            InvalidArgument: the plan is beyond this engine.
            EngineUnavailable: the engine can't be started, or fails; the message passes on why.
            ImportError: a library that it needs isn't there.
        """
        ...

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question.

        Raises:
            QuestionFailed: for any reason; which one isn't said, because it may depend on a row.
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
            steps. Bins that aren't mentioned are 0.

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
        raise TypeError("an exact result can't be changed")

    def __delattr__(self, name: str) -> Never:
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


def open_engine(snapshot: Snapshot, name: str = EMBEDDED, cluster: SparkConnect | None = None) -> Engine:
    """Open an engine over a snapshot. No row is read yet.

    Args:
        snapshot: the tables as they were admitted.
        name: of the engine.
        cluster: that it is to ask, if it asks one.

    Raises:
        EngineUnavailable: no engine of that name is installed.
    """
    opened = _loaded(name)
    return cast("Engine", opened(snapshot) if cluster is None else opened(snapshot, cluster))


def chosen_by(name: str) -> str:
    """The hash by which an engine chooses what a unit over its limits keeps; no engine is opened.

    Args:
        name: of the engine. The embedded one isn't even loaded: much is done with an account that asks nothing.

    Raises:
        EngineUnavailable: no engine of that name is installed, or it doesn't say.
    """
    if name == EMBEDDED:
        return CHOSEN_BY
    said = getattr(_loaded(name), "chosen_by", None)
    if not isinstance(said, str) or not said:
        raise EngineUnavailable(
            f"the engine {name!r} doesn't say which hash chooses what counts of a unit over its limits",
            hint="its class needs the attribute chosen_by, as discreet.engine.Engine has it",
        )
    return said


def _loaded(name: str) -> Any:  # noqa: ANN401 — a class, or whatever else makes an engine of a snapshot
    """The class of an engine, or another callable that makes one.

    Raises:
        EngineUnavailable: nothing of that name is installed, or what is can't be imported.
    """
    found = _installed(tuple(sys.path))
    if name not in found:
        close = nearest(name, found)
        meant = f"did you mean {close}? " if close else ""
        there = (
            f"installed: {', '.join(sorted(found))}" if found else "reinstall discreet; its own engine is missing too"
        )
        raise EngineUnavailable(f"no engine named {name[:_LONGEST]!r} is installed", hint=meant + there)
    try:
        return found[name].load()
    except (ImportError, AttributeError) as error:
        raise EngineUnavailable(
            f"the engine {name!r} can't be loaded: {error}", hint="reinstall it, with what it needs"
        ) from error


@lru_cache(maxsize=8)
def _installed(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:  # noqa: ARG001 — where libraries are looked for
    """The entry points of engines, by name. Looked up once, because it reads the metadata of everything installed."""
    return {each.name: each for each in entry_points(group=GROUP)}


_LONGEST = 70

LEAST, GREATEST = -(2**63), 2**63 - 1
"""The whole numbers that an engine holds."""

_WHOLE_GRIDS = range(-62, 63)
_REAL_GRIDS = range(-1022, 1023)
_FINEST = 62
"""The finest step of a histogram is 2^-62: what a row counts must fit in 64 bits."""


def check_capability(exact: Exact, chooses: str = CHOSEN_BY) -> None:
    """Refuse what an engine can't carry out.

    Args:
        exact: what it is to compute.
        chooses: the hash by which it chooses.

    Raises:
        InvalidArgument: units that can't be compared, rows that would belong to no unit or to several, or integers
            beyond 64 bits; or a plan that names another hash, whose certificate would say what isn't so.
        Unsupported: a measure that nobody taught this.
    """
    if exact.chosen_by != chooses:
        raise InvalidArgument(
            f"the plan is for an engine that chooses by {exact.chosen_by!r}, and this one chooses by {chooses!r}",
            hint="plan it again",
        )
    for measure in exact.measures:
        _check_measure(measure, exact)
    relations = list(nodes(exact.source))
    for join in (node for node in relations if isinstance(node, Join)):
        if owner_of(join.left) is None and owner_of(join.right) is not None and join.kind is not JoinKind.INNER:
            raise InvalidArgument("rows of a public table can't be kept, or left out, because of private ones")
    if exact.owner.unit.is_row:
        _check_rows_stay_apart(exact, relations)
    _check_units_compare(relations)


def _check_measure(measure: Measure, exact: Exact) -> None:
    """Refuse a measure that can't be computed of these rows, or that nobody taught this."""
    match measure:
        case Sum():
            _check_sum(measure)
        case Histogram():
            _check_histogram(measure)
        case DistinctValues():
            if measure.value.type.kind is Kind.REAL:
                raise InvalidArgument("distinct real numbers can't be counted")
        case Units():
            if exact.keys and exact.limits.groups is None and not exact.owner.unit.is_row:
                raise InvalidArgument("units can't be counted in each group without a limit on groups")
        case _:
            raise unforeseen(measure)


def _check_sum(measure: Sum) -> None:
    """Refuse a sum to which a row adds more than 64 bits hold, or whose step is out of reach."""
    grids = _REAL_GRIDS if measure.value.type.kind is Kind.REAL else _WHOLE_GRIDS
    if not -GREATEST <= measure.lo <= measure.hi <= GREATEST or measure.grid not in grids:
        raise InvalidArgument(
            f"the engine adds up integers of 64 bits, and {measure.lo} to {measure.hi} steps of 2^{measure.grid} "
            "don't fit",
            hint="tighter bounds, or a coarser grid",
        )


def _check_histogram(measure: Histogram) -> None:
    """Refuse a histogram whose counts or bins don't fit."""
    if not -_FINEST <= measure.grid <= 0:
        raise InvalidArgument(f"a histogram counts in steps of 2^0 to 2^-{_FINEST}, not 2^{measure.grid}")
    if measure.values is None and measure.value.type.kind is not Kind.INTEGER:
        raise InvalidArgument("a histogram without a list takes the numbers of its bins")


def _check_rows_stay_apart(exact: Exact, relations: list[Relation]) -> None:
    """Where each row is a unit, refuse what would bring two of them together, or count one of them twice."""
    private = [scan.table.name for scan in exact.scans if scan.owner is not None]
    together = any(isinstance(node, (PerUnit, Window)) and owner_of(node.source) is not None for node in relations)
    if together or len(set(private)) < len(private) or any(map(_is_of_private, relations)):
        raise InvalidArgument(
            "where each row is a unit of its own, no two rows can be brought together, and none can be used twice"
        )


def _is_of_private(relation: Relation) -> bool:
    """Whether it is a join of two private relations."""
    return isinstance(relation, Join) and None not in {owner_of(relation.left), owner_of(relation.right)}


def _check_units_compare(relations: list[Relation]) -> None:
    """Refuse private tables whose units are of several kinds, and links between columns of different kinds."""
    kinds = set()
    for scan in (node for node in relations if isinstance(node, Scan)):
        table, owner = scan.table, scan.owner
        if owner is None:
            continue
        for hop in owner.hops:
            if table.column(hop.column).kind is not hop.table.column(hop.to).kind:
                raise InvalidArgument(f"the link from {hop.column!r} leads to values of another kind")
            table = hop.table
        id_kind = None if owner.unit.column is None else table.column(owner.unit.column).kind
        kinds.add((id_kind, owner.unit.per))
    if len(kinds) > 1:
        raise InvalidArgument("the units of these tables are of different kinds")
