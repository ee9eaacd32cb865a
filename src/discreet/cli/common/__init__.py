"""What commands share: options, help texts, the screen, sheets of values, and reports."""
