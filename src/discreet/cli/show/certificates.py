"""Certificates as pages to print: an answer with its ±, how it was made, what it cost, and how to check all that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.cli.show import pages
from discreet.exact.rounding import shown
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.results import PublicKey

_ROWS = 200
"""How many rows of an answer a page has; the file has all."""

_SHOWS = (
    "A signature shows that the key's owner said this, all of it, about this question; not that it is right, nor that "
    "nothing newer was said. Get the public key from its owner, and compare it with the one above."
)


def page(content: Mapping[str, Any], summary: Mapping[str, Any], key: PublicKey) -> str:
    """The page as HTML.

    Args:
        content: of a certificate that was verified and holds.
        summary: of it, by name.
        key: by which it was verified.
    """
    proof = content["certificate"]
    cost = content.get("cost") or proof["cost"]
    question = proof.get("text") or "; ".join(proof["questions"])
    facts = [
        ("account", str(summary["account"])),
        ("analyst", proof.get("analyst") or "no name given"),
        ("version of the tables", str(proof["data_version"])),
        ("entry of the ledger", str(proof["entry"] or "none: nothing was charged")),
        ("cost", _amounts(cost)),
        *([("limits", content["limits"])] if content.get("limits") else []),
        *_guarantee(proof),
    ]
    signature = content["signature"]
    signed = [
        ("ledger", signature["ledger"]),
        ("public key", key.text),
        ("signed", f"{signature['at']}, {signature['algorithm']}"),
        ("signature", signature["value"]),
        ("verified", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, by discreet {__version__}: it holds"),
    ]
    return pages.page(
        f"Certificate of an answer from {summary['account']}",
        [
            f"<pre>{escape(question)}</pre>",
            *_answer(content),
            *pages.section("How it was made", pages.facts(facts)),
            *pages.section(
                "Signed",
                pages.facts(signed),
                f"<p>{escape(_SHOWS)}</p>",
                "<pre>discreet verify --certificate FILE --key KEY</pre>",
            ),
        ],
    )


def _answer(content: Mapping[str, Any]) -> list[str]:
    """The rows of the answer with their intervals; nothing for the certificate of an entry, which has none."""
    if "rows" not in content:
        return ['<p class="note">This is the certificate of an entry: it vouches for an answer without showing it.</p>']
    intervals, names = content["intervals"], list(content["columns"])
    head = [one for name in names for one in ((name, f"{name}: interval") if name in intervals else (name,))]
    body = [
        [cell for name in names for cell in _cells(row[name], intervals[name][place] if name in intervals else ...)]
        for place, row in enumerate(content["rows"][:_ROWS])
    ]
    numbers = 0 if content["columns"][names[0]] in {"text", "boolean"} else 1
    more = len(content["rows"]) - _ROWS
    at = f"Intervals hold at {100 * content['confidence']:.6g} %."
    return [
        pages.table(head, body, numbers=len(head) - 1 + numbers),
        *([f'<p class="note">And {more:,} more rows.</p>'] if more > 0 else []),
        *([f'<p class="note">{at} {escape(content["coverage"])}</p>'] if intervals else []),
    ]


def _cells(value: object, interval: object) -> Iterator[str]:
    """A value, and its interval if its column has one."""
    yield _cell(value)
    if isinstance(interval, list):
        low, high = interval
        yield f"{'−∞' if low is None else _cell(low)} to {'∞' if high is None else _cell(high)}"
    elif interval is None:
        yield ""


def _cell(value: object) -> str:
    """A value for people."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "" if value is None else f"{value:,}" if type(value) is int else str(value)


def _amounts(cost: Mapping[str, Any]) -> str:
    """A cost, for people."""
    signs = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    exact = {name: Fraction(amount) for name, amount in cost["exact"].items() if amount not in {None, "0"}}
    return ", ".join(f"{signs[name]} = {shown(amount)}" for name, amount in exact.items()) or "nothing"


def _guarantee(proof: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is hidden, and by which noise; as the plans say it."""
    plans = proof.get("plans") or []
    units = sorted({f"{plan['unit']}, {str(plan['adjacency']).replace('_', '-')}" for plan in plans})
    if units:
        yield "unit of privacy", "; ".join(units)
    measures = [each for plan in plans for level in plan.get("levels", ()) for each in level.get("measures", ())]
    if measures:
        yield "noise", "; ".join(_noise(each.get("mechanism") or {}, each.get("step")) for each in measures)
    follows = [str(each.get("entry")) for each in proof.get("follows_from") or ()]
    if follows:
        yield "follows from entries", ", ".join(follows)


def _noise(mechanism: Mapping[str, Any], step: object) -> str:
    """The noise of one measured number, with its exact parameters."""
    said = json.dumps(mechanism, ensure_ascii=False).strip("{}").replace('"', "")
    return f"{said}, in steps of {step}" if step is not None else said
