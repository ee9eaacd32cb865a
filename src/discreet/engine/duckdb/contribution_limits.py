"""Limiting what each unit contributes, and adding up: the SQL of each shape of limits. Pure.

Sums have 128 bits, 16 more than 2^48 rows of 64 bits need, or 64 bits where the table is too small to fill them.

Only units over a limit cost more than a plain aggregation. They are found first; then everything is added up as if
there were no limits, and what those units have too much is taken off again. In integers, that is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from discreet.engine.duckdb.limit_statements import (
    CONTRIBUTIONS,
    SOURCE_ROWS,
    Shape,
    Statements,
    group_by,
    hash_rank,
    key_lookup,
    listed,
    matching,
    numbered,
    show_all_units,
    show_units,
)
from discreet.engine.duckdb.limited_aggregates import (
    NOTHING,
    Scope,
    different,
    distinct_units,
    histograms,
    kept,
    plain,
    sum_names,
    sums,
    surplus,
    value_tables,
    whole_histogram,
)


def limit_contributions(shape: Shape) -> Statements:
    """The statements that limit each unit and add up."""
    if shape.units == 0:
        return _each_row(shape)
    if not shape.keys and all(adds.what == "units" for adds in shape.measures):
        counts = (f"n AS m{number}" for number in range(len(shape.measures)))
        return Statements((), f"SELECT {listed(counts)} FROM ({distinct_units(shape)})")
    if shape.limits.rows is not None:
        return _by_rows(shape, shape.limits.rows)
    if shape.limits.groups is not None and shape.limits.rows_per_group is not None:
        return _by_groups(shape, shape.limits.groups, shape.limits.rows_per_group)
    raise TypeError


def _each_row(shape: Shape) -> Statements:
    """Each row is a unit, so there is nothing to limit."""
    counted = (
        whole_histogram(shape, number, adds) for number, adds in enumerate(shape.measures) if adds.what == "histogram"
    )
    return Statements(
        (),
        _late(shape, plain(shape, units="count(*)"), numbered("m", len(shape.measures))),
        tuple(_late(shape, each, ["bin", "count"]) for each in counted),
    )


def _late(shape: Shape, query: str, columns: list[str]) -> str:
    """The query's rows with late keys looked up; `columns` are those beside the keys."""
    if not shape.late:
        return query
    keys = (f"keys{number}.i AS k{number}" if number in shape.late else f"k{number}" for number in range(shape.keys))
    return f"SELECT {listed(keys, columns)} FROM ({query}) {' '.join(map(key_lookup, shape.late))}"


def _by_rows(shape: Shape, limit: int) -> Statements:
    """At most `limit` rows of a unit count, over all groups together; a limit on groups is for counts of units.

    `heavy` are all units that may be over the limit: rows that no public key lists are counted too, which spares
    the first pass from looking keys up. Their exact totals come out of `pairs`, or `triples…`. Since their rows are
    their own affair, nothing is missed where scans show no others, and little is computed: few units are heavy.
    """
    unit, keys = numbered("u", shape.units), numbered("k", shape.keys)
    setup, counted, shape = _units_in_groups(shape)
    scope = Scope(rows=f"{shape.contributions} SEMI JOIN heavy USING ({listed(unit)})", within=unit, limit=limit)
    heavy = f"SELECT {listed(unit)} FROM {SOURCE_ROWS} {group_by(unit)} HAVING count(*) > {limit}"
    setup.append(f"CREATE TEMP TABLE heavy AS {heavy}")
    parts = [plain(shape, units=NOTHING if shape.keys else f"(SELECT n FROM ({distinct_units(shape)}))"), *counted]
    if any(adds.is_summed for adds in shape.measures):
        pairs = f"SELECT {listed(unit, keys, sums(shape))} FROM {scope.rows} {group_by([*unit, *keys])}"
        setup += (show_units(scan, unit, "heavy") for scan in shape.scans)
        setup.append(f"CREATE TEMP TABLE pairs AS {pairs}")
        setup += map(show_all_units, shape.scans)
        total = f"SELECT {listed(unit)}, CAST(sum(n) AS BIGINT) AS total FROM pairs {group_by(unit)}"
        excess = f"({total} HAVING sum(n) > {limit}) AS excess"
        parts.append(surplus(f"pairs JOIN {excess} USING ({listed(unit)})", shape, limit))
    return Statements(
        (*setup, *value_tables(shape, scope)),
        _together(shape, [*parts, *different(shape)]),
        tuple(histograms(shape, scope)),
    )


