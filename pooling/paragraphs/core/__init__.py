"""Matching the sentences of a paragraph with the clips of a video."""
