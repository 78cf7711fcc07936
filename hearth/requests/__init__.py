"""Checks of the size, text and files of a request, before a view or parser reads it."""