def _units_in_groups(shape: Shape) -> tuple[list[str], list[str], Shape]:
    """Beside a limit on rows, one on groups: statements; how many units each group has; and what is left of the rows.

    Rows outside the groups that their unit keeps are left out only where groups aren't all public.
    """
    groups = shape.limits.groups
    if not shape.keys or groups is None:
        return [], [], shape
    unit, keys = numbered("u", shape.units), numbered("k", shape.keys)
    pair = [*unit, *keys]
    setup = [f"CREATE TEMP TABLE present AS SELECT {listed(pair)} FROM {CONTRIBUTIONS} {group_by(pair)}"]
    counts = "SELECT *, 1 AS n FROM present"
    if shape.groups is None or shape.groups > groups:
        setup += _beyond("present", shape, groups, names=[])
        counts = f"{counts} UNION ALL SELECT *, -1 FROM dropped"
        if shape.groups is None:
            left = (
                f"SELECT * FROM {CONTRIBUTIONS} ANTI JOIN dropped ON {matching(CONTRIBUTIONS, 'dropped', unit, keys)}"
            )
            setup.append(f"CREATE TEMP VIEW left_in AS {left}")
            shape = replace(shape, contributions="left_in")
    measures = (
        f"{'sum(n)' if adds.what == 'units' else NOTHING} AS m{number}" for number, adds in enumerate(shape.measures)
    )
    counted = f"SELECT {listed(keys, measures)} FROM ({counts}) {group_by(keys)} HAVING sum(n) > 0"
    return setup, [counted], shape


def _by_groups(shape: Shape, groups: int, limit: int) -> Statements:
    """A unit counts in at most `groups` groups, and with at most `limit` rows, or values, in each.

    Which groups a unit keeps is decided by hash, among those of all of its rows, whatever is measured of them.
    """
    unit, keys = numbered("u", shape.units), numbered("k", shape.keys)
    pair = [*unit, *keys]
    setup = [f"CREATE TEMP TABLE pairs AS SELECT {listed(pair, sums(shape))} FROM {CONTRIBUTIONS} {group_by(pair)}"]
    parts = [kept("pairs", shape, limit, sign=1)]
    touched = f"SELECT {listed(pair)}, FALSE AS is_dropped FROM pairs WHERE n > {limit}"
    if keys and (shape.groups is None or shape.groups > groups):
        setup += _beyond("pairs", shape, groups, names=sum_names(shape))
        parts.append(kept("dropped", shape, limit, sign=-1))
        touched = f"""
            SELECT {listed(pair)}, TRUE AS is_dropped FROM dropped UNION ALL
            SELECT * FROM ({touched}) AS busy ANTI JOIN dropped ON {matching("busy", "dropped", unit, keys)}
        """
    if any(adds.is_of_values for adds in shape.measures):
        setup.append(f"CREATE TEMP TABLE touched AS {touched}")
    whose = (f"CASE WHEN NOT is_dropped THEN {CONTRIBUTIONS}.{column} END AS {column}" for column in unit)
    rows = f"SELECT {CONTRIBUTIONS}.* REPLACE ({listed(whose)}) FROM {CONTRIBUTIONS} JOIN touched"
    scope = Scope(rows=f"({rows} ON {matching(CONTRIBUTIONS, 'touched', unit, keys)})", within=pair, limit=limit)
    parts += (f"SELECT *, 0 AS present FROM ({each})" for each in different(shape))
    return Statements(
        (*setup, *value_tables(shape, scope)),
        _together(shape, parts) + (" HAVING sum(present) > 0" if keys else ""),
        tuple(histograms(shape, scope)),
    )


def _beyond(pairs: str, shape: Shape, groups: int, *, names: list[str]) -> list[str]:
    """Statements that find the pairs of unit and group that are beyond the limit on groups: `dropped`.

    Args:
        pairs: a table of all of them.
        shape: of the question.
        groups: how many of its groups a unit keeps.
        names: the columns of `pairs` beside unit and group.
    """
    unit, keys = numbered("u", shape.units), numbered("k", shape.keys)
    over_groups = f"SELECT {listed(unit)} FROM {pairs} {group_by(unit)} HAVING count(*) > {groups}"
    dropped = f"SELECT {listed(unit, keys, names)} FROM {pairs} SEMI JOIN over_groups USING ({listed(unit)})"
    return [
        f"CREATE TEMP TABLE over_groups AS {over_groups}",
        f"CREATE TEMP TABLE dropped AS {dropped} QUALIFY {hash_rank(unit, unit, keys, shape.salt)} > {groups}",
    ]


def _together(shape: Shape, parts: Iterable[str]) -> str:
    """The sum of all parts, per group."""
    keys = numbered("k", shape.keys)
    measures = (f"coalesce(sum(m{number}), 0) AS m{number}" for number in range(len(shape.measures)))
    return f"SELECT {listed(keys, measures)} FROM ({' UNION ALL '.join(parts)}) {group_by(keys)}"
