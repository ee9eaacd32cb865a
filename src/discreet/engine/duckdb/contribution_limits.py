"""Limiting what each unit contributes, and adding up: the SQL of each shape of limits. Pure.

Sums have 128 bits, 16 more than 2^48 rows of 64 bits need, or 64 bits where the table is too small to fill them.

Only units over a limit cost more than a plain aggregation. They are found first; then everything is added up as if
there were no limits, and what those units have too much is taken off again. In integers, that is exact.

Sums come to one integer per unit and group, which limits scale. Of counts by value, what counts of a unit is how often
it has each value in each group: a row of `triples`. They are made of those rows only that a limit may touch. All others
are counted as in a plain GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from discreet.engine.duckdb.aggregation import (
    CONTRIBUTIONS,
    NOTHING,
    SOURCE_ROWS,
    Shape,
    Statements,
    each_row,
    looked_up,
    of_values,
    plain,
    weighed,
    whole_histogram,
    whole_values,
)
from discreet.engine.duckdb.clauses import group_by, hash_rank, listed, matching, numbered
from discreet.engine.duckdb.scan_views import show_all_units, show_units


def kept(table: str, shape: Shape, limit: int, *, sign: int) -> str:
    """The sums of a table's pairs per group, after the limit on rows; and the number of pairs."""
    keys = numbered("k", shape.keys)
    added = []
    for adds, total in zip(shape.measures, totals(shape), strict=True):
        share = shared(total, "n", limit, shape.width(adds.greatest * limit))
        share = f"CASE WHEN n > {limit} THEN {share} ELSE {total} END"
        by_kind = {
            "units": "count(*)",
            "constant": f"sum(least(n, {limit})) * {adds.constant}",
            "present": f"sum({share})",
            "values": f"sum({share})",
            "rest": f"sum({share})",
        }
        added.append(by_kind.get(adds.what, NOTHING))
    measures = (f"{sign} * {each} AS m{number}" for number, each in enumerate(added))
    return f"SELECT {listed(keys, measures)}, {sign} * count(*) AS present FROM {table} {group_by(keys)}"


def surplus(pairs: str, shape: Shape, limit: int) -> str:
    """The excess per group of pairs that are joined with their unit's rows in `total`, as a negative number."""
    keys = numbered("k", shape.keys)
    measures = [
        f"sum({shared(total, 'total', limit, shape.width(adds.greatest * limit))} - {total})"
        for adds, total in zip(shape.measures, totals(shape), strict=True)
    ]
    return f"SELECT {listed(keys, measures)} FROM {pairs} {group_by(keys)}"


def whole_pairs(shape: Shape) -> str:
    """The exact sums per group of all pairs."""
    keys = numbered("k", shape.keys)
    measures = (f"sum({total}) AS m{number}" for number, total in enumerate(totals(shape)))
    return f"SELECT {listed(keys, measures)} FROM pairs {group_by(keys)}"


def distinct_units(shape: Shape) -> str:
    """The number of units, as `n`. DuckDB counts groups faster than COUNT(DISTINCT)."""
    return f"SELECT count(*) AS n FROM (SELECT {listed(shape.unit)} FROM {shape.contributions} {group_by(shape.unit)})"


def sum_names(shape: Shape) -> list[str]:
    """Columns about a unit's rows in one group: their number `n`, and each measure's sum or count `s0, s1, …`."""
    summed = {"present", "values", "rest"}
    return ["n", *(f"s{number}" for number, adds in enumerate(shape.measures) if adds.what in summed)]


def sums(shape: Shape) -> list[str]:
    """The aggregates behind `sum_names`."""
    found = ["count(*) AS n"]
    for number, adds in enumerate(shape.measures):
        if adds.what == "present":
            found.append(f"count(v{number}) AS s{number}")
        elif adds.what == "rest":
            found.append(f"count(v{adds.of}) AS s{number}")
        elif adds.what == "values":
            found.append(f"CAST(coalesce(sum(v{number}), 0) AS {shape.width(adds.greatest)}) AS s{number}")
    return found


def totals(shape: Shape) -> list[str]:
    """For each measure, a unit's exact total in one group, of the columns that `sums` made; 0 if it isn't summed."""
    found = []
    for number, adds in enumerate(shape.measures):
        by_kind = {
            "constant": weighed("n", adds, shape),
            "present": weighed(f"s{number}", adds, shape),
            "values": f"s{number}",
            "rest": f"({weighed(f's{number}', adds, shape)} - s{adds.of})",
        }
        found.append(by_kind.get(adds.what, "0"))
    return found


