"""From a question to a plan, by public facts alone."""
