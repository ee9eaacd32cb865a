"""Re-identification: who can be singled out in a table, by what, and what it would cost to stop it.

    table ──▶ records ──▶ classes × sensitive values, counted once ──▶ risk, models ──▶ reduce ──▶ a safer table

* See it: `read` a table, let `guess_attributes` say what its columns are, `assess` it; or look closer with
  `uniqueness`, `minimal_identifiers`, `reidentification`, `population_uniqueness`.
* Say what a release must promise: `KAnonymity`, `DistinctDiversity`, `Closeness` and their kin.
* Reduce it: `deidentify`, `clip`, `generalize` by hand, and `anonymize`, by hierarchies such as `Intervals`, `Digits`,
  `Masking` or a file's.

None of this is differential privacy. A table that keeps such a promise can still single people out beside another.
"""

from discreet.anonymity.attributes import AttributeKind, confirm, guess_attributes
from discreet.anonymity.hierarchies import (
    Calendar,
    Digits,
    Flat,
    Intervals,
    Listed,
    Masking,
    Taxonomy,
    propose_hierarchy,
    read_hierarchy,
)
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    RecursiveDiversity,
)
from discreet.anonymity.records import Missing, Records, read
from discreet.anonymity.reduce import (
    Anonymized,
    Clipped,
    Deidentified,
    Generalized,
    anonymize,
    clip,
    deidentify,
    generalize,
)
from discreet.anonymity.risk import (
    RiskReport,
    assess,
    minimal_identifiers,
    population_uniqueness,
    reidentification,
    uniqueness,
)

__all__ = [
    "AlphaK",
    "Anonymized",
    "AttributeKind",
    "BetaLikeness",
    "Calendar",
    "Clipped",
    "Closeness",
    "Deidentified",
    "DeltaDisclosure",
    "DeltaPresence",
    "Digits",
    "DistinctDiversity",
    "EntropyDiversity",
    "Flat",
    "Generalized",
    "Intervals",
    "KAnonymity",
    "KMap",
    "Listed",
    "Masking",
    "Missing",
    "Records",
    "RecursiveDiversity",
    "RiskReport",
    "Taxonomy",
    "anonymize",
    "assess",
    "clip",
    "confirm",
    "deidentify",
    "generalize",
    "guess_attributes",
    "minimal_identifiers",
    "population_uniqueness",
    "propose_hierarchy",
    "read",
    "read_hierarchy",
    "reidentification",
    "uniqueness",
]
