"""The forms of phrasings."""

from __future__ import annotations

from django.db.models import Count

from hearth.shared.option_fields import OptionsForm
from pooling.models import Benchmark
from pooling.phrasings.models import PhrasedLists
from pooling.phrasings.services.expanding import ExpandOptions
from pooling.phrasings.services.fusing import FuseOptions
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload
from pooling.phrasings.services.phrasings import PhrasingsUpload
from pooling.phrasings.services.vectors import TextVectorsUpload
from pooling.selectors.runs import find_runs


class PhrasingsForm(OptionsForm[PhrasingsUpload]):
    action = PhrasingsUpload


class ExpandForm(OptionsForm[ExpandOptions]):
    action = ExpandOptions


class FuseForm(OptionsForm[FuseOptions]):
    action = FuseOptions


class TextVectorsForm(OptionsForm[TextVectorsUpload]):
    action = TextVectorsUpload


class PhrasedListsForm(OptionsForm[PhrasedListsUpload]):
    action = PhrasedListsUpload


def runs_offered(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Return the names of runs, each with the number of phrasings for which it has lists."""
    runs = find_runs(benchmark, upper_bounds=True)
    phrased = PhrasedLists.objects.filter(run__in=runs).order_by()
    numbers = dict(phrased.values_list("run").annotate(Count("pk")))
    return [
        (run.name, f"{run.name} ({numbers[run.pk]} phrasings)" if run.pk in numbers else run.name)
        for run in runs
    ]
