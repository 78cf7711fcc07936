"""A filter that returns the name of a benchmark, for pages of `config` that have only its key."""

from __future__ import annotations

from django import template

from pooling.selectors.benchmarks import name_of_benchmark

register = template.Library()
register.filter("benchmark_name", name_of_benchmark)
