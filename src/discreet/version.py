"""The version of discreet, where every room can read it: certificates name it."""

__version__ = "0.2.0"
