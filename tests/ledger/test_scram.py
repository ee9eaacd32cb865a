"""SCRAM verifiers: as RFC 7677 has them, made with each token, and found by verification where they were forged."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import LedgerCorrupt
from discreet.ledger import Ledger, Verifier
from discreet.ledger.row import Kind, Row, to_body
from discreet.ledger.tokens import ITERATIONS
from discreet.privacy import Budget
from discreet.service import Role
from discreet.service.tokens import issue
from support.ledgers import rewrite, rows

SALT, NONCE = "W22ZaJ0SNY7soEsUEjb6gQ==", "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SAID = f"n=user,r={NONCE[:20]},r={NONCE},s={SALT},i=4096,c=biws,r={NONCE}".encode()
PROOF, SIGNATURE = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
"""The exchange of RFC 7677, section 3: user `user`, password `pencil`."""


def proves(verifier: Verifier, proof: bytes, said: bytes) -> bool:
    """Whether a client has shown what the verifier is of; RFC 5802, section 3."""
    signature = hmac.digest(verifier.stored_key, said, "sha256")
    client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
    return hashlib.sha256(client_key).digest() == verifier.stored_key


def test_the_exchange_of_the_rfc() -> None:
    """Its client is let in, its server is who it says; another password is refused by both."""
    made = Verifier.make("pencil", b64decode(SALT), iterations=4096)
    assert proves(made, b64decode(PROOF), SAID)
    assert b64encode(hmac.digest(made.server_key, SAID, "sha256")).decode() == SIGNATURE
    for other in (
        Verifier.make("Pencil", b64decode(SALT)),
        Verifier.make("pencil", bytes(16)),
        Verifier.make("pencil", b64decode(SALT), iterations=4097),
    ):
        assert not proves(other, b64decode(PROOF), SAID)


def test_it_is_read_as_it_is_written() -> None:
    """And shown nowhere else."""
    made = Verifier.make("pencil", b64decode(SALT))
    assert Verifier.read(str(made)) == made
    assert str(made).startswith(f"SCRAM-SHA-256${ITERATIONS}:{SALT}$")
    assert repr(made) == "Verifier()"


GOOD = str(Verifier.make("pencil", b64decode(SALT)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        17,
        GOOD.replace("4096", "4095"),
        GOOD.replace("4096", "04096"),
        GOOD.replace("256$", "512$"),
        GOOD.replace(SALT, SALT[:-2]),
        GOOD.replace(SALT, ""),
        GOOD.replace(SALT, b64encode(bytes(15)).decode()),
        f"{GOOD}\n",
        GOOD[:-1],
        f"{GOOD[:-2]}9=",
        GOOD.rpartition(":")[0],
        GOOD.replace("=$", "=$=", 1),
    ],
)
def test_what_is_none_is_refused(text: object) -> None:
    """Fewer iterations, another length, another spelling of the same bytes."""
    assert text != GOOD
    with pytest.raises(LedgerCorrupt):
        Verifier.read(text)


@pytest.fixture
def issued(tmp_path: Path) -> tuple[Path, list[str]]:
    """A ledger with two tokens, and their texts."""
    path = tmp_path / "t.ledger"
    with Ledger.open(path, create=True) as ledger:
        tokens = ledger.account("census", Budget(epsilon=1)).tokens
        return path, [issue(tokens, name, Role.ANALYST, days=2).text for name in ("ann", "bob")]


def verifiers(path: Path) -> list[Any]:
    """Those of the tokens in a ledger."""
    return [json.loads(row.body).get("scram") for row in rows(path) if row.kind == Kind.TOKEN]


def test_each_token_has_its_own(issued: tuple[Path, list[str]]) -> None:
    """Made from its text, with a salt of its own; the ledger has nothing else of it."""
    path, texts = issued
    found = [Verifier.read(each) for each in verifiers(path)]
    assert [Verifier.make(text, each.salt) for text, each in zip(texts, found, strict=True)] == found
    assert len({each.salt for each in found}) == 2
    for text in texts:
        assert text.encode() not in path.read_bytes()


def _swapped(entries: list[Row], tokens: list[int]) -> str:
    """Bob's verifier in ann's entry, so that bob's token would let in ann."""
    return str(json.loads(entries[tokens[1]].body)["scram"])


def _half(entries: list[Row], tokens: list[int]) -> str:
    """The same with a salt of its own, as if it weren't the same."""
    return str(replace(Verifier.read(_swapped(entries, tokens)), salt=bytes(16)))


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        (_swapped, "it has the SCRAM verifier of another token"),
        (_half, "it has the SCRAM verifier of another token"),
        (lambda *_: "SCRAM-SHA-256$1:AAAA$AAAA:AAAA", "a token's SCRAM verifier can't be read"),
    ],
)
def test_a_forged_one_is_found(
    issued: tuple[Path, list[str]], forged: Callable[[list[Row], list[int]], str], message: str
) -> None:
    """Though every hash fits. One that was made for a token of the forger's own shows in the head alone."""
    path, _ = issued
    with Ledger.open(path, create=False) as ledger:
        kept = ledger.verify().head
    numbers = [row.seq - 1 for row in rows(path) if row.kind == Kind.TOKEN]

    def change(text: Callable[[list[Row]], str]) -> Callable[[list[Row]], None]:
        def forge(entries: list[Row]) -> None:
            said = text(entries)
            row = entries[numbers[0]]
            entries[numbers[0]] = replace(row, body=to_body(json.loads(row.body) | {"scram": said}))

        return forge

    rewrite(path, change(lambda entries: forged(entries, numbers)))
    with Ledger.open(path, create=False) as ledger:
        assert [each.message for each in ledger.verify().problems] == [message]
    rewrite(path, change(lambda _: str(Verifier.make("mine", bytes(16)))))
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify().holds
        assert not ledger.verify(kept=kept).holds


def test_a_token_of_before_there_were_any_has_none(tmp_path: Path) -> None:
    """It is let in as before, and the ledger holds."""
    with Ledger.open(tmp_path / "t.ledger", create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        account.tokens.grant("1" * 64, "ann", {"role": "analyst", "expires": "2999-01-01T00:00:00+00:00"})
        assert ledger.verify().holds
