"""`discreet tables`: what may be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.declared import rows_of, show_declared
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import Sheet, refuse_binary_to_screen, show_json


@reported
@somewhere
def tables(*, format_: options.Formatted = Format.TABLE, raw: options.Raw = False, where: Where) -> None:
    """Show what may be asked about: tables, units, limits, columns, bounds and keys, as they are declared.

    All of it is public: only the declarations are read.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as found:
        show_schema(found.schema, format_, raw=raw)


def show_schema(schema: Mapping[str, Any], as_format: Format, *, raw: bool = False) -> None:
    """Write what is declared to standard output."""
    match as_format:
        case Format.TABLE:
            show_declared(schema["tables"])
        case Format.JSON:
            show_json(schema)
        case Format.CSV | Format.ARROW:
            names = ("table", "column", "kind", "nullable", "bounds", "keys")
            Sheet(names, [[each["name"], *row] for each in schema["tables"] for row in rows_of(each)]).show(
                as_format, raw=raw
            )
