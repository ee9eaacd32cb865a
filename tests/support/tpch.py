"""TPC-H: its tables as a custodian would declare them, customers being the units, and its 22 questions.

Everything declared here is in the benchmark's specification: domains, ranges and keys, at scale factor 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.tables import Column, Kind, Link, Source, Table

FOLDER = Path(__file__).parents[1] / "fixtures" / "tpch"

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = (
    *("ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "CHINA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA"),
    *("INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "ROMANIA"),
    *("RUSSIA", "SAUDI ARABIA", "UNITED KINGDOM", "UNITED STATES", "VIETNAM"),
)
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
INSTRUCTIONS = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")


def question(number: int, *, changed: bool = False) -> str:
    """The text of one of the 22 questions: as written, or after its change."""
    return (FOLDER / f"q{number:02}{'_changed' if changed else ''}.sql").read_text(encoding="utf-8").strip()


def tables(folder: Path, scale: int = 1) -> tuple[Table, ...]:
    """All tables, as Parquet files in a folder.

    Args:
        folder: where they lie.
        scale: of the data; it decides the ranges of keys.
    """
    return _customer(folder), _orders(folder), _lineitem(folder, scale), *_goods(folder, scale), *_places(folder)


def _customer(folder: Path) -> Table:
    """The customers, who are the units."""
    return _table(
        folder,
        "customer",
        _whole("c_custkey"),
        _text("c_name"),
        _text("c_address"),
        _whole("c_nationkey", 0, 24),
        _text("c_phone"),
        _real("c_acctbal", "-999.99", "9999.99"),
        _text("c_mktsegment", SEGMENTS),
        _text("c_comment"),
        unit=Unit("c_custkey"),
        limits=Limits(rows=1),
    )


def _orders(folder: Path) -> Table:
    """Their orders."""
    return _table(
        folder,
        "orders",
        _whole("o_orderkey"),
        _whole("o_custkey"),
        _text("o_orderstatus", ("F", "O", "P")),
        _real("o_totalprice", 0, 600_000),
        _day("o_orderdate", date(1992, 1, 1), date(1998, 8, 2)),
        _text("o_orderpriority", PRIORITIES),
        _text("o_clerk"),
        _whole("o_shippriority", 0, 0),
        _text("o_comment"),
        links=(Link("o_custkey", "customer", "c_custkey"),),
        limits=Limits(rows=40),
    )


def _lineitem(folder: Path, scale: int) -> Table:
    """What they ordered."""
    return _table(
        folder,
        "lineitem",
        _whole("l_orderkey"),
        _whole("l_partkey", 1, 200_000 * scale),
        _whole("l_suppkey", 1, 10_000 * scale),
        _whole("l_linenumber", 1, 7),
        _real("l_quantity", 1, 50),
        _real("l_extendedprice", 0, 105_000),
        _real("l_discount", 0, "0.1"),
        _real("l_tax", 0, "0.08"),
        _text("l_returnflag", ("A", "N", "R")),
        _text("l_linestatus", ("F", "O")),
        _day("l_shipdate", date(1992, 1, 2), date(1998, 12, 1)),
        _day("l_commitdate", date(1992, 1, 31), date(1998, 10, 31)),
        _day("l_receiptdate", date(1992, 1, 3), date(1998, 12, 31)),
        _text("l_shipinstruct", INSTRUCTIONS),
        _text("l_shipmode", MODES),
        _text("l_comment"),
        links=(Link("l_orderkey", "orders", "o_orderkey"),),
        limits=Limits(rows=150),
    )


def _goods(folder: Path, scale: int) -> tuple[Table, ...]:
    """What is sold, and by whom: public."""
    return (
        _public(
            folder,
            "part",
            _whole("p_partkey", 1, 200_000 * scale),
            _text("p_name"),
            _text("p_mfgr"),
            _text("p_brand", [f"Brand#{m}{n}" for m in range(1, 6) for n in range(1, 6)]),
            _text("p_type"),
            _whole("p_size", 1, 50),
            _text("p_container"),
            _real("p_retailprice", 900, 2_100),
            _text("p_comment"),
            unique=("p_partkey",),
        ),
        _public(
            folder,
            "supplier",
            _whole("s_suppkey", 1, 10_000 * scale),
            _text("s_name"),
            _text("s_address"),
            _whole("s_nationkey", 0, 24),
            _text("s_phone"),
            _real("s_acctbal", "-999.99", "9999.99"),
            _text("s_comment"),
            unique=("s_suppkey",),
        ),
        _public(
            folder,
            "partsupp",
            _whole("ps_partkey", 1, 200_000 * scale),
            _whole("ps_suppkey", 1, 10_000 * scale),
            _whole("ps_availqty", 1, 9_999),
            _real("ps_supplycost", 1, 1_000),
            _text("ps_comment"),
        ),
    )


def _places(folder: Path) -> tuple[Table, ...]:
    """Nations and regions: public."""
    return (
        _public(
            folder,
            "nation",
            _whole("n_nationkey", 0, 24),
            _text("n_name", NATIONS),
            _whole("n_regionkey", 0, 4),
            _text("n_comment"),
            unique=("n_nationkey",),
        ),
        _public(
            folder,
            "region",
            _whole("r_regionkey", 0, 4),
            _text("r_name", REGIONS),
            _text("r_comment"),
            unique=("r_regionkey",),
        ),
    )


def _table(
    folder: Path,
    name: str,
    *columns: Column,
    limits: Limits,
    unit: Unit | None = None,
    links: tuple[Link, ...] = (),
) -> Table:
    """A private table."""
    return Table(name=name, source=_source(folder, name), columns=columns, unit=unit, links=links, limits=limits)


def _public(folder: Path, name: str, *columns: Column, unique: tuple[str, ...] = ()) -> Table:
    """A public table."""
    return Table(name=name, source=_source(folder, name), columns=columns, unit=None, public=True, unique=unique)


def _source(folder: Path, name: str) -> Source:
    """Where a table lies."""
    return Source(kind="parquet", location=str(folder / f"{name}.parquet"))


def _whole(name: str, lo: int | None = None, hi: int | None = None) -> Column:
    """A whole number."""
    bounds = None if lo is None or hi is None else Bounds(lo, hi)
    return Column(name=name, kind=Kind.INTEGER, bounds=bounds, nullable=False)


def _real(name: str, lo: float | str, hi: float | str) -> Column:
    """A decimal number."""
    return Column(name=name, kind=Kind.REAL, bounds=Bounds(lo, hi), nullable=False)


def _text(name: str, keys: Sequence[str] | None = None) -> Column:
    """A text."""
    return Column(name=name, kind=Kind.TEXT, keys=None if keys is None else Keys(keys), nullable=False)


def _day(name: str, first: date, last: date) -> Column:
    """A date."""
    return Column(name=name, kind=Kind.DATE, bounds=Bounds(first, last), nullable=False)
