"""Counters and histograms of this process, which `/metrics` reports for all processes together.

gunicorn's configuration sets PROMETHEUS_MULTIPROC_DIR before this module is imported. Then each
process writes its values into a file in that folder.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

# The default registry is not used. It also contains metrics of a single process, such as memory.
REGISTRY = CollectorRegistry()

REQUEST_SECONDS = Histogram(
    "hearth_request_seconds",
    "Time until the response, by view.",
    ["view", "method"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
RESPONSES = Counter(
    "hearth_responses", "Responses, by view and status.", ["view", "status"], registry=REGISTRY
)
JUDGMENTS = Counter("hearth_judgments", "Stored judgments, by state.", ["state"], registry=REGISTRY)
CLAIMS = Counter("hearth_claims", "Tasks assigned to annotators.", registry=REGISTRY)
