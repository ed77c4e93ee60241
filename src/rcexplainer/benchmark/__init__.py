"""Methods measured beside each other: a case, methods, measures, a table."""
