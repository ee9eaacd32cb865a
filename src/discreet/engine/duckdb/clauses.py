"""Clauses of the SQL that adds contributions up, without limits and with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def salted(salt: str) -> str:
    """The salt as a number that goes into the hash: text of any length, and of whatever signs, becomes a constant.

    Examples:
        >>> salted("census")
        'CAST(8748733952121696249 AS UBIGINT)'
    """
    return f"CAST({int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8])} AS UBIGINT)"


def hash_rank(within: Sequence[str], unit: Sequence[str], chosen: Sequence[str], salt: str) -> str:
    """The rank of a choice, in an order of the unit's own; the first ones are kept.

    The order is by a hash of its own id, what is chosen and the salt, and by what is chosen itself where hashes are
    equal: an analyst who chooses the keys and values may have chosen them to collide. So no other unit has a say in
    it, and no two have the same rank.

    Args:
        within: the columns within which ranks are counted: the unit, and perhaps its group.
        unit: the columns that say whose it is.
        chosen: the columns that say what it is; no two rows have the same in all of `within` and `chosen`.
        salt: public text.
    """
    order = f"hash({listed(unit, chosen)}, {salted(salt)}), {listed(chosen)}"
    return f"row_number() OVER (PARTITION BY {listed(within)} ORDER BY {order})"


def key_lookup(number: int) -> str:
    """The join that finds a key in its public list and leaves out keys that aren't there."""
    return f"JOIN keys{number} ON k{number} IS NOT DISTINCT FROM keys{number}.v"


def matching(left: str, right: str, unit: Iterable[str], keys: Iterable[str]) -> str:
    """The condition that two tables are of the same unit and group. A key may be NULL, a unit that counts never is."""
    equal = [f"{left}.{column} = {right}.{column}" for column in unit]
    return " AND ".join([*equal, *(f"{left}.{key} IS NOT DISTINCT FROM {right}.{key}" for key in keys)])


def numbered(prefix: str, count: int) -> list[str]:
    """Numbered columns."""
    return [f"{prefix}{number}" for number in range(count)]


def listed(*parts: Iterable[str]) -> str:
    """A comma-separated list of all parts."""
    return ", ".join(each for part in parts for each in part)


def group_by(columns: Sequence[str]) -> str:
    """The clause, or nothing, for one group."""
    return f"GROUP BY {listed(columns)}" if columns else ""
