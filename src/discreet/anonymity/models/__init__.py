"""Models of anonymity: what a release promises about its equivalence classes, each a measure and a criterion in one.

None of them is differential privacy: they say what a table looks like, not what can be learned from it.
"""

from discreet.anonymity.models.beta_likeness import BetaLikeness, DeltaDisclosure
from discreet.anonymity.models.delta_presence import DeltaPresence
from discreet.anonymity.models.k_anonymity import AlphaK, KAnonymity, KMap
from discreet.anonymity.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymity.models.model import Model
from discreet.anonymity.models.t_closeness import Closeness

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
