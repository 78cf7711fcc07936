"""The planned labels of a pair. Labels requested because earlier ones differ are not planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Annotator, Campaign
from annotation.selectors.judgments import judgment_arrays
from annotation.services import withdraw_judgments
from hearth.accounts.roles import Role
from tests.factories import (
    add_judgments,
    claim,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_user,
    submit,
)

pytestmark = pytest.mark.django_db


def first_labels(campaign: Campaign) -> dict[str, list[str]]:
    """Return the annotators of the planned labels of each pair, by the key of the video."""
    arrays = judgment_arrays(campaign.benchmark)
    names = {
        annotator.pk: annotator.key or annotator.user.username
        for annotator in Annotator.objects.all()
    }
    found: dict[str, list[str]] = {}
    for pair, annotator, is_first in zip(
        arrays.pair_of.tolist(), arrays.annotators.tolist(), arrays.is_first.tolist(), strict=True
    ):
        video = f"v{campaign.benchmark.pair_space.videos(int(arrays.codes[pair]))}"
        found.setdefault(video, []).extend([names[annotator]] if is_first else [])
    return {video: sorted(people) for video, people in found.items()}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """Anna and ben agree on v0 and differ on v1, which cara judges as well."""
    made = make_campaign(tmp_path, captions=1, videos=2, double_share=1)
    judge(made, make_annotator("anna"), {"v0": 1, "v1": 1})
    judge(made, make_annotator("ben"), {"v0": 1, "v1": 0})
    judge(made, make_annotator("cara"), {"v1": 1})
    return made


def person(name: str) -> Annotator:
    return Annotator.objects.get(user__username=name)


def test_a_label_required_by_a_disagreement_is_not_a_planned_label(campaign: Campaign) -> None:
    assert first_labels(campaign) == {"v0": ["anna", "ben"], "v1": ["anna", "ben"]}


def test_a_corrected_planned_label_stays_a_planned_label(campaign: Campaign) -> None:
    for held in person("anna").assignments.filter(task__pair__video__key="v1"):
        submit(held, 0)
    assert first_labels(campaign)["v1"] == ["anna", "ben"]


def test_the_next_label_replaces_a_withdrawn_one(campaign: Campaign) -> None:
    lead = make_user("lena", Role.LEAD)
    withdraw_judgments(campaign=campaign, annotator=person("ben"), by=lead)
    # Cara's label of v1 is the second now. Dora fills the slot that ben left at v0.
    assert first_labels(campaign) == {"v0": ["anna"], "v1": ["anna", "cara"]}
    judge(campaign, make_annotator("dora"), {"v0": 0, "v1": 0})
    assert first_labels(campaign) == {"v0": ["anna", "dora"], "v1": ["anna", "cara"]}


def test_planned_labels_depend_on_arrival_and_not_on_slots(campaign: Campaign) -> None:
    """After the withdrawal of anna's label, ben and cara differ, so dora gets anna's slot."""
    lead = make_user("lena", Role.LEAD)
    withdraw_judgments(campaign=campaign, annotator=person("anna"), by=lead)
    (held,) = [
        assignment
        for assignment in claim(campaign, make_annotator("dora"))
        if assignment.task.video.key == "v1"
    ]
    assert held.slot == 0
    submit(held, 0)
    assert first_labels(campaign)["v1"] == ["ben", "cara"]


def test_the_first_two_labels_of_a_pair_in_an_imported_file_are_planned(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=1, videos=2)
    rows = [("c0", "v0", name, 1) for name in ("z", "m", "a", "b")]
    rows.insert(1, ("c0", "v1", "a", 0))
    imported = add_judgments(tmp_path, benchmark, rows)
    assert first_labels(imported.campaign) == {"v0": ["m", "z"], "v1": ["a"]}


def test_all_three_labels_are_planned_labels_if_three_are_planned(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=1, labels_each=3, labels_max=5)
    for name, label in (("anna", 1), ("ben", 0), ("cara", 1)):
        judge(campaign, make_annotator(name), {"v0": label})
    assert first_labels(campaign) == {"v0": ["anna", "ben", "cara"]}


def test_judgments_have_the_longest_scale_of_the_benchmark(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=1, videos=2)
    assert judgment_arrays(benchmark).n_grades == 2
    add_judgments(tmp_path, benchmark, [("c0", "v0", "a", 1)])
    assert judgment_arrays(benchmark).n_grades == 2
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1)], scale="graded")
    assert judgment_arrays(benchmark).n_grades == 4
