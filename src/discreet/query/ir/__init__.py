"""The intermediate representation: what a question means, as small frozen trees, and what is known of their values.

Expressions say what is computed within a row, or from released numbers, each with the type and range of its value.
Relations say which rows. A `Question` is what the analyst asked. `Exact` says which integers the engine is to count
and add up, per group, after each unit's contribution was limited. These are in `tree`, which imports nothing else of
`query`. `functions` is the whole language: what it doesn't list is refused. `ranges`, `domains` and `conditions` tell
which values an expression can have.

Engines know this room and nothing else of `query`; nothing here can reach a row.
"""

from discreet.query.ir.canonical_text import MARK, MOST_GROUPING_SETS, canonical, grouping, grouping_sets_of
from discreet.query.ir.conditions import conjunction, conjuncts, narrowed
from discreet.query.ir.domains import column_type, listed, public_values
from discreet.query.ir.functions import FUNCTIONS, call
from discreet.query.ir.functions.arguments import alike, numbers, unbounded
from discreet.query.ir.functions.arithmetic import MOST_DIGITS, is_exact
from discreet.query.ir.functions.casts import cast
from discreet.query.ir.limits import declared_limits, has_one_row
from discreet.query.ir.literals import (
    Value,
    day_of,
    is_null,
    literal,
    moment,
    moment_of,
    null,
    numeral,
    ordinal,
    python_value,
)
from discreet.query.ir.ranges import EXACT, hull, magnitude, outward, within
from discreet.query.ir.tree.exact import DistinctValues, Exact, Histogram, Key, Measure, Sum, Units
from discreet.query.ir.tree.expressions import (
    Call,
    Column,
    Expr,
    Function,
    Literal,
    Margin,
    Released,
    Side,
    Type,
    columns_in,
    margins,
    released_names,
)
from discreet.query.ir.tree.questions import Aggregate, Order, Output, Question, Statistic, margins_of
from discreet.query.ir.tree.relations import (
    Distinct,
    Join,
    JoinKind,
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Sorting,
    Summarized,
    Summary,
    Union,
    Where,
    Window,
    Windowed,
    columns_of,
    nodes,
    owner_of,
    scans,
    sources,
)

__all__ = [
    "EXACT",
    "FUNCTIONS",
    "MARK",
    "MOST_DIGITS",
    "MOST_GROUPING_SETS",
    "Aggregate",
    "Call",
    "Column",
    "Distinct",
    "DistinctValues",
    "Exact",
    "Expr",
    "Function",
    "Histogram",
    "Join",
    "JoinKind",
    "Key",
    "Literal",
    "Margin",
    "Measure",
    "Order",
    "Output",
    "PerUnit",
    "Project",
    "Question",
    "Ranking",
    "Relation",
    "Released",
    "Scan",
    "Side",
    "Sorting",
    "Statistic",
    "Sum",
    "Summarized",
    "Summary",
    "Type",
    "Union",
    "Units",
    "Value",
    "Where",
    "Window",
    "Windowed",
    "alike",
    "call",
    "canonical",
    "cast",
    "column_type",
    "columns_in",
    "columns_of",
    "conjunction",
    "conjuncts",
    "day_of",
    "declared_limits",
    "grouping",
    "grouping_sets_of",
    "has_one_row",
    "hull",
    "is_exact",
    "is_null",
    "listed",
    "literal",
    "magnitude",
    "margins",
    "margins_of",
    "moment",
    "moment_of",
    "narrowed",
    "nodes",
    "null",
    "numbers",
    "numeral",
    "ordinal",
    "outward",
    "owner_of",
    "public_values",
    "python_value",
    "released_names",
    "scans",
    "sources",
    "unbounded",
    "within",
]
