"""Attacks on rows that were published, raw or generalised; those on classes run on answers as well."""

from discreet.attacks.rows.background import BackgroundResult, background
from discreet.attacks.rows.fuzzy import FuzzyResult, fuzzy
from discreet.attacks.rows.homogeneity import HomogeneityResult, homogeneity
from discreet.attacks.rows.intersection import IntersectionResult, intersection
from discreet.attacks.rows.linkage import LinkageResult, linkage
from discreet.attacks.rows.nearness import Near, Same, Typos
from discreet.attacks.rows.presence_in_answers import PresenceResult, presence
from discreet.attacks.rows.release_risks import RISKS, inference, linkability, predicates, risks
from discreet.attacks.rows.risk_result import RiskResult
from discreet.attacks.rows.singling_out import SinglingOutResult, singling_out
from discreet.attacks.rows.skewness import SkewnessResult, skewness
from discreet.attacks.rows.small_groups import SmallGroupsResult, small_groups
from discreet.attacks.rows.sparse import Log, SparseResult, sparse

__all__ = [
    "RISKS",
    "BackgroundResult",
    "FuzzyResult",
    "HomogeneityResult",
    "IntersectionResult",
    "LinkageResult",
    "Log",
    "Near",
    "PresenceResult",
    "RiskResult",
    "Same",
    "SinglingOutResult",
    "SkewnessResult",
    "SmallGroupsResult",
    "SparseResult",
    "Typos",
    "background",
    "fuzzy",
    "homogeneity",
    "inference",
    "intersection",
    "linkability",
    "linkage",
    "predicates",
    "presence",
    "risks",
    "singling_out",
    "skewness",
    "small_groups",
    "sparse",
]