def shared(total: str, rows: str, limit: int, width: str | None) -> str:
    """A unit's total times limit/rows, exact, rounded towards zero as integer division does.

    Args:
        total: what its rows add up to.
        rows: how many they are; more than `limit`.
        limit: how many count.
        width: the type that holds the product; None if it may need more than 127 bits. Then quotient and remainder,
            which have the total's sign, are scaled apart.
    """
    if width is not None:
        return f"(CAST({total} AS {width}) * {limit}) // {rows}"
    return f"(({total}) // {rows}) * {limit} + ((({total}) % {rows}) * {limit}) // {rows}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The rows that a limit may touch, and what it holds within.

    Args:
        rows: a table with the columns of `contributions`: all rows of units, or of pairs of unit and group, that may be
            over the limit. Where a pair doesn't count at all, its unit is NULL, as no other unit is.
        within: what the limit holds within: the columns of the unit, and those of the group if it holds in each.
        limit: on values, or on rows that have one.
    """

    rows: str
    within: list[str]
    limit: int


def value_tables(shape: Shape, scope: Scope) -> Iterator[str]:
    """Tables of what limits may touch: `triples…`, each with how many rows it is, `c`; and, of those, `lost…`.

    Lost are the values that a unit has beyond the limit, whose choice is by hash, and those of pairs left out.
    """
    keys = numbered("k", shape.keys)
    for number, adds in enumerate(shape.measures):
        if not adds.is_of_values:
            continue
        about = listed(dict.fromkeys([*shape.unit, *shape.ids, *keys]), [f"v{number} AS v", "count(*) AS c"])
        triples = f"SELECT {about} FROM {scope.rows} WHERE v{number} IS NOT NULL GROUP BY ALL"
        yield f"CREATE TEMP TABLE triples{number} AS {triples}"
        if adds.what == "distinct":
            lost = f"SELECT {listed(keys, ['v', 'c'])} FROM triples{number}"
            beyond = f"{hash_rank(scope.within, shape.ids, [*keys, 'v'], shape.salt)} > {scope.limit}"
            yield (
                f"CREATE TEMP TABLE lost{number} AS {lost} WHERE u0 IS NOT NULL QUALIFY {beyond} "
                f"UNION ALL {lost} WHERE u0 IS NULL"
            )


def different(shape: Shape) -> Iterator[str]:
    """The values of each measure that counts different ones: each is there as long as not all of its rows are lost."""
    keys = numbered("k", shape.keys)
    for number, _ in of_values(shape, "distinct"):
        yield f"""
            SELECT {listed(keys, ["value"])} FROM (
                {whole_values(shape, number, "count(*) AS c")} GROUP BY ALL
                UNION ALL SELECT {listed(keys, ["v", "-c"])} FROM lost{number}
            ) GROUP BY ALL HAVING sum(c) > 0
        """


def histograms(shape: Shape, scope: Scope) -> Iterator[str]:
    """For each histogram, its counts: those without a limit, less the units' excess, less the pairs left out."""
    keys = numbered("k", shape.keys)
    for number, adds in of_values(shape, "histogram"):
        total = weighed("c", adds, shape)
        share = shared(total, "n", scope.limit, shape.width(adds.greatest * scope.limit))
        width = shape.width(adds.greatest)
        rows_within = f"CAST(sum(c) OVER (PARTITION BY {listed(scope.within)}) AS BIGINT) AS n"
        bins = listed(keys, ["v AS bin"])
        yield f"""
            {whole_histogram(shape, number, adds)}
            UNION ALL
            SELECT {bins}, CAST(sum({share} - {total}) AS {width}) AS count
            FROM (SELECT *, {rows_within} FROM triples{number} WHERE u0 IS NOT NULL)
            WHERE n > {scope.limit} GROUP BY ALL
            UNION ALL
            SELECT {bins}, CAST(-sum({total}) AS {width}) AS count FROM triples{number} WHERE u0 IS NULL GROUP BY ALL
        """


