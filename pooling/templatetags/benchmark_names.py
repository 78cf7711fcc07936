"""A filter for pages of accounts, which have only the key of a benchmark."""

from __future__ import annotations

from django import template

from pooling.selectors.benchmarks import name_of_benchmark

register = template.Library()
register.filter("benchmark_name", name_of_benchmark)
