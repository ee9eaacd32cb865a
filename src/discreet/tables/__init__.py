"""Tables: what is declared of them, and what is proposed to be declared."""

from discreet.tables.proposals import (
    ColumnProfile,
    DataProfile,
    Origin,
    Proposal,
    ProposalInput,
    Suggestion,
    TableProposal,
    propose,
    propose_together,
)
from discreet.tables.schema.config import dumps, load_config, loads, save_config
from discreet.tables.schema.dataset import Dataset, Hop, Owner, owner_of
from discreet.tables.schema.public_schema import public_schema
from discreet.tables.schema.source import Source, SourceKind
from discreet.tables.schema.table import MOST_PLACES, Column, Kind, Link, Table

__all__ = [
    "MOST_PLACES",
    "Column",
    "ColumnProfile",
    "DataProfile",
    "Dataset",
    "Hop",
    "Kind",
    "Link",
    "Origin",
    "Owner",
    "Proposal",
    "ProposalInput",
    "Source",
    "SourceKind",
    "Suggestion",
    "Table",
    "TableProposal",
    "dumps",
    "load_config",
    "loads",
    "owner_of",
    "propose",
    "propose_together",
    "public_schema",
    "save_config",
]
