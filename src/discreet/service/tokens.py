"""Tokens: what a caller shows. Each has one role, so that nobody asks and decides with the same one.

They are made here, shown once, and known to the ledger by what can't be shown.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from discreet.entropy import fresh_bytes
from discreet.errors import AboveCeiling, InvalidArgument, Unauthenticated
from discreet.exact import Rationalizable
from discreet.exact.rational import positive
from discreet.ledger import Verifier, amounts_of, budget_of, checked_name
from discreet.privacy import Budget, MonthlyShare
from discreet.results import Cost
from discreet.service.roles import Role

if TYPE_CHECKING:
    from discreet.ledger import Attempt, Grant, Tokens


PREFIX = "dsc_"
"""The prefix of every token, by which scanners for leaked secrets find it."""

_BYTES = 32
_SALT = 16
_TOKEN = re.compile(f"{PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
_MOST_DAYS = 3660


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The holder of a token that is valid.

    Args:
        token: what the token is called; see `Grant.id`.
        subject: who holds it; questions are asked in this analyst's name.
        role: what it is for.
        most_epsilon: the ceiling on what one question may cost in ε; None if there is none.
        expires: when it ends, in UTC.
        most_rho: the ceiling in ρ; None if there is none.
        share: what the subject may spend, in all or in each month, as it is shown; empty where the token doesn't say.
        datasets: whose tables they may ask about, by the names of their accounts; empty for this one.
        digest: what the ledger knows the token by; empty for who came in without one.
    """

    token: str
    subject: str
    role: Role
    most_epsilon: Fraction | None
    expires: datetime
    most_rho: Fraction | None = None
    share: str = ""
    datasets: tuple[str, ...] = ()
    digest: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A token that was just made. Its text is shown once, and kept nowhere.

    Args:
        text: the token.
        caller: what it allows.
    """

    text: str
    caller: Caller

    def __repr__(self) -> str:
        """Never the token."""
        return f"Issued(caller={self.caller!r})"


def issue(  # noqa: PLR0913 — what a token may allow, each by name
    tokens: Tokens,
    subject: str,
    role: Role,
    *,
    days: int,
    most_epsilon: Rationalizable | None = None,
    most_rho: Rationalizable | None = None,
    share: Budget | None = None,
    datasets: Sequence[str] = (),
) -> Issued:
    """Make a token that holds from now on.

    Guarantee: 256 bits from the operating system. The ledger holds its SHA-256, and a SCRAM-SHA-256 verifier for
    clients of PostgreSQL's protocol; neither lets anyone in.

    Args:
        tokens: of the account.
        subject: who holds it: 1 to 255 printable characters.
        role: what it is for.
        days: for how many days it holds, from 1 to 3660.
        most_epsilon: the ceiling on what one question may cost in ε; None for none.
        most_rho: the same in ρ. Beside a ceiling in ε, it is what lets questions without a finite ε be asked.
        share: what the subject may spend, with this token or any other, before now and from now on: in all or, as
            `MonthlyShare`, in each calendar month. The ledger refuses what goes beyond. None for what the account
            allows.
        datasets: whose tables may be asked about, by the names of their accounts; empty for this account's.

    Raises:
        InvalidArgument: something is out of range, or the role never asks and so has no ceiling and no share.
        LedgerError: the ledger can't be written.
    """
    if not 1 <= days <= _MOST_DAYS:
        raise InvalidArgument(f"a token is valid for 1 to {_MOST_DAYS} days, not {days}")
    if (most_epsilon, most_rho, share) != (None, None, None) and role is not Role.ANALYST:
        raise InvalidArgument(f"a token of role {role} asks nothing, so it can have no ceiling and no share")
    for name in datasets:
        checked_name(name, "the dataset's name")
    ceilings = {
        name: str(positive(most, name))
        for name, most in (("most_epsilon", most_epsilon), ("most_rho", most_rho))
        if most is not None
    }
    text = PREFIX + urlsafe_b64encode(fresh_bytes(_BYTES)).decode("ascii").rstrip("=")
    digest = digest_of(text)
    expires = tokens.shown(digest)[1] + timedelta(days=days)
    content = {
        "role": str(role),
        "scram": str(Verifier.make(text, fresh_bytes(_SALT))),
        "expires": expires.isoformat(timespec="seconds"),
        **ceilings,
        **({} if share is None else {"share": amounts_of(share)}),
        **({"datasets": list(datasets)} if datasets else {}),
    }
    return Issued(text=text, caller=caller_of(tokens.grant(digest, subject, content)))


def share_of(amounts: Mapping[str, Any] | None, renews: str | None = None) -> Budget | None:
    """A share as it is asked for: of all time or, where it renews, of each calendar month; None for none.

    Args:
        amounts: `epsilon`, `delta` and `rho`, as for `Budget`.
        renews: "monthly"; None for never.

    Raises:
        InvalidArgument: it is none, or nothing renews.

    Examples:
        >>> print(share_of({"epsilon": "1/2"}, "monthly"))
        ε = 0.5 a month
    """
    if renews not in {None, "monthly"}:
        raise InvalidArgument(f"a share can't renew {str(renews)[:20]!r}", hint="monthly, or not at all")
    if amounts is None:
        if renews is not None:
            raise InvalidArgument("without a share there is nothing to renew", hint="give the amount for each month")
        return None
    return MonthlyShare(**amounts) if renews else Budget(**amounts)


_PART = 10

ALL = "all"
"""Says that a share is all of the budget."""


def usual_share(budget: Budget, analysts: Mapping[str, Budget]) -> Budget | None:
    """The default share of an analyst: a tenth of the budget, so that no one uses it up for everyone.

    Args:
        budget: of all together.
        analysts: shares that are declared; where there are any, only those who have one may ask, and none is made up.

    Examples:
        >>> print(usual_share(Budget(epsilon=3, delta="1e-6"), {}))
        ε = 0.3, δ = 1e-07
    """
    if analysts:
        return None
    amounts = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
    return Budget(**{name: None if amount is None else amount / _PART for name, amount in amounts.items()})


def recognise(tokens: Tokens, text: str) -> Caller:
    """The caller who shows this token.

    Raises:
        Unauthenticated: it isn't one, or holds no more. It isn't said which.
        LedgerError: the ledger can't be read.
    """
    if not _TOKEN.fullmatch(text):
        raise Unauthenticated
    return recognise_digest(tokens, digest_of(text))


def recognise_digest(tokens: Tokens, digest: str) -> Caller:
    """The caller who showed the token with this digest before; looked up anew each time, as `recognise` does."""
    grant, time = tokens.shown(digest)
    if grant is None or grant.revoked is not None:
        raise Unauthenticated
    caller = caller_of(grant)
    # By the ledger's time, and by this machine's: a clock that was set back makes no token hold again.
    if caller.expires <= max(time, datetime.now(UTC)) or grant.at > datetime.now(UTC) + _SKEW:
        raise Unauthenticated
    if caller.datasets and tokens.account not in caller.datasets:
        raise Unauthenticated
    return caller


def check_holds(tokens: Tokens, attempt: Attempt) -> None:
    """Refuse a question that was taken while its asker's token held, which holds no more.

    Raises:
        Unauthenticated: it was revoked, or has ended; a provider's has ended.
        LedgerError: the ledger can't be read.
    """
    if attempt.token:
        recognise_digest(tokens, attempt.token)
    elif attempt.until is not None and attempt.until <= datetime.now(UTC):
        raise Unauthenticated


_SKEW = timedelta(minutes=5)
"""How far the clocks of two servers on one ledger may differ."""


def digest_of(text: str) -> str:
    """The digest by which the ledger knows a token."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def caller_of(grant: Grant) -> Caller:
    """The caller that a token of the ledger makes.

    Raises:
        InvalidArgument: it was written by something else.
    """
    try:
        return _read(grant, grant.content)
    except (LookupError, TypeError, ValueError):
        raise InvalidArgument(f"the rights of token {grant.id} can't be read") from None


