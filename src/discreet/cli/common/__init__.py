"""What commands share: options, the screen, sheets of values, answers, errors and their exit codes."""
