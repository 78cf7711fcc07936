"""What may be chosen when ranked lists are compared; page, command and API all fill it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.core.relevance import compare
from evaluation.lab.analyses.base import AnalysisForm

# Lists stand side by side and scroll; with more the page is long to load and nobody looks.
RUNS_MAX = 24
CUTOFF_MAX = 1000
# Beyond the longest of captions.
WORDS_MAX = 10**6
BY_LABELS, BY_ORIGINAL = "labelled", "original"


def _whole(label: str, highest: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=highest, **options)


class CompareForm(AnalysisForm):
    """Which captions, by which runs, and how much of the lists.

    The runs named A and B are always shown, before all others. Where they are not named they are
    the first two.
    """

    first = forms.ChoiceField(label="Run A", required=False)
    second = forms.ChoiceField(label="Run B", required=False)
    show = forms.ChoiceField(
        label="Who is right",
        initial=compare.ALL,
        choices=[
            (compare.ALL, "any"),
            (compare.FIRST, "A right, B wrong"),
            (compare.SECOND, "B right, A wrong"),
            (compare.DIFFER, "one of A and B right"),
            (compare.EVERY, "all runs right"),
            (compare.NEITHER, "no run right"),
        ],
    )
    cutoff = _whole("Right within the top", CUTOFF_MAX, initial=1)
    by = forms.ChoiceField(
        label="Right by",
        initial=BY_LABELS,
        choices=[(BY_LABELS, "the labels"), (BY_ORIGINAL, "the original positives")],
    )
    effect = forms.ChoiceField(
        label="Changed by the labels",
        initial=compare.ANY,
        choices=[
            (compare.ANY, "or not"),
            (compare.NEW, "new positives in a top"),
            (compare.TURNED, "a run turned right or wrong"),
        ],
    )
    order = forms.ChoiceField(
        label="In order",
        initial=compare.BENCHMARK,
        choices=[
            (compare.BENCHMARK, "of the benchmark"),
            (compare.CHANGED, "most changed by the labels first"),
            (compare.BY_DISTANCE, "A and B farthest apart first"),
            (compare.SHORT, "shortest first"),
            (compare.LONG, "longest first"),
        ],
    )
    text = forms.CharField(
        label="Text in it",
        required=False,
        max_length=200,
        help_text="Words or parts of words, all of them.",
    )
    least = _whole("Words, at least", WORDS_MAX, required=False)
    most = _whole("Words, at most", WORDS_MAX, required=False)
    depth = _whole("Ranks shown", 50, initial=10)
    caption = forms.CharField(label="Caption with the id", required=False, max_length=500)
    at = _whole("Place among them", 10**9, initial=1, widget=forms.HiddenInput)

    def __init__(self, given: Mapping[str, Any], *, runs: Sequence[str], **labels: Any) -> None:
        super().__init__(given, runs=runs, **labels)
        shown = [name for name in self.data["runs"] or runs if name in runs]
        two = _two_of(shown, self.data["first"], self.data["second"])
        self.data = {**self.data, **two}
        for field, name in two.items():
            nobody = [] if name else [("", "–")]
            self._offer(field, [*nobody, *((run, run) for run in runs)])

    def clean_runs(self) -> list[str]:
        names: list[str] = list(dict.fromkeys(self.cleaned_data["runs"]))
        if len(names) > RUNS_MAX:
            raise forms.ValidationError(f"At most {RUNS_MAX} lists side by side.")
        return names

    def clean(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        first, second = chosen.get("first"), chosen.get("second")
        if first and first == second:
            self.add_error("second", "A and B are one run.")
        if not (first and second):
            if chosen.get("show") in compare.NEEDS_PAIR:
                self.add_error("show", "This takes two runs.")
            if chosen.get("order") == compare.BY_DISTANCE:
                self.add_error("order", "This takes two runs.")
        least, most = chosen.get("least"), chosen.get("most")
        if least and most and least > most:
            self.add_error("most", "Less than the least.")
        return chosen


def _two_of(shown: Sequence[str], first: Any, second: Any) -> dict[str, Any]:
    """A and B; where one is not named, the first run of those shown that the other is not."""
    first = first or next((name for name in shown if name != second), "")
    second = second or next((name for name in shown if name != first), "")
    return {"first": first, "second": second}
