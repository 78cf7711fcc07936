"""The documents of a release, which describe a label set to people and programs."""
