"""Running: all families, one after the other, against one server; and the table of what they found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.errors import InvalidArgument, NotTried
from discreet.exact import Rationalizable
from discreet.interfaces.conformance import (
    answers,
    approvals,
    browser,
    disclosures,
    identity,
    noise,
    postgres,
    protocol,
    resources,
)
from discreet.interfaces.conformance.postgres_session import place
from discreet.interfaces.conformance.target import Target
from discreet.interfaces.conformance.trial import Finding, Purse, Report, Trial, Verdict


@dataclass(frozen=True, slots=True)
class Family:
    """Attacks of one kind.

    Args:
        tried: what is tried, in words.
        run: tries it.
    """

    tried: str
    run: Callable[[Target, Target | None, Trial], None]


def _alone(tried: str, run: Callable[[Target, Trial], None]) -> Family:
    """A family that takes one server."""
    return Family(tried, lambda target, _, trial: run(target, trial))


def _pair(tried: str, run: Callable[[Target, Target, Trial], None]) -> Family:
    """A family that takes two."""

    def both(target: Target, twin: Target | None, trial: Trial) -> None:
        if twin is None:
            raise NotTried("this needs a second server whose table differs by one person")
        run(target, twin, trial)

    return Family(tried, both)


def _canaries(target: Target, twin: Target | None, trial: Trial) -> None:
    """Texts that must occur in no reply: tokens, and the marked values that were given."""
    for each in (target, *(() if twin is None else (twin,))):
        trial.tries += each.seen
        for asked in each.leaks:
            trial.check(holds=False, otherwise=f"a token or a marked value stands in the reply to {asked[:60]}")


FAMILIES: Mapping[str, Family] = {
    "tokens": _alone("forged, cut, changed, expired and revoked tokens", identity.tokens),
    "roles": _alone("every path with every role, and others' answers", identity.roles),
    "assumed names": _alone("names, roles and methods in headers, addresses and bodies", identity.assumed),
    "averaging": _alone("one question many times, in many spellings, by all analysts", answers.averaging),
    "differencing": _alone("questions that overlap", answers.differencing),
    "noise": _alone("how far answers about one fact lie apart, beside the error that they state", noise.noise),
    "tracker": _alone("questions about nobody and about everybody", answers.tracker),
    "idempotency keys": _alone("keys that are replayed, reused and stolen", answers.idempotency),
    "plan swaps": _alone("questions under the digests of other plans", answers.swaps),
    "approvals": _alone("approvals for others, for other questions, used again, denied or ended", approvals.approvals),
    "bombs": _alone("questions that one person's row makes expensive", resources.bombs),
    "size": _alone("large answers to short questions, long questions, many at a time", resources.size),
    "smuggling": _alone("requests that two readers understand in two ways", protocol.smuggling),
    "paths": _alone("paths written in other ways", protocol.paths),
    "bodies": _alone("bodies too large, malformed, nested, packed, and hostile SQL", protocol.bodies),
    "slow requests": _alone("many requests that never end", protocol.slow),
    "cut connections": _alone("connections cut at each step", protocol.cuts),
    "API replies": _alone("types, caching and other sites' scripts", browser.replies),
    "forged forms": _alone("the console's forms, sent by another site (CSRF)", browser.forms),
    "sessions": _alone("sessions that ended, were guessed, or given beforehand", browser.sessions),
    "formulas": _alone("texts that spreadsheets carry out, in downloads", browser.formulas),
    "scripts": _alone("scripts in questions, addresses and names (XSS)", browser.scripts),
    "frames": _alone("pages within other sites' pages (clickjacking)", browser.frames),
    "redirects": _alone("addresses that lead to other sites", browser.redirects),
    "postgres tokens": _alone("forged, cut, expired and revoked tokens as passwords", postgres.tokens),
    "postgres answers": _alone("one question as text, statement, cursor, COPY and view", postgres.answers),
    "postgres ceilings": _alone("offers above a ceiling by SET, options and comments; other roles", postgres.ceilings),
    "postgres probes": _alone("rows, numbers of rows and files, by way of the catalogue", postgres.probes),
    "postgres messages": _alone("messages that are none, and texts that mean nothing", postgres.messages),
    "postgres cuts": _alone("connections of PostgreSQL's protocol, cut and cancelled", postgres.cuts),
    "bytes of twins": _pair("the same requests to servers that differ by one person", disclosures.said),
    "times of twins": _pair("times of replies of servers that differ by one person", disclosures.times),
    "races": _alone("many connections at once, on one question and on the last of a share", answers.races),
    "traces": _alone("tokens, marked values, questions and tracebacks in metrics, log and errors", disclosures.traces),
    "canaries": Family("tokens and marked values, in every reply", _canaries),
}
"""All families by name, in the order in which they are tried: races spend what is left, and the last two look back at
all the others.
"""


def conform(  # noqa: PLR0913 — what is tested, as whom, and how much it may cost
    url: str,
    tokens: Sequence[str],
    *,
    spend: Rationalizable = "0.5",
    twin: str | None = None,
    canaries: Sequence[str] = (),
    families: Sequence[str] | None = None,
    written: Sequence[Path] = (),
    postgres_at: str = "",
    patience: float = 60.0,
) -> Report:
    """Try on a server what has been done to servers of its kind, over the protocol that strangers use.

    Guarantee: no more than `spend` is ever offered, whatever the server charges. What couldn't be tried is said, and
    never counted as held. If nothing broke, that proves nothing: these are only the attacks that someone thought of.

    Args:
        url: of the server, like `https://host:8443`.
        tokens: of test accounts: an analyst's at least. With those of a second analyst, a custodian, an auditor and an
            operator more is tried; those that neither server takes are tried as tokens that hold no more.
        spend: the most that may be offered, in ε, by all analysts and on both servers together.
        twin: a second server, whose tables differ from the first's by one person.
        canaries: marked values of the tables, which no reply may have.
        families: which to try; all if left out.
        written: files that the server writes: its log, and what its processes say to standard error.
        postgres_at: `host:port` of its port for PostgreSQL's protocol.
        patience: how many seconds to wait for a reply.

    Raises:
        InvalidArgument: no server answers, no token is an analyst's, or there is no such family, or a file that the
            server writes can't be read here.
    """
    wanted = list(FAMILIES) if families is None else list(families)
    for name in wanted:
        if name not in FAMILIES:
            raise InvalidArgument(f"there is no family {name[:30]!r}", hint=f"there are {', '.join(FAMILIES)}")
    for path in written:
        if not path.is_file() or not os.access(path, os.R_OK):
            raise InvalidArgument(f"what the server writes to {str(path)[:100]} can't be read here")
    purse = Purse(spend)
    target = Target(url, tokens, purse, canaries=canaries, patience=patience)
    target.written, target.postgres = written, postgres_at
    if postgres_at:
        place(postgres_at)
    other = None if twin is None else Target(twin, tokens, purse, canaries=canaries, patience=patience)
    if other is not None:
        taken = {each.token for each in other.holders}
        target.dead = [each for each in target.dead if each not in taken]
    before = _spent(target)
    findings = [_found(name, target, other) for name in FAMILIES if name in wanted]
    after = _spent(target)
    spent = "; ".join(f"{name}: {amount}" for name, amount in after.items() if amount != before.get(name))
    return Report(url=target.wire.url, findings=findings, spent=spent or "nothing")


def _found(name: str, target: Target, twin: Target | None) -> Finding:
    """Run one family. A reply that isn't of the documented form is a defect of the server's, not an error."""
    family, trial, left = FAMILIES[name], Trial(), target.purse.left
    reason = ""
    try:
        family.run(target, twin, trial)
    except NotTried as error:
        reason = error.message
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        trial.check(holds=False, otherwise="a reply isn't of the form that is documented, or none came")
    verdict = Verdict.NOT_TRIED if reason and not trial.evidence else trial.verdict()
    return Finding(
        family=name,
        tried=family.tried,
        tries=trial.tries,
        verdict=verdict,
        evidence=tuple(trial.evidence) or ((reason,) if reason else ()),
        offered=left - target.purse.left,
    )


def _spent(target: Target) -> dict[str, str]:
    """The spending of each analyst, by the server's account."""
    found = {}
    for holder in target.holders:
        if holder.role == "analyst":
            with suppress(LookupError, TypeError):  # a server whose ledger is damaged doesn't say
                spent = target.spent(holder)["spent"]
                found[holder.subject] = ", ".join(
                    f"{name} none" if value is None else f"{name} {float(Fraction(str(value))):.6g}"
                    for name, value in spent.items()
                )
    return found
