"""`discreet budget`: what is allowed, spent and left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import say
from discreet.cli.common.sheets import Sheet, refuse_binary_to_screen, show_json

if TYPE_CHECKING:
    from discreet.accounting import Charge, Remaining
    from discreet.privacy import Budget


@reported
def budget(
    *,
    new: Annotated[
        bool,
        typer.Option("--new", help="Where the ledger is missing, begin a fresh one, which knows of nothing spent."),
    ] = False,
    format_: options.Formatted = options.Format.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the budget, what was spent of it, and what is left: of all together, and of each analyst.

    A missing ledger is an error: a fresh one would let everything be spent again, of which the same people pay. `--new`
    says that this is meant.
    """
    from discreet.cli.common.opening import opened

    refuse_binary_to_screen(format_)
    with opened(config, create_ledger=new) as tables:
        everyone = Standing("everyone", tables.dataset.budget, tables.spent, tables.remaining)
        analysts = [
            Standing(name, share, tables.spent_by(name), tables.remaining_by(name))
            for name, share in tables.dataset.analysts.items()
        ]
    match format_:
        case options.Format.TABLE:
            say("\n\n".join(one.words() for one in (everyone, *analysts)))
        case options.Format.JSON:
            show_json({**everyone.data(), "analysts": {one.who: one.data() for one in analysts}})
        case options.Format.CSV | options.Format.ARROW:
            _flat([everyone, *analysts]).show(format_)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where somebody stands.

    Args:
        who: an analyst, or everyone.
        budget: what they may spend.
        spent: what they have spent.
        remaining: what their next question may cost.
    """

    who: str
    budget: Budget
    spent: Charge
    remaining: Remaining

    def words(self) -> str:
        """For people."""
        from discreet.cli.common.amounts import in_words

        spent = in_words(self.spent, self.budget)
        return f"{self.who}\n  budget     {self.budget}\n  spent      {spent}\n  remaining  {self.remaining}"

    def data(self) -> dict[str, dict[str, object]]:
        """For programs."""
        from discreet.cli.common.amounts import allowance, amounts

        return {
            "budget": allowance(self.budget),
            "spent": amounts(self.spent),
            "remaining": dict(self.remaining.to_dict()),
        }


def _flat(standings: list[Standing]) -> Sheet:
    """One row for each, one column for each amount."""
    amounts = [(part, name) for part in ("budget", "spent", "remaining") for name in ("epsilon", "rho", "delta")]
    rows = [[one.who, *(one.data()[part][name] for part, name in amounts)] for one in standings]
    return Sheet(("who", *(f"{part}_{name}" for part, name in amounts)), rows)
