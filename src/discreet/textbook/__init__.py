"""The textbook wing: methods that no question uses, for your own programs, for audits and for learning.

Each is imported under the name of what it belongs to: `discreet.mechanisms.textbook`, `discreet.accounting`,
`discreet.local` and `discreet.plot`. Nothing that answers questions imports any of it.
"""
