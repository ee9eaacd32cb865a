"""Rows: the entries of a ledger as they are stored, each sealed by a hash over all of it and the one before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from hashlib import sha256
from operator import attrgetter
from typing import Any

from discreet.errors import LedgerCorrupt

FORMAT = 2
"""The format of the ledgers that this version writes: 1 has marks of tables by a secret in the ledger."""

FORMATS = frozenset({1, FORMAT})
"""The formats that it reads. A ledger that it writes to gets its own."""

GENESIS = "0" * 64
"""Stands for the hash before the first entry."""

BEGINNING = -(2**62)
"""Lies before any entry, and before any row that tampering may have put in front of the first."""


class Kind(StrEnum):
    """The kinds of entries."""

    OPEN = "open"
    """The ledger was made: its format, and its name, the hash of a secret."""

    BUDGET = "budget"
    """The custodian declared a budget, analysts' shares and the adjacency of an account."""

    DECLARED = "declared"
    """The custodian's declarations of the tables changed; the body has all of them, and which weaken a promise."""

    DATA = "data"
    """Tables were admitted as a new version; the body names its snapshot, the key of its mark, and the newest version
    of each refresh group.

    Ledgers from before there were snapshots numbered what they saw of some tables here. Those numbers stay taken.
    """

    RESERVE = "reserve"
    """A question was paid for."""

    COMMIT = "commit"
    """Its answer was released; certificate and answer are kept here."""

    FAIL = "fail"
    """It got no answer. What was paid stays paid."""

    TOKEN = "token"  # noqa: S105 — the name of a kind
    """A token was issued, which lets its holder into a server; the digest is the token's."""

    REVOKE = "revoke"
    """A token was revoked."""

    ATTEMPT = "attempt"
    """The debit before it was made under an idempotency key; the digest is that of the key and its holder."""

    REQUEST = "request"
    """An analyst asked for a question to be approved; the digest is the request's id."""

    APPROVAL = "approval"
    """A custodian approved a request: its plan, for who made it, once."""

    DENIAL = "denial"
    """A custodian denied a request, or took back an approval that wasn't used."""

    USE = "use"
    """The debit before it used an approval up."""

    LOOK = "look"
    """The custodian has looked into the questions that failed; from here on, failures are counted anew."""

    KEY = "key"
    """The public key of the account's signatures from now on; the digest is its SHA-256."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry as stored. A column that means nothing for its kind is None.

    Args:
        seq: the entry's place in the ledger: 1, 2, 3, … without gaps.
        at: when, in UTC, as ISO 8601.
        kind: one of `Kind`.
        account: whose account it belongs to.
        number: the question's number in its account; an outcome has the number of its reservation.
        analyst: who asked, or whose token it is.
        digest: what the entry is looked up by: the digest of a question, of a token, of an idempotency key or of a
            signing key, the id of a request, or the mark of a version's contents.
        version: the number of the data version.
        epsilon: what the question costs in ε, as `"p/q"`, or `"inf"`; so for `rho` and `delta`.
        rho: as above.
        delta: as above.
        spent_epsilon: what the account has spent by then, this entry included; so for `rho` and `delta`.
        spent_rho: as above.
        spent_delta: as above.
        share_epsilon: what the analyst has spent by then, this entry included; so for `rho` and `delta`.
        share_rho: as above.
        share_delta: as above.
        body: the rest, as JSON.
        previous: the hash of the entry before.
        hash: SHA-256, in hexadecimal, of all the other columns.
    """

    seq: int
    at: str
    kind: str
    account: str | None = None
    number: int | None = None
    analyst: str | None = None
    digest: str | None = None
    version: int | None = None
    epsilon: str | None = None
    rho: str | None = None
    delta: str | None = None
    spent_epsilon: str | None = None
    spent_rho: str | None = None
    spent_delta: str | None = None
    share_epsilon: str | None = None
    share_rho: str | None = None
    share_delta: str | None = None
    body: str
    previous: str
    hash: str

    @classmethod
    def sealed(cls, **columns: Any) -> Row:  # noqa: ANN401 — each column is typed above
        """A row with its hash."""
        unsealed = cls(hash="", **columns)
        return cls(hash=unsealed.seal(), **columns)

    def seal(self) -> str:
        """The hash that the row should have.

        It covers every column but itself, by name, so no value can be moved from one column to another. A value of a
        type that no column has, which only tampering can leave, is hashed by its description and so never fits.
        """
        return sha256(
            json.dumps(
                {name: value for name, value in self.columns().items() if name != "hash"},
                sort_keys=True,
                separators=(",", ":"),
                default=repr,
            ).encode("ascii")
        ).hexdigest()

    @property
    def is_sealed(self) -> bool:
        """Whether nothing was changed since it was written."""
        return self.hash == self.seal()

    def columns(self) -> dict[str, Any]:
        """All columns by name."""
        return dict(zip(_COLUMNS, self.values(), strict=True))

    def values(self) -> tuple[Any, ...]:
        """The values of the columns, in their order."""
        return _VALUES(self)

    def content(self) -> dict[str, Any]:
        """The body, parsed.

        Raises:
            LedgerCorrupt: it isn't a JSON object.
        """
        try:
            content = json.loads(self.body)
        except (TypeError, ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise LedgerCorrupt(f"the content of entry {self.seq} can't be read")
        return content


_COLUMNS = tuple(each.name for each in fields(Row))
_VALUES: Callable[[Row], tuple[Any, ...]] = attrgetter(*_COLUMNS)


def to_body(content: Mapping[str, object]) -> str:
    """A body as text: ASCII, in the order given, without NaN or infinities, which JSON doesn't have.

    Raises:
        TypeError: it holds something that isn't JSON.
        ValueError: it holds NaN, an infinity, itself, or an integer too long for text.
    """
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def number_of(row: Row) -> int:
    """The number of a question."""
    if row.number is None:
        raise LedgerCorrupt(f"entry {row.seq} has no number")
    return row.number


def version_of(row: Row) -> int:
    """The number of a data version."""
    if row.version is None:
        raise LedgerCorrupt(f"entry {row.seq} has no data version")
    return row.version


def snapshot_of(row: Row) -> str | None:
    """The snapshot of a data version; None for a number of before tables were admitted."""
    content = row.content()
    if not content:
        return None
    snapshot = content.get("snapshot")
    if not isinstance(snapshot, str):
        raise LedgerCorrupt(f"the snapshot in entry {row.seq} can't be read")
    return snapshot


def declared_in(row: Row) -> dict[str, dict[str, Any]]:
    """The declarations of each table in an entry."""
    tables = row.content().get("tables")
    if not isinstance(tables, dict) or not all(
        isinstance(table, dict) and isinstance(table.get("columns"), dict) for table in tables.values()
    ):
        raise LedgerCorrupt(f"the declarations in entry {row.seq} can't be read")
    return tables


def groups_of(row: Row) -> dict[str, int]:
    """The newest version of each refresh group, as of an entry of a data version; "" is the group without a name."""
    groups = row.content().get("groups", {"": version_of(row)})
    if not isinstance(groups, dict) or not all(isinstance(number, int) for number in groups.values()):
        raise LedgerCorrupt(f"the groups in entry {row.seq} can't be read")
    return groups


def group_of(row: Row) -> str:
    """The refresh group that an entry of a data version admitted."""
    for group, number in groups_of(row).items():
        if number == row.version:
            return group
    raise LedgerCorrupt(f"entry {row.seq} is of no group")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An answer that was released, as it was released.

    Args:
        entry: the number of the question that paid for it.
        question: its digest.
        text: of the question, as its debit has it.
        version: of the data.
        certificate: what was done, as JSON-ready data.
        answer: the answer, as JSON-ready data, without its large parts.
        hash: of the entry that keeps both.
        large: reads each of these, by its name.
    """

    entry: int
    question: str
    text: str
    version: int
    certificate: dict[str, Any]
    answer: dict[str, Any]
    hash: str
    large: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    def part(self, name: str) -> Any:  # noqa: ANN401 — JSON
        """A part of the answer, wherever it lies; None if it has none of that name.

        Raises:
            LedgerCorrupt: it is lost, or isn't what was written.
            LedgerUnavailable: it can't be read.
        """
        return self.large[name]() if name in self.large else self.answer.get(name)


def text_of(debit: Row) -> str:
    """The question's text, as its debit has it."""
    return str(debit.content().get("text", ""))
