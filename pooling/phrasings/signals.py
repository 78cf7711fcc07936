"""Signals about phrasings, for the apps above."""

from __future__ import annotations

from django.dispatch import Signal

# Sent with `benchmark`. A receiver returns the primary keys of the phrasings that do not say the
# same as their caption, as a set.
unfaithful_requested = Signal()
