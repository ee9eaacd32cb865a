"""Extreme values of every physical type that a source can have, in the form in which each family of formats takes them.

A catalogue maps the name of a physical type to its cells. The first two are ordinary; no two mean the same, so that as
ids they must stay apart. What a type may be declared as follows from `VARIANTS`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from discreet.privacy import Bounds, Keys
from discreet.tables import Column, Kind

CANARY = "CANARY-4b8d"
"""Is in many texts, and must be in no error."""
LONG = CANARY + "é" * 2_500_000
FLAGS = (True, False, None)
ORDINARY = 2
"""So many cells of each type are ordinary."""
DAYS = Bounds(date(2024, 1, 1), date(2024, 12, 31))
TIMES = Bounds(datetime(2024, 1, 1), datetime(2024, 12, 31))

VARIANTS: Mapping[Kind, Mapping[str, Column]] = {
    Kind.INTEGER: {
        "i": Column(name="i", kind=Kind.INTEGER, bounds=Bounds(-5, 9)),
        "j": Column(name="j", kind=Kind.INTEGER),
        "q": Column(name="q", kind=Kind.REAL),
        "t": Column(name="t", kind=Kind.TEXT),
    },
    Kind.REAL: {
        "r": Column(name="r", kind=Kind.REAL, bounds=Bounds("-0.5", 8)),
        "q": Column(name="q", kind=Kind.REAL),
    },
    Kind.TEXT: {
        "k": Column(name="k", kind=Kind.TEXT, keys=Keys(["a", "B", None])),
        "t": Column(name="t", kind=Kind.TEXT),
    },
    Kind.DATE: {
        "d": Column(name="d", kind=Kind.DATE, bounds=DAYS),
        "e": Column(name="e", kind=Kind.DATE),
        "u": Column(name="u", kind=Kind.TIMESTAMP),
    },
    Kind.TIMESTAMP: {
        "s": Column(name="s", kind=Kind.TIMESTAMP, bounds=TIMES),
        "u": Column(name="u", kind=Kind.TIMESTAMP),
    },
    Kind.BOOLEAN: {"b": Column(name="b", kind=Kind.BOOLEAN)},
}
"""What a column of each kind may be declared as, by a letter."""
DECLARED = {letter: column for variants in VARIANTS.values() for letter, column in variants.items()}


@dataclass(frozen=True)
class Cells:
    """Cells of one physical type.

    Args:
        kind: that the type is read as.
        cells: an Arrow array, a pandas series, or a list of what a writer takes.
        zone: whether they are points in time.
        letters: of the variants that it is tried as; all of its kind, if left out.
        meanings: what each cell says, where that isn't the cell itself: equal ids may have equal meanings only.
    """

    kind: Kind
    cells: Any
    zone: bool = False
    letters: str = ""
    meanings: Sequence[Hashable] = field(default=())

    @property
    def variants(self) -> dict[str, Column]:
        """What it is tried as, by letter."""
        zone = "Europe/Paris" if self.zone else None
        return {
            letter: replace(column, time_zone=zone if column.kind is Kind.TIMESTAMP else None)
            for letter, column in (VARIANTS[self.kind] if not self.letters else DECLARED).items()
            if not self.letters or letter in self.letters
        }

    def __len__(self) -> int:
        return len(self.cells)


def binary(*cells: bytes | None) -> pa.Array:
    """Texts of any bytes."""
    return pa.array(cells, pa.binary()).view(pa.string())


def ticks(kind: pa.DataType, *values: int | None) -> pa.Array:
    """Times by their numbers."""
    width = pa.int32() if kind == pa.date32() else pa.int64()
    return pa.array(values, width).view(kind)


def decimals(kind: pa.DataType, *values: int | None) -> pa.Array:
    """Decimals by their digits, in whatever number."""
    width = kind.bit_width // 8
    raw = [None if each is None else each.to_bytes(width, "little", signed=True) for each in values]
    return pa.array(raw, pa.binary(width)).view(kind)


def _integers() -> dict[str, Cells]:
    """Whole numbers."""
    found = {}
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        ends = np.iinfo(kind.to_pandas_dtype())
        more = [each for each in (2**53, 2**53 + 1, 2**63 - 2, 2**63, 2**63 + 1) if each < ends.max]
        letters = "" if kind.bit_width == 64 else "i"
        found[str(kind)] = Cells(
            Kind.INTEGER, pa.array([3, 4, int(ends.min), int(ends.max), *more, None], kind), letters=letters
        )
    nines = 10**38 - 1
    near = (nines, nines - 1, -nines, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, None)
    found["decimal(38, 0)"] = Cells(Kind.INTEGER, decimals(pa.decimal128(38, 0), 3, 4, *near, 10**38))
    found["decimal(18, 0)"] = Cells(Kind.INTEGER, decimals(pa.decimal128(18, 0), 3, 4, 10**18 - 1, 1 - 10**18, 10**18))
    found["decimal(38, -3)"] = Cells(Kind.INTEGER, decimals(pa.decimal128(38, -3), 3, 4, nines, nines - 1, -1, 0))
    found["decimal(76, 0)"] = Cells(
        Kind.INTEGER, decimals(pa.decimal256(76, 0), 3, 4, *near, 10**76 - 1, 10**76 - 2, 10**76)
    )
    found["numbered categories"] = Cells(Kind.INTEGER, pa.array([3, 4, 2**62, None, 3]).dictionary_encode())
    return found


def _reals() -> dict[str, Cells]:
    """Reals, and decimals with places."""
    odd = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0]
    found = {
        "float16": Cells(Kind.REAL, pa.array(np.array([0.5, 2, *odd, 6e-8, 65504], np.float16))),
        "float32": Cells(Kind.REAL, pa.array([0.5, 2, *odd, 1e-45, 3.4028234e38, None], pa.float32())),
        "float64": Cells(Kind.REAL, pa.array([0.5, 2, *odd, 5e-324, -1.7976931348623157e308, 8.000000000000002, None])),
    }
    for kind in (pa.decimal128(9, 2), pa.decimal128(38, 37), pa.decimal256(76, 10)):
        most = 10**kind.precision - 1
        cells = decimals(kind, 50, 60, most, most - 1, -most, 1, 0, None, most + 1)
        found[str(kind)] = Cells(Kind.REAL, cells, letters="rqt")
    return found


TEXTS = (
    b"a", b"B", None, b"", b" ", b"b", b"A", b"a ", b" a", b"a\0b", b"a\0c", b"\0", CANARY.encode(), "ä".encode(),
    "a\u0308".encode(), "ß".encode(), b"ss", "İ".encode(), "\U0001f468\u200d\U0001f469".encode(),
    "\ufeff".encode(), "\ufffd".encode(), "\u202e".encode(), b"-1", b"1e400", b"nan", b"2020-02-30", b"%_\\", b"'\"",
    b"a,b\r\nc", b"\xc3\xa9" * 999, b"x" * 1_000, b"x" * 1_001, b"x" * 1_002, "\U0001f600".encode() * 1_001,
)  # fmt: skip
"""Texts, all different, and all of UTF-8."""
WRONG = (b"a", b"B", b"\xff", b"\xfe", b"caf\xe9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"x" * 2_000 + b"\xc3")
"""Bytes that aren't UTF-8."""


