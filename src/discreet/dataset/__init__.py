"""What is public about private tables."""

from discreet.dataset.column import Column, Kind
from discreet.dataset.config import dumps, load_config, loads, save_config
from discreet.dataset.dataset import Dataset
from discreet.dataset.peek import Peek, Seen
from discreet.dataset.proposal import Proposal, propose
from discreet.dataset.source import Source, SourceKind
from discreet.dataset.suggestion import Origin, Suggestion
from discreet.dataset.table import Table

__all__ = [
    "Column",
    "Dataset",
    "Kind",
    "Origin",
    "Peek",
    "Proposal",
    "Seen",
    "Source",
    "SourceKind",
    "Suggestion",
    "Table",
    "dumps",
    "load_config",
    "loads",
    "propose",
    "save_config",
]
