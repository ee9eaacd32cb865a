"""What is public about private tables."""

from discreet.dataset.column import Column, Kind
from discreet.dataset.config import dumps, load_config, loads, save_config
from discreet.dataset.dataset import Dataset
from discreet.dataset.owner import Hop, Link, Owner, owner_of
from discreet.dataset.peek import Peek, Seen
from discreet.dataset.proposal import Proposal, propose, propose_together
from discreet.dataset.source import Source, SourceKind
from discreet.dataset.suggestion import Origin, Suggestion
from discreet.dataset.table import Table
from discreet.dataset.table_proposal import Look, TableProposal

__all__ = [
    "Column",
    "Dataset",
    "Hop",
    "Kind",
    "Link",
    "Look",
    "Origin",
    "Owner",
    "Peek",
    "Proposal",
    "Seen",
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