def limit_contributions(shape: Shape) -> Statements:
    """The statements that limit each unit and add up."""
    if not shape.units:
        return each_row(shape)
    if not shape.keys and all(adds.what == "units" for adds in shape.measures):
        counts = (f"n AS m{number}" for number in range(len(shape.measures)))
        return Statements((), f"SELECT {listed(counts)} FROM ({distinct_units(shape)})")
    if shape.limits.rows is not None:
        return _by_rows(shape, shape.limits.rows)
    if shape.limits.groups is not None and shape.limits.rows_per_group is not None:
        return _by_groups(shape, shape.limits.groups, shape.limits.rows_per_group)
    raise TypeError("limits have one shape or the other")


def _by_rows(shape: Shape, limit: int) -> Statements:
    """At most `limit` rows of a unit count, over all groups together; a limit on groups is for counts of units.

    Only units are looked at that may be over the limit. If their sizes are noted, that tells which. Else `heavy` are
    all that have more rows: those that no public key lists are counted too, which spares the first pass from looking
    keys up. Their exact totals come out of `pairs`, or `triples…`. Since their rows are their own affair, nothing is
    missed where scans show no others, and little is computed: few units are heavy.
    """
    unit, keys = shape.unit, numbered("k", shape.keys)
    setup, counted, shape = _units_in_groups(shape)
    if shape.is_coded:
        rows = _of_size(">", limit, shape)
    else:
        heavy = f"SELECT {listed(unit)} FROM {SOURCE_ROWS} {group_by(unit)} HAVING count(*) > {limit}"
        setup.append(f"CREATE TEMP TABLE heavy AS {heavy}")
        rows = f"{shape.contributions} SEMI JOIN heavy USING ({listed(unit)})"
    scope = Scope(rows=rows, within=unit, limit=limit)
    is_summed = any(adds.is_summed for adds in shape.measures)
    light = replace(shape, contributions=_of_size("<=", limit, shape)) if shape.is_coded and is_summed else shape
    whole = plain(light, units=NOTHING if shape.keys else f"(SELECT n FROM ({distinct_units(shape)}))")
    parts = [looked_up(shape, whole, numbered("m", len(shape.measures))), *counted]
    of_heavy = list(value_tables(shape, scope))
    if is_summed:
        if shape.is_coded:  # then all rows of others are in `pairs`
            parts.append(whole_pairs(shape))
        pairs = f"SELECT {listed(unit, keys, sums(shape))} FROM {scope.rows} {group_by([*unit, *keys])}"
        of_heavy.append(f"CREATE TEMP TABLE pairs AS {looked_up(shape, pairs, [*unit, *sum_names(shape)])}")
        total = f"SELECT {listed(unit)}, CAST(sum(n) AS BIGINT) AS total FROM pairs {group_by(unit)}"
        excess = f"({total} HAVING sum(n) > {limit}) AS excess"
        parts.append(surplus(f"pairs JOIN {excess} USING ({listed(unit)})", shape, limit))
    return Statements(
        (*setup, *_narrowed(shape, "heavy", of_heavy)),
        _together(shape, parts),
        tuple(different(shape)),
        tuple(histograms(shape, scope)),
    )


def _of_size(compared: Literal["<=", ">"], limit: int, shape: Shape) -> str:
    """The rows of the units that were admitted with so many rows, or with more."""
    return f"(SELECT * FROM {shape.contributions} WHERE size {compared} {limit})"


def _narrowed(shape: Shape, units: str, statements: Sequence[str]) -> Iterator[str]:
    """Statements that are carried out while scans show only the units of a table: nothing is computed about others."""
    if statements:
        yield from (show_units(scan, shape.unit, units) for scan in shape.scans)
        yield from statements
        yield from map(show_all_units, shape.scans)


def _units_in_groups(shape: Shape) -> tuple[list[str], list[str], Shape]:
    """Beside a limit on rows, one on groups: statements; how many units each group has; and what is left of the rows.

    Rows outside the groups that their unit keeps are left out only where groups aren't all public.
    """
    groups = shape.limits.groups
    if not shape.keys or groups is None:
        return [], [], shape
    unit, keys = shape.unit, numbered("k", shape.keys)
    pair = [*unit, *keys]
    setup = [f"CREATE TEMP TABLE present AS SELECT {listed(pair)} FROM {shape.contributions} {group_by(pair)}"]
    counts = "SELECT *, 1 AS n FROM present"
    if shape.groups is None or shape.groups > groups:
        setup += _beyond("present", shape, groups, names=[])
        counts = f"{counts} UNION ALL SELECT *, -1 FROM dropped"
        if shape.groups is None:
            kept_pairs = f"ANTI JOIN dropped ON {matching(CONTRIBUTIONS, 'dropped', unit, keys)}"
            shape = replace(shape, contributions=f"(FROM {shape.contributions} {kept_pairs}) AS {CONTRIBUTIONS}")
    measures = (
        f"{'sum(n)' if adds.what == 'units' else NOTHING} AS m{number}" for number, adds in enumerate(shape.measures)
    )
    counted = f"SELECT {listed(keys, measures)} FROM ({counts}) {group_by(keys)} HAVING sum(n) > 0"
    return setup, [counted], shape


