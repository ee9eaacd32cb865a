"""Public errors: what callers are told of an error, as data, before any protocol says it in its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from discreet.errors import Category, DiscreetError, LedgerCorrupt, from_dict


@dataclass(frozen=True, slots=True)
class Told:
    """Everything that a caller is told of an error, in any protocol.

    Args:
        code: the stable name of its kind.
        message: what is wrong.
        hint: what to do about it; may be empty.
        place: a one-based line and column of the question.
        retry_after: the least number of seconds to wait; None if waiting doesn't help, or nobody knows.
    """

    code: str
    message: str
    hint: str = ""
    place: tuple[int, int] | None = None
    retry_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicError(Told):
    """An error as a caller is told of it; what isn't the caller's affair has been left out.

    Guarantee: if something is unavailable (sources, snapshots, the ledger), nothing more is said, so no path leaves.

    Args:
        category: what it means; protocols have tables of how they say that.
    """

    category: Category

    @classmethod
    def of(cls, error: DiscreetError) -> Self:
        """The public part of an error."""
        if error.category is Category.UNAVAILABLE:
            message, hint = _WITHHELD.get(error.code, _UNAVAILABLE)
            return cls(code=error.code, category=error.category, message=message, hint=hint)
        return cls(
            code=error.code,
            category=error.category,
            message=error.message,
            hint=str(error.hint),
            place=error.place,
            retry_after=error.retry_after,
        )

    def as_error(self) -> DiscreetError:
        """The same to be raised, of its own kind."""
        said = {"code": self.code, "message": self.message, "hint": self.hint, "place": self.place}
        error = from_dict(said)
        error.retry_after = self.retry_after
        return error


_UNAVAILABLE = "the service can't answer now; nothing was charged", "try again later"

_WITHHELD: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        LedgerCorrupt.code: (
            "the ledger is damaged, so nothing is asked until it is restored; nothing was charged",
            "custodians and auditors see in the history what is damaged",
        )
    }
)
"""Message and hint of errors that are unavailable, by their code, where more is said than that."""
