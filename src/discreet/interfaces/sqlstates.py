"""SQLSTATEs: five characters for each error, as programs that know databases expect them.

Source: PostgreSQL 15, appendix A, "PostgreSQL Error Codes".
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet import errors
from discreet.errors import Category, DiscreetError

BY_CATEGORY: Mapping[Category, str] = {
    Category.REFUSED: "42000",  # syntax error or access rule violation
    Category.BUDGET: "53400",  # configuration limit exceeded
    Category.ACCESS: "42501",  # insufficient privilege
    Category.BUSY: "53300",  # too many connections
    Category.UNAVAILABLE: "57P03",  # cannot connect now
    Category.FAILED: "XX000",  # internal error
}
"""What is said of a category."""

BY_KIND: Mapping[type[DiscreetError], str] = {
    errors.SqlSyntax: "42601",
    errors.NotOneSelect: "0A000",
    errors.UnknownTable: "42P01",
    errors.UnknownColumn: "42703",
    errors.UnknownFunction: "42883",
    errors.TypeMismatch: "42804",
    errors.UngroupedColumn: "42803",
    errors.InvalidArgument: "22023",
    errors.DeltaRequired: "22023",
    errors.LimitsRequired: "22023",
    errors.UnboundedColumn: "22003",
    errors.Unsupported: "0A000",
    errors.ExtraMissing: "0A000",
    errors.TooManyGroups: "54000",
    errors.TooManyValues: "54000",
    errors.Unauthenticated: "28P01",
    errors.ServerUnreachable: "08001",
    errors.ReplyMalformed: "08P01",
    errors.AnswerContradicted: "08P01",
    errors.ConfigError: "F0000",
}
"""What is said of some errors besides, and of all below them."""


def sqlstate_of(error: DiscreetError) -> str:
    """The SQLSTATE of an error.

    Examples:
        >>> sqlstate_of(errors.UnknownColumn("there is no such column")), sqlstate_of(errors.BudgetExhausted("no"))
        ('42703', '53400')
    """
    return next((BY_KIND[kind] for kind in type(error).__mro__ if kind in BY_KIND), BY_CATEGORY[error.category])
