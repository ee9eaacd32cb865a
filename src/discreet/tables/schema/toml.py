"""TOML as a configuration needs it: parsing with every number exact, quoting, and entries that errors can name."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from discreet.errors import ConfigError, InvalidArgument
from discreet.suggestions import nearest

MOST_DIGITS = 400
"""Numbers with more digits, or beyond 10^±400, are refused: no declaration needs them, and exact arithmetic on
`1e999999999` would exhaust memory.
"""

MOST_BYTES = 16 * 2**20
"""Files longer than this are refused unread: no configuration is as long, and a pipe or device never ends."""


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def parse(data: bytes) -> dict[str, object]:
    """Read TOML; numbers with a point or exponent become exact decimals.

    Guarantee: whatever the bytes, the outcome is a dictionary or a `ConfigError`.

    Raises:
        ConfigError: it isn't UTF-8 or isn't TOML; `place` says where.

    Examples:
        >>> parse(b"epsilon = 0.1")
        {'epsilon': Decimal('0.1')}
    """
    if len(data) > MOST_BYTES:
        raise ConfigError(f"the file is longer than {MOST_BYTES // 2**20} MiB, so it isn't a configuration")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ConfigError("the file isn't UTF-8 text", hint="save it as UTF-8", place=(line, column)) from None
    try:
        return tomllib.loads(text, parse_float=_exact)
    except RecursionError:
        raise ConfigError("the file isn't valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise _syntax(str(error), text) from None


def _exact(text: str) -> Decimal:
    """A TOML float as the decimal that was typed."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ConfigError(f"the number {text[:40]} is out of range") from None


def _syntax(message: str, text: str) -> ConfigError:
    """The parser's complaint, with its place taken out of the words."""
    match = _PLACE.search(message)
    if match is None:
        return ConfigError("the file isn't valid TOML: it holds a number of too many digits")
    if match["line"]:
        place = int(match["line"]), int(match["column"])
    else:
        place = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    words = printable(message[: match.start()])
    backslash = re.search("escape|hex", words)
    hint = "put texts and unusual names in double quotes" if not backslash else "in paths, write / instead of \\"
    return ConfigError(f"the file isn't valid TOML: {words[:1].lower()}{words[1:]}", hint=hint, place=place)


def quoted(text: str) -> str:
    r"""A text between double quotes; whatever doesn't print is escaped, so that a file shows all it says.

    Raises:
        ConfigError: half of a surrogate pair, which no UTF-8 file can hold.

    Examples:
        >>> print(quoted('say "hi"\u202e'))
        "say \"hi\"\u202e"
    """
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ConfigError("a name or text holds half of a surrogate pair, which can't be written to a file")
    return '"' + printable("".join(_SHORT.get(sign, sign) for sign in text)) + '"'


def printable(text: str) -> str:
    """The text with what doesn't print (line breaks, control signs, changes of direction) as escapes."""
    return "".join(
        sign if sign.isprintable() else f"\\u{ord(sign):04x}" if ord(sign) < 2**16 else f"\\U{ord(sign):08x}"
        for sign in text
    )


def comment(words: str) -> str:
    """A comment of one line, whatever the words: a column's name can't end it and go on as a declaration."""
    return f"# {printable(words)}".rstrip()


def key(name: str) -> str:
    """A key, quoted if it must be.

    Examples:
        >>> print(key("hours-per-week"), key("a.b"))
        hours-per-week "a.b"
    """
    return name if _BARE.fullmatch(name) else quoted(name)


def dotted(path: Iterable[str]) -> str:
    """The full name of a key, as it could stand in the file."""
    return ".".join(map(key, path))


def write_config(text: str, path: str | os.PathLike[str], *, replacing: bool) -> None:
    """Write the text of a configuration to a file, whole or not at all.

    Args:
        text: the configuration.
        path: of the file.
        replacing: whether a file that is there may be replaced: it holds a custodian's decisions.

    Raises:
        ConfigError: the file can't be written, or is there and may not be replaced.
    """
    file = Path(path)
    try:
        if not replacing:
            file.open("xb").close()  # takes the name, or finds it taken
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        try:
            part.write_bytes(text.encode())
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except FileExistsError:
        raise ConfigError(f"the file {str(path)!r} already exists", hint="move it away first") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the file {str(path)!r} can't be written: {reason(error)}") from None


def reason(error: Exception) -> str:
    """The system's words for what went wrong, without the path, which is named already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


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
        close = _meant(word, options, also) if isinstance(word, str) else None
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
                close = _meant(name, known, also)
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


def _meant(word: str, options: Iterable[str], also: Mapping[str, str] | None) -> str | None:
    """The option that was probably meant, by its own name or by another system's."""
    close = nearest(word, [*options, *(also or {})])
    return None if close is None else (also or {}).get(close, close)


def _short(words: str) -> str:
    """The words, cut where a name or value of endless length makes them so."""
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"


def describe(value: object) -> str:
    """The value in a few words, however long it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value) if len(value) <= _SHOWN else f"a text of {len(value)} characters"
    if isinstance(value, int | Decimal):
        short = isinstance(value, Decimal) or abs(value) < 10**_SHOWN
        return f"the number {str(value)[:_SHOWN]}" if short else "a number of too many digits"
    if isinstance(value, date | time):
        kind = "time" if isinstance(value, time) else "timestamp" if isinstance(value, datetime) else "date"
        return f"the {kind} {value.isoformat()}"
    return f"an array of {len(value)}" if isinstance(value, list) else "a table"
