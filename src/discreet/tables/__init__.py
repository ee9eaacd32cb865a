"""Tables: what is declared of them. What `discreet init` proposes to declare is in `discreet.tables.proposals`."""

from discreet.tables.schema.column import MOST_PLACES, Column, Kind
from discreet.tables.schema.config import load_config, loads
from discreet.tables.schema.config_writer import dumps, save_config
from discreet.tables.schema.dataset import Dataset, declarations_of, owner_of, public_schema
from discreet.tables.schema.owner import Hop, Owner
from discreet.tables.schema.source import Source, SourceKind
from discreet.tables.schema.table import Link, Table

__all__ = [
    "MOST_PLACES",
    "Column",
    "Dataset",
    "Hop",
    "Kind",
    "Link",
    "Owner",
    "Source",
    "SourceKind",
    "Table",
    "declarations_of",
    "dumps",
    "load_config",
    "loads",
    "owner_of",
    "public_schema",
    "save_config",
]
