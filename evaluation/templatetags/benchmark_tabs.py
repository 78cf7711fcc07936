"""The tags that show the tabs of a benchmark, and the pages that open studies."""

from __future__ import annotations

from typing import Any

from django import template

from annotation.policies import can_lead
from annotation.questions.kind import Link, openings_with_proxies
from evaluation.portal.tabs import tab_links
from pooling.models import Benchmark

register = template.Library()


@register.inclusion_tag("_benchmark_tabs.html", takes_context=True)
def benchmark_tabs(context: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    request = context["request"]
    leads = can_lead(request.user, benchmark)
    links = tab_links(benchmark.key, request.resolver_match.url_name, leads=leads)
    return {"benchmark": benchmark, "leads": leads, "links": links}


@register.simple_tag
def proxy_openings() -> list[Link]:
    return openings_with_proxies()
