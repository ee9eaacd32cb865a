"""The table of allowed functions: the whole language. What isn't listed here is refused at plan time.

Each function is total: its compilation raises on no row, whatever the row holds. SQL's other spellings (BETWEEN,
NULLIF, SIGN, …) are made of these in `spellings.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.query import ir
from discreet.query.functions.apply import apply
from discreet.query.functions.arithmetic import ARITHMETIC
from discreet.query.functions.casts import CASTS
from discreet.query.functions.choice import CHOICE
from discreet.query.functions.logic import LOGIC
from discreet.query.functions.rounding import ROUNDING
from discreet.query.functions.shifts import SHIFTS
from discreet.query.functions.text import TEXT
from discreet.query.functions.times import TIMES

FUNCTIONS: Mapping[str, ir.Function] = MappingProxyType(
    {
        function.name: function
        for function in (*ARITHMETIC, *ROUNDING, *LOGIC, *CHOICE, *CASTS.values(), *TEXT, *TIMES, *SHIFTS)
    }
)


def call(name: str, *args: ir.Expr) -> ir.Expr:
    """A function of `FUNCTIONS` applied to expressions: its arguments brought together, typed, constants folded.

    Raises:
        TypeMismatch: the function doesn't take arguments of these kinds.
        UnboundedColumn: a row could overflow.
        Unsupported: the result could be too large, or an argument must be a constant and isn't.

    Examples:
        >>> from discreet.query.literals import literal
        >>> print(call("add", literal(40), literal(2)))
        integer:42
    """
    return apply(FUNCTIONS[name], args)