RUNS = "runs"
"""Texts that are to be encoded by their runs."""


def _texts() -> dict[str, Cells]:
    """Texts and what is read as texts."""
    places = pa.array([0, 1, None, 2, 3, 4, 0], pa.int8())
    coded, hollow = (pa.DictionaryArray.from_arrays(places, binary(*WRONG[:4], last)) for last in (b"", None))
    uuids = pa.array([b"\0" * 16, b"\xff" * 16, None, b"\0" * 15 + b"\1", b"\xff" * 15 + b"\xfe"], pa.uuid())
    return {
        "text": Cells(Kind.TEXT, binary(*TEXTS)),
        "large text": Cells(Kind.TEXT, binary(*TEXTS).cast(pa.large_string()), letters="t"),
        "text view": Cells(Kind.TEXT, binary(*TEXTS).cast(pa.string_view()), letters="t"),
        "text without end": Cells(Kind.TEXT, pa.array(["a", "B", LONG, LONG[:-1] + "x"]), letters="t"),
        "text of wrong bytes": Cells(Kind.TEXT, binary(*WRONG)),
        "categories": Cells(Kind.TEXT, binary(*TEXTS).dictionary_encode()),
        "categories of wrong bytes": Cells(Kind.TEXT, coded),
        "categories with NULL": Cells(Kind.TEXT, hollow, letters="t"),
        RUNS: Cells(Kind.TEXT, binary(*TEXTS), letters="t"),
        "uuid": Cells(Kind.TEXT, uuids),
        "nothing": Cells(Kind.TEXT, pa.nulls(3), letters="ijqtdusb"),
    }


