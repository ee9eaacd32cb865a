"""`discreet verify`: check the ledger, or something signed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.common import options
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.files import read_key, read_text, refuse_to_replace, write_text
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show import pages
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.exact.rounding import shown
from discreet.printable import printable

_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}


@reported
def verify(  # noqa: PLR0913 — what can be verified, each by name
    *,
    kept: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head that was printed earlier and kept elsewhere.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Verify a signed answer instead; - reads standard input."),
    ] = None,
    head: Annotated[
        Path | None, typer.Option("--head", metavar="FILE", help="Verify signed heads instead; - reads standard input.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The public key they must be signed with, or its file.")
    ] = None,
    format_: options.TextOrJson = TextFormat.TABLE,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write a certificate that holds as a page, to be printed."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Recompute the ledger's hash chain and every loss in it, and the hashes of the admitted tables' files.

    It prints the head, which is the hash of the last entry. Keep it elsewhere and give it to a later verification with
    `--kept`, which then also notices entries cut off at the end. The exit code is 4 if anything doesn't hold.

    With `--key` and `--certificate` or `--head`, it verifies a signed answer or signed heads anywhere, without a
    configuration, a ledger or a server. Get the key from its owner, not from someone who shows you the answer.
    """
    if html is not None:
        if certificate is None or head is not None:
            raise InvalidArgument("--html is for a certificate", hint="--certificate FILE --key KEY --html PAGE")
        refuse_to_replace(html, force=force, read=[certificate], endings=pages.ENDINGS)
    if certificate is not None or head is not None:
        _verify_signed(certificate, head, key, html, as_json=format_ is TextFormat.JSON)
        return
    if key is not None:
        raise InvalidArgument("--key is for verifying something signed", hint="--certificate FILE, or --head FILE")
    with working("verifying"), opened(config) as tables:
        found = tables.verify(kept=None if kept is None else "".join(kept.split()))
        problems = [str(problem) for problem in found.problems]
        damaged = [] if problems else tables.admissions.damaged()  # the ledger says what they are compared with
    if format_ is TextFormat.JSON:
        outcome = {"whole": not problems and not damaged, "entries": found.entries, "head": found.head}
        show_json(outcome | {"problems": problems, "damaged": damaged})
    elif problems:
        wrong = f"{len(problems)} of its {found.entries} entries {'is' if len(problems) == 1 else 'are'}"
        say(f"the ledger does not hold: {wrong} wrong or missing")
        for problem in problems:
            say(f"  {printable(problem)}")
    else:
        say(f"{found.entries} entries; the chain and every loss hold")
        say("the admitted tables hold" if not damaged else "the admitted tables do not hold")
        for each in damaged:
            say(f"  {printable(each)}")
        say(f"head {found.head}")
    if problems or damaged:
        raise typer.Exit(ExitCode.LEDGER)


def _verify_signed(
    certificate: Path | None, head: Path | None, key: str | None, html: Path | None, *, as_json: bool
) -> None:
    """Verify something signed, and print a summary or what is wrong with it; the page is of what holds alone."""
    from discreet.results import PublicKey, heads_in, verify_certificate, verify_head

    if key is None or (certificate is not None and head is not None):
        raise InvalidArgument(
            "give one signed thing, and the key to verify it with",
            hint="--certificate FILE --key KEY, or --head FILE --key KEY",
        )
    public = PublicKey.read(read_key(key))
    if certificate is not None:
        checks = [verify_certificate(read_text(certificate), public)]
        said = [_certificate_words(check.content) for check in checks]
    else:
        text = read_text(head or Path("-"))
        checks = [verify_head(each, public) for each in heads_in(text) or [text]]
        said = [_head_words(check.content, exact=as_json) for check in checks]
    whole = all(check.holds for check in checks)
    if html is not None and whole:
        from discreet.cli.show.certificates import page

        write_text(html, page(checks[0].content, said[0], public))
    if as_json:
        problems = [problem for check in checks for problem in check.problems]
        show_json({"whole": whole, "key": public.id, "problems": problems, **(said[-1] if whole else {})})
    elif whole:
        say(
            f"it holds: signed with key {public.id}" if len(checks) == 1 else f"{len(checks)} heads hold; the last says"
        )
        for name, value in said[-1].items():
            say(printable(f"{name:<10} {'none' if value is None else value}"), 11)
        say("this shows that the key's owner said so; not that it is right, nor that nothing newer was said")
    else:
        for number, check in enumerate(checks, 1):
            for problem in check.problems:
                say(f"it does not hold: {problem}" if len(checks) == 1 else f"head {number} does not hold: {problem}")
    if not whole:
        raise typer.Exit(ExitCode.LEDGER)


def _certificate_words(content: Mapping[str, Any]) -> dict[str, Any]:
    """A summary of a signed answer; empty if it doesn't hold."""
    if not content:
        return {}
    signature, proof = content["signature"], content["certificate"]
    if "rows" not in content:  # of an entry, without its answer
        names = {"account": signature["account"], "ledger": signature["ledger"], "signed": signature["at"]}
        return {**names, "question": content["text"], "version": proof["data_version"], "entry": content["entry"]}
    return {
        "account": signature["account"],
        "ledger": signature["ledger"],
        "signed": signature["at"],
        "question": signature["question"],
        "version": proof["data_version"],
        "entry": content["entry"] or None,
        "follows": ", ".join(map(str, content["origin"])) or None,
        "reused": content["reused"],
        "rows": len(content["rows"]),
    }


def _head_words(content: Mapping[str, Any], *, exact: bool) -> dict[str, Any]:
    """A summary of a signed head; empty if it doesn't hold."""
    if not content:
        return {}
    amounts = {name: amount for name, amount in content["spent"].items() if amount != "0"}
    spent = ", ".join(
        f"{name} = {amount or 'infinite'}"
        if exact
        else f"{_SYMBOLS.get(name, name)} = {'∞' if amount is None else shown(Fraction(amount))}"
        for name, amount in amounts.items()
    )
    names = {"account": "account", "ledger": "ledger", "signed": "at", "entries": "entries", "head": "head"}
    return {**{name: content[own] for name, own in names.items()}, "spent": spent or "nothing"}
