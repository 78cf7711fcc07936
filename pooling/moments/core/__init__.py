"""Spans of videos as arrays."""
