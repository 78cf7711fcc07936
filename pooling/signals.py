"""Signals about benchmarks for the apps above."""

from __future__ import annotations

from django.dispatch import Signal

# Sent in the transaction that stores a new run, from a page, the API or a command. Arguments:
# `run`, and `by`, the person who imported it, or None. A receiver that queues a job for the run
# returns the `Job`.
run_imported = Signal()

# Sent with `benchmark` before its rule of equal texts changes. A receiver whose data depend on the
# rule raises `Conflict`.
equal_texts_changing = Signal()
