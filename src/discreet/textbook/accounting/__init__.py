"""Accounting of what is fixed in advance, and of conversations outside of a ledger; `discreet.accounting` offers it."""
