"""Tables as codes: whatever comes in is read once, and everything else computes on small numbers."""

from discreet.anonymity.records.column import Coded, Codes, Mask, Reals, Value, Whole
from discreet.anonymity.records.records import Missing, Records, Unit, Units, read

__all__ = ["Coded", "Codes", "Mask", "Missing", "Reals", "Records", "Unit", "Units", "Value", "Whole", "read"]
