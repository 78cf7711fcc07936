"""What is announced of benchmarks, to apps above."""

from __future__ import annotations

from django.dispatch import Signal

# With `run`, a Run that somebody uploaded and a job has stored, and `by`, who uploaded it or None.
run_uploaded = Signal()
