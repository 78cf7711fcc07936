"""The page that builds a pool."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from config.jobs.views import start_job
from config.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling.forms.pools import PoolForm
from pooling.policies import (
    benchmarks_seen_by,
    can_see_benchmarks,
    check_can_build_pool,
)


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def pool_build(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    form = PoolForm(**form_data(request), benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        options = form.cleaned_data
        return start_job(
            request,
            kind="build_pool",
            title=f"Pool the top {options['depth']} of {benchmark.name}",
            params={"benchmark": benchmark.key, **options},
            benchmark_key=benchmark.key,
        )
    context = {"benchmark": benchmark, "form": form}
    return render(request, "pooling/pool_build.html", context, status=form_status(request))
