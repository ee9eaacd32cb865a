"""Tokens: shown once, known by their digest, and refused alike for whatever reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InvalidArgument, Unauthenticated
from discreet.ledger import Ledger, Tokens
from discreet.privacy import Budget
from discreet.service import Role, tokens
from discreet.service.tokens import issue, recognise


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Tokens]:
    """The tokens of an account."""
    with Ledger.open(tmp_path / "t.ledger", create=True) as ledger:
        yield ledger.account("census", Budget(epsilon=1)).tokens


def test_a_token_is_recognised(known: Tokens) -> None:
    """As what it was issued for; another one is another one."""
    issued = issue(known, "ann", Role.ANALYST, days=2, most_epsilon="1/2")
    caller = recognise(known, issued.text)
    assert caller == issued.caller
    assert (caller.subject, caller.role, caller.most_epsilon) == ("ann", Role.ANALYST, Fraction(1, 2))
    assert timedelta(days=2, seconds=-60) < caller.expires - datetime.now(UTC) <= timedelta(days=2)
    assert issue(known, "ann", Role.ANALYST, days=2).text != issued.text


def test_the_token_is_kept_nowhere(known: Tokens, tmp_path: Path) -> None:
    """The ledger's file has its digest, and not the token; nor has its description."""
    issued = issue(known, "ann", Role.ANALYST, days=2)
    stored = (tmp_path / "t.ledger").read_bytes()
    assert sha256(issued.text.encode()).hexdigest().encode() in stored
    assert issued.text.encode() not in stored
    assert issued.text.removeprefix("dsc_").encode() not in stored
    assert issued.text not in repr(issued)
    assert len(issued.text) == len("dsc_") + 43


class _Later(datetime):
    """A clock that is three days fast, or slow."""

    days = 3

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """The wrong time."""
        return datetime.now(tz) + timedelta(days=cls.days)


def test_what_holds_no_more_is_refused_in_the_same_words(known: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown, cut, revoked, expired; and made in what the clock takes for the future, which was then set back."""
    good, gone = (issue(known, "ann", Role.ANALYST, days=2) for _ in range(2))
    known.revoke(tokens.digest_of(gone.text))
    refused = []
    for text in (gone.text, "dsc_" + "A" * 43, good.text[:-1], good.text + "A", "", "\udcff", good.text.upper()):
        with pytest.raises(Unauthenticated) as caught:
            recognise(known, text)
        refused.append(caught.value.to_dict())
    for days in (3, -3):
        monkeypatch.setattr(_Later, "days", days)
        with monkeypatch.context() as patch:
            patch.setattr(tokens, "datetime", _Later)
            with pytest.raises(Unauthenticated) as caught:
                recognise(known, good.text)
            refused.append(caught.value.to_dict())
    assert all(each == refused[0] for each in refused)
    assert recognise(known, good.text) == good.caller


@pytest.mark.parametrize(
    ("role", "days", "ceiling"),
    [
        (Role.ANALYST, 0, None),
        (Role.ANALYST, 3661, None),
        (Role.ANALYST, 1, 0),
        (Role.ANALYST, 1, "nan"),
        (Role.CUSTODIAN, 1, 1),
    ],
)
def test_what_is_out_of_range_is_refused(known: Tokens, role: Role, days: int, ceiling: Any) -> None:
    """And nothing is written."""
    with pytest.raises(InvalidArgument):
        issue(known, "ann", role, days=days, most_epsilon=ceiling)
    assert known.all() == []


def test_what_something_else_wrote_is_no_token(known: Tokens) -> None:
    """A grant that doesn't say what it allows allows nothing."""
    known.grant(tokens.digest_of("dsc_" + "A" * 43), "ann", {"role": "king", "expires": "2999-01-01T00:00:00+00:00"})
    with pytest.raises(InvalidArgument):
        recognise(known, "dsc_" + "A" * 43)
