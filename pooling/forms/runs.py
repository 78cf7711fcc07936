"""The form that uploads a run."""

from __future__ import annotations

from django import forms

from hearth.shared.options import DEPTH_MAX, NAME_LENGTH
from pooling.core.direction import BOTH, Direction
from pooling.core.readers.registry import AUTO
from pooling.core.readers.runs import RUNS
from pooling.forms.fields import check_printable

DIRECTION_CHOICES = [
    (Direction.TEXT_TO_VIDEO.value, "Text to video: videos for each caption"),
    (Direction.VIDEO_TO_TEXT.value, "Video to text: captions for each video"),
    (BOTH, "Both, from a matrix"),
]


KEYS_HELP = (
    "A JSON file with two lists: the ids of the captions in the order of the rows, and the ids of "
    "the videos in the order of the columns. By default, both are in the order of the benchmark."
)


class RunUploadForm(forms.Form):
    file = forms.FileField(
        label="Files", help_text="One or several files. A text file can be compressed with gzip."
    )
    system = forms.CharField(
        label="System",
        max_length=NAME_LENGTH,
        help_text="The retrieval model that produced the run.",
        widget=forms.TextInput(attrs={"list": "known-systems", "autocomplete": "off"}),
    )
    name = forms.CharField(
        label="Name of the run",
        max_length=NAME_LENGTH,
        required=False,
        help_text="Needed only if the system has several runs; by default, the name of the system.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    direction = forms.ChoiceField(
        label="Direction",
        choices=DIRECTION_CHOICES,
        initial=Direction.TEXT_TO_VIDEO.value,
        required=False,
        help_text="What the ranked lists contain. A matrix contains both directions.",
    )
    keys = forms.FileField(
        label="Keys of a matrix",
        required=False,
        help_text=KEYS_HELP,
    )
    format = forms.ChoiceField(label="Format", choices=RUNS.choices, initial=AUTO)
    depth = forms.IntegerField(
        label="Maximum depth",
        min_value=1,
        max_value=DEPTH_MAX,
        required=False,
        help_text="Results kept per list; by default, the whole list or the top 100 of a matrix.",
    )

    def clean_direction(self) -> str:
        return self.cleaned_data["direction"] or Direction.TEXT_TO_VIDEO.value

    def clean_system(self) -> str:
        return check_printable(self.cleaned_data["system"])

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])
