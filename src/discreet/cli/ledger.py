"""`discreet ledger`: begin, copy and restore the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.files import read_key, read_text
from discreet.cli.common.help import Command, group
from discreet.cli.common.reporting import reported
from discreet.cli.show.screen import say
from discreet.cli.show.waiting import working
from discreet.printable import printable

ledger = group("ledger", "The file that remembers what was spent.")


@ledger.command(cls=Command)
@reported
def create(*, config: options.Config = options.CONFIG) -> None:
    """Begin the ledger of a configuration that was written by hand, with its budget and nothing spent.

    `discreet init` does this itself. It is refused if there is a ledger already: a fresh one would let the whole budget
    be spent again on the same people. Every other command needs a ledger.
    """
    from discreet.gateway import create_ledger

    dataset = create_ledger(config)
    say(f"created {dataset.ledger}, the account of {printable(dataset.name)}: budget {dataset.budget}, nothing spent")


@ledger.command(cls=Command)
@reported
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to make; an existing file is never replaced.")],
    *,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="Also copy the signing key, to FILE.key: its holder can sign as you.")
    ] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Copy the ledger as it is at one moment, even while a server uses it, and verify the copy.

    This is for a ledger in a file. Copy one on a database server with that server's own tools (pg_dump).
    """
    from discreet.ledger.backup import back_up, key_beside
    from discreet.ledger.location import key_path
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
        typer.Argument(
            metavar="FILE",
            help="The copy; leave it out if a database server's own tools have already restored the ledger.",
        ),
    ] = None,
    *,
    head: Annotated[Path, typer.Option("--head", help="The signed heads that a witness kept, the latest last.")],
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The key that signed the heads, if it is newer than the copy."),
    ] = None,
    config: options.Config = options.CONFIG,
) -> None:
    """Put a copy in place of a lost ledger, and charge it for what was spent after the copy was made.

    An old copy would be a refund. So it takes the latest heads that a witness kept: each is signed, and says how much
    was spent by then. The rest is charged as one entry without an answer; if it can't be, nothing is restored. If the
    copy is behind, all tokens are revoked, since one that was revoked later would be valid again; and all requests are
    denied, since an approval that was used later could be used again.
    """
    from discreet.accounting import Charge
    from discreet.ledger.backup import key_beside, restore
    from discreet.ledger.declaration import Declaration
    from discreet.ledger.location import key_path
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
    say(f"restored {printable(dataset.ledger)} up to the head that was signed at {found.latest}")
    for name, charge in found.charged.items():
        words = "it lacked no spending" if charge == Charge.zero() else f"charged what the copy lacked, {charge}"
        say(f"  {printable(name)}: {words}")
    if not found.is_whole:
        closed = f"{found.revoked} tokens were revoked and {found.denied} requests denied"
        say(f"the copy is behind, so {closed}, and what was answered since then is gone")
    place = key_path(dataset.ledger, config)
    if file is not None and place is not None and not place.exists() and key_beside(file).exists():
        SigningKey.copied(key_beside(file), place)
        say(f"the signing key is at {printable(str(place))}")
    elif place is None or not place.exists():
        say("there is no signing key: copy it to its place, or make a new one with `discreet key --new`")
