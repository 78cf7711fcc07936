"""The download of moments for training."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from evaluation.release import policies
from evaluation.release.exports.training import file_name, training_rows
from evaluation.release.forms import TrainingMomentsForm
from hearth.shared.downloads import CSV, attachment
from hearth.shared.pages import check_form, only_for
from pooling.relevant_pairs.models import RelevantPairs
from pooling.views.proxies import get_proxy_seen


@only_for(policies.can_see_scores)
def training_moments(request: HttpRequest, key: str, pk: int) -> StreamingHttpResponse:
    """Return the moments of all captions in three levels, as CSV."""
    pairs = get_object_or_404(RelevantPairs, proxy=get_proxy_seen(request, key, pk))
    form = TrainingMomentsForm(request.GET)
    check_form(form)
    headers = {"Content-Disposition": attachment(file_name(pairs))}
    rows = training_rows(pairs, form.options)
    return StreamingHttpResponse(rows, content_type=CSV, headers=headers)
