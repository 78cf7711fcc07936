"""Moments: spans of original positives, and ranked lists of moments."""
