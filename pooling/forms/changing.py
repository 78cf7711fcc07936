"""Forms that change the name and metadata of runs and benchmarks."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import URLValidator

from hearth.shared.options import NAME_LENGTH
from pooling.forms.fields import check_printable
from pooling.models import Benchmark, Run
from pooling.services.changing_benchmarks import BENCHMARK_FIELDS
from pooling.services.changing_runs import RUN_FIELDS

TEXT_LENGTH = 5000
WEB = ["http", "https"]


class _Text(forms.CharField):
    def __init__(self, **options: Any) -> None:
        area = forms.Textarea(attrs={"rows": 3})
        super().__init__(max_length=TEXT_LENGTH, required=False, widget=area, **options)


class _WebAddress(forms.CharField):
    """An http(s) address. A link with another scheme could run a script."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            max_length=500,
            required=False,
            validators=[URLValidator(schemes=WEB)],
            widget=forms.URLInput(attrs={"placeholder": "https://"}),
            **options,
        )


class RunForm(forms.Form):
    name = forms.CharField(label="Name", max_length=NAME_LENGTH)
    paper = _WebAddress(label="Paper", help_text="The web address of the paper.")
    code_url = _WebAddress(label="Code", help_text="The web address of the code.")
    contact = forms.CharField(
        label="Contact",
        max_length=200,
        required=False,
        help_text="Whom to ask about this run. Everyone who sees the run sees the contact.",
    )
    training_data = _Text(
        label="Training data", help_text="What the system was trained on, with versions."
    )
    description = _Text(label="Description")

    @staticmethod
    def values_of(run: Run) -> dict[str, str]:
        return {field: getattr(run, field) for field in RUN_FIELDS}

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])

    def clean_contact(self) -> str:
        return check_printable(self.cleaned_data["contact"])


class WithdrawForm(forms.Form):
    reason = forms.CharField(
        label="Reason", max_length=500, required=False, help_text="Shown on the page of the run."
    )

    def clean_reason(self) -> str:
        return check_printable(self.cleaned_data["reason"])


class BenchmarkForm(forms.Form):
    name = forms.CharField(label="Name", max_length=200)
    licence = forms.CharField(label="Licence", max_length=300, required=False)
    description = _Text(label="Description")

    @staticmethod
    def values_of(benchmark: Benchmark) -> dict[str, str]:
        return {field: getattr(benchmark, field) for field in BENCHMARK_FIELDS}

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])

    def clean_licence(self) -> str:
        return check_printable(self.cleaned_data["licence"])
