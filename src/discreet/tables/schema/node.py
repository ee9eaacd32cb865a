"""Nodes: the entries of a configuration being read, each with its full name for the error it may cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction

from discreet.errors import ConfigError, InvalidArgument
from discreet.tables.schema.toml import MOST_DIGITS, key, quoted

_RATIO = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}/[0-9]{{1,{MOST_DIGITS}}}")
_DECIMAL = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?([eE][+-]?[0-9]{{1,9}})?")
_SHOWN = 60
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Node:
    """One entry of a configuration: its value, where it stands, and how a right one looks.

    Every reader below returns what it promises or raises a `ConfigError` that names the entry by its full path,
    says what was expected and what is there, and shows a right one.

    Args:
        path: the full name, such as `tables.adult.columns.age.bounds`; empty for the whole file.
        value: as TOML has it, with floats as decimals.
        example: a right entry, for hints.

    Examples:
        >>> Node("budget.epsilon", Decimal("0.1")).number()
        Fraction(1, 10)
    """

    path: str
    value: object
    example: str = ""

    def wrong(self, expected: str, *, hint: str = "") -> ConfigError:
        """The error for a value that isn't what was expected."""
        return self.error(f"expected {expected}, got {describe(self.value)}", hint=hint or self.example)

    def error(self, message: str, *, hint: str = "") -> ConfigError:
        """An error about this entry."""
        return ConfigError(_short(f"{self.path}: {message}" if self.path else message), hint=_short(hint))

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Lay an `InvalidArgument` raised inside at this entry's door."""
        try:
            yield
        except InvalidArgument as error:
            raise self.error(error.message, hint=error.hint_at("file") or self.example) from None

    def text(self, *, empty: bool = False) -> str:
        """A text, which may only be empty if that is said."""
        if not isinstance(self.value, str) or not (self.value or empty):
            raise self.wrong("a text in quotes")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def whole(self) -> int:
        """A whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("a whole number, without a point or exponent")
        return self._small(self.value)

    def number(self) -> Fraction:
        """A number, exactly as it is written: 0.1 is one tenth; a text such as "1/3" is a number too."""
        written = self.value
        if isinstance(written, int) and not isinstance(written, bool):
            return Fraction(self._small(written))
        if isinstance(written, str) and _RATIO.fullmatch(written):
            try:
                return Fraction(written)
            except ZeroDivisionError:
                raise self.wrong("a number") from None
        if isinstance(written, str) and _DECIMAL.fullmatch(written):
            written = Decimal(written)
        if not isinstance(written, Decimal) or not written.is_finite():
            raise self.wrong("a finite number")
        if len(written.as_tuple().digits) > MOST_DIGITS or (written and abs(written.adjusted()) > MOST_DIGITS):
            raise self.wrong(f"a number of at most {MOST_DIGITS} digits")
        # A zero may carry any exponent, so that 0e999999999 must not become 10^999999999 on the way.
        exact = Fraction(written) if written else Fraction(0)
        self._small(max(abs(exact.numerator), exact.denominator))
        return exact

    def _small(self, number: int) -> int:
        """The integer, unless it has too many digits to compute with or to show."""
        if abs(number) >= 10**MOST_DIGITS:
            raise self.wrong(f"a number of at most {MOST_DIGITS} digits")
        return number

    def one_of(self, options: list[str], also: Mapping[str, str] | None = None) -> str:
        """One of a few words; `also` maps words of other systems to ours, for the hint."""
        word = self.value
        if isinstance(word, str) and word in options:
            return word
        close = suggestion(word, options, also or {}) if isinstance(word, str) else None
        hint = f"did you mean {quoted(close)}?" if close else self.example
        raise self.wrong(f"one of {', '.join(map(quoted, options))}", hint=hint)

    def array(self) -> list[Node]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            raise self.wrong("an array in [brackets]")
        return [Node(f"{self.path}[{n}]", item, self.example) for n, item in enumerate(self.value)]

    def named(self) -> dict[str, Node]:
        """The entries of a table whose keys are names of the custodian's choice; at least one."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.wrong("a table with at least one entry")
        return {name: Node(self._below(name), entry, self.example) for name, entry in self.value.items()}

    def table(
        self, known: Mapping[str, str], *, required: tuple[str, ...] = (), also: Mapping[str, str] | None = None
    ) -> dict[str, Node]:
        """The entries of a table of known keys.

        Args:
            known: the keys there are, each with an example.
            required: those that can't be left out.
            also: keys of other systems and their name here, for the hint.

        Raises:
            ConfigError: it isn't a table, has a key that isn't known, or lacks one that is required.
        """
        if not isinstance(self.value, dict):
            raise self.wrong("a table")
        for name in self.value:
            if name not in known:
                close = suggestion(name, list(known), also or {})
                hint = f"did you mean {close}?" if close else f"there are {', '.join(known)}"
                raise Node(self._below(name), None).error("there is no such key", hint=hint)
        for name in required:
            if name not in self.value:
                raise ConfigError(f"{self._below(name)} is missing", hint=known[name])
        return {name: Node(self._below(name), entry, known[name]) for name, entry in self.value.items()}

    def _below(self, name: str) -> str:
        """The full name of an entry of this table."""
        name = key(name) if len(name) <= _SHOWN else quoted(name[:_SHOWN] + "…")
        return f"{self.path}.{name}" if self.path else name


def suggestion(word: str, options: list[str], also: Mapping[str, str]) -> str | None:
    """The option that was probably meant.

    Examples:
        >>> suggestion("bouns", ["bounds", "keys"], {})
        'bounds'
    """
    folded = {option.casefold(): option for option in options} | dict(also)
    close = get_close_matches(word[:_SHOWN].casefold(), list(folded), n=1)
    return folded[close[0]] if close else None


def _short(words: str) -> str:
    """The words, cut where a name or value of endless length makes them so."""
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"


def describe(value: object) -> str:
    """What is there, in a few words; never long, whatever it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value) if len(value) <= _SHOWN else f"a text of {len(value)} signs"
    if isinstance(value, int | Decimal):
        short = isinstance(value, Decimal) or abs(value) < 10**_SHOWN
        return f"the number {str(value)[:_SHOWN]}" if short else "a number of too many digits"
    if isinstance(value, date | time):
        kind = "time" if isinstance(value, time) else "timestamp" if isinstance(value, datetime) else "date"
        return f"the {kind} {value.isoformat()}"
    return f"an array of {len(value)}" if isinstance(value, list) else "a table"
