"""Lists of public keys, as small tables that rows are joined with: the fastest way to find a key's number."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.engine.usage import listed_keys
from discreet.privacy import KeyValue
from discreet.query.ir import Exact, Key
from discreet.tables import Kind
from discreet.tables.kinds import SQL_TYPES
from discreet.tables.session import Session

_CODES = (("UTINYINT", 2**8), ("USMALLINT", 2**16), ("UINTEGER", 2**32))
_INT64 = range(-(2**63), 2**63)


def list_keys(session: Session, table: str, kind: Kind, values: Iterable[tuple[int, KeyValue]]) -> None:
    """Create a table of public values `v` and their numbers `i`. Values enter as parameters, not as SQL.

    Args:
        session: where.
        table: the new table's name.
        kind: of the values.
        values: each with its number; None for NULL.
    """
    rows = [(number, value) for number, value in values if not _is_out_of_reach(value)]
    code = next(name for name, size in _CODES if all(number < size for number, _ in rows))
    session.execute(f"CREATE TEMP TABLE {table} (i {code}, v {SQL_TYPES[kind]})")
    if rows:
        numbers, keys = map(list, zip(*rows, strict=True))
        session.execute(f"INSERT INTO {table} SELECT unnest(?), unnest(?)", [numbers, keys])


def listed_values(key: Key, exact: Exact) -> list[tuple[int, KeyValue]]:
    """The values of a public key with their numbers; without those that the door would turn into NULL.

    A plain column's declared keys are enforced here, if the door leaves that to the list (see `listed_keys`).
    """
    numbered, declared = list(enumerate(key.values or ())), listed_keys(key, exact)
    if declared is None:
        return numbered
    let_in = frozenset(declared)
    return [(number, value) for number, value in numbered if value in let_in]


def _is_out_of_reach(value: KeyValue) -> bool:
    """Whether a value is an integer that no column can hold."""
    return isinstance(value, int) and value not in _INT64
