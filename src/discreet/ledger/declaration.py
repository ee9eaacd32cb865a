"""Declarations: what a custodian allows an account and its analysts to spend, and whom its losses are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import DiscreetError, InvalidArgument, LedgerCorrupt
from discreet.ledger.row import to_body
from discreet.ledger.units import Units, units_from
from discreet.privacy import ADD_REMOVE, FAILURES, Adjacency, Budget, MonthlyShare, checked_failures

_LONGEST_NAME = 255
_MONTHLY = "monthly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The budget of an account, the shares of its analysts, its adjacency, and the units of its tables.

    Args:
        budget: for all analysts together.
        analysts: smaller budgets of single analysts, in all or in each month. If there are any, only those may ask.
        adjacency: the relation under which all losses of the account are stated.
        units: of its private tables, by their names in lower case; none where nobody says.
        failures: how many questions may fail after they were paid for, before the custodian looks.

    Raises:
        InvalidArgument: an analyst's name can't be stored, the budget of all renews, or a number is out of range.
    """

    budget: Budget
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    adjacency: Adjacency = ADD_REMOVE
    units: Units = field(default_factory=dict)
    failures: int = FAILURES

    def __post_init__(self) -> None:
        checked_failures(self.failures)
        if isinstance(self.budget, MonthlyShare):
            raise InvalidArgument("the budget itself never renews", hint="an analyst's share may")
        for analyst in self.analysts:
            checked_name(analyst, "the analyst's name")

    def to_text(self, weakens: Sequence[str] = ()) -> str:
        """The declaration as JSON; equal declarations have equal texts.

        Args:
            weakens: what of it weakens what was promised before, by the names by which that was allowed.

        Examples:
            >>> Declaration(budget=Budget(epsilon=3)).to_text()
            '{"budget":{"epsilon":"3"},"analysts":{},"adjacency":"add_remove","failures":10}'
        """
        shares = {name: amounts_of(self.analysts[name]) for name in sorted(self.analysts)}
        said = {"budget": amounts_of(self.budget), "analysts": shares, "adjacency": str(self.adjacency)}
        units = {name: self.units[name] for name in sorted(self.units)}
        weakened = {"weakens": list(weakens)} if weakens else {}
        return to_body(said | ({"units": units} if units else {}) | {"failures": self.failures} | weakened)

    @classmethod
    def from_content(cls, content: Mapping[str, object]) -> Declaration:
        """Read back what `to_text` wrote.

        Raises:
            LedgerCorrupt: it isn't a declaration.
        """
        match content:
            case {"budget": dict(budget), "analysts": dict(analysts), "adjacency": str(adjacency)}:
                pass
            case _:
                raise LedgerCorrupt("a declared budget in the ledger can't be read")
        try:
            return cls(
                budget=_from_dict(budget),
                analysts={name: _from_dict(share) for name, share in analysts.items()},
                adjacency=Adjacency(adjacency),
                units=units_from(content),
                failures=content.get("failures", FAILURES),  # type: ignore[arg-type]  # it is checked
            )
        except (DiscreetError, ValueError, TypeError, ZeroDivisionError):
            raise LedgerCorrupt("a declared budget in the ledger can't be read") from None

    def __str__(self) -> str:
        shares = "".join(f"; {name}: {share}" for name, share in self.analysts.items())
        units = "".join(f", {table} by {unit}" for table, unit in self.units.items())
        return f"{self.budget}{shares} ({self.adjacency.replace('_', '-')}{units}); at most {self.failures} failures"


def checked_name(name: str, what: str) -> str:
    """The name, if a ledger can store it and a reader can see all of it.

    Raises:
        InvalidArgument: it is empty or too long, starts or ends with a space, or holds characters that don't print.
    """
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= _LONGEST_NAME
        or not name.isprintable()
        or name != name.strip()
    ):
        raise InvalidArgument(f"{what} must have 1 to {_LONGEST_NAME} printable characters, with no space at its ends")
    return name


def budget_of(amounts: object, what: str) -> Budget:
    """A budget as an entry has it.

    Raises:
        LedgerCorrupt: it can't be read.
    """
    try:
        if isinstance(amounts, dict):
            return _from_dict(amounts)
    except (DiscreetError, ValueError, TypeError, ZeroDivisionError):
        pass
    raise LedgerCorrupt(f"{what} in the ledger can't be read")


def amounts_of(budget: Budget) -> dict[str, str]:
    """A budget as JSON-ready data; exact."""
    amounts = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
    renews = {"renews": _MONTHLY} if isinstance(budget, MonthlyShare) else {}
    return {name: str(amount) for name, amount in amounts.items() if amount is not None} | renews


def _from_dict(amounts: Mapping[str, str]) -> Budget:
    """A budget as it was declared; a version of discreet that knows of no renewal can't read one that renews."""
    exact = {name: Fraction(amount) for name, amount in amounts.items() if name != "renews"}
    if "renews" not in amounts:
        return Budget(**exact)
    if amounts["renews"] != _MONTHLY:
        raise InvalidArgument("a share renews monthly, or not at all")
    return MonthlyShare(**exact)
