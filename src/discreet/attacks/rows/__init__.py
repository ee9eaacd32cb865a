"""Attacks on rows that were published, raw or generalised; those on classes run on answers as well."""

from discreet.attacks.rows.classes.background import BackgroundResult, background
from discreet.attacks.rows.classes.homogeneity import HomogeneityResult, homogeneity
from discreet.attacks.rows.classes.skewness import SkewnessResult, skewness
from discreet.attacks.rows.classes.small_groups import SmallGroupsResult, small_groups
from discreet.attacks.rows.linking.fuzzy import FuzzyResult, fuzzy
from discreet.attacks.rows.linking.intersection import IntersectionResult, intersection
from discreet.attacks.rows.linking.linkage import LinkageResult, linkage
from discreet.attacks.rows.linking.nearness import Near, Same, Typos
from discreet.attacks.rows.linking.presence import PresenceResult, presence
from discreet.attacks.rows.linking.sparse import Log, SparseResult, sparse
from discreet.attacks.rows.predicates.singling_out import SinglingOutResult, singling_out

__all__ = [
    "BackgroundResult",
    "FuzzyResult",
    "HomogeneityResult",
    "IntersectionResult",
    "LinkageResult",
    "Log",
    "Near",
    "PresenceResult",
    "Same",
    "SinglingOutResult",
    "SkewnessResult",
    "SmallGroupsResult",
    "SparseResult",
    "Typos",
    "background",
    "fuzzy",
    "homogeneity",
    "intersection",
    "linkage",
    "presence",
    "singling_out",
    "skewness",
    "small_groups",
    "sparse",
]
