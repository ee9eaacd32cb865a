"""What others can check: `discreet verify`, whether all of it holds; `key`, by what; `witness`, so that it stays so."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import ExitCode, reported
from discreet.cli.common.screen import say, working
from discreet.cli.common.sheets import show_json
from discreet.errors import InvalidArgument
from discreet.exact.rational import shown
from discreet.printable import printable


@reported
def verify(  # noqa: PLR0913 — what can be verified, each by name
    *,
    kept: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head that was printed before and kept elsewhere.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="Verify a signed answer instead; - reads it.")
    ] = None,
    head: Annotated[
        Path | None, typer.Option("--head", metavar="FILE", help="Verify signed heads instead; - reads them.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The public key they must be signed with; or its file.")
    ] = None,
    format_: options.TextOrJson = options.TextFormat.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Recompute the ledger's hash chain and every loss in it, and the hashes of the admitted tables' files.

    Prints the hash of the last entry, the head. Keep it elsewhere and give it to a later verification (`--kept`): that
    shows an end that was cut off, too. Exit code 4 if anything doesn't hold.

    With `--certificate` or `--head` and `--key`, it verifies a signed answer, or signed heads, anywhere: it needs no
    configuration, no ledger and no server. Have the key from its owner, and not from whoever has the answer.
    """
    if certificate is not None or head is not None:
        _verify_signed(certificate, head, key, as_json=format_ is options.TextFormat.JSON)
        return
    if key is not None:
        raise InvalidArgument("a key verifies something signed", hint="--certificate FILE, or --head FILE")
    with working("verifying"), options.opened(config) as tables:
        found = tables.verify(kept=None if kept is None else "".join(kept.split()))
        problems = [str(problem) for problem in found.problems]
        damaged = [] if problems else tables.admissions.damaged()  # the ledger says what they are compared with
    if format_ is options.TextFormat.JSON:
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


def _verify_signed(certificate: Path | None, head: Path | None, key: str | None, *, as_json: bool) -> None:
    """Say what holds of something signed, and what doesn't."""
    from discreet.results import PublicKey, heads_in, verify_certificate, verify_head

    if key is None or (certificate is not None and head is not None):
        raise InvalidArgument(
            "one signed thing is verified with one key", hint="--certificate FILE --key KEY, or --head FILE --key KEY"
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
    if as_json:
        problems = [problem for check in checks for problem in check.problems]
        show_json({"whole": whole, "key": public.id, "problems": problems, **(said[-1] if whole else {})})
    elif whole:
        say(
            f"it holds: signed with key {public.id}" if len(checks) == 1 else f"{len(checks)} heads hold; the last says"
        )
        for name, value in said[-1].items():
            say(printable(f"{name:<10} {'none' if value is None else value}"), 11)
        say("that its owner said this is shown; not that it is right, nor that nothing newer was said")
    else:
        for number, check in enumerate(checks, 1):
            for problem in check.problems:
                say(f"it does not hold: {problem}" if len(checks) == 1 else f"head {number} does not hold: {problem}")
    if not whole:
        raise typer.Exit(ExitCode.LEDGER)


def _certificate_words(content: Mapping[str, Any]) -> dict[str, Any]:
    """What was signed with an answer, in short; nothing, if it doesn't hold."""
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


_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}


def _head_words(content: Mapping[str, Any], *, exact: bool) -> dict[str, Any]:
    """What was signed with a head, with exact amounts or with rounded ones; nothing, if it doesn't hold."""
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


@reported
def key(
    *,
    new: Annotated[bool, typer.Option("--new", help="Make another, which signs from now on.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show those of before, too, the oldest first.")] = False,
    format_: options.TextOrJson = options.TextFormat.TABLE,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the public key of the account: answers and heads that are signed are verified with it.

    Publish it where nobody else can write. The private key is a file that its owner alone can read: beside a ledger
    that is a file (`NAME.ledger.key`), else beside the configuration. A ledger of before there were keys is given one.
    After `--new`, what was signed before is verified with the old one, which `--all` shows. Start servers again.
    """
    with options.opened(config) as tables:
        made = tables.signing.make(anew=new)
        found = tables.signing.all() if all_ else [made]
    if format_ is options.TextFormat.JSON:
        show_json([each.to_json() for each in found] if all_ else made.to_json())
    else:
        say("\n".join(each.text for each in found))


@reported
def witness(
    place: Annotated[
        str, typer.Argument(metavar="PLACE", help="A file elsewhere, to append to; or an https:// address.")
    ],
    *,
    config: options.Config = options.CONFIG,
) -> None:
    """Send the ledger's signed head to a witness, once; for a clock of your own, such as cron's.

    The witness keeps it where whoever can write the ledger can't. Later it shows that the ledger was cut off or
    exchanged (`verify --head`), and how much had been spent by then (`ledger restore`). A file gets one line of JSON;
    an address gets the same by POST.
    """
    from discreet.service import Witness

    with options.opened(config) as tables:
        head = tables.signing.head()
    Witness(place).send(head)
    say(f"sent entry {head['entries']}, head {head['head']}")


def read_text(path: Path) -> str:
    """What is in a file, or comes in for `-`.

    Raises:
        InvalidArgument: it can't be read as a text.
    """
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"the file {str(path)!r} can't be read as a text") from None


def read_key(key: str) -> str:
    """A key, or what is in its file."""
    return read_text(Path(key)) if len(key) < _LONGEST_PATH and Path(key).is_file() else key


_LONGEST_PATH = 1000
