"""Interfaces: the protocols by which strangers reach a service. None of them decides anything."""
