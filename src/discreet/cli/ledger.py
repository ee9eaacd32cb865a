"""The ledger: `discreet ledger` begins, copies and restores it.

`verify` says whether it holds, and what it signed; by `key` and `witness` others can check it, too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.app import ExitCode, reported
from discreet.cli.common import options
from discreet.cli.common.help import Command, group
from discreet.cli.common.screen import say, show_json, working
from discreet.errors import InvalidArgument
from discreet.exact.rational import shown
from discreet.printable import printable

# ── The file ──────────────────────────────────────────────────────────────────────────────────────────────────────────

ledger = group("ledger", "The file that remembers what was spent.")


@ledger.command(cls=Command)
@reported
def create(*, config: options.Config = options.CONFIG) -> None:
    """Begin the ledger of a configuration that was written by hand: with its budget, and nothing spent.

    `discreet init` begins one by itself. Where one is, this is refused: a fresh one would let everything be spent
    again, of which the same people pay. So is every other command where none is.
    """
    from discreet.gateway import create_ledger

    dataset = create_ledger(config)
    say(f"created {dataset.ledger}, the account of {printable(dataset.name)}: budget {dataset.budget}, nothing spent")


@ledger.command(cls=Command)
@reported
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; it is made, never replaced.")],
    *,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="Copy the signing key, too, into FILE.key: who has it signs as you do.")
    ] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Copy the ledger as it is at one moment, while a server goes on using it, and verify the copy.

    For a ledger that is a file. One on a server is copied by that server's own tools (pg_dump).
    """
    from discreet.ledger.backup import back_up, key_beside
    from discreet.ledger.database import key_path
    from discreet.tables import load_config

    dataset = load_config(config)
    with working("copying"):
        found = back_up(dataset.ledger, file, key=key_path(dataset.ledger, config) if with_key else None)
    say(f"copied to {printable(str(file))}: {found}")
    if with_key:
        say(f"the signing key is in {printable(str(key_beside(file)))}")
    for problem in found.problems:
        say(f"  {printable(str(problem))}")


@ledger.command(cls=Command)
@reported
def restore(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The copy; left out where a server's own tools have put it in its place."),
    ] = None,
    *,
    head: Annotated[Path, typer.Option("--head", help="What a witness kept: signed heads, the latest one last.")],
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The key of the heads, if it is newer than the copy.")
    ] = None,
    config: options.Config = options.CONFIG,
) -> None:
    """Put a copy in the place of a ledger that was lost, and charge it what was spent since it was made.

    An old copy is a refund. So the latest heads that a witness has are needed: each says, signed, how much was spent.
    What the copy lacks of that is charged as one entry without an answer; where it can't be, nothing is restored. Where
    the copy is behind, all tokens are revoked, because one that was revoked since would let somebody in again; and all
    requests are denied, because an approval that was used since would be good again.
    """
    from discreet.accounting import Charge
    from discreet.ledger.backup import key_beside, restore
    from discreet.ledger.database import key_path
    from discreet.ledger.declaration import Declaration
    from discreet.ledger.signing import SigningKey
    from discreet.results import PublicKey
    from discreet.tables import load_config

    dataset = load_config(config)
    declared = Declaration(
        budget=dataset.budget,
        analysts=dataset.analysts,
        adjacency=dataset.adjacency,
        units=dataset.units,
        failures=dataset.failures,
    )
    newer = None if key is None else PublicKey.read(read_key(key))
    with working("restoring"):
        found = restore(dataset.ledger, file, read_text(head), declared={dataset.name: declared}, key=newer)
    say(f"restored {printable(dataset.ledger)}, up to the head that was signed at {found.latest}")
    for name, charge in found.charged.items():
        words = "it lacked no spending" if charge == Charge.zero() else f"charged what the copy lacked, {charge}"
        say(f"  {printable(name)}: {words}")
    if not found.is_whole:
        closed = f"{found.revoked} tokens were revoked and {found.denied} requests denied"
        say(f"the copy is behind, so {closed}, and what was answered since is gone")
    place = key_path(dataset.ledger, config)
    if file is not None and place is not None and not place.exists() and key_beside(file).exists():
        SigningKey.copied(key_beside(file), place)
        say(f"the signing key is at {printable(str(place))}")
    elif place is None or not place.exists():
        say("there is no signing key: copy it to its place, or `discreet key --new` makes another")


# ── What others can check ─────────────────────────────────────────────────────────────────────────────────────────────

_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
_LONGEST_PATH = 1000


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
