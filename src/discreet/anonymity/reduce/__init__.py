"""Making a table safer: leaving columns out, clipping, generalising, leaving rows out."""

from discreet.anonymity.reduce.anonymize import anonymize
from discreet.anonymity.reduce.anonymized import Anonymized
from discreet.anonymity.reduce.by_hand import Generalized, generalize
from discreet.anonymity.reduce.clipping import Clipped, clip
from discreet.anonymity.reduce.deidentify import Deidentified, deidentify

__all__ = ["Anonymized", "Clipped", "Deidentified", "Generalized", "anonymize", "clip", "deidentify", "generalize"]
