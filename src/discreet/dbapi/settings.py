"""Settings of a connection: what is offered for each question, and whether intervals are shown; SET, RESET and SHOW."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

from discreet.errors import InvalidArgument
from discreet.exact.rational import confidence, moderate, probability
from discreet.suggestions import nearest

_LONGEST = 100
"""At most this many characters of what can't be read are repeated."""

_FLAGS = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}

_OFFERS = ("epsilon", "rho", "within")

_CLAUSE = re.compile(r"\bDIFFERENTIAL_PRIVACY\b(?:\s*OPTIONS\s*\((?P<options>[^)]*)\))?", re.IGNORECASE | re.ASCII)
_OPTION = re.compile(r"(\w+)\s*=", re.ASCII)
"""What a question offers in its own words, by name. What this misreads is refused later, where it is read in full."""


def _checked(read: Callable[[Any, str], object]) -> Callable[[Any, str], Any]:
    """A reader that checks a number, and hands it on as it was said."""

    def same(said: Any, name: str) -> Any:  # noqa: ANN401 — a number of any kind
        read(said, name)
        return said

    return same


def _flag(said: object, name: str) -> bool:
    """Yes or no, in the words that databases take for them."""
    found = said if isinstance(said, bool) else _FLAGS.get(str(said).strip().lower())
    if found is None:
        raise InvalidArgument(f"discreet.{name} can't be {str(said)[:_LONGEST]!r}", hint="on, or off")
    return found


def _rows(said: object, name: str) -> int:
    """A number of rows."""
    text = str(said).replace(",", "")
    if not (text.isascii() and text.isdigit()) or len(text) > 12:  # noqa: PLR2004 — the planner reads no more
        raise InvalidArgument(f"discreet.{name} is a whole number of rows", hint=f"SET discreet.{name} = 20000")
    return int(text)


def _by_column(said: object, _name: str) -> object:
    """An accuracy for all columns; or for each by name, as in `n = 50; income = 2%@1000`."""
    if not isinstance(said, str) or "=" not in said:
        return said
    parts = (each.rpartition("=") for each in said.split(";"))
    return {name.strip() or "*": wanted.strip() for name, _, wanted in parts}


_READERS: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        "epsilon": _checked(moderate),
        "rho": _checked(moderate),
        "delta": _checked(probability),
        "within": _by_column,
        "confidence": _checked(lambda said, _: confidence(said)),
        "expecting": _rows,
        "limits": lambda said, _: said,
        "cut_off": _flag,
        "dialect": lambda said, _: said,
        "analyst": lambda said, _: said,
        "intervals": _flag,
    }
)
"""How each setting is read; what more there is to say of it, the planner says."""

_USUAL = {"confidence": "0.95", "dialect": "duckdb", "cut_off": "off", "intervals": "off"}

