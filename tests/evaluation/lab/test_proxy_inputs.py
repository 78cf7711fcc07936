"""The proxies of an analysis: the field that selects them, their provenance and their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict

from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.options import Options, Proxies
from evaluation.lab.analyses.proxy_inputs import load_proxies
from evaluation.lab.analyses.question import Question, build_question, submitted_data
from evaluation.lab.analyses.results import Result
from hearth.shared.errors import InvalidInput
from pooling.core.pair_space import PairSpace
from pooling.models import Benchmark, Proxy
from tests.evaluation.worked import PROXIES, make_worked_benchmark

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions(Options):
    proxies: Proxies = ()


ANALYSIS: Analysis[Any, Any] = Analysis(
    name="some",
    title="Some",
    question="Which?",
    options=ProxyOptions,
    result=Result,
    compute=lambda inputs, options, progress: Result(),
    runs_needed=0,
    proxies_needed=1,
)


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def question_with(benchmark: Benchmark, *names: str) -> Question:
    return build_question(ANALYSIS, benchmark, {"proxies": list(names)} if names else {})


def test_all_proxies_are_the_default(benchmark: Benchmark) -> None:
    question = question_with(benchmark)
    assert question.options["proxies"] == ["near", "words"]
    hashes = dict(Proxy.objects.values_list("name", "sha256"))
    assert question.provenance["proxies"] == hashes
    assert question_with(benchmark, "words").provenance["proxies"] == {"words": hashes["words"]}


def test_an_address_can_name_several_proxies() -> None:
    data = submitted_data(ANALYSIS.form, QueryDict("proxies=words&proxies=near&labels=original"))
    assert data == {"proxies": ["words", "near"], "labels": "original"}


def test_an_unknown_proxy_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InvalidInput, match="other is not one of the available choices"):
        question_with(benchmark, "other")


def test_values_are_loaded_with_their_space(benchmark: Benchmark) -> None:
    near, words = load_proxies(question_with(benchmark).inputs)
    assert (near.name, words.name) == ("near", "words")
    assert near.values.dtype == np.float16
    assert isinstance(near.values, np.memmap)
    assert near.values.tolist() == PROXIES["near"]
    assert near.space == PairSpace(3, 4)
    assert near.transposed.space == PairSpace(4, 3)
    assert near.transposed.values.tolist() == np.transpose(PROXIES["near"]).tolist()


def test_a_proxy_of_other_captions_is_refused(benchmark: Benchmark) -> None:
    Proxy.objects.filter(name="words").update(captions_sha256="f" * 64)
    reason = r"^The captions have changed since the proxy 'words' was added\."
    with pytest.raises(InvalidInput, match=reason):
        load_proxies(question_with(benchmark).inputs)


def test_an_analysis_need_not_read_labels_or_runs(benchmark: Benchmark) -> None:
    question = build_question(replace(ANALYSIS, selects=()), benchmark, {})
    provenance = question.provenance
    assert (provenance["labels"], provenance["labels_sha256"], provenance["runs"]) == (
        "original",
        None,
        {},
    )
    assert list(question.options) == ["proxies"]
    with pytest.raises(InvalidInput, match=r"^Unknown option: labels\.$"):
        build_question(question.analysis, benchmark, {"labels": "original"})


def test_a_benchmark_without_proxies_is_refused(benchmark: Benchmark) -> None:
    Proxy.objects.all().delete()
    with pytest.raises(InvalidInput, match=r"^This analysis needs a proxy\."):
        question_with(benchmark)
