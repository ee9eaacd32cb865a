"""`discreet tables`: what may be asked about."""

from __future__ import annotations

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import Where, somewhere
from discreet.cli.show.declared import show_schema
from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import refuse_binary_to_screen


@reported
@somewhere
def tables(*, format_: options.Formatted = Format.TABLE, raw: options.Raw = False, where: Where) -> None:
    """Show what may be asked about: tables, units, limits, columns, bounds and keys, as they are declared.

    All of it is public: only the declarations are read.
    """
    refuse_binary_to_screen(format_)
    with where.opened() as found:
        show_schema(found.schema, format_, raw=raw)
