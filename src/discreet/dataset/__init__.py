"""What is public about private tables."""

from discreet.dataset.column import Column, Kind
from discreet.dataset.dataset import Dataset
from discreet.dataset.source import Source, SourceKind
from discreet.dataset.table import Table

__all__ = ["Column", "Dataset", "Kind", "Source", "SourceKind", "Table"]
