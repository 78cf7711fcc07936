"""Forms that import a benchmark and update its captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from hearth.shared.option_fields import check_printable
from pooling.core.readers.benchmarks import BENCHMARKS, HEADLESS
from pooling.core.readers.benchmarks.joined import PLUS, joint_name, time_columns
from pooling.core.readers.benchmarks.table import KEY, TEXT, VIDEO
from pooling.models import BENCHMARK_KEY, Benchmark


class CaptionsForm(forms.Form):
    """The files of a benchmark."""

    captions = forms.FileField(
        label="Captions",
        help_text="A table (CSV, TSV, JSON or Parquet), or one of the formats on this page. It can "
        "be compressed with gzip.",
    )
    companion = forms.FileField(
        label="Test captions, list of videos, durations or qrels",
        required=False,
        help_text="The file that belongs to the captions. If one is missing, the plan says which.",
    )
    second_companion = forms.FileField(
        label="Corpus",
        required=False,
        help_text="A third file, such as the corpus of BEIR. The files can be in any order.",
    )
    videos = forms.FileField(
        label="Videos table",
        required=False,
        help_text="A CSV file with the columns video_id,url,duration. By default, the videos are "
        "those of the captions.",
    )


class NewBenchmarkForm(CaptionsForm):
    name = forms.CharField(
        label="Name",
        max_length=200,
        validators=[check_printable],
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    key = forms.CharField(
        label="Key",
        max_length=100,
        validators=[BENCHMARK_KEY],
        help_text="A short name for addresses, commands and the API, such as MSVD. It never "
        "changes.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    licence = forms.CharField(
        label="Licence of the data", max_length=300, required=False, validators=[check_printable]
    )
    field_order = ("name", "key", "licence", "captions", "companion", "second_companion", "videos")

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"]
        if Benchmark.objects.filter(key=key).exists():
            raise forms.ValidationError(
                "A benchmark already has this key. Choose another key, or update the captions of "
                "that benchmark in its settings."
            )
        return key


class FormatForm(forms.Form):
    """The format of files that fit several formats."""

    format = forms.ChoiceField(label="Format", widget=forms.RadioSelect)

    def __init__(self, *args: Any, names: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: forms.ChoiceField = self.fields["format"]  # type: ignore[assignment]
        field.choices = [(name, BENCHMARKS.find(name).title) for name in names]


class ColumnsForm(forms.Form):
    """The columns of a table of captions."""

    first_line = forms.ChoiceField(
        label="First line",
        required=False,
        choices=[("", "The names of the columns"), (HEADLESS, "A row; the columns have no names")],
    )
    caption_id = forms.ChoiceField(label="Caption id", required=False)
    caption = forms.ChoiceField(label="Caption")
    video_id = forms.ChoiceField(label="Video id")

    def __init__(
        self, *args: Any, columns: Sequence[str], has_lines: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if not has_lines:
            del self.fields["first_line"]
        elif (self.data.get("first_line", "") == HEADLESS) != (
            self.initial.get("first_line") == HEADLESS
        ) and self.is_bound:  # the columns of the other form are selected on the next page
            columns = []
            self.fields[TEXT].required = self.fields[VIDEO].required = False
            self.data = {"first_line": self.data.get("first_line", "")}
        choices = [(name, name) for name in columns if name]
        joint = [
            (name, label) for name, label in self._joint(columns).items() if name not in columns
        ]
        for column, empty in (
            (KEY, "Make ids from the videos"),
            (TEXT, "Select"),
            (VIDEO, "Select"),
        ):
            field: forms.ChoiceField = self.fields[column]  # type: ignore[assignment]
            field.choices = [("", empty), *choices, *(joint if column != TEXT else [])]

    def _joint(self, columns: Sequence[str]) -> dict[str, str]:
        """Return the ids that several columns can form, each with its label."""
        video = self.initial.get(VIDEO, VIDEO)
        names = [self.initial.get(column, "") for column in (KEY, VIDEO)]
        if time_columns(columns):
            names.append(joint_name(video, columns))
        return {name: " + ".join(name.split(PLUS)) for name in names if PLUS in name}
