"""Tables: what is declared of them, and what is proposed to be declared."""

from discreet.tables.proposals.profile import ColumnProfile, Profile
from discreet.tables.proposals.proposal import Proposal, propose, propose_together
from discreet.tables.proposals.suggestion import Origin, Suggestion
from discreet.tables.proposals.table_proposal import ProposalInput, TableProposal
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.config import dumps, load_config, loads, save_config
from discreet.tables.schema.dataset import Dataset
from discreet.tables.schema.owner import Hop, Owner, owner_of
from discreet.tables.schema.source import Source, SourceKind
from discreet.tables.schema.table import Link, Table

__all__ = [
    "Column",
    "ColumnProfile",
    "Dataset",
    "Hop",
    "Kind",
    "Link",
    "Origin",
    "Owner",
    "Profile",
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
    "save_config",
]
