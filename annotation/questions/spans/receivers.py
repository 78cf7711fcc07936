"""What is deleted with the benchmarks of gold items with spans."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.questions.spans.models import AnswerSpan
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark


@belongs_to(Benchmark)
def spans_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    """Yield the spans of gold items. Answers and rulings prevent the deletion of a benchmark."""
    rows = AnswerSpan.objects.filter(gold__benchmark=benchmark)
    yield Part("span of a gold item", rows, "spans of gold items")