_DAY_1, _DAY_9999 = -719_162, 2_932_896
"""The first and the last day that is read, counted from 1970."""
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _times() -> dict[str, Cells]:
    """Dates and timestamps."""
    ends = (_DAY_1, _DAY_1 - 1, _DAY_9999, _DAY_9999 + 1, None)
    day = 86_400_000
    now = 19_800 * day
    found = {
        "date32": Cells(Kind.DATE, ticks(pa.date32(), 19_800, 19_801, *ends, -(2**31), 2**31 - 1)),
        "date64": Cells(
            Kind.DATE,
            ticks(pa.date64(), now, now + day, *(each and each * day for each in ends), 2**63 - 1, -(2**63)),
        ),
        "date64 within a day": Cells(Kind.DATE, ticks(pa.date64(), now, now + day, now + 1, now - 1, -1, 1)),
    }
    for unit, each in PER_SECOND.items():
        start = 19_800 * 86_400 * each
        far = [second * each for second in (_DAY_1 * 86_400, _DAY_1 * 86_400 - 1, _DAY_9999 * 86_400 + 86_399)]
        far += [far[-1] + each, far[-1] + 1]
        twice = [second * each for second in (1_729_989_000, 1_729_992_600)]  # half past two in Paris, both times
        cells = [start, start + 1, *twice, *(one for one in far if abs(one) < 2**63), 2**63 - 1, -(2**63), None]
        for zone, letters in ((None, ""), ("Europe/Paris", ""), ("+01:30", "u")):
            kind = pa.timestamp(unit, zone)
            found[str(kind)] = Cells(Kind.TIMESTAMP, ticks(kind, *dict.fromkeys(cells)), zone is not None, letters)
    return found


