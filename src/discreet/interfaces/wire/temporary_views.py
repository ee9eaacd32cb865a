"""Temporary views: names that a session gives to texts of questions, as Ibis does to learn a text's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.interfaces.wire.outcomes import Refused
from discreet.interfaces.wire.statements import Statement, statements

_MOST_VIEWS = 10
_MOST_CHARACTERS = 16_384
_MOST_COLUMNS = 100
"""How many a session may have, and of how many characters and columns each; texts that use others hold these."""

_LONGEST_NAME = 63

_KINDS = {"TEMP", "TEMPORARY"}


@dataclass(frozen=True, slots=True)
class View:
    """A name for a text.

    Args:
        text: of a question, in which no other view is named.
        columns: each name, with its kind in the catalogue.
    """

    text: str
    columns: Sequence[tuple[str, str]] = ()


def created(statement: Statement, taken: frozenset[str]) -> tuple[str, Statement]:
    """The name that a CREATE TEMPORARY VIEW gives, and the text that it gives it to.

    Args:
        statement: that creates it.
        taken: the names of tables, in lower case.

    Raises:
        Refused: it creates something else, or of another form.
    """
    words = [each.word for each in statement.tokens]
    at = 3 if words[1:3] == ["OR", "REPLACE"] else 1
    at += words[at : at + 1] == ["LOCAL"]
    if words[at : at + 1] == ["TABLE"] or not _KINDS & set(words[at : at + 1]) or words[at + 1 : at + 2] != ["VIEW"]:
        raise Refused("0A000", "nothing is created here but temporary views", "CREATE TEMPORARY VIEW v AS SELECT …")
    name = statement.tokens[at + 2].called if len(words) > at + 2 else ""
    if not name or words[at + 3 : at + 4] != ["AS"] or len(words) == at + 4:
        raise Refused("42601", "a view is created as CREATE TEMPORARY VIEW v AS SELECT …")
    if len(name) > _LONGEST_NAME or name.lower() in taken or name.lower().startswith("pg_"):
        raise Refused("42P07", f'relation "{name[:_LONGEST_NAME]}" already exists', "give the view another name")
    body = statement.after(at + 4)
    if body.parameters:
        raise Refused("42P02", "a view takes no parameters")
    return name, body


def dropped(statement: Statement) -> tuple[str, bool]:
    """The name of the view that a DROP VIEW drops, and whether it may be missing.

    Raises:
        Refused: it drops something else.
    """
    words = [each.word for each in statement.tokens]
    if words[1:2] != ["VIEW"]:
        raise Refused("0A000", "nothing is dropped here but temporary views")
    if_exists = words[2:4] == ["IF", "EXISTS"]
    rest = [each for each in statement.tokens[4 if if_exists else 2 :] if each.word not in {"CASCADE", "RESTRICT"}]
    if len(rest) != 1 or not rest[0].called:
        raise Refused("42601", "one view is dropped at a time: DROP VIEW v")
    return rest[0].called, if_exists


class Views:
    """The temporary views of a session, by name."""

    def __init__(self) -> None:
        self.all: dict[str, View] = {}

    def add(self, name: str, view: View, *, replaces: bool) -> None:
        """Keep one.

        Raises:
            Refused: there is one of that name, or there are too many, or it is too long.
        """
        if name in self.all and not replaces:
            raise Refused("42P07", f'relation "{name}" already exists', "DROP VIEW")
        is_large = len(view.text) > _MOST_CHARACTERS or len(view.columns) > _MOST_COLUMNS
        if is_large or len(self.all) >= _MOST_VIEWS:
            each = f"{_MOST_CHARACTERS:,} characters and {_MOST_COLUMNS} columns each"
            raise Refused("53400", f"a session has at most {_MOST_VIEWS} views, of {each}")
        self.all[name] = view

    def drop(self, name: str, *, if_exists: bool) -> None:
        """Forget one.

        Raises:
            Refused: there is none of that name, and there must be.
        """
        if self.all.pop(name, None) is None and not if_exists:
            raise Refused("42P01", f'view "{name[:_LONGEST_NAME]}" does not exist')

    def expanded(self, statement: Statement) -> Statement:
        """A question with the texts of the views that it names, before it as WITH has them; itself if it names none."""
        named = {name[-1] for name in statement.relations() if len(name) == 1} & self.all.keys() if self.all else set()
        own = {each.called for at, each in enumerate(statement.tokens) if each.called and statement.is_named(at)}
        parts = [f'"{name.replace(chr(34), 2 * chr(34))}" AS ({self.all[name].text})' for name in sorted(named - own)]
        if not parts:
            return statement
        first, last = statement.tokens[0], statement.tokens[-1]
        has_own = first.word == "WITH"
        text = statement.text[first.start + len(first.text) * has_own : last.start + len(last.text)]
        found, *_ = statements(f"WITH {', '.join(parts)}{',' * has_own} {text}")
        return Statement(found.text, found.tokens, statement.hints)
