"""The page that opens a study of scenes."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.policies import check_can_lead
from annotation.questions.scene.forms import SceneStudyForm
from annotation.questions.scene.study import open_scene_study
from hearth.accounts.models import User
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling.policies import benchmarks_seen_by, can_see_benchmarks
from pooling.scenes.selectors import scene_counts


@only_for(can_see_benchmarks, FORM_METHODS)
def scenes_describe(request: HttpRequest, key: str) -> HttpResponse:
    """Open a study in which annotators describe scenes."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    form = SceneStudyForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        by = cast(User, request.user)
        try:
            study = open_scene_study(benchmark=benchmark, by=by, options=form.options)
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The study is open. Annotators can describe the scenes.")
            return redirect("campaign", study.pk)
    context = {"benchmark": benchmark, "form": form, "counts": scene_counts(benchmark)}
    template = "annotation/questions/scene/open.html"
    return render(request, template, context, status=form_status(request))
