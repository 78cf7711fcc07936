"""The kinds of jobs that compute analyses."""

from __future__ import annotations

ANALYSIS_JOB = "analyse"
PAPER_JOB = "paper"