def _by_groups(shape: Shape, groups: int, limit: int) -> Statements:
    """A unit counts in at most `groups` groups, and with at most `limit` rows, or values, in each.

    Which groups a unit keeps is decided by hash, among those of all of its rows, whatever is measured of them.
    """
    unit, keys = shape.unit, numbered("k", shape.keys)
    pair = [*unit, *keys]
    is_limited = bool(keys) and (shape.groups is None or shape.groups > groups)
    rows, parts = shape.contributions, []
    if shape.is_coded and all(adds.what != "units" for adds in shape.measures):
        within = min(groups, limit) if is_limited else limit  # so few rows aren't too many, nor in too many groups
        light = replace(shape, contributions=_of_size("<=", within, shape))
        rows, parts = _of_size(">", within, shape), [plain(light, "count(*) AS present", units=NOTHING)]
    setup = [f"CREATE TEMP TABLE pairs AS SELECT {listed(pair, sums(shape))} FROM {rows} {group_by(pair)}"]
    parts.append(kept("pairs", shape, limit, sign=1))
    touched = f"SELECT {listed(pair)}, FALSE AS is_dropped FROM pairs WHERE n > {limit}"
    if is_limited:
        setup += _beyond("pairs", shape, groups, names=sum_names(shape))
        parts.append(kept("dropped", shape, limit, sign=-1))
        touched = f"""
            SELECT {listed(pair)}, TRUE AS is_dropped FROM dropped UNION ALL
            SELECT * FROM ({touched}) AS busy ANTI JOIN dropped ON {matching("busy", "dropped", unit, keys)}
        """
    if any(adds.is_of_values for adds in shape.measures):
        setup.append(f"CREATE TEMP TABLE touched AS {touched}")
    whose = (f"CASE WHEN NOT is_dropped THEN {CONTRIBUTIONS}.{column} END AS {column}" for column in unit)
    rows = f"SELECT {CONTRIBUTIONS}.* REPLACE ({listed(whose)}) FROM {shape.contributions} JOIN touched"
    scope = Scope(rows=f"({rows} ON {matching(CONTRIBUTIONS, 'touched', unit, keys)})", within=pair, limit=limit)
    return Statements(
        (*setup, *_narrowed(shape, "touched", list(value_tables(shape, scope)))),
        _together(shape, parts) + (" HAVING sum(present) > 0" if keys else ""),
        tuple(different(shape)),
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
    unit, keys = shape.unit, numbered("k", shape.keys)
    over_groups = f"SELECT {listed(unit)} FROM {pairs} {group_by(unit)} HAVING count(*) > {groups}"
    if shape.is_coded:  # only the choices of these units need their ids
        ids = listed(unit, (f"any_value({each}) AS {each}" for each in shape.ids))
        of_these = f"{_of_size('>', groups, shape)} SEMI JOIN ({over_groups}) AS these USING ({listed(unit)})"
        over_groups = f"SELECT {ids} FROM {of_these} {group_by(unit)}"
    dropped = f"SELECT {listed(unit, keys, names)} FROM {pairs} JOIN over_groups USING ({listed(unit)})"
    chosen = f"QUALIFY {hash_rank(unit, shape.ids, keys, shape.salt)} > {groups}"
    return [f"CREATE TEMP TABLE over_groups AS {over_groups}", f"CREATE TEMP TABLE dropped AS {dropped} {chosen}"]


def _together(shape: Shape, parts: Iterable[str]) -> str:
    """The sum of all parts, per group."""
    keys = numbered("k", shape.keys)
    measures = (f"coalesce(sum(m{number}), 0) AS m{number}" for number in range(len(shape.measures)))
    return f"SELECT {listed(keys, measures)} FROM ({' UNION ALL '.join(parts)}) {group_by(keys)}"
