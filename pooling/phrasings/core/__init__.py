"""Pure functions of phrasings."""
