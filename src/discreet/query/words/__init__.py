"""Words: plans, measures and expressions as a reader would say them."""
