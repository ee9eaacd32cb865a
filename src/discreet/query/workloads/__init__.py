"""Workloads: several questions planned together."""
