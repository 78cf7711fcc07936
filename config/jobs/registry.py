"""Which function does which kind of job.

Apps register theirs in `tasks.py`. A job function takes the parameters (with the job's own id
as `job`) and a `Progress`, is idempotent, and returns a JSON object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from config.shared.progress import Progress

JobFunction = Callable[[dict[str, Any], Progress], dict[str, Any]]

_functions: dict[str, JobFunction] = {}


def job_kind(kind: str) -> Callable[[JobFunction], JobFunction]:
    """Register the decorated function as the one that does jobs of this kind."""

    def register(function: JobFunction) -> JobFunction:
        if kind in _functions:
            raise ValueError(f"two functions for the job kind {kind!r}")
        _functions[kind] = function
        return function

    return register


def function_of(kind: str) -> JobFunction:
    return _functions[kind]
