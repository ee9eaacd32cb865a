"""Changes: how declarations differ from those before, and which of it weakens what was promised.

Declarations are taken as public and true, so a slip in them is a leak: a table made public shows its rows, a bound or a
list of keys that was read off the data says what is in it, a greater budget lets more be learned. Once an account has
losses, such a change takes effect only where the custodian names it; every other one just gets its entry.

What is compared is the JSON that entries hold. A table or column that was declared once is known from then on: leaving
it out and declaring it otherwise later is the same change.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import DeclarationWeakened
from discreet.hints import Hint
from discreet.ledger.weakening import OF_COLUMNS, OF_TABLES, weakens_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.ledger.declaration import Declaration

Tables: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The declarations of each table by its name in lower case, as JSON-ready data; `tables.declarations_of` makes them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between what is declared and what was.

    Args:
        words: what changed.
        weakens: by which name the custodian lets it happen, such as "publish people"; empty if it weakens nothing.
    """

    words: str
    weakens: str = ""


def check_named(changes: Sequence[Change], named: Collection[str]) -> None:
    """Refuse changes that weaken what was promised, and that nobody has named.

    Raises:
        DeclarationWeakened: there are some.
    """
    missing = [each for each in changes if each.weakens and each.weakens not in named]
    if not missing:
        return
    names = list(dict.fromkeys(each.weakens for each in missing))
    said = "; ".join(each.words for each in missing)
    raise DeclarationWeakened(
        f"the new declarations weaken what was promised to the people in the tables: {said}",
        hint=Hint(
            f"set them back; or, if this is intended and public knowledge, weaken={names!r}",
            cli=f"set them back; or, if this is intended and public knowledge: `{command(names)}`",
        ),
    )


def command(names: Collection[str]) -> str:
    """The command that lets changes happen.

    Examples:
        >>> command(["publish people", "budget"])
        'discreet declare --publish people --budget'
    """
    said = [
        f"--{option} {quote(place)}" if place else f"--{option}"
        for option, _, place in (name.partition(" ") for name in names)
    ]
    return " ".join(["discreet declare", *said])


def digest_of(tables: Tables) -> str:
    """The digest by which an entry of declarations is looked up."""
    return sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def known_with(known: Tables, tables: Tables) -> dict[str, Mapping[str, Any]]:
    """All tables that were ever declared, each as it was last, once these are."""
    merged: dict[str, Mapping[str, Any]] = dict(known)
    for name, table in tables.items():
        columns = {**merged.get(name, {}).get("columns", {}), **table["columns"]}
        merged[name] = {**table, "columns": columns}
    return merged


def changes_of_budget(before: Declaration, after: Declaration) -> list[Change]:
    """Differences in the budget and the number of failures. Shares of single analysts lie within the budget."""
    found = []
    if before.budget != after.budget:
        pairs = [(getattr(before.budget, name), getattr(after.budget, name)) for name in ("epsilon", "rho", "delta")]
        is_raised = any((one is None) != (other is None) or (one or 0) < (other or 0) for one, other in pairs)
        found.append(Change(f"the budget: {before.budget} → {after.budget}", "budget" if is_raised else ""))
    if before.failures != after.failures:
        weakens = "failures" if after.failures > before.failures else ""
        found.append(Change(f"failures that are allowed: {before.failures} → {after.failures}", weakens))
    return found


def changes_of_tables(current: Tables, known: Tables, after: Tables, private: Collection[str]) -> list[Change]:
    """Differences between the declarations of tables.

    Args:
        current: what is in force; empty if nothing was declared yet.
        known: the same, with all that was declared before.
        after: what is declared now.
        private: the tables that the account has units of: of those no more may be known, in a ledger of before.
    """
    found = [Change(f"table {name} is no longer declared") for name in current if name not in after]
    for name, table in after.items():
        old = known.get(name, {"public": False} if name in private and not known else None)
        if old is None:
            is_public = " as public" if table["public"] else ""
            found.append(
                Change(f"table {name} is declared{is_public}", f"publish {name}" if is_public and known else "")
            )
            continue
        if name in known and name not in current:
            found.append(Change(f"table {name} is declared again"))
        found += _of_table(name, old, table, current.get(name, {}).get("columns", {}))
    return found


def _of_table(name: str, old: Mapping[str, Any], new: Mapping[str, Any], current: Collection[str]) -> Iterator[Change]:
    """Differences between the declarations of one table, which has these columns now."""
    for key in sorted(old.keys() & new.keys() - {"columns"}):
        if old[key] != new[key]:
            yield Change(
                f"{name}: {_words(key, old[key], new[key])}", weakens_by(OF_TABLES, key, name, old[key], new[key])
            )
    before, after = old.get("columns", {}), new["columns"]
    yield from (Change(f"{name}.{column} is no longer declared") for column in current if column not in after)
    yield from (Change(f"{name}.{column} is declared") for column in after if column not in current)
    for column in after.keys() & before.keys():
        one, other, place = before[column], after[column], f"{name}.{column}"
        for key in sorted(one.keys() & other.keys()):
            if one[key] != other[key]:
                weakens = weakens_by(OF_COLUMNS, key, place, one[key], other[key])
                yield Change(f"{place}: {_words(key, one[key], other[key])}", weakens)


_LONGEST = 60


def _words(key: str, old: Any, new: Any) -> str:  # noqa: ANN401 — JSON
    """The change of one key, in words."""
    one, other = (json.dumps(each, ensure_ascii=False) for each in (old, new))
    if len(one) + len(other) > 2 * _LONGEST:
        counts = [len(each) if isinstance(each, list) else 1 for each in (old, new)]
        return f"{key.replace('_', ' ')}: others ({counts[0]} → {counts[1]})"
    return f"{key.replace('_', ' ')}: {one} → {other}"
