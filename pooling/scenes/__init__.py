"""Scenes: the parts of a video between cuts."""
