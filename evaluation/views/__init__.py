"""Pages that look over all apps: the start, a benchmark, a campaign, the results."""

from __future__ import annotations