ARROW: dict[str, Cells] = {
    **_integers(),
    **_reals(),
    **_texts(),
    **_times(),
    "bool": Cells(Kind.BOOLEAN, pa.array(FLAGS)),
}
"""By Arrow type."""
REFUSED: dict[str, pa.Array] = {
    "list": pa.array([[CANARY], None]),
    "struct": pa.array([{CANARY: CANARY}, None]),
    "map": pa.array([[(CANARY, 1)], None], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([CANARY.encode(), None]),
    "time": pa.array([1, None], pa.time64("us")),
    "duration": pa.array([1, None], pa.duration("s")),
}
"""Arrow types that no kind of column is."""


def _strings(*cells: str | None) -> tuple[str | None, ...]:
    """SQL constants of texts."""
    return tuple(None if each is None else "'" + each.replace("'", "''") + "'" for each in cells)


_SQL_TEXTS = (
    *_strings("a", "B", "b", "A", "ä", "a\u0308", "ß", "", " ", "a ", "a\u200b", CANARY, "x" * 1_001),
    "chr(0)",
    "'a' || chr(0)",
)
_COLLATIONS = ("NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT", "de", "tr", "icu_noaccent")
_SQL_TIMES = _strings(
    "2024-03-18", "2024-03-19", "0001-01-01", "9999-12-31", "0001-12-31 (BC)", "infinity", "-infinity"
)
_WHOLE = ("3", "4", "-5", "0", None)
SQL: dict[str, Cells] = {
    "TINYINT": Cells(Kind.INTEGER, (*_WHOLE, "-128", "127")),
    "BIGINT": Cells(Kind.INTEGER, (*_WHOLE, str(-(2**63)), str(2**63 - 1), str(2**53), str(2**53 + 1))),
    "UBIGINT": Cells(Kind.INTEGER, ("3", "4", str(2**63), str(2**63 + 1), str(2**64 - 1))),
    "HUGEINT": Cells(Kind.INTEGER, (*_WHOLE, str(2**127 - 1), str(2**127 - 2), str(1 - 2**127), str(10**38))),
    "UHUGEINT": Cells(Kind.INTEGER, ("3", "4", str(2**128 - 1), str(2**128 - 2), str(2**127), str(2**63))),
    "BIGNUM": Cells(Kind.INTEGER, ("3", "4", str(10**60), str(10**60 + 1), str(-(10**60)))),
    "DECIMAL(38, 0)": Cells(Kind.INTEGER, (*_WHOLE, "9" * 38, "9" * 37 + "8", str(2**63))),
    "DECIMAL(9, 2)": Cells(Kind.REAL, ("0.5", "2", "-0.01", "9999999.99", None), letters="rqt"),
    "DECIMAL(38, 37)": Cells(
        Kind.REAL, ("0.5", "2", f"9.{'9' * 37}", f"9.{'9' * 36}8", f"-0.{'0' * 36}1"), letters="rqt"
    ),
    "FLOAT": Cells(Kind.REAL, ("0.5", "2", *_strings("nan", "inf", "-inf", "-0.0", "1e-45", "3.4028235e38"), None)),
    "DOUBLE": Cells(Kind.REAL, ("0.5", "2", *_strings("nan", "inf", "-inf", "-0.0", "5e-324", "-1.7e308"), None)),
    "VARCHAR": Cells(Kind.TEXT, (*_SQL_TEXTS, "repeat('é', 2500000)", None)),
    **{f"VARCHAR COLLATE {name}": Cells(Kind.TEXT, (*_SQL_TEXTS, None), letters="t") for name in _COLLATIONS},
    "UUID": Cells(Kind.TEXT, _strings(*(f"{'0' * 8}-0000-0000-0000-{'0' * 11}{n}" for n in range(3)), None)),
    "ENUM('a', 'B', 'b', '')": Cells(Kind.TEXT, _strings("a", "B", "b", "", None)),
    "JSON": Cells(Kind.TEXT, _strings("{}", "[]", '"a"', f'{{"{CANARY}": 1}}', "null")),
    "DATE": Cells(Kind.DATE, (*_SQL_TIMES, *_strings("290000-01-01", None))),
    "TIMESTAMP_S": Cells(Kind.TIMESTAMP, (*_SQL_TIMES, None)),
    "TIMESTAMP_MS": Cells(Kind.TIMESTAMP, (*_SQL_TIMES, *_strings("2024-03-18 00:00:00.001", None))),
    "TIMESTAMP": Cells(Kind.TIMESTAMP, (*_SQL_TIMES, *_strings("2024-03-18 00:00:00.000001", None))),
    "TIMESTAMP_NS": Cells(
        Kind.TIMESTAMP,
        _strings(
            "2024-03-18", "2024-03-19", "2024-03-18 00:00:00.000000001", "2024-03-18 00:00:00.000001", "infinity",
            "1677-09-22", "2262-04-11 23:47:16.854775806", None,
        ),
    ),
    "TIMESTAMPTZ": Cells(
        Kind.TIMESTAMP,
        _strings(
            "2024-03-18 00:00:00+00", "2024-03-19 00:00:00+00", "0001-01-01 00:00:00+00", "9999-12-31 22:59:59+00",
            "9999-12-31 23:30:00+00", "infinity", "-infinity", "290000-01-01 00:00:00+00", "2024-10-27 00:30:00+00",
            "2024-10-27 01:30:00+00", None,
        ),
        zone=True,
    ),
    "BOOLEAN": Cells(Kind.BOOLEAN, ("true", "false", None)),
}  # fmt: skip
"""By DuckDB's types, as SQL constants."""
_PLAIN_TEXTS = _SQL_TEXTS[:-2]  # PostgreSQL has no NUL in texts
_DISTANT = _strings("5874897-12-31", "4713-01-01 BC", "4713-12-31 BC")
POSTGRES: dict[str, Cells] = {
    "int2": Cells(Kind.INTEGER, (*_WHOLE, "-32768", "32767")),
    "int4": Cells(Kind.INTEGER, (*_WHOLE, "-2147483648", "2147483647")),
    "int8": Cells(Kind.INTEGER, (*_WHOLE, str(-(2**63)), str(2**63 - 1), str(2**53), str(2**53 + 1))),
    "age": Cells(Kind.INTEGER, (*_WHOLE, "999")),
    "oid": Cells(Kind.INTEGER, ("3", "4", "0", str(2**32 - 1), str(2**31), None)),
    "numeric": Cells(
        Kind.REAL,
        (
            "0.5", "2", "-0.01", "0", "1e400", "1e-400", *_strings("NaN", "Infinity", "-Infinity"), "9" * 400,
            "9" * 399 + "8", "12345678901234567890.12345", None,
        ),
        letters="rqt",
    ),
    "numeric(38, 0)": Cells(Kind.INTEGER, (*_WHOLE, "9" * 38, "9" * 37 + "8", str(2**63), "'NaN'")),
    "numeric(9, 2)": Cells(Kind.REAL, ("0.5", "2", "-0.01", "9999999.99", "'NaN'", None), letters="rqt"),
    "numeric(38, 37)": Cells(
        Kind.REAL, ("0.5", "2", f"9.{'9' * 37}", f"9.{'9' * 36}8", f"-0.{'0' * 36}1", "'NaN'"), letters="rqt"
    ),
    "numeric(60, 10)": Cells(Kind.REAL, ("0.5", "2", "9" * 50, f"{'9' * 49}8.0000000001", "'NaN'"), letters="rqt"),
    "numeric(100, 2)": Cells(Kind.REAL, ("0.5", "2", "9" * 98, "9" * 97 + "8", None), letters="rqt"),
    "numeric(5, -2)": Cells(Kind.INTEGER, ("300", "400", "-9999900", "0", None), letters="ijqt"),
    "float4": Cells(Kind.REAL, ("0.5", "2", *_strings("nan", "inf", "-inf", "-0.0", "1e-45", "3.4028235e38"), None)),
    "float8": Cells(Kind.REAL, ("0.5", "2", *_strings("nan", "inf", "-inf", "-0.0", "5e-324", "-1.7e308"), None)),
    "text": Cells(Kind.TEXT, (*_PLAIN_TEXTS, "repeat('é', 2500000)", None)),
    "varchar(1001)": Cells(Kind.TEXT, (*_PLAIN_TEXTS, None)),
    "char(3)": Cells(Kind.TEXT, _strings("a", "B", "b", "", " a", "äb", None)),
    "name": Cells(Kind.TEXT, _strings("a", "B", "", " ", None)),
    "uuid": Cells(Kind.TEXT, _strings(*(f"{'0' * 8}-0000-0000-0000-{'0' * 11}{n}" for n in range(3)), None)),
    "mood": Cells(Kind.TEXT, _strings("a", "B", "b", "", None)),
    "date": Cells(
        Kind.DATE,
        (*_strings("2024-03-18", "2024-03-19", "0001-01-01", "9999-12-31", "infinity", "-infinity"), *_DISTANT, None),
    ),
    "timestamp": Cells(
        Kind.TIMESTAMP,
        _strings(
            "2024-03-18", "2024-03-19", "0001-01-01", "9999-12-31 23:59:59.999999", "2024-03-18 00:00:00.000001",
            "infinity", "-infinity", "294276-12-31 23:59:59.999999", "294000-01-01", "4713-01-01 BC", None,
        ),
    ),
    "timestamptz": Cells(
        Kind.TIMESTAMP,
        _strings(
            "2024-03-18 00:00:00+00", "2024-03-19 00:00:00+00", "0001-01-01 00:00:00+00", "9999-12-31 22:59:59+00",
            "9999-12-31 23:30:00+00", "infinity", "-infinity", "294000-01-01 00:00:00+00", "2024-10-27 00:30:00+00",
            "2024-10-27 01:30:00+00", None,
        ),
        zone=True,
    ),
    "bool": Cells(Kind.BOOLEAN, ("true", "false", None)),
}  # fmt: skip
"""By PostgreSQL's types, as SQL constants."""
POSTGRES_REFUSED = {
    "int4[]": "'{1}'", "json": f"'{{\"{CANARY}\": 1}}'", "jsonb": f"'[\"{CANARY}\"]'",
    "bytea": f"'{CANARY}'", "time": "'10:00'",
    "timetz": "'10:00:00+01'", "interval": "'1 day'", "money": "'1'", "inet": "'10.0.0.1'", "point": "'(1,2)'",
    "int4range": "'[1,2)'", "bit(3)": "'101'", "xml": "'<a/>'", "mood[]": "'{a}'",
}  # fmt: skip
"""PostgreSQL's types that no kind of column is."""
SQL_REFUSED = {
    "INTEGER[]": "[1]", "INTEGER[2]": "[1, 2]", f"STRUCT({CANARY.replace('-', '')} INTEGER)": "ROW(1)",
    "MAP(INTEGER, INTEGER)": "MAP {1: 2}", "UNION(a INTEGER)": "1", "BLOB": f"'{CANARY}'", "TIME": "'10:00'",
    "TIMETZ": "'10:00:00+01'", "INTERVAL": "'1 day'", "BIT": "'101'", f"ENUM('{CANARY}')[]": f"['{CANARY}']",
}  # fmt: skip
"""DuckDB's types that no kind of column is."""

_NUMBERS = (
    "0.5", "2", "3", "-5", "0", "-0", "-0.0", "+7", "1e3", "1E400", "-1e400", "5e-324", "nan", "NaN", "-nan", "inf",
    "-inf", "Infinity", "-infinity", "+inf", "infinit", "9" * 400, "-" + "9" * 400, "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9007199254740993", "9007199254740992",
    "9" * 38, "9" * 37 + "8", "7.0000000000000000000000000000000001", "0x10", "1_000", "1,000", "1 000", "٣", "½",
    "1e", ".", "-", "e5", "1.5.1", "--1", "true", "1e18", "1e19", "0." + "0" * 400 + "1", CANARY,
)  # fmt: skip
_WHEN = (
    "2024-03-18", "2024-03-19", "0001-01-01", "0000-12-31", "9999-12-31", "10000-01-01", "99999999-01-01", "infinity",
    "-infinity", "epoch", "2023-02-29", "2024-02-29", "2024-13-01", "2024-03-20 24:00:00", "2024-03-18 23:59:60",
    "2024-03-18 10:00:00", "2024-03-18T11:00:00Z", "2024-03-18 13:30:00+01", "2024-03-18 10:15:00 Europe/Berlin",
    "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z", "2024-03-18 00:00:00+02", "2024-03-31 02:30:00",
    "2024-03-18 10:00:00.000001", "2024-03-18 10:00:00.0000001", "0001-01-01 00:00:00+14", "2024-03-18 (BC)",
    "44-03-15 (BC)", "18.03.2024", "20240318", "1710720000", "now", "today", "0000-00-00", "9999-12-31 23:59:59.999999",
    "9999-12-31 23:59:59.9999999", CANARY,
)  # fmt: skip
_FLAGS = ("true", "false", "TRUE", "t", "yes", "1", "0", "on", "2", "", "truee", CANARY, None)


def number(text: str | None) -> Hashable:
    """What a text says if it is a number; else itself."""
    try:
        found = Decimal((text or "").strip())
    except ArithmeticError:
        return text
    return found if found.is_finite() else text


def written(texts: Sequence[str | None]) -> dict[str, Cells]:
    """The cells of a format in which all are texts, as columns of each kind.

    Args:
        texts: that the format can hold, beside numbers and times.
    """
    return {
        "number": Cells(Kind.INTEGER, _NUMBERS, letters="ijrq", meanings=[number(each) for each in _NUMBERS]),
        "text": Cells(Kind.TEXT, tuple(texts), meanings=[(each or "").strip(" ") for each in texts]),
        "when": Cells(Kind.DATE, _WHEN, letters="desu"),
        "when in a zone": Cells(Kind.TIMESTAMP, _WHEN, letters="su", zone=True),
        "flag": Cells(Kind.BOOLEAN, _FLAGS),
    }


def series(*values: Any, dtype: Any) -> pd.Series:
    """A column of pandas."""
    return pd.Series(values, dtype=dtype)


def _pandas() -> dict[str, Cells]:
    """By the types of pandas."""
    odd = (float("nan"), float("inf"), float("-inf"), -0.0)
    objects = (
        "3", "4", 5, 2**63, 2**64, 10**60, 0.5, float("nan"), float("inf"), True, None, pd.NaT, pd.NA, Decimal("1e400"),
        Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), b"a", [CANARY], {CANARY: 1}, date.max, datetime.max,
        pd.Timestamp.max, pd.Timestamp("2024-03-18", tz="UTC"), pd.Timedelta(1), np.float32(0.1), np.int8(-1), "\ud800",
        "a\0b", 1j, object, "x" * 1_001, "x" * 1_002,
    )  # fmt: skip
    found = {
        "int8": Cells(Kind.INTEGER, series(3, 4, -128, 127, dtype="int8")),
        "uint64": Cells(Kind.INTEGER, series(3, 4, 2**63, 2**64 - 1, dtype="uint64")),
        "nullable int": Cells(Kind.INTEGER, series(3, 4, 2**53 + 1, 2**53, -(2**63), None, dtype="Int64")),
        "float16": Cells(Kind.REAL, series(0.5, 2, *odd, 6e-8, dtype="float16")),
        "float64": Cells(Kind.REAL, series(0.5, 2, *odd, 5e-324, 1.7e308, dtype="float64")),
        "nullable float": Cells(Kind.REAL, series(0.5, 2, float("inf"), None, dtype="Float64")),
        "bool": Cells(Kind.BOOLEAN, series(*FLAGS[:2], dtype="bool")),
        "nullable bool": Cells(Kind.BOOLEAN, series(*FLAGS, dtype="boolean")),
        "str": Cells(Kind.TEXT, series("a", "B", None, "", "a\0b", "a\0c", "b", "\ufeff", "x" * 1_001, dtype="str")),
        "category": Cells(Kind.TEXT, series("a", "B", None, "b", "", dtype="category")),
        "numbered category": Cells(Kind.INTEGER, series(3, 4, None, 2**62, dtype="category")),
        "mixed category": Cells(Kind.INTEGER, series(3, 4, "x", None, dtype="category"), letters="ijrqt"),
        "object": Cells(Kind.INTEGER, series(*objects, dtype="object"), letters="ijrqktdesub"),
    }
    for unit, each in PER_SECOND.items():
        raw = np.array([19_800 * 86_400 * each, 19_801 * 86_400 * each, 2**63 - 1, 1 - 2**63, -(2**63)])
        times = pd.Series(raw.view(f"datetime64[{unit}]"))
        found[f"datetime64[{unit}]"] = Cells(Kind.TIMESTAMP, times)
        found[f"datetime64[{unit}, Paris]"] = Cells(
            Kind.TIMESTAMP, times[:2].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris"), zone=True
        )
    return found


PANDAS = _pandas()
