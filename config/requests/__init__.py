"""The border of the server: what a request may contain before any view or parser reads it."""
