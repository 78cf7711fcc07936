"""Every write of labels, scores and figures checks a policy for the person who requests it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.models import AgreementReport, CampaignReport, Draft, Evaluation, LabelSet
from evaluation.monitor.services import compute_agreement, compute_figures
from evaluation.release.services import (
    begin_draft,
    make_draft,
    publish_label_set,
    update_requested_draft,
)
from evaluation.scores.services import begin_scoring, evaluate_runs
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import grant_role
from hearth.shared.errors import NotPermitted
from pooling.models import Benchmark
from tests import factories

Write = Callable[[Benchmark, User], object]

COMPUTE: dict[str, Write] = {
    "make_draft": lambda benchmark, by: make_draft(benchmark=benchmark, by=by),
    "update_requested_draft": lambda benchmark, by: update_requested_draft(
        benchmark=benchmark, labels="draft", by=by
    ),
    "begin_draft": lambda benchmark, by: begin_draft(benchmark=benchmark, by=by),
    "evaluate_runs": lambda benchmark, by: evaluate_runs(
        benchmark=benchmark, labels="original", by=by
    ),
    "begin_scoring": lambda benchmark, by: begin_scoring(run=benchmark.runs.get(), by=by),
    "compute_agreement": lambda benchmark, by: compute_agreement(
        benchmark=benchmark, resamples=10, by=by
    ),
    "compute_figures": lambda benchmark, by: compute_figures(
        campaign=benchmark.campaigns.get(), by=by
    ),
}


def publish(benchmark: Benchmark, by: User) -> object:
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=by)


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    made = factories.make_benchmark(tmp_path)
    factories.make_run(tmp_path, made, {"c0": ["v0", "v3"]}, system="A")
    factories.add_judgments(tmp_path, made, [("c0", "v0", "anna", 1)])
    return made


def person(role: Role, scope: str = "") -> User:
    admin = factories.make_user("ada", Role.ADMIN)
    made = factories.make_user("pat")
    grant_role(person=made, role=role, scope=scope, by=admin)
    return made


def stored(benchmark: Benchmark) -> dict[str, int]:
    models = (AgreementReport, CampaignReport, Draft, Evaluation, LabelSet)
    return {model.__name__: model.objects.count() for model in models}


@pytest.mark.parametrize("name", COMPUTE)
@pytest.mark.parametrize(("role", "scope"), [(Role.ANNOTATOR, ""), (Role.LEAD, "elsewhere")])
def test_computing_requires_a_researcher_of_the_benchmark(
    name: str, role: Role, scope: str, benchmark: Benchmark
) -> None:
    before = stored(benchmark)
    with pytest.raises(NotPermitted, match="Only researchers, leads and admins may compute"):
        COMPUTE[name](benchmark, person(role, scope))
    assert stored(benchmark) == before


@pytest.mark.parametrize("name", COMPUTE)
def test_researchers_compute(name: str, benchmark: Benchmark) -> None:
    COMPUTE[name](benchmark, person(Role.RESEARCHER, benchmark.key))


@pytest.mark.parametrize(
    ("role", "scope"), [(Role.ANNOTATOR, ""), (Role.RESEARCHER, ""), (Role.LEAD, "elsewhere")]
)
def test_publishing_requires_a_lead_of_the_benchmark(
    role: Role, scope: str, benchmark: Benchmark
) -> None:
    with pytest.raises(NotPermitted, match="Only leads and admins may publish labels"):
        publish(benchmark, person(role, scope))
    assert LabelSet.objects.count() == 0


def test_leads_publish_in_their_own_name(benchmark: Benchmark) -> None:
    lead = person(Role.LEAD, benchmark.key)
    publish(benchmark, lead)
    assert LabelSet.objects.get().created_by == lead
