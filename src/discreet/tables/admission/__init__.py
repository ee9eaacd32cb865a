"""Admission: how a source becomes a snapshot that questions are asked of."""

from discreet.tables.admission.admit import admit
from discreet.tables.admission.completeness import check_read
from discreet.tables.admission.raw_views import Part, RawView, RawViews, lock_to, raw_views_of
from discreet.tables.admission.reading import Progress
from discreet.tables.admission.snapshot import (
    HeldColumn,
    HeldTable,
    Lock,
    Notes,
    Snapshot,
    folder_of,
    new_folder,
    sweep,
)
from discreet.tables.admission.unit_sizes import with_unit_sizes
from discreet.tables.admission.validation import absence, describe
from discreet.tables.schema.owner import identifying

__all__ = [
    "HeldColumn",
    "HeldTable",
    "Lock",
    "Notes",
    "Part",
    "Progress",
    "RawView",
    "RawViews",
    "Snapshot",
    "absence",
    "admit",
    "check_read",
    "describe",
    "folder_of",
    "identifying",
    "lock_to",
    "new_folder",
    "raw_views_of",
    "sweep",
    "with_unit_sizes",
]
