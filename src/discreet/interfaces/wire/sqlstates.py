"""SQLSTATEs: what PostgreSQL's clients are told of an error, by its kind or by its category.

Source: PostgreSQL 15, appendix A, "PostgreSQL Error Codes".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.errors import (
    Category,
    DeltaRequired,
    InvalidArgument,
    LimitsRequired,
    NotOneSelect,
    OfferRequired,
    SqlSyntax,
    TooManyGroups,
    TooManyValues,
    TypeMismatch,
    Unauthenticated,
    UnboundedColumn,
    UngroupedColumn,
    UnknownColumn,
    UnknownFunction,
    UnknownTable,
    Unsupported,
)
from discreet.service import PublicError

SQLSTATE_OF: Mapping[Category, str] = MappingProxyType(
    {
        Category.REFUSED: "42000",
        Category.BUDGET: "53400",
        Category.ACCESS: "42501",
        Category.BUSY: "53300",
        Category.UNAVAILABLE: "57P03",
        Category.FAILED: "XX000",
    }
)
"""The SQLSTATE of each category of errors."""

_OF_THEIR_OWN: Mapping[str, str] = MappingProxyType(
    {
        DeltaRequired.code: "22023",
        InvalidArgument.code: "22023",
        LimitsRequired.code: "22023",
        NotOneSelect.code: "0A000",
        OfferRequired.code: "22023",
        SqlSyntax.code: "42601",
        TooManyGroups.code: "54000",
        TooManyValues.code: "54000",
        TypeMismatch.code: "42804",
        Unauthenticated.code: "28P01",
        UnboundedColumn.code: "22003",
        UngroupedColumn.code: "42803",
        UnknownColumn.code: "42703",
        UnknownFunction.code: "42883",
        UnknownTable.code: "42P01",
        Unsupported.code: "0A000",
    }
)
"""Errors with a SQLSTATE of their own, whatever their category, by their code."""

_HINTS: Mapping[str, str] = MappingProxyType(
    {
        OfferRequired.code: "SET discreet.epsilon = 0.5; or -c discreet.epsilon=0.5 in the connection's options; or "
        "/* discreet.epsilon = 0.5 */ in the question. SET discreet.within = 100 asks for the least cost of ± 100",
        DeltaRequired.code: "SET discreet.delta = '1e-6', far below 1 / number of people; or declare the keys",
    }
)
"""What to do about an error, where this door has words of its own."""


def sqlstate_of(error: PublicError) -> str:
    """The SQLSTATE of an error: its own, or that of its category."""
    return _OF_THEIR_OWN.get(error.code, SQLSTATE_OF[error.category])


def hint_of(error: PublicError) -> str:
    """What to do about an error, in this door's words if it has any."""
    return _HINTS.get(error.code, error.hint)
