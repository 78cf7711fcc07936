"""The form of the comparison. The page, the command and the API use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.core.relevance import compare
from evaluation.lab.analyses.forms import AnalysisForm

# Maximum number of lists side by side. With more lists, the page takes long to load.
RUNS_MAX = 24
# Number of lists that a wide screen shows at a time.
RUNS_SHOWN = 6
CUTOFF_MAX = 1000
# The fields of runs A and B.
PAIR = ("first", "second")
# More words than any caption has.
MAX_WORDS = 10**6
BY_LABELS, BY_ORIGINAL = "labelled", "original"


def _positive_integer(label: str, highest: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=highest, **options)


class CompareForm(AnalysisForm):
    """Selects captions, runs, and the part of the lists to show.

    Runs A and B are always shown, before all other runs. By default they are the first two runs. If
    no run is selected, the caller selects the best ones with `select_best`.
    """

    elsewhere = ("caption", "at")

    runs = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        help_text="Runs A and B are always shown. If no run is selected, the "
        f"{RUNS_SHOWN} best by C@1 are used.",
        widget=forms.CheckboxSelectMultiple,
    )
    first = forms.ChoiceField(label="Run A", required=False)
    second = forms.ChoiceField(label="Run B", required=False)
    show = forms.ChoiceField(
        label="Correct runs",
        initial=compare.ALL,
        choices=[
            (compare.ALL, "all captions"),
            (compare.FIRST, "A correct, B wrong"),
            (compare.SECOND, "B correct, A wrong"),
            (compare.DIFFER, "exactly one of A and B correct"),
            (compare.EVERY, "all runs correct"),
            (compare.NEITHER, "no run correct"),
        ],
    )
    cutoff = _positive_integer("Correct within the top", CUTOFF_MAX, initial=1)
    by = forms.ChoiceField(
        label="Correct by",
        initial=BY_LABELS,
        choices=[(BY_LABELS, "the labels"), (BY_ORIGINAL, "the original positives")],
    )
    effect = forms.ChoiceField(
        label="Effect of the labels",
        initial=compare.ANY,
        choices=[
            (compare.ANY, "all captions"),
            (compare.NEW, "new positives in the top"),
            (compare.TURNED, "a run became correct or wrong"),
        ],
    )
    order = forms.ChoiceField(
        label="Order",
        initial=compare.BENCHMARK,
        choices=[
            (compare.BENCHMARK, "as in the benchmark"),
            (compare.CHANGED, "most changed by the labels first"),
            (compare.BY_DISTANCE, "largest rank difference of A and B first"),
            (compare.SHORT, "shortest first"),
            (compare.LONG, "longest first"),
        ],
    )
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=200,
        help_text="Captions that contain all these words or parts of words.",
    )
    least = _positive_integer("Minimum words", MAX_WORDS, required=False)
    most = _positive_integer("Maximum words", MAX_WORDS, required=False)
    depth = _positive_integer("Ranks shown", 50, initial=10)
    caption = forms.CharField(label="Caption id", required=False, max_length=500)
    at = _positive_integer("Position", 10**9, initial=1, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any], *, runs: Sequence[str], **labels: Any) -> None:
        super().__init__(data, runs=runs, **labels)
        self.given = data
        self.known = list(runs)
        self._select_pair(self.data["runs"] or self.known)

    def select_best(self, ranked: Sequence[str]) -> None:
        """Select A, B and the best runs. ranked: all runs, the best first."""
        named = [self.given.get(name) for name in PAIR]
        best = [name for name in dict.fromkeys([*named, *ranked]) if name in self.known]
        self.data = {**self.data, "runs": best[:RUNS_SHOWN]}
        self._select_pair(best)

    def _select_pair(self, runs: Sequence[str]) -> None:
        shown = [name for name in runs if name in self.known]
        two = _select_two(shown, *(self.given.get(name, "") for name in PAIR))
        self.data = {**self.data, **two}
        for field, name in two.items():
            empty = [] if name else [("", "–")]
            self._offer(field, [*empty, *((run, run) for run in self.known)])

    def clean_runs(self) -> list[str]:
        names: list[str] = list(dict.fromkeys(self.cleaned_data["runs"]))
        if len(names) > RUNS_MAX:
            raise forms.ValidationError(f"Select at most {RUNS_MAX} runs.")
        return names

    def clean(self) -> dict[str, Any]:
        options = self.cleaned_data
        first, second = options.get("first"), options.get("second")
        if first and first == second:
            self.add_error("second", "Select two different runs as A and B.")
        if not (first and second):
            if options.get("show") in compare.NEEDS_PAIR:
                self.add_error("show", "Select runs A and B to use this option.")
            if options.get("order") == compare.BY_DISTANCE:
                self.add_error("order", "Select runs A and B to use this option.")
        least, most = options.get("least"), options.get("most")
        if least and most and least > most:
            self.add_error("most", "The maximum must not be below the minimum.")
        return options


def _select_two(shown: Sequence[str], first: Any, second: Any) -> dict[str, Any]:
    """Return runs A and B.

    If one of them is missing, the first shown run that is not the other one takes its place.
    """
    first = first or next((name for name in shown if name != second), "")
    second = second or next((name for name in shown if name != first), "")
    return dict(zip(PAIR, (first, second), strict=True))
