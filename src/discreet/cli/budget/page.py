"""The standing of an account as a page: what is left, how it went, who spent it, and what shows that it is true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from discreet.cli.show import pages
from discreet.exact.rounding import shown
from discreet.results.charts import spending
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.cli.show.entries import Line
    from discreet.cli.show.standing import Standing
    from discreet.ledger import Verification
    from discreet.results import PublicKey

Proof: TypeAlias = "tuple[Verification, PublicKey | None] | None"
"""What verifying the ledger found, and the account's key if it has one; None where there is no ledger at hand."""

_STEPS = 500
"""How many questions the picture shows: the latest."""


def page(command: str, everyone: Standing, analysts: Sequence[Standing], entries: Sequence[Line], proof: Proof) -> str:
    """The page as HTML.

    Args:
        command: as it was said.
        everyone: the standing of all together.
        analysts: that of each who has a share, as far as the reader may see it; from a server, their own, without it.
        entries: of the account, oldest first, as far as the reader may see them.
        proof: of the ledger, where it is at hand.
    """
    measure = "epsilon" if everyone.data["budget"].get("epsilon") is not None else "rho"
    sign, now = ("ε" if measure == "epsilon" else "ρ"), datetime.now(UTC)
    paid = [(entry, getattr(entry.cost, measure) or Fraction(0)) for entry in entries if entry.cost is not None]
    return pages.page(
        "What was spent of the budget",
        [
            f'<p class="key">{escape(everyone.remaining)} is left of {escape(everyone.budget)}.</p>',
            pages.facts(
                [
                    ("date", f"{now:%Y-%m-%d %H:%M} UTC"),
                    ("made by", f"discreet {__version__}: {command}"),
                    ("budget", everyone.budget),
                    ("spent", everyone.spent),
                    ("remaining", everyone.remaining),
                    *([("failures", everyone.failures)] if everyone.failures else []),
                    *(("left to you", each.remaining) for each in analysts if not each.budget),
                ]
            ),
            *_over_time(paid, everyone, measure, sign, now),
            *_by_analyst(paid, analysts, sign),
            *_by_month(paid, sign),
            *_proof(proof),
        ],
    )


_Paid: TypeAlias = "Sequence[tuple[Line, Fraction]]"
"""Questions that were charged, and what each cost, as the budget counts."""


def _over_time(paid: _Paid, everyone: Standing, measure: str, sign: str, now: datetime) -> list[str]:
    """The picture of spending, of the questions that the reader may see."""
    seen = sum((amount for _, amount in paid), Fraction(0))
    spent = Fraction(everyone.data["spent"]["exact"][measure] or 0)
    if seen != spent:
        words = (
            f"The questions shown here make up {sign} = {shown(seen)} of {sign} = {shown(spent)} that everyone spent."
        )
        return pages.section("Over time", f"<p>{words} So there is no picture.</p>")
    if not paid:
        return pages.section("Over time", "<p>Nothing has been asked yet.</p>")
    amounts = [0.0, *map(float, accumulate(amount for _, amount in paid))]
    moments = [entry.at.astimezone(UTC) for entry, _ in (paid[0], *paid)]
    climbed, last = [*amounts, amounts[-1]][-_STEPS:], [*moments, now][-_STEPS:]
    total = float(everyone.data["budget"][measure] or amounts[-1])
    drawn = pages.chart(partial(spending, climbed, list(accumulate(last, max)), total, sign))
    return pages.section("Over time", drawn)


def _by_analyst(paid: _Paid, analysts: Sequence[Standing], sign: str) -> list[str]:
    """What each asked and spent, and what is left of their share; the one who spent most first."""
    shares = {each.who: each for each in analysts if each.budget}
    spent: dict[str, list[Fraction]] = {name: [] for name in shares}
    for entry, amount in paid:
        spent.setdefault(entry.analyst or "no name given", []).append(amount)
    body = [
        (
            name,
            shares[name].budget if name in shares else "no share of their own",
            shares[name].remaining if name in shares else "",
            f"{len(amounts):,}",
            shown(sum(amounts, Fraction(0))),
        )
        for name, amounts in sorted(spent.items(), key=lambda one: (-sum(one[1], Fraction(0)), one[0]))
    ]
    head = ("analyst", "share", "remaining of it", "questions", f"{sign} spent")
    return pages.section("By analyst", pages.table(head, body, numbers=2)) if body else []


def _by_month(paid: _Paid, sign: str) -> list[str]:
    """What was asked and spent in each month, in UTC."""
    months: dict[str, list[Fraction]] = {}
    for entry, amount in paid:
        months.setdefault(f"{entry.at.astimezone(UTC):%Y-%m}", []).append(amount)
    sums = accumulate(sum(amounts, Fraction(0)) for amounts in months.values())
    body = [
        (month, f"{len(amounts):,}", shown(sum(amounts, Fraction(0))), shown(so_far))
        for (month, amounts), so_far in zip(months.items(), sums, strict=True)
    ]
    head = ("month", "questions", f"{sign} spent", "in all")
    return pages.section("By month", pages.table(head, body, numbers=3)) if body else []


def _proof(proof: Proof) -> list[str]:
    """What shows that the figures are the ledger's, and how to check that they stay so."""
    if proof is None:
        words = "These figures are a server's word. Its custodian and auditors can verify the ledger they come from."
        return pages.section("Proof", f"<p>{words}</p>")
    found, key = proof
    if found.problems:
        listed = pages.items(str(each) for each in _few(found.problems))
        return pages.section("Proof", f"<p><strong>The ledger does not hold.</strong></p>{listed}")
    facts = [("entries", f"{found.entries:,}"), ("head", found.head), ("public key", key.text if key else "none yet")]
    return pages.section(
        "Proof",
        "<p>The hash chain of the ledger and every loss in it were recomputed for this page, and hold.</p>",
        pages.facts(facts),
        "<p>The head is the hash of the last entry. Kept with this page, it shows later that no entry up to now was "
        f"changed or cut off:</p><pre>discreet verify --kept {escape(found.head)}</pre>",
    )


def _few(problems: Iterable[object]) -> list[object]:
    """The first problems: a page isn't for all of thousands."""
    return list(problems)[:20]
