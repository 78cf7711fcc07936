"""Phrasings: further texts of captions, the lists that runs have for them, and fused runs."""
