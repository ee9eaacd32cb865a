"""Named questions: what analysts call questions of theirs, so that they find the stored answers again.

They lie beside the chain, and it doesn't cover them: no decision rests on a name, and no answer is in it. A name that
was altered leads to another question of the same analyst's, or to none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
)

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger.database import NAME, NUMBER
from discreet.ledger.declaration import checked_name

if TYPE_CHECKING:
    from discreet.ledger.store import Store

MOST = 40
"""How many questions of one analyst have names: they take space, and nothing is paid for them."""

_LONGEST = 20_000
"""Characters of what is kept under a name."""

_NAMED = Table(
    "discreet_named",
    MetaData(),
    Column("account", NAME, nullable=False),
    Column("analyst", NAME, nullable=False),
    Column("name", NAME, nullable=False),
    Column("version", NUMBER, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("account", "analyst", "name"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedQuestion:
    """A question that has a name.

    Args:
        name: of it; an analyst has each once.
        content: the question and what was offered for it, each as it was typed, by field.
        version: of the tables, whose stored answer is meant.
    """

    name: str
    content: Mapping[str, str]
    version: int


class NamedQuestions:
    """The named questions of one account; `Account.named` has them. Each analyst has their own.

    Args:
        store: of the ledger.
        account: its name.
    """

    def __init__(self, store: Store, account: str) -> None:
        self._store = store
        self._account = account

    def of(self, analyst: str) -> Sequence[NamedQuestion]:
        """An analyst's, by their names.

        Raises:
            LedgerError: the ledger can't be read, or what is in it isn't one.
        """

        def read(connection: Connection) -> list[tuple[str, int, str]]:
            if not connection.dialect.has_table(connection, _NAMED.name):
                return []
            own = select(_NAMED.c.name, _NAMED.c.version, _NAMED.c.content).where(*self._whose(analyst))
            return [(row[0], row[1], row[2]) for row in connection.execute(own.order_by(_NAMED.c.name))]

        return [_read(*row) for row in self._store.plainly(read)]

    def keep(self, analyst: str, question: NamedQuestion) -> None:
        """Give a question a name; what had it before loses it.

        Raises:
            InvalidArgument: the name can't be stored, what it stands for is too long, or the analyst has too many.
            LedgerError: the ledger can't be written.
        """
        checked_name(question.name, "the name of a question")
        text = json.dumps(dict(question.content), ensure_ascii=False)
        if len(text) > _LONGEST:
            raise InvalidArgument(f"a question with a name has at most {_LONGEST:,} characters")
        own = self._whose(analyst)
        row = {"account": self._account, "analyst": analyst, "name": question.name}

        def write(connection: Connection) -> bool:
            _NAMED.create(connection, checkfirst=True)  # ledgers made before there were names don't have it
            connection.execute(delete(_NAMED).where(*own, _NAMED.c.name == question.name))
            if connection.execute(select(func.count()).select_from(_NAMED).where(*own)).scalar_one() >= MOST:
                return False
            connection.execute(insert(_NAMED).values(**row, version=question.version, content=text))
            return True

        if not self._store.plainly(write, write=True):
            raise InvalidArgument(f"{MOST} of your questions have names already", hint="take one of them away first")

    def drop(self, analyst: str, name: str) -> bool:
        """Take a name away; whether there was one.

        Raises:
            LedgerError: the ledger can't be written.
        """

        def write(connection: Connection) -> bool:
            if not connection.dialect.has_table(connection, _NAMED.name):
                return False
            gone = connection.execute(delete(_NAMED).where(*self._whose(analyst), _NAMED.c.name == name))
            return gone.rowcount > 0

        return self._store.plainly(write, write=True)

    def _whose(self, analyst: str) -> tuple[ColumnElement[bool], ...]:
        return (_NAMED.c.account == self._account, _NAMED.c.analyst == analyst)


def _read(name: str, version: int, text: str) -> NamedQuestion:
    """A named question as it is stored.

    Raises:
        LedgerCorrupt: it isn't one.
    """
    try:
        content = {str(field): str(said) for field, said in json.loads(text).items()}
    except (AttributeError, ValueError, RecursionError):
        raise LedgerCorrupt("the ledger's names of questions can't be read") from None
    return NamedQuestion(name=name, content=content, version=version)
