"""Unit sizes: how many rows units have in an admitted table, and what limits would cut off; for the custodian alone.

Nothing here is private: it is read off the tables, exactly. An id is never told, only of what form it is, where many
rows hang on one that looks like nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import string
from discreet.tables.admission.owned_rows import show_owned_rows
from discreet.tables.admission.snapshot import Snapshot
from discreet.tables.schema.dataset import owner_of
from discreet.tables.schema.owner import Owner
from discreet.tables.schema.table import Table

LIMITS = (1, 2, 5, 10, 20, 50)
"""The limits on rows for which a report says what they would cut off."""

_QUANTILES = (50, 90, 99)
"""Percentiles of units by their rows."""

_WORDS = (
    "unknown unkn unk none null nil nan na n/a n.a. nobody anonymous anon missing default guest dummy test tbd todo "
    "undefined unbekannt inconnu desconocido x xx xxx xxxx - -- --- ? ?? ??? . #n/a"
)
"""Words that are written in place of an id, in small letters."""

_FORMS = {
    "a word for nobody, such as unknown or n/a": f"id IN ({', '.join(map(string, _WORDS.split()))})",
    "the word test, with or without more": "regexp_full_match(id, '(test|dummy|demo)[ _-]?[a-z]*[ _-]?[0-9]*')",
    "a negative number": "regexp_full_match(id, '-[0-9]+')",
    "zeros": "regexp_full_match(id, '[+-]?[0-]*0[0.-]*')",
    "nines": "regexp_full_match(id, '9{3,}')",
    "ones": "regexp_full_match(id, '1{4,}')",
}
"""Ids that look like place-holders: conditions on `id` in small letters; the first that holds counts."""

_NUMBERED = ("zeros", "nines", "ones")
"""Forms that an honest number may have too: they are reported only for ids with more rows than nearly all others."""


def with_unit_sizes(snapshot: Snapshot, tables: Sequence[Table]) -> dict[str, Mapping[str, Any]]:
    """The report on a snapshot's tables, with `units` if units may have many rows.

    That is: `units`, how many there are; `quantiles` of their rows, by per cent; `greatest`, the rows of the greatest;
    `cut_off`, by limit, how many rows would be beyond it; and `placeholders`, by form, how many `ids` look like it
    and how many `rows` they have. Where a link leads to several owners, a row counts for each. All keys are texts, as
    in JSON.

    Args:
        snapshot: of all tables that are admitted together.
        tables: of the account.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for table in tables:
        if table.name not in snapshot.report:
            continue
        owner = owner_of(table, tables)
        units = None if owner is None or owner.unit.is_row else _sizes(snapshot, table, owner)
        found[table.name] = {**snapshot.report[table.name], **({} if units is None else {"units": units})}
    return found


def _sizes(snapshot: Snapshot, table: Table, owner: Owner) -> dict[str, Any]:
    """The sizes of the units of one table."""
    with Session() as session:
        unit = show_owned_rows(session, snapshot, table, owner)
        session.execute(
            "CREATE TEMP TABLE sizes AS SELECT lower(trim(CAST(u0 AS VARCHAR))) AS id, count(*) AS size "  # noqa: S608 — our own names
            f"FROM owned GROUP BY {unit}"
        )
        counts = session.execute("SELECT size, count(*) FROM sizes GROUP BY size ORDER BY size")
        sizes = [(int(size), int(units)) for size, units in counts]
        quantiles = {str(each): _quantile(sizes, each) for each in _QUANTILES}
        return {
            "units": sum(units for _, units in sizes),
            "quantiles": quantiles,
            "greatest": sizes[-1][0] if sizes else 0,
            "cut_off": {str(limit): sum(units * max(size - limit, 0) for size, units in sizes) for limit in LIMITS},
            "placeholders": _placeholders(session, quantiles[str(_QUANTILES[-1])]),
        }


def _quantile(sizes: Sequence[tuple[int, int]], part: int) -> int:
    """The size that this percentage of the units don't exceed."""
    units = list(accumulate(units for _, units in sizes))
    return next((size for (size, _), upto in zip(sizes, units, strict=True) if 100 * upto >= part * units[-1]), 0)


def _placeholders(session: Session, usual: int) -> dict[str, dict[str, int]]:
    """Ids that look like nobody's, by their form: how many there are, and how many rows they have."""
    forms = " ".join(f"WHEN {condition} THEN {string(form)}" for form, condition in _FORMS.items())
    numbered = ", ".join(map(string, _NUMBERED))
    rows = session.execute(
        f"SELECT form, count(DISTINCT id), sum(size) FROM (SELECT id, size, CASE {forms} END AS form FROM sizes) "  # noqa: S608 — constants
        f"WHERE form IS NOT NULL AND (form NOT IN ({numbered}) OR size > {usual}) GROUP BY form ORDER BY form"
    )
    return {form: {"ids": int(ids), "rows": int(total)} for form, ids, total in rows}
