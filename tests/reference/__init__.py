"""Published and independently computed figures, beside what Hearth computes from the same data."""
