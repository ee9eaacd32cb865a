"""Named questions: what analysts call questions of theirs, so that they find the stored answers again.

They lie beside the chain, and it doesn't cover them: no decision rests on a name, and no answer is in it. A name that
was altered leads to another question of the same analyst's, or to none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger.declaration import checked_name

if TYPE_CHECKING:
    from discreet.ledger.store import Store

MOST = 40
"""How many questions of one analyst have names: they take space, and nothing is paid for them."""

_LONGEST = 20_000
"""Characters of what is kept under a name."""


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
        from discreet.ledger import database

        read = partial(database.named, account=self._account, analyst=analyst)
        return [_read(*row) for row in self._store.plainly(read)]

    def keep(self, analyst: str, question: NamedQuestion) -> None:
        """Give a question a name; what had it before loses it.

        Raises:
            InvalidArgument: the name can't be stored, what it stands for is too long, or the analyst has too many.
            LedgerError: the ledger can't be written.
        """
        from discreet.ledger import database

        checked_name(question.name, "the name of a question")
        text = json.dumps(dict(question.content))
        if len(text) > _LONGEST:
            raise InvalidArgument(f"a question with a name has at most {_LONGEST:,} characters")
        row = {"name": question.name, "version": question.version, "content": text}
        write = partial(database.keep_named, account=self._account, analyst=analyst, row=row, most=MOST)
        if not self._store.plainly(write, write=True):
            raise InvalidArgument(f"{MOST} of your questions have names already", hint="take one of them away first")

    def drop(self, analyst: str, name: str) -> bool:
        """Take a name away; whether there was one.

        Raises:
            LedgerError: the ledger can't be written.
        """
        from discreet.ledger import database

        write = partial(database.drop_named, account=self._account, analyst=analyst, name=name)
        return self._store.plainly(write, write=True)


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