_VALUE = r"'(?P<quoted>(?:[^']|'')*)'|(?P<bare>[^';]+?)"
_SET = re.compile(
    rf"SET\s+(?:SESSION\s+)?discreet\.(?P<name>\w+)(?:\s*=\s*|\s+TO\s+)(?:{_VALUE})", re.IGNORECASE | re.ASCII
)
_RESET = re.compile(r"RESET\s+(?:discreet\.(?P<name>\w+)|ALL)", re.IGNORECASE | re.ASCII)
_SHOW = re.compile(r"SHOW\s+(?:discreet\.(?P<name>\w+)|ALL)", re.IGNORECASE | re.ASCII)
_TRANSACTION = re.compile(r"(?:BEGIN|START|COMMIT|ROLLBACK|END)(?:\s+(?:WORK|TRANSACTION))?", re.IGNORECASE | re.ASCII)
_OTHER = re.compile(r"(?:SET|RESET|SHOW)\b", re.IGNORECASE | re.ASCII)
_PROBE = re.compile(r"SELECT\s+(?P<number>\d{1,9})", re.IGNORECASE | re.ASCII)
"""What tools ask to see whether a connection works."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set for a connection, by name, as it was said.

    Examples:
        >>> settings = Settings().set("epsilon", "0.5").set("intervals", "on")
        >>> settings.show("epsilon"), settings.intervals, settings.show("confidence")
        ('0.5', True, '0.95')
    """

    said: Mapping[str, Any] = field(default_factory=dict)

    def set(self, name: str, said: object) -> Self:
        """These, and one more.

        Raises:
            InvalidArgument: there is no such setting, it can't be that, or it contradicts another.
        """
        name = _known(name)
        changed = {**self.said, name: _READERS[name](said, name)}
        if {"epsilon", "rho"} <= changed.keys():
            raise InvalidArgument("a question is paid for in ε or in ρ, not in both", hint="RESET the other one first")
        return replace(self, said=changed)

    def reset(self, name: str | None = None) -> Self:
        """These without one of them; without a name, none of them but who asks.

        Raises:
            InvalidArgument: there is no such setting.
        """
        gone = set(self.said) - {"analyst"} if name is None else {_known(name)}
        return replace(self, said={each: said for each, said in self.said.items() if each not in gone})

    def show(self, name: str) -> str:
        """A setting in words; the default where it isn't set, and nothing where there is none.

        Raises:
            InvalidArgument: there is no such setting.
        """
        name = _known(name)
        found = self.said.get(name, _USUAL.get(name, ""))
        return {True: "on", False: "off"}[found] if isinstance(found, bool) else str(found)

    @property
    def intervals(self) -> bool:
        """Whether the ends of intervals are columns, too."""
        return bool(self.said.get("intervals", False))

    def beside(self, question: str) -> dict[str, Any]:
        """The terms of a question: these, but for those that its own OPTIONS say.

        Raises:
            InvalidArgument: neither these nor the question say what it may cost.

        Examples:
            >>> settings = Settings().set("epsilon", "0.5").set("confidence", "0.9")
            >>> settings.beside("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) FROM t")
            {'confidence': '0.9'}
        """
        clause = _CLAUSE.search(question)
        own = set() if clause is None else {name.lower() for name in _OPTION.findall(clause["options"] or "")}
        if own & set(_OFFERS):
            own |= set(_OFFERS)
        own |= {"limits"} if any(name.startswith("max_") for name in own) else set()
        found = {name: said for name, said in self.said.items() if name != "intervals" and name not in own}
        if clause is None and not any(name in found for name in _OFFERS):
            raise InvalidArgument(
                "nothing says what the question may cost, or how accurate it must be",
                hint="SET discreet.epsilon = 0.5, or connect(…, epsilon=0.5); rho and within are offers, too",
            )
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a statement that is no question.

    Args:
        settings: from now on.
        names: of the columns that it shows; none where it shows nothing.
        rows: of them.
    """

    settings: Settings
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()


def carried_out(statement: str, settings: Settings) -> Outcome | None:
    """What becomes of a statement that isn't for the tables: of settings and transactions, and of `SELECT 1`.

    Args:
        statement: as it was given.
        settings: so far.

    Returns:
        None where it is a question.

    Raises:
        InvalidArgument: there is no such setting, or it can't be that.

    Examples:
        >>> carried_out("SET discreet.epsilon = 0.5", Settings()).settings.show("epsilon")
        '0.5'
        >>> carried_out("SELECT 1", Settings()).rows
        ((1,),)
    """
    text = statement.strip().rstrip(";").rstrip()
    if (found := _SET.fullmatch(text)) is not None:
        said = found["bare"] if found["quoted"] is None else found["quoted"].replace("''", "'")
        return Outcome(settings.set(_free(found["name"]), said.strip()))
    if (found := _RESET.fullmatch(text)) is not None:
        return Outcome(settings.reset(found["name"] and _free(found["name"])))
    if (found := _SHOW.fullmatch(text)) is not None:
        return _shown(settings, found["name"])
    if (found := _PROBE.fullmatch(text)) is not None:
        return Outcome(settings, (found["number"],), ((int(found["number"]),),))
    if _TRANSACTION.fullmatch(text):
        return Outcome(settings)
    if _OTHER.match(text):
        raise InvalidArgument(
            "this isn't a setting of discreet's",
            hint="SET discreet.epsilon = 0.5, RESET discreet.epsilon, SHOW ALL",
        )
    return None


def _free(name: str) -> str:
    """The name of a setting that a statement may change: who asks was settled by who connected, and not in SQL.

    Raises:
        InvalidArgument: it is another.
    """
    if name.lower() == "analyst":
        raise InvalidArgument("who asks is settled when a connection is made", hint="connect(…, analyst=…)")
    return name


def _shown(settings: Settings, name: str | None) -> Outcome:
    """One setting, or all of them."""
    if name is not None:
        return Outcome(settings, (f"discreet.{_known(name)}",), ((settings.show(name),),))
    return Outcome(settings, ("name", "setting"), tuple((f"discreet.{one}", settings.show(one)) for one in _READERS))


def _known(name: str) -> str:
    """The name of a setting, in lower case.

    Raises:
        InvalidArgument: there is no such setting.
    """
    if (found := name.lower()) in _READERS:
        return found
    close = nearest(found, list(_READERS))
    hint = f"did you mean discreet.{close}?" if close else f"there are {', '.join(_READERS)}"
    raise InvalidArgument(f"there is no setting discreet.{name[:_LONGEST]}", hint=hint)
