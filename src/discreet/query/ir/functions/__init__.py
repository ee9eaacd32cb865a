"""The table of allowed functions: the whole language. A function that isn't listed here is refused at plan time.

Each function is total: its compilation raises on no row, whatever the row holds. SQL's other forms (BETWEEN, NULLIF,
SIGN, …) are made of these in `sql.scalar_syntax`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType

from discreet.query.ir.expressions import Expr, Function
from discreet.query.ir.functions.application import apply
from discreet.query.ir.functions.arithmetic import ARITHMETIC
from discreet.query.ir.functions.casts import CASTS, SINGLE
from discreet.query.ir.functions.choice import CHOICE
from discreet.query.ir.functions.logic import LOGIC
from discreet.query.ir.functions.rounding import ROUNDING
from discreet.query.ir.functions.shifts import SHIFTS
from discreet.query.ir.functions.text import TEXT
from discreet.query.ir.functions.times import TIMES

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        function.name: function
        for function in (*ARITHMETIC, *ROUNDING, *LOGIC, *CHOICE, *CASTS.values(), SINGLE, *TEXT, *TIMES, *SHIFTS)
    }
)


def _named(name: str) -> Function:
    """The function of a name: answers hold some, and are pickled with these names."""
    return FUNCTIONS[name]


copyreg.pickle(Function, lambda function: (_named, (function.name,)))


def call(name: str, *args: Expr) -> Expr:
    """A function of `FUNCTIONS` applied to expressions: its arguments brought together, typed, constants folded.

    Raises:
        TypeMismatch: the function doesn't take arguments of these kinds.
        UnboundedColumn: a row could overflow.
        Unsupported: the result could be too large, or an argument must be a constant and isn't.

    Examples:
        >>> from discreet.query.ir.literals import literal
        >>> print(call("add", literal(40), literal(2)))
        integer:42
    """
    return apply(FUNCTIONS[name], args)
