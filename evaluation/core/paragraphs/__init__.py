"""Measures of clips and of proposals, and the outcome of a paragraph."""
