"""Drills: break a running site on purpose, and count what it has lost or stored twice.

    python -m tests.faults [--long] [NAME ...]

Each drill starts a separate site with real servers. It is a function that takes a `Site` and
the number of rounds, and returns a `Row`.
"""
