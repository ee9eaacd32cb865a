"""Models of anonymity: what a release promises about its equivalence classes, each a measure and a criterion in one.

None of them is differential privacy: they say what a table looks like, not what somebody may learn from it.
"""

from discreet.anonymity.models.closeness import Closeness
from discreet.anonymity.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymity.models.k_anonymity import AlphaK, KAnonymity, KMap
from discreet.anonymity.models.likeness import BetaLikeness, DeltaDisclosure
from discreet.anonymity.models.model import Model
from discreet.anonymity.models.presence import DeltaPresence

__all__ = [
    "AlphaK",
    "BetaLikeness",
    "Closeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "KMap",
    "Model",
    "RecursiveDiversity",
]
