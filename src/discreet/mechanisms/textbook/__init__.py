"""Mechanisms that no question uses: for your own programs, for audits and for the textbook.

All are offered by `discreet.mechanisms`, and `docs/mechanisms.md` shows them at work.
"""
