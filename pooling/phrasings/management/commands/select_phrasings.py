"""Select phrasings of each caption that differ from each other."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from hearth.shared.files import write_output
from hearth.shared.words import counted
from pooling.phrasings.core.selection import Selector, VectorKind
from pooling.phrasings.selectors import (
    phrasing_texts,
    selected_phrasings,
    vectors_of_phrasings,
)
from pooling.selectors.arrays import query_keys, query_texts
from pooling.selectors.benchmarks import get_benchmark

COLUMNS = ("caption_id", "phrasing", "text", "origin")


class Command(HearthCommand):
    help = (
        "Select phrasings of each caption that differ from the caption and from each other, and "
        "write them in the form of import_phrasings. Nothing is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        methods, kinds = [each.value for each in Selector], [each.value for each in VectorKind]
        parser.add_argument("--method", choices=methods, default="fqs", help="default: fqs")
        parser.add_argument("--count", type=int, default=2, help="of each caption; default: 2")
        parser.add_argument("--vectors", choices=kinds, default="tf-idf", help="default: tf-idf")
        parser.add_argument("--seed", type=int, default=0, help="draws random phrasings")
        parser.add_argument("--output", type=Path, help="CSV to write")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["count"] < 1 or options["seed"] < 0:
            raise InvalidInput("--count must be at least 1, and --seed at least 0.")
        benchmark = get_benchmark(options["key"])
        texts, captions = phrasing_texts(benchmark), query_texts(benchmark)
        groups: dict[int, list[int]] = {}
        for row, query in enumerate(texts.queries.tolist()):
            groups.setdefault(query, []).append(row)
        kind = VectorKind(options["vectors"])
        vectors = vectors_of_phrasings(benchmark, captions, texts, groups, kind, self.progress)
        rng = np.random.default_rng(options["seed"])
        selector = Selector(options["method"])
        found = selected_phrasings(texts, groups, vectors, options["count"], selector, rng)
        chosen = {(query, n) for n, queries in found.items() for query in queries.tolist()}
        keys, numbers = query_keys(benchmark), texts.numbers.tolist()
        rows = [
            (keys[query], numbers[row], texts.texts[row], texts.origins[row])
            for query, own in groups.items()
            for row in own
            if (query, numbers[row]) in chosen
        ]
        if options["output"] is not None:
            lines = io.StringIO()
            csv.writer(lines, lineterminator="\n").writerows([COLUMNS, *rows])
            with write_output(options["output"]) as file:
                file.write(lines.getvalue().encode())
        selected: dict[str, list[int]] = {}
        for key, number, *_ in rows:
            selected.setdefault(key, []).append(number)
        return {"captions": len(groups), "phrasings": len(rows), "selected": selected}

    def report(self, result: dict[str, Any]) -> None:
        size = counted(result["phrasings"], "phrasing")
        self.stdout.write(f"{size} of {counted(result['captions'], 'caption')} selected")
