"""Accounting of what is fixed in advance, and of conversations outside a ledger; `discreet.accounting` offers it."""
