"""Reading benchmarks."""

from __future__ import annotations

from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark


def get_benchmark(key: str) -> Benchmark:
    try:
        return Benchmark.objects.get(key=key)
    except Benchmark.DoesNotExist:
        known = ", ".join(Benchmark.objects.values_list("key", flat=True)) or "none"
        raise InvalidInput(f"There is no benchmark {key!r}. The benchmarks are: {known}.") from None


def name_of_benchmark(key: str) -> str:
    """Return the name of the benchmark with this key. If there is none, return the key."""
    return Benchmark.objects.filter(key=key).values_list("name", flat=True).first() or key
