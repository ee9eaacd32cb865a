"""Units of privacy, as an account notes them: by the name of each private table, in words.

A sum of losses is a guarantee only if all of them are about the same neighbours. One ε for each row and one ε for each
person add up to no guarantee, for rows or for persons. So an account notes the unit of each private table in its
declaration; from the first loss on, a table's unit stays, also while the table isn't declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import InvalidArgument, LedgerCorrupt

Units = Mapping[str, str]
"""The unit of each private table in words, by the table's name in lower case."""


def units_from(content: Mapping[str, object]) -> dict[str, str]:
    """The units in a declaration; none in one of before they were noted.

    Raises:
        LedgerCorrupt: they can't be read.
    """
    units = content.get("units", {})
    if not isinstance(units, dict) or not all(isinstance(unit, str) for unit in units.values()):
        raise LedgerCorrupt("a declared budget in the ledger can't be read")
    return units


def units_in(certificate: object, declared: Units) -> dict[str, str]:
    """The units by which an answer's tables were protected, as its certificate has them, in any of its shapes.

    It says nothing of the time zone of a period, which is taken to be the declared one.

    Examples:
        >>> units_in({"plans": [{"tables": [{"name": "Visits", "owner": {"unit": "id"}}]}]}, {})
        {'visits': 'id'}
    """
    found = {name.casefold(): unit.casefold() for name, unit in _owners(certificate)}
    zoned = {name: declared.get(name, unit) for name, unit in found.items()}
    return {name: zoned[name] if zoned[name].startswith(f"{unit}, in ") else unit for name, unit in found.items()}


def _owners(certificate: object) -> Iterator[tuple[str, str]]:
    """Each private table that an answer's plans name, with its unit."""
    match certificate:
        case {"plans": list(plans)} | {"workload": {"bundles": list(plans)}}:
            pass
        case {"plan": dict(plan)}:
            plans = [plan]
        case _:
            plans = []
    tables: Any = (table for plan in plans if isinstance(plan, dict) for table in plan.get("tables") or ())
    for table in tables:
        match table:
            case {"name": str(name), "owner": {"unit": str(unit)}}:
                yield name, unit


def together(account: str, before: Units, declared: Units) -> Units:
    """The units of an account that has losses, under another declaration.

    Tables may come and go. One that is declared again has the unit that it had; and an account of which no table is
    left goes on only with a unit that it knows, as where its one table has another name.

    Args:
        account: its name.
        before: the units of its losses so far.
        declared: those of the tables that are declared now; none where nobody says.

    Raises:
        InvalidArgument: losses by different units would be added up.
    """
    for table, unit in declared.items():
        if before.get(table, unit) != unit:
            raise InvalidArgument(
                f"account {account!r} has losses by the unit {before[table]!r} of table {table!r}, to which losses by "
                f"the unit {unit!r} can't be added",
                hint=f"set the unit back to {before[table]!r}, or start an account of another name or in another "
                "ledger; for the same people, its budget comes on top of this one's",
            )
    known = {table: unit for table, unit in before.items() if table not in declared}
    if known and declared and len(known) == len(before) and not set(before.values()) & set(declared.values()):
        raise InvalidArgument(
            f"account {account!r} belongs to {_listed(before)}, not to {_listed(declared)}",
            hint="give these tables an account of another name, or in another ledger",
        )
    return {**known, **declared}


def _listed(units: Units) -> str:
    """Tables with their units, in words."""
    return ", ".join(f"table {table!r} by the unit {unit!r}" for table, unit in units.items())
