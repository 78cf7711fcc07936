"""The cache of each process, for figures that are expensive to compute.

Django's default cache is shared by all processes and holds only small JSON values, such as counts
of rate limits (`hearth.accounts.caches`). Figures stay in the process, because they are large, and
because a shared cache would have to pickle them.
"""

from __future__ import annotations

from typing import cast

from django.core.cache import BaseCache, caches
from django.utils.connection import ConnectionProxy

PROCESS = "process"

process_cache = cast(BaseCache, ConnectionProxy(caches, PROCESS))
