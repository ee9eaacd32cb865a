"""From a question to a plan, and from noisy numbers to values with intervals.

`ir` says what is meant, `sql` makes it of a text or an Ibis expression, `estimates` reads noisy numbers, and `planner`
decides what will be done. Imports go down: the planner knows the other three, `sql` and `estimates` know `ir` alone.
"""
