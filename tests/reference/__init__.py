"""Compare published and independently computed figures with those that Hearth computes."""
