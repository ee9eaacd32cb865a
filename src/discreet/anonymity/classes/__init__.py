"""Equivalence classes, and the one frequency table from which every figure is computed."""

from discreet.anonymity.classes.equivalence_classes import Classes, Members, classes_of
from discreet.anonymity.classes.frequency_table import Frequencies, frequencies_of

__all__ = ["Classes", "Frequencies", "Members", "classes_of", "frequencies_of"]