def _read(grant: Grant, content: Mapping[str, Any]) -> Caller:
    """Decode a token's entry; any flaw raises some built-in error."""
    ceiling, in_rho, share = (content.get(name) for name in ("most_epsilon", "most_rho", "share"))
    return Caller(
        token=grant.id,
        subject=grant.subject,
        role=Role(content["role"]),
        most_epsilon=None if ceiling is None else Fraction(ceiling),
        expires=datetime.fromisoformat(content["expires"]),
        most_rho=None if in_rho is None else Fraction(in_rho),
        share="" if share is None else str(budget_of(share, "the share")),
        datasets=tuple(map(str, content.get("datasets", ()))),
        digest=grant.digest,
    )


def check_ceiling(caller: Caller, cost: Cost) -> None:
    """Refuse a cost that is more than the caller may spend on one question.

    A question has to be within each ceiling that there is; but where it has no finite ε, the one in ρ alone binds it.

    Raises:
        AboveCeiling: it does; or it has no finite ε, and there is a ceiling in ε and none in ρ.
    """
    if caller.most_epsilon is not None and (cost.epsilon is not None or caller.most_rho is None):
        _check("ε", cost.epsilon, caller.most_epsilon, caller.subject)
    if caller.most_rho is not None:
        _check("ρ", cost.rho, caller.most_rho, caller.subject)


def _check(name: Literal["ε", "ρ"], cost: Fraction | None, most: Fraction, subject: str) -> None:
    """Refuse a cost above a ceiling, and say how it may be asked all the same.

    Raises:
        AboveCeiling: it is.
    """
    if cost is not None and cost <= most:
        return
    said = f"no finite {name}" if cost is None else f"{name} = {float(cost):.6g}"
    raise AboveCeiling(
        f"this question costs {said}, and each of yours may cost at most {name} = {float(most):.6g}",
        hint=(
            "offer less, or request approval for it and say its purpose; or the custodian makes a token with a higher "
            f"ceiling: `{_raising(name, cost, subject)}`"
        ),
    )


def _raising(name: Literal["ε", "ρ"], cost: Fraction | None, subject: str) -> str:
    """The custodian's command for a token with a ceiling that is high enough."""
    option = "--most-epsilon" if name == "ε" and cost is not None else "--most-rho"
    amount = "NUMBER" if cost is None else _UP.divide(Decimal(cost.numerator), Decimal(cost.denominator))
    return f"discreet token create {quote(subject)} {option} {amount}"


_UP = Context(prec=4, rounding=ROUND_CEILING)
