"""Forms that change runs, benchmarks and the rule for equal captions."""

from __future__ import annotations

from django import forms

from hearth.shared.option_fields import OptionsForm
from pooling.enums import EqualTexts
from pooling.models import Benchmark, Run
from pooling.services.changing_benchmarks import BENCHMARK_FIELDS, BenchmarkFields
from pooling.services.changing_runs import RUN_FIELDS, RunFields, RunWithdrawal


class RunForm(OptionsForm[RunFields]):
    action = RunFields

    @staticmethod
    def values_of(run: Run) -> dict[str, str]:
        return {field: getattr(run, field) for field in RUN_FIELDS}


class WithdrawForm(OptionsForm[RunWithdrawal]):
    action = RunWithdrawal


class BenchmarkForm(OptionsForm[BenchmarkFields]):
    action = BenchmarkFields

    @staticmethod
    def values_of(benchmark: Benchmark) -> dict[str, str]:
        return {field: getattr(benchmark, field) for field in BENCHMARK_FIELDS}


class EqualTextsForm(forms.Form):
    rule = forms.ChoiceField(
        label="Rule for equal texts",
        choices=EqualTexts.choices,
        widget=forms.RadioSelect,
    )
