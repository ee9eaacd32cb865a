"""Statements over the shop, made at random: joins, subqueries, windows, unions, grouping sets, every aggregate.

Most are well formed and mean something private, so that they are taken; which of its constructs a statement uses is
noted beside it. Nothing is weighed carefully: rare combinations are what a search is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from discreet.tables import Kind
from support.shop import COLUMNS

Columns = list[tuple[str, str]]
"""What may be written, with what it is: number, text, flag or day."""

_SORTS = {Kind.INTEGER: "number", Kind.REAL: "number", Kind.TEXT: "text", Kind.BOOLEAN: "flag", Kind.DATE: "day"}

JOINS = (
    *("inner", "left", "right", "comma", "using", "natural", "self join", "semi", "anti"),
    *("public", "public left", "inequality"),
)
NESTED = ("derived", "per unit", "window", "qualify", "distinct rows", "union", "with twice")
RELATIONS = (*JOINS, *NESTED)
CONDITIONS = ("exists", "not exists", "in", "not in", "in public")
AGGREGATES = (
    *("count", "count x", "distinct", "units", "sum", "avg", "spread", "covar", "corr", "regr", "median", "quantile"),
    *("min", "max", "mode", "top", "filter"),
)
GROUPS = ("public keys", "private keys", "rollup", "cube", "grouping sets")
CONSTRUCTS = (*RELATIONS, *CONDITIONS, *AGGREGATES, *GROUPS)
"""All that a statement may use."""


@dataclass(frozen=True)
class Statement:
    """A statement, and which constructs are in it."""

    text: str
    used: frozenset[str]


@dataclass(frozen=True)
class Rows:
    """What may stand in FROM.

    Args:
        text: as it is written there.
        columns: what may be said of its rows.
        keys: by entity, the column that names it: equal ones are one unit's.
        where: conditions that go with it, after WHERE.
        table: which table it is, if it is one.
    """

    text: str
    columns: Columns
    keys: Mapping[str, str]
    where: tuple[str, ...] = ()
    table: str | None = None


@dataclass
class Writer:
    """Writes one statement.

    Args:
        random: where choices come from.
        entities: by table and column in private tables, the entity it names.
        wanted: a construct that must be tried, if there is one.
    """

    random: Random
    entities: Mapping[tuple[str, str], str]
    wanted: str | None = None
    used: set[str] = field(default_factory=set)
    common: list[str] = field(default_factory=list)
    aliases: int = 0

    def statement(self) -> Statement:
        """A whole statement."""
        rows = self.relation(2, self.wanted if self.wanted in RELATIONS else None)
        where = [*rows.where, *self.conditions(rows, self.wanted if self.wanted in CONDITIONS else None)]
        grouping, shown = self.grouping(rows, self.wanted if self.wanted in GROUPS else None)
        items = [self.aggregate(rows, self.wanted if self.wanted in AGGREGATES else None)]
        items += [self.aggregate(rows) for _ in range(self.random.choice([0, 0, 1, 2]))]
        listed = ", ".join([*shown, *(f"{item} AS a{number}" for number, item in enumerate(items))])
        parts = [f"SELECT {listed} FROM {rows.text}", _where(where), grouping]
        if self.common:
            parts.insert(0, f"WITH {', '.join(self.common)}")
        return Statement(" ".join(part for part in parts if part), frozenset(self.used))

    # ── Choices ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def may(self, chance: float) -> bool:
        """Whether something that happens now and then does."""
        return self.random.random() < chance

    def alias(self) -> str:
        """A fresh name."""
        self.aliases += 1
        return f"t{self.aliases}"

    def of(self, rows: Rows, *sorts: str) -> str:
        """A column of one of these sorts; a constant, if there is none."""
        found = [column for column, sort in rows.columns if sort in sorts]
        constants = {"number": "3", "text": "'a'", "flag": "TRUE", "day": "DATE '2024-02-01'"}
        return self.random.choice(found) if found else constants[sorts[0]]

    # ── Relations ────────────────────────────────────────────────────────────────────────────────────────────────────

    def relation(self, depth: int, wanted: str | None = None) -> Rows:
        """Private rows of some kind."""
        kind = wanted or self.random.choice(["base"] * 6 + [*JOINS, *NESTED, *NESTED] if depth > 0 else ["base"])
        if kind in NESTED:
            return self.derived(kind, depth - 1)
        if kind in JOINS:
            return self.join(kind, depth - 1)
        return self.base(self.random.choice(sorted({table for table, _ in self.entities} or {"items"})))

    def item(self, depth: int, beside: Rows) -> Rows:
        """Private rows that can stand after JOIN, with an entity in common with those beside, if they have any."""
        if depth > 0 and self.may(0.4):
            found = self.derived(self.random.choice([each for each in NESTED if each != "with twice"]), depth - 1)
            if not found.where and found.keys.keys() & beside.keys.keys():
                return found
        tables = sorted({table for (table, _), entity in self.entities.items() if entity in beside.keys})
        return self.base(self.random.choice(tables or ["items"]))

    def base(self, table: str) -> Rows:
        """A table."""
        alias = self.alias()
        columns = [(f'{alias}."{name}"', _SORTS[kind]) for name, kind in COLUMNS[table].items()]
        keys = {entity: f'{alias}."{name}"' for (held, name), entity in self.entities.items() if held == table}
        return Rows(f"{table} {alias}", columns, keys, table=table)

    def join(self, kind: str, depth: int) -> Rows:
        """Rows brought together: private ones along the unit, and now and then by something else."""
        if kind in {"public", "public left", "inequality"}:
            return self.public(kind, depth)
        left = self.relation(0 if kind in {"self join", "using", "natural"} else depth)
        right = self.base(left.table) if kind in {"self join", "using", "natural"} else self.item(depth, left)
        shared = [each for each in left.keys if each in right.keys]
        if not shared:  # where each row is a unit, for example
            return left
        self.used.add(kind)
        entity = self.random.choice(shared)
        if kind in {"using", "natural"}:
            return self.merged(kind, left, right, left.keys[entity].partition(".")[2])
        on = [] if self.may(0.03) else [f"{left.keys[entity]} = {right.keys[entity]}"]
        both = left.columns + right.columns
        on += [self.condition(Rows("", both, {}))] if self.may(0.4) else []
        keys = {"left": left.keys, "right": right.keys}.get(kind, left.keys | right.keys)
        if kind == "comma":
            return Rows(f"{left.text}, {right.text}", both, keys, (*left.where, *right.where, *on))
        words = {"left": "LEFT JOIN", "right": "RIGHT JOIN", "semi": "SEMI JOIN", "anti": "ANTI JOIN"}
        text = f"{left.text} {words.get(kind, 'JOIN')} {right.text} ON {' AND '.join(on) or 'TRUE'}"
        if kind in {"semi", "anti"}:
            return Rows(text, left.columns, left.keys, left.where)
        return Rows(text, both, keys, left.where + right.where)

    def merged(self, kind: str, left: Rows, right: Rows, column: str) -> Rows:
        """A table with itself, by USING or NATURAL: columns of both sides have one name."""
        if kind == "natural":
            return Rows(f"{left.text} NATURAL JOIN {right.text}", left.columns, left.keys)
        columns = [each for each in left.columns + right.columns if not each[0].endswith(f".{column}")]
        return Rows(f"{left.text} JOIN {right.text} USING ({column})", columns, left.keys)

    def public(self, kind: str, depth: int) -> Rows:
        """Private rows with those of the public table."""
        self.used.add(kind)
        left, alias = self.relation(depth), self.alias()
        columns: Columns = [(f'{alias}."{name}"', _SORTS[each]) for name, each in COLUMNS["parts"].items()]
        part = next((column for column, _ in left.columns if column.endswith('"part"')), self.of(left, "number"))
        on = f"{part} = {alias}.id"
        if kind == "inequality":
            on = f"{self.of(left, 'number')} {self.random.choice(['<', '>=', '<>'])} {alias}.weight"
        word = "LEFT JOIN" if kind == "public left" else "JOIN"
        text = f"{left.text} {word} parts {alias} ON {on}"
        if kind == "public" and self.may(0.3):
            return Rows(f"{left.text}, parts {alias}", left.columns + columns, left.keys, (*left.where, on))
        return Rows(text, left.columns + columns, left.keys, left.where)

    def derived(self, kind: str, depth: int) -> Rows:
        """A subquery."""
        self.used.add(kind)
        if kind == "with twice":
            return self.shared(depth)
        if kind == "union":
            return self.union(depth)
        rows = self.relation(depth)
        select = {"per unit": self.per_unit, "distinct rows": self.distinct}.get(kind)
        if select is None:
            outputs, tail = self.outputs(rows), ""
            if kind in {"window", "qualify"}:
                outputs.append((self.window(rows), "number", None))
            if kind == "qualify":
                tail = f"QUALIFY {self.place(rows)} <= {self.random.choice([1, 2])}"
            return self.named(rows, outputs, tail)
        return select(rows)

    def named(self, rows: Rows, outputs: Sequence[tuple[str, str, str | None]], tail: str, word: str = "") -> Rows:
        """A SELECT of these outputs, in FROM."""
        text, columns, keys = self.select(rows, outputs, tail, word)
        alias = self.alias()
        return Rows(
            f"({text}) {alias}",
            [(f"{alias}.{name}", sort) for name, sort in columns],
            {entity: f"{alias}.{name}" for entity, name in keys.items()},
        )

    def select(
        self, rows: Rows, outputs: Sequence[tuple[str, str, str | None]], tail: str, word: str = ""
    ) -> tuple[str, Columns, dict[str, str]]:
        """The text of a subquery, its columns, and which of them name entities."""
        listed = ", ".join(f"{written} AS c{number}" for number, (written, _, _) in enumerate(outputs))
        where = _where([*rows.where, *self.conditions(rows)])
        columns: Columns = [(f"c{number}", sort) for number, (_, sort, _) in enumerate(outputs)]
        keys = {entity: f"c{number}" for number, (_, _, entity) in enumerate(outputs) if entity}
        return f"SELECT {word} {listed} FROM {rows.text} {where} {tail}", columns, keys

    def outputs(self, rows: Rows) -> list[tuple[str, str, str | None]]:
        """What names whose a row is, and something of the row."""
        named = [(column, "number", entity) for entity, column in rows.keys.items()]
        own = [(column, sort, None) for column, sort in rows.columns if self.may(0.5)]
        return [*named, *own, (self.number(rows), "number", None), (self.of(rows, "text"), "text", None)]

    def per_unit(self, rows: Rows) -> Rows:
        """GROUP BY whose the rows are."""
        keys = [
            (column, "number", entity) for entity, column in list(rows.keys.items())[: self.random.choice([1, 1, 2])]
        ]
        if self.may(0.3):
            keys.append((self.of(rows, "text", "day", "flag"), "text", None))
        summaries = [(self.summary(rows), "number", None) for _ in range(self.random.choice([1, 2, 3]))]
        group = f"GROUP BY {', '.join(column for column, _, _ in keys)}" if keys else ""
        having = f"HAVING {self.summary(rows)} > {self.random.choice([0, 1, 2])}" if self.may(0.3) else ""
        return self.named(rows, [*keys, *summaries], f"{group} {having}")

    def summary(self, rows: Rows) -> str:
        """Something of all rows of one unit."""
        number, flag = self.number(rows), self.condition(rows)
        text = self.of(rows, "text", "day", "number")
        return self.random.choice(
            [
                "LEAST(COUNT(*), 5)",
                f"LEAST(COUNT({text}), 4)",
                f"LEAST(COUNT(DISTINCT {text}), 3)",
                f"GREATEST(LEAST(SUM({number}), 9), -4)",
                f"AVG({number})",
                f"MIN({number})",
                f"MAX({number})",
                f"MEDIAN({number})",
                f"CAST(BOOL_OR({flag}) AS INTEGER)",
                f"CAST(BOOL_AND({flag}) AS INTEGER)",
            ]
        )

    def over(self, rows: Rows, *, ordered: bool) -> str:
        """A window within one unit."""
        by = [self.random.choice(list(rows.keys.values()))] if rows.keys else []
        by += [self.of(rows, "text", "flag")] if self.may(0.2) else []
        order = f"ORDER BY {self.of(rows, 'number', 'day', 'text')} {self.random.choice(['', 'DESC', 'NULLS FIRST'])}"
        return f"OVER ({'PARTITION BY ' if by else ''}{', '.join(by)} {order if ordered else ''})"

    def place(self, rows: Rows) -> str:
        """A row's place in a window."""
        return f"{self.random.choice(['ROW_NUMBER', 'RANK', 'DENSE_RANK'])}() {self.over(rows, ordered=True)}"

    def window(self, rows: Rows) -> str:
        """A number from a window."""
        number = self.number(rows)
        ordered = self.random.choice(
            [
                f"LEAST({self.place(rows)}, 4)",
                f"LAG({number}) {self.over(rows, ordered=True)}",
                f"LEAD({number}, 2) {self.over(rows, ordered=True)}",
                f"FIRST_VALUE({number}) {self.over(rows, ordered=True)}",
                f"LAST_VALUE({number}) {self.over(rows, ordered=True)}",
                f"GREATEST(LEAST(SUM({number}) {self.over(rows, ordered=True)}, 6), -6)",
            ]
        )
        whole = self.random.choice(["AVG", "MIN", "MAX", "MEDIAN"])
        return ordered if self.may(0.7) else f"{whole}({number}) {self.over(rows, ordered=False)}"

    def distinct(self, rows: Rows) -> Rows:
        """SELECT DISTINCT, with whose the rows are."""
        outputs = [(column, "number", entity) for entity, column in rows.keys.items()]
        outputs += [(self.of(rows, "text"), "text", None), (self.number(rows), "number", None)]
        return self.named(rows, outputs, "", "DISTINCT")

    def union(self, depth: int) -> Rows:
        """UNION ALL of two or three."""
        parts, keys, alias = [], list[set[str]](), self.alias()
        for _ in range(self.random.choice([2, 2, 3])):
            rows = self.relation(depth)
            entity, key = self.random.choice(list(rows.keys.items()) or [("", self.of(rows, "number"))])
            outputs = [(key, "number", entity or None), (self.number(rows), "number", None)]
            text, _, held = self.select(rows, [*outputs, (self.of(rows, "text"), "text", None)], "")
            parts.append(text)
            keys.append(set(held))
        columns: Columns = [(f"{alias}.c0", "number"), (f"{alias}.c1", "number"), (f"{alias}.c2", "text")]
        return Rows(
            f"({' UNION ALL '.join(parts)}) {alias}",
            columns,
            dict.fromkeys(set.intersection(*keys), f"{alias}.c0"),
        )

    def shared(self, depth: int) -> Rows:
        """What WITH names, used twice."""
        rows = self.relation(depth)
        text, columns, keys = self.select(rows, self.outputs(rows), "")
        name, one, two = f"w{len(self.common)}", self.alias(), self.alias()
        self.common.append(f"{name} AS ({text})")
        both: Columns = [(f"{alias}.{column}", sort) for alias in (one, two) for column, sort in columns]
        on = " AND ".join(f"{one}.{column} = {two}.{column}" for column in list(keys.values())[:1])
        word = self.random.choice(["JOIN", "JOIN", "LEFT JOIN"])
        held = {entity: f"{one}.{column}" for entity, column in keys.items()}
        return Rows(f"{name} {one} {word} {name} {two} ON {on or 'TRUE'}", both, held)

    # ── What is said of rows ─────────────────────────────────────────────────────────────────────────────────────────

    def number(self, rows: Rows) -> str:
        """A number of a row, mostly with known ends."""
        one, two = (f"GREATEST(LEAST({self.of(rows, 'number')}, {end}), -2)" for end in (5, 3))
        return self.random.choice(
            [
                one,
                f"{one} + {two}",
                f"{one} * {two}",
                f"{one} / {two}",
                self.of(rows, "number"),
                f"CASE WHEN {self.of(rows, 'number')} > {two} THEN 1 ELSE {one} END",
                f"ABS(COALESCE({one}, 7))",
                f"CAST({self.condition(rows)} AS INTEGER)",
                f"LEAST(LENGTH({self.of(rows, 'text')}), 2)",
            ]
        )

    def condition(self, rows: Rows) -> str:
        """Something that is true of a row or not."""
        one, two, text = self.of(rows, "number"), self.of(rows, "number"), self.of(rows, "text")
        return self.random.choice(
            [
                f"{one} > {self.random.choice(['0', '1', '-1', '0.4'])}",
                f"{one} BETWEEN 0 AND 5",
                f"{one} <= {two}",
                f"{one} <> 2",
                f"{text} = 'a'",
                f"{text} IN ('a', 'b')",
                f"{text} LIKE '%b%'",
                f"{one} IS NOT NULL",
                f"({text} IS NULL OR {one} < 7)",
                f"NOT ({one} = 1)",
                f"{self.of(rows, 'day')} >= DATE '2024-02-01'",
                f"{self.of(rows, 'flag')}",
            ]
        )

    def conditions(self, rows: Rows, wanted: str | None = None) -> list[str]:
        """What WHERE demands."""
        found = [self.condition(rows)] if self.may(0.4) else []
        kind = wanted or (self.random.choice(CONDITIONS) if self.may(0.15) else None)
        if kind is None:
            return found
        self.used.add(kind)
        if kind == "in public":
            part = next((column for column, _ in rows.columns if column.endswith('"part"')), self.of(rows, "number"))
            return [*found, f"{part} IN (SELECT id FROM parts WHERE weight > 0)"]
        inner = self.item(0 if self.may(0.6) else 1, rows)
        entity = next((each for each in rows.keys if each in inner.keys), None)
        ours, theirs = (rows.keys[entity], inner.keys[entity]) if entity else (self.of(rows, "number"), "1")
        word = "NOT " if kind.startswith("not") else ""
        also = [*inner.where, *([self.condition(inner)] if self.may(0.5) else [])]
        if kind.endswith("exists"):
            return [*found, f"{word}EXISTS (SELECT 1 FROM {inner.text} {_where([f'{theirs} = {ours}', *also])})"]
        also += [f"{theirs} IS NOT NULL"] if word else []
        return [*found, f"{ours} {word}IN (SELECT {theirs} FROM {inner.text} {_where(also)})"]

    # ── What is asked ────────────────────────────────────────────────────────────────────────────────────────────────

    def aggregate(self, rows: Rows, wanted: str | None = None) -> str:
        """An aggregate over all units."""
        kind = wanted or self.random.choice(AGGREGATES)
        self.used.add(kind)
        if kind == "filter":
            inner = self.aggregate(rows, self.random.choice([each for each in AGGREGATES if each != "filter"]))
            return f"{inner} FILTER (WHERE {self.condition(rows)})"
        number, other = self.number(rows), self.number(rows)
        text = self.of(rows, "text", "day", "flag")
        unit = self.random.choice(list(rows.keys.values()) or [text])
        listed = f"CASE WHEN {self.of(rows, 'number')} > 1 THEN 'x' WHEN {self.of(rows, 'text')} = 'b' THEN 'y' END"
        forms = {
            "count": "COUNT(*)",
            "count x": f"COUNT({text})",
            "distinct": f"COUNT(DISTINCT {text})",
            "units": f"COUNT(DISTINCT {unit})",
            "sum": f"SUM({number})",
            "avg": f"AVG({number})",
            "spread": f"{self.random.choice(['VAR_POP', 'STDDEV_SAMP', 'VAR_SAMP'])}({number})",
            "covar": f"COVAR_POP({number}, {other})",
            "corr": f"CORR({number}, {other})",
            "regr": f"REGR_{self.random.choice(['COUNT', 'AVGX', 'SYY', 'SLOPE', 'R2'])}({number}, {other})",
            "median": f"MEDIAN({number})",
            "quantile": f"QUANTILE_CONT({number}, {self.random.choice(['0.1', '0.9', '0.333'])})",
            "min": f"MIN({number})",
            "max": f"MAX({number})",
            "mode": f"MODE({listed})",
            "top": f"APPROX_TOP_K({listed}, 2)",
        }
        return forms[kind]

    def grouping(self, rows: Rows, wanted: str | None = None) -> tuple[str, list[str]]:
        """GROUP BY, and the keys that are shown."""
        kind = wanted or (self.random.choice(GROUPS) if self.may(0.6) else None)
        if kind is None:
            return "", []
        self.used.add(kind)
        plain = [column for column, sort in rows.columns if sort in {"text", "day", "flag"}]
        public = f"CASE WHEN {self.condition(rows)} THEN 'p' ELSE 'q' END"
        if kind == "public keys":
            return f"GROUP BY {public}", []
        keys = self.random.sample(plain, min(len(plain), self.random.choice([1, 2]))) or [self.of(rows, "number")]
        if kind == "private keys":
            return f"GROUP BY {', '.join(keys)}", keys
        sets = ", ".join(f"({key})" for key in keys)
        clause = {"rollup": f"ROLLUP ({', '.join(keys)})", "cube": f"CUBE ({', '.join(keys)})"}
        return f"GROUP BY {clause.get(kind, f'GROUPING SETS ({sets}, ())')}", keys


def _where(conditions: Sequence[str]) -> str:
    """The clause, if there is anything to say."""
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""
