"""Computing and storing agreement and the figures of campaigns."""

from __future__ import annotations

from evaluation.monitor.services.agreement import compute_agreement
from evaluation.monitor.services.figures import compute_figures, renew_figures
