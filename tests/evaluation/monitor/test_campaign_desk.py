"""Tests of a campaign's pages for leads: figures, annotators, and files."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import krippendorff
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.consensus import OutcomeCounts
from annotation.enums import EscalationKind, JudgmentState
from annotation.models import Annotator, Campaign, GoldItem, Judgment, Membership
from annotation.services import (
    annotator_for,
    change_policy,
    escalate_task,
    exclude_task,
    join_campaign,
    pause_member,
    release_assignments,
    retire_gold,
    withdraw_judgments,
)
from evaluation.models import CampaignReport
from evaluation.monitor.selectors import campaigns as campaign_selectors
from evaluation.monitor.selectors import measure_campaign
from evaluation.monitor.services import compute_figures, renew_figures
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.caches import process_cache as cache
from hearth.shared.errors import Conflict
from tests import factories
from tests.annotation.pages import text_of
from tests.factories import claim, judge, make_annotator, make_campaign, submit
from tests.replay import replayed

pytestmark = pytest.mark.django_db

FRIDAY = datetime(2025, 11, 21, 10, tzinfo=UTC)


@pytest.fixture
def lead(db: None) -> User:
    return factories.make_user("lena", Role.LEAD)


@pytest.fixture
def desk(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_first_campaign(tmp_path)


@replayed
def make_first_campaign(folder: Path) -> Campaign:
    """Make a campaign in which v0 has two equal labels, v1 has three, and v2 has one."""
    made = make_campaign(folder, videos=4, double_share=1, name="First")
    label(made, "anna", {"v0": 1, "v1": 1, "v2": 0})
    label(made, "ben", {"v0": 1, "v1": 0})
    label(made, "cara", {"v1": 0})
    times = {
        ("anna", "v0"): (0, 2.0),
        ("anna", "v1"): (10, 4.0),
        ("anna", "v2"): (3610, 200.0),
        ("ben", "v0"): (20, 0.5),
        ("ben", "v1"): (30, None),
        ("cara", "v1"): (7200, 6.0),
    }
    for (name, video), (after, seconds) in times.items():
        Judgment.objects.filter(
            annotator__user__username=name, task__pair__video__key=video
        ).update(created_at=FRIDAY + timedelta(seconds=after), seconds=seconds)
    return made


def label(campaign: Campaign, name: str, labels: dict[str, int]) -> Annotator:
    found = Annotator.objects.filter(user__username=name).select_related("user").first()
    person = found or make_annotator(name)
    judge(campaign, person, labels)
    release_assignments(campaign=campaign, annotator=person)
    return person


def person(name: str) -> Annotator:
    return Annotator.objects.select_related("user").get(user__username=name)


def table_of(page: bytes, name: str) -> list[list[str]]:
    found = re.search(rf'<table class="table [^"]*\b{name}\b.*?</table>', page.decode(), re.DOTALL)
    table = found[0] if found else ""
    body = table.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [text_of(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)
    ]


# --- The figures ------------------------------------------------------------------------------


def test_figures_of_a_campaign(campaign: Campaign) -> None:
    figures = measure_campaign(campaign)
    people = figures.pop("people")
    start = int(FRIDAY.timestamp())
    nothing = {"answers": 0, "counted": 0, "relevant": 0, "gold": 0, "right": 0, "people": 0}
    assert figures == {
        "tasks": 4,
        "pairs": 4,
        "outcomes": {"resolved": 2, "pending": 1, "conflicted": 0, "adjudicated": 0},
        "unplayable": 0,
        "relevant": 1,
        "labelled": 2,
        # Three tasks with two labels and one with three.
        "labels_required": 9,
        "turns": [
            {"number": 1, "given": 3, "wanted": 1},
            {"number": 2, "given": 2, "wanted": 2},
            {"number": 3, "given": 1, "wanted": 0},
        ],
        "answers": 6,
        "labels": 6,
        "relevant_labels": 3,
        "surplus": 0,
        "times": {
            "known": 5,
            "unknown": 1,
            "breaks": 1,
            "too_fast": 1,
            "quantiles": pytest.approx((1.625, 3.0, 4.5, 5.4)),
        },
        "span": {"start": start, "width": 3600, "count": 3},
        "stretches": [
            {
                **nothing,
                "start": start,
                "answers": 4,
                "counted": 4,
                "relevant": 3,
                "people": 2,
                "seconds": 2.0,
            },
            {**nothing, "start": start + 3600, "answers": 1, "counted": 1, "people": 1}
            | {"seconds": None},
            {**nothing, "start": start + 7200, "answers": 1, "counted": 1, "people": 1}
            | {"seconds": 6.0},
        ],
        "forecast": {
            "wanted": 3,
            "per_hour": None,
            "hours": 0,
            "earliest": None,
            "latest": None,
            "undefined": "no answers for two days",
        },
        "agreement": figures["agreement"],
        "gold": 0,
        "right": 0,
    }
    agreement = figures["agreement"]
    first, every = agreement["first_labels"], agreement["all_labels"]
    assert (every["agreement"], every["multiply_labelled"], every["labels"]) == (0.5, 2, 6)
    # In one task, the only two labels agree. In the other, one of three pairs of labels agrees.
    assert every["pairwise_agreement"] == pytest.approx((1 + 1 / 3) / 2)
    assert [(row["labels"], row["pairs"], row["value"]) for row in agreement["by_label_count"]] == [
        (1, 1, None),
        (2, 1, 1.0),
        (3, 1, 0.0),
    ]
    # Cara's label was requested because two labels differed, so it is not a planned label.
    assert (first["pairwise_agreement"], first["multiply_labelled"], first["labels"]) == (0.5, 2, 5)
    assert (agreement["asked_later"], first["most"]) == (1, 2)
    # The labels are 1 1 and 1 0. Alpha is 1 - 2 / 2: the observed disagreement is 2, and the
    # expected one is 2 * 3 * 1 / 3.
    assert first["alpha"] == 0.0
    reason = "fewer than three annotators share pairs"
    assert first["undefined"] == {"alpha_interval": reason, "alpha_annotator_interval": reason}
    anna = next(row for row in people if row["annotator"] == person("anna").pk)
    counted = {key: anna[key] for key in ("counted", "relevant", "compared", "equal", "too_fast")}
    assert counted == {"counted": 3, "relevant": 2, "compared": 2, "equal": 1, "too_fast": 0}
    # Anna worked 2 seconds on the first answer, and 10 seconds from the first to the second. The
    # third answer came after a break and counts 120 seconds.
    assert anna["hours"] == pytest.approx((2 + 10 + 120) / 3600)
    assert anna["last_at"] == start + 3610
    cara = next(row for row in people if row["annotator"] == person("cara").pk)
    assert (cara["counted"], cara["compared"]) == (1, 0)


def test_figures_without_answers(tmp_path: Path) -> None:
    figures = measure_campaign(make_campaign(tmp_path))
    assert (figures["span"], figures["stretches"], figures["people"]) == (None, [], [])
    assert figures["times"]["quantiles"] is None
    assert figures["forecast"]["undefined"] == "judging has only begun"
    first = figures["agreement"]["first_labels"]
    assert (first["alpha"], first["undefined"]["alpha"]) == (None, "no pair has two labels")


def test_corrected_and_withdrawn_answers_are_not_counted(campaign: Campaign, lead: User) -> None:
    """A corrected answer counts once, and withdrawn answers do not count."""
    before = measure_campaign(campaign)
    dora = make_annotator("dora")
    (held,) = [
        assignment for assignment in claim(campaign, dora) if assignment.task.pair.video.key == "v2"
    ]
    label(campaign, "ben", {"v2": 0})
    submit(held, 0)
    submit(held, 1)
    withdraw_judgments(campaign=campaign, annotator=person("ben"), by=lead)
    after = measure_campaign(campaign)
    assert (before["answers"], before["labels"]) == (6, 6)
    # Dora's corrected answer counts once, and Ben's answers are withdrawn.
    assert (after["answers"], after["labels"]) == (5, 5)
    assert {row["annotator"] for row in after["people"]} == {
        person(name).pk for name in ("anna", "cara", "dora")
    }


def test_gold_answers_are_correct_wrong_or_retired(tmp_path: Path, lead: User) -> None:
    campaign = factories.make_campaign_with_gold(
        tmp_path, captions=2, videos=4, gold=4, gold_share=1
    )
    anna = make_annotator("anna")
    while held := claim(campaign, anna):
        for assignment in held:
            submit(assignment, 1)
    gold = Judgment.objects.filter(state=JudgmentState.GOLD)
    assert gold.count() == 4
    found = measure_campaign(campaign)
    assert (found["answers"], found["labels"]) == (12, 8)
    # Gold items with even numbers are relevant.
    assert (found["gold"], found["right"]) == (4, 2)
    wrong = gold.filter(is_right=False).select_related("task__gold__benchmark").first()
    assert wrong is not None
    item = GoldItem.objects.select_related("benchmark").get(pk=wrong.task.gold_id)
    retire_gold(item=item, by=lead)
    found = measure_campaign(campaign)
    assert (found["answers"], found["gold"], found["right"]) == (12, 3, 2)
    assert (found["people"][0]["gold"], found["people"][0]["right"]) == (3, 2)


# --- The page ---------------------------------------------------------------------------------


def test_page_of_the_campaign(campaign: Campaign, desk: Client) -> None:
    page = desk.get(f"/campaigns/{campaign.pk}/").content
    text = text_of(page)
    for part in (
        "Labels 6 of 9",
        "Number of answers, by hour 4 2 0",
        "Time of an answer 3.0 s median",
        "Middle half 1.6 to 4.5 s",
        "Fastest 90 % up to 5.4 s",
        "Breaks 1 over 2 minutes, not in the times",
        "Too fast 1 under 0.7 s: 20.0 %",
        "Without a time 1",
        "Relevant pairs 50.0 % 1 of 2 with a label",
        "Relevant labels 50.0 % 3 of 6",
        "Figure Planned labels All labels Two labels of a pair equal 50.0 % 66.7 % "
        "All labels of a pair equal 50.0 % 50.0 % Krippendorff’s alpha 0.000 "
        "low: below 0.667 (bounds by Krippendorff 2004, p. 241) 0.333",
        "The figures are computed from 2 pairs with two or more labels. In addition to the planned "
        "labels, 1 label was added.",
        "Meaning of the figures",
        "Pairs with an extra label 100 %, 4 tasks",
        "Scale not relevant, relevant",
    ):
        assert part in text, part
    assert re.findall(r"<title>(21 Nov[^<]*)</title>", page.decode()) == [
        "21 Nov, 10:00: labels 4",
        "21 Nov, 11:00: labels 1",
        "21 Nov, 12:00: labels 1",
    ]
    heights = re.findall(
        r'class="bar-labelled"[^>]*y="([^"]*)"[^>]*height="([^"]*)"', page.decode()
    )
    assert heights == [("0.00", "100.00"), ("75.00", "25.00"), ("75.00", "25.00")]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", [10, 11, 12]),
        ("-start", [12, 11, 10]),
        ("-answers", [10, 11, 12]),
        ("answers", [11, 12, 10]),
        ("relevant", [11, 12, 10]),
        # Periods without a median come last in both directions.
        ("seconds", [10, 12, 11]),
        ("-seconds", [12, 10, 11]),
    ],
)
def test_table_over_time(sort: str, order: list[int], campaign: Campaign, desk: Client) -> None:
    page = desk.get(f"/campaigns/{campaign.pk}/?sort={sort}").content
    table = page[page.index(b'id="over-time"') :]
    found = [row[0] for row in table_of(table, "table-narrow")]
    assert found == [f"21 Nov, {hour}:00" for hour in order]


def test_an_unknown_sort_order_is_refused(campaign: Campaign, desk: Client) -> None:
    for address in ("", "people/"):
        answer = desk.get(f"/campaigns/{campaign.pk}/{address}?sort=annotator__user__password")
        assert answer.status_code == 400


def test_over_time_as_csv(campaign: Campaign, desk: Client) -> None:
    answer = desk.get(f"/campaigns/{campaign.pk}/csv/")
    name = f"tiny-campaign-{campaign.pk}-over-time.csv"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer.content.decode() == (
        "from_utc,hours,answers,counted,relevant,people,seconds,gold,right\n"
        "2025-11-21T10:00Z,1,4,4,3,2,2.0,0,0\n"
        "2025-11-21T11:00Z,1,1,1,0,1,,0,0\n"
        "2025-11-21T12:00Z,1,1,1,0,1,6.0,0,0\n"
    )


def test_researchers_see_the_figures_and_no_annotator(campaign: Campaign, client: Client) -> None:
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    page = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "Time of an answer" in page
    for word in ("anna", "cara", person("anna").pseudonym, "people/", "unusual"):
        assert word not in page
    assert b"anna" not in client.get(f"/campaigns/{campaign.pk}/csv/").content
    for part in ("people/", "people/csv/", f"people/{person('anna').pseudonym}/"):
        assert client.get(f"/campaigns/{campaign.pk}/{part}").status_code == 404


def test_a_lead_of_another_benchmark_sees_no_annotator(campaign: Campaign, client: Client) -> None:
    from hearth.accounts.services import grant_role

    other = factories.make_user("otto")
    admin = factories.make_user("ada", Role.ADMIN)
    grant_role(person=other, role=Role.LEAD, scope="elsewhere", by=admin)
    client.force_login(other)
    for part in ("", "people/", "people/csv/", f"people/{person('anna').pseudonym}/", "policy/"):
        assert client.get(f"/campaigns/{campaign.pk}/{part}").status_code == 404


# --- The table of annotators ------------------------------------------------------------------


def people_page(client: Client, campaign: Campaign, query: str = "") -> list[list[str]]:
    return table_of(client.get(f"/campaigns/{campaign.pk}/people/{query}").content, "table-people")


def test_table_of_people(campaign: Campaign, desk: Client, lead: User) -> None:
    (held, *_) = claim(campaign, person("cara"))
    escalate_task(assignment_id=held.pk, annotator=person("cara"), kind=EscalationKind.UNSURE)
    membership = Membership.objects.get(annotator=person("ben"))
    pause_member(membership=membership, reason="=ask me", by=lead)
    # Ben is paused, so he comes first in the default order.
    assert [row[0].split()[0] for row in people_page(desk, campaign)] == ["ben", "anna", "cara"]
    rows = people_page(desk, campaign, "?sort=name")
    assert [row[:-1] for row in rows] == [
        [
            f"anna {person('anna').pseudonym}",
            "–",
            "active",
            "3",
            "82 2 min of work",
            "3.0 s",
            "66.7 % 2 of 3",
            "50.0 % 1 of 2 planned labels; all labels: 33.3 %",
            "no control pair answered yet",
            rows[0][9],
            "0 0.0 %",
            "0",
            "0",
        ],
        [
            f"ben {person('ben').pseudonym}",
            "–",
            "paused =ask me",
            "2",
            "less than a minute of work",
            "0.5 s",
            "50.0 % 1 of 2",
            "50.0 % 1 of 2 planned labels; all labels: 66.7 %",
            "no control pair answered yet",
            rows[1][9],
            "1 100.0 %",
            "0",
            "0",
        ],
        [
            f"cara {person('cara').pseudonym}",
            "–",
            "active",
            "1",
            "less than a minute of work",
            "6.0 s",
            "0.0 % 0 of 1",
            "no other annotator’s planned label on the same pairs all labels: 50.0 %",
            "no control pair answered yet",
            rows[2][9],
            "0 0.0 %",
            "0",
            "1",
        ],
    ]
    assert all(re.match(r"[0-9.]+ % [0-9.]+ to [0-9.]+ %, from ", row[9]) for row in rows)
    assert [row[9].rpartition(", ")[2] for row in rows] == [
        "from 2 labels",
        "from 2 labels",
        "from 1 label",
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "anna ben cara"),
        ("judged", "cara ben anna"),
        ("name", "anna ben cara"),
        ("-name", "cara ben anna"),
        ("-fast", None),
        ("-seconds", "cara anna ben"),
        # Annotators with equal or no values are sorted by pseudonym.
        ("rate", None),
        ("-seen", "cara anna ben"),
        ("relevant", "cara ben anna"),
    ],
)
def test_people_sorted(sort: str, order: str | None, campaign: Campaign, desk: Client) -> None:
    found = [row[0].split()[0] for row in people_page(desk, campaign, f"?sort={sort}")]
    if order is None:
        first = "anna" if sort == "rate" else "ben"
        others = {"anna", "ben", "cara"} - {first}
        order = " ".join([first, *sorted(others, key=lambda name: person(name).pseudonym)])
    assert found == order.split()


def test_the_sorted_column_is_marked(campaign: Campaign, desk: Client) -> None:
    page = desk.get(f"/campaigns/{campaign.pk}/people/?sort=-seconds").content.decode()
    heads = re.findall(r"<th scope=\"col\"(.*?)>\s*<a href=\"\?sort=([^\"]*)\"", page, re.DOTALL)
    assert len(heads) == 14
    assert [(head, sort) for head, sort in heads if "aria-sort" in head] == [
        (' data-title="Median time" class="num" aria-sort="descending"', "seconds")
    ]


def test_states_of_people(campaign: Campaign, desk: Client, lead: User) -> None:
    Campaign.objects.update(gate_share="0.5", gate_last=2)
    Membership.objects.filter(annotator=person("anna")).update(admitted_at=timezone.now())
    admin = factories.make_user("ada", Role.ADMIN)
    deactivate_person(person=person("cara").user, by=admin)
    states = {row[0].split()[0]: row[2] for row in people_page(desk, campaign)}
    assert states == {
        "anna": "active",
        "ben": "in training has not met the entry requirement",
        "cara": "deactivated",
    }


def test_people_as_csv(campaign: Campaign, desk: Client, lead: User) -> None:
    user = person("ben").user
    user.first_name = "=HYPERLINK(1)"
    user.save()
    membership = Membership.objects.get(annotator=person("ben"))
    pause_member(membership=membership, reason="+1, say", by=lead)
    withdraw_judgments(campaign=campaign, annotator=person("cara"), by=lead)
    answer = desk.get(f"/campaigns/{campaign.pk}/people/csv/")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert set(rows) == {"anna", "'=HYPERLINK(1)", "cara"}
    ben = rows["'=HYPERLINK(1)"]
    assert (ben["state"], ben["reason"], ben["counted"]) == ("paused", "'+1, say", "2")
    assert (rows["cara"]["withdrawn"], rows["cara"]["counted"]) == ("1", "0")
    assert (rows["anna"]["seconds"], rows["anna"]["compared"]) == ("3.0", "2")
    assert rows["anna"]["last_answer_utc"] == "2025-11-21T11:00Z"


def test_unusual_annotators_are_flagged(desk: Client, tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=30)
    rows = [(f"c{number}", "v0", "=kim", number % 2) for number in range(30)]
    judged = factories.add_judgments(tmp_path, benchmark, rows).campaign
    Judgment.objects.update(seconds=0.1)
    page = desk.get(f"/campaigns/{judged.pk}/").content
    assert "1 annotator is flagged as unusual in speed" in text_of(page)
    (row,) = people_page(desk, judged)
    assert row[1:3] == ["too fast", "imported judged in an imported file"]
    assert row[0].startswith("=kim ")


def test_pages_of_a_campaign_without_annotators(tmp_path: Path, desk: Client) -> None:
    empty = make_campaign(tmp_path)
    address = f"/campaigns/{empty.pk}/"
    assert (
        "Speed Computed just now No answers yet. Annotators find this campaign on their home page. "
        "Invite annotators Policy"
    ) in text_of(desk.get(address).content)
    assert "No annotators yet." in text_of(desk.get(f"{address}people/").content)
    assert desk.get(f"{address}csv/").content.count(b"\n") == 1
    assert desk.get(f"{address}people/csv/").content.count(b"\n") == 1


# --- The page of one annotator ----------------------------------------------------------------


def person_page(client: Client, campaign: Campaign, name: str, query: str = "") -> bytes:
    address = f"/campaigns/{campaign.pk}/people/{person(name).pseudonym}/{query}"
    return client.get(address).content


def test_the_values_of_charts_are_in_a_table_or_in_a_list(campaign: Campaign, desk: Client) -> None:
    """Screen readers cannot read the columns of a chart."""
    person = person_page(desk, campaign, "anna").decode()
    lists = re.findall(r'<ul class="visually-hidden">(.*?)</ul>', person, re.DOTALL)
    assert len(lists) == person.count('class="columns-chart"') == 3
    assert all(text_of(values) for values in lists)
    assert "The table contains the values." not in person
    page = desk.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert page.count('class="columns-chart"') == 1
    assert page.count("The table contains the values.") == 1
    assert '<ul class="visually-hidden">' not in page


def test_page_of_a_person(campaign: Campaign, desk: Client) -> None:
    page = person_page(desk, campaign, "anna")
    text = text_of(page)
    for part in (
        "Judged 3 all annotators: 6",
        "Median time 3.0 s all annotators: 3.0 s",
        "Relevant labels 66.7 % 2 of 3 all annotators: 50.0 %",
        "Agrees with others 50.0 % 1 of 2 planned labels; all labels: 33.3 % "
        "all annotators: 50.0 %",
        "Answers per hour",
        "Median time of an answer, by hour",
        "Meaning of the figures Answers per hour",
    ):
        assert part in text, part
    assert [row[2:6] for row in table_of(page, "table-answers")] == [
        ["not relevant", "pending", "counted", "200.0 s"],
        ["relevant", "not relevant", "counted", "4.0 s"],
        ["relevant", "relevant", "counted", "2.0 s"],
    ]


def test_unsettled_pairs_are_shown_as_in_conflict_pending_or_unjudged(
    tmp_path: Path, desk: Client, lead: User
) -> None:
    made = factories.make_campaign(tmp_path, captions=1, videos=3, double_share=1, labels_max=2)
    label(made, "anna", {"v0": 1, "v1": 1, "v2": 1})
    label(made, "ben", {"v0": 1, "v1": 0})
    rows = table_of(person_page(desk, made, "anna"), "table-answers")
    assert sorted(row[3] for row in rows) == ["in conflict", "pending", "relevant"]
    withdraw_judgments(campaign=made, annotator=person("anna"), by=lead)
    rows = table_of(person_page(desk, made, "anna"), "table-answers")
    assert sorted(row[3:5] for row in rows) == [
        ["pending", "withdrawn by a lead"],
        ["pending", "withdrawn by a lead"],
        ["unjudged", "withdrawn by a lead"],
    ]


@pytest.mark.parametrize(
    ("name", "show", "answers"),
    [
        ("anna", "outvoted", ["relevant"]),
        ("ben", "outvoted", []),
        ("ben", "fast", ["relevant"]),
        ("ben", "wrong", []),
    ],
)
def test_filtered_answers_of_an_annotator(
    name: str, show: str, answers: list[str], campaign: Campaign, desk: Client
) -> None:
    page = person_page(desk, campaign, name, f"?show={show}")
    assert [row[2] for row in table_of(page, "table-answers")] == answers


def test_an_annotator_who_only_escalated_has_no_answers(campaign: Campaign, desk: Client) -> None:
    dora = make_annotator("dora")
    for assignment in claim(campaign, dora)[:2]:
        escalate_task(assignment_id=assignment.pk, annotator=dora, kind=EscalationKind.UNSURE)
    page = person_page(desk, campaign, "dora")
    assert "No answers, but 2 escalated pairs. Go to the desk" in text_of(page)
    assert f'href="/campaigns/{campaign.pk}/desk/">Go to the desk</a>' in page.decode()
    filtered = text_of(person_page(desk, campaign, "dora", "?show=fast"))
    assert "No answers of this kind." in filtered


def test_pages_of_people_redirect_to_training(tmp_path: Path, desk: Client) -> None:
    training, anna = factories.make_training(tmp_path), make_annotator("anna")
    factories.train(training, anna, "rrw")
    address = f"/campaigns/{training.pk}/people/"
    for page in (address, f"{address}csv/", f"{address}{anna.pseudonym}/"):
        assert desk.get(page)["Location"] == "/benchmarks/tiny/training/"


def test_unknown_filters_and_annotators(campaign: Campaign, desk: Client) -> None:
    address = f"/campaigns/{campaign.pk}/people/{person('anna').pseudonym}/"
    assert desk.get(f"{address}?show=gold__id").status_code == 400
    outside = make_annotator("zoe")
    assert desk.get(f"/campaigns/{campaign.pk}/people/{outside.pseudonym}/").status_code == 404
    assert desk.get(f"/campaigns/{campaign.pk}/people/NOBODY/").status_code == 404


def test_pause_and_resume_redirect_to_the_same_page(campaign: Campaign, desk: Client) -> None:
    ben = person("ben")
    here = f"/campaigns/{campaign.pk}/people/{ben.pseudonym}/"
    change = f"/campaigns/{campaign.pk}/members/{ben.pk}/"
    answer = desk.post(change, {"action": "pause", "reason": "wait", "back": "campaign"})
    assert answer["Location"] == here
    assert "paused" in text_of(desk.get(here).content)
    answer = desk.post(change, {"action": "resume", "back": "campaign"})
    assert answer["Location"] == here
    assert Membership.objects.get(annotator=ben).state == "active"
    page = text_of(desk.get(here).content)
    assert re.search("Resumed .* by lena .*Paused .* by lena ", page)
    assert re.search("Answers to control pairs before .* UTC are ignored.", page)
    # Researchers read the campaign's changes, and annotators are anonymous to them.
    assert ben.pseudonym not in desk.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_a_paused_annotator_cannot_be_paused_again(campaign: Campaign, lead: User) -> None:
    """The reason of the first lead stays, because the annotator has read it."""
    pages = [Membership.objects.get(annotator=person("ben")) for _ in "ab"]
    pause_member(membership=pages[0], reason="first", by=lead)
    with pytest.raises(Conflict):
        pause_member(membership=pages[1], reason="second", by=lead)
    assert Membership.objects.get(annotator=person("ben")).reason == "first"


def test_leads_see_why_an_annotator_was_paused_automatically(tmp_path: Path, desk: Client) -> None:
    watched = factories.make_campaign_with_gold(
        tmp_path, captions=2, videos=4, gold=4, gold_share=1, gold_bar=1, gold_last=2
    )
    anna = make_annotator("anna")
    while (membership := watched.members.first()) is None or membership.state == "active":
        for assignment in claim(watched, anna):
            if assignment.task.gold_id and watched.members.get().state == "active":
                submit(assignment, 1)
    assert membership.pause_cause == "accuracy"
    # The control pairs are random, and so is the number of correct answers among the last two.
    answers = Judgment.objects.filter(state=JudgmentState.GOLD).order_by("-pk")
    right = sum(answers.values_list("is_right", flat=True)[:2])
    (row,) = people_page(desk, watched)
    assert row[2] == (
        f"paused Paused automatically: {right} of their last 2 control pairs were correct. The "
        "campaign requires 2."
    )


def test_leads_who_only_opened_the_room_are_not_listed(campaign: Campaign, desk: Client) -> None:
    """An annotator who only opened the room is listed."""
    for name, role in (("lou", Role.LEAD), ("ada", Role.ADMIN), ("emil", Role.ANNOTATOR)):
        made = annotator_for(factories.make_user(name, role))
        join_campaign(campaign=campaign, annotator=made)
    names = {row[0].split()[0] for row in people_page(desk, campaign)}
    assert names == {"anna", "ben", "cara", "emil"}
    assert "People 4" in text_of(desk.get(f"/campaigns/{campaign.pk}/").content)
    assert person_page(desk, campaign, "lou").count(b"There is no such annotator.") > 0


def test_an_entry_requirement_that_cannot_be_met_is_shown(campaign: Campaign, desk: Client) -> None:
    Campaign.objects.update(gate_share="0.5", gate_last=4)
    notice = "It requires 2 correct training answers, but only 0 training items exist."
    assert notice in text_of(desk.get(f"/campaigns/{campaign.pk}/").content)
    Campaign.objects.update(gate_last=0)
    assert "cannot meet" not in text_of(desk.get(f"/campaigns/{campaign.pk}/").content)


def test_escalated_and_excluded_pairs_are_shown(
    campaign: Campaign, desk: Client, lead: User
) -> None:
    kinds = (EscalationKind.UNSURE, EscalationKind.CANNOT_PLAY)
    for assignment, kind in zip(claim(campaign, person("cara")), kinds, strict=False):
        escalate_task(assignment_id=assignment.pk, annotator=person("cara"), kind=kind)
    page = text_of(desk.get(f"/campaigns/{campaign.pk}/").content)
    assert "Cannot play 1 task " in page
    assert "Escalated 1 a lead rules on them at the desk" in page
    cache.clear()
    exclude_task(task=campaign.tasks.get(state="unplayable"), by=lead)
    page = text_of(desk.get(f"/campaigns/{campaign.pk}/").content)
    assert "Cannot play 0 tasks " in page
    assert "Excluded 1 the video cannot play" in page


def test_withdraw_from_the_page(campaign: Campaign, desk: Client, lead: User) -> None:
    ben = person("ben")
    address = f"/campaigns/{campaign.pk}/people/{ben.pseudonym}/reopen/"
    page = text_of(desk.get(address).content)
    assert "2 answers are affected if you enter no time." in page
    later = desk.post(address, {"reason": "guesses", "since": "2099-01-01T10:00"})
    assert later.status_code == 422
    assert list(later.context["form"].errors) == ["since"]
    assert "guesses" in later.content.decode()
    assert desk.post(address, {"reason": ""}).status_code == 422
    desk.post(address, {"reason": "guesses", "pause": "on"})
    job = Job.objects.get()
    assert job.title == f"Withdraw answers of {ben.pseudonym} in First"
    assert "guesses" not in str(job.params)
    # The pause is immediate. The job withdraws the answers.
    assert Membership.objects.get(annotator=ben).state == "paused"
    assert campaign.tasks.get(pair__video__key="v0").labels_live == 2
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (
        "done",
        {
            "campaign": campaign.pk,
            "pseudonym": ben.pseudonym,
            "judgments": 2,
            "tasks": 2,
            "ruled": 0,
            "item": "pair",
        },
    )
    assert "2 answers of" in text_of(desk.get(f"/jobs/{job.pk}/").content)
    page = text_of(person_page(desk, campaign, "ben"))
    assert "2 answers were withdrawn" in page
    assert "Answers per hour no labels" in page
    assert "by lena Reason: guesses" in page
    assert "This annotator has no counted answers here." in text_of(desk.get(address).content)
    again = desk.post(address, {"reason": "again"})
    assert again.status_code == 409


# --- Large campaigns --------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_selectors, "SMALL", 1)


def test_figures_of_a_large_campaign_are_stored(
    large: None, campaign: Campaign, desk: Client
) -> None:
    address = f"/campaigns/{campaign.pk}/"
    page = desk.get(address).content.decode()
    assert "Counting the labels" in page
    assert 'hx-trigger="load"' in page
    assert "have not been computed yet" in page
    # The page requests the count, which is then cached for all viewers.
    assert "6 <small" in desk.get(f"{address}progress/").content.decode()
    assert "Counting the labels" not in desk.get(address).content.decode()

    desk.post(f"{address}compute/")
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", {"campaign": campaign.pk, "answers": 6})
    label(campaign, "dora", {"v3": 1})
    page = text_of(desk.get(address).content)
    assert "1 newer answer" in page
    assert "Relevant labels 50.0 % 3 of 6" in page
    cache.clear()
    # Without a cached count, the stored figures are shown until the page has the new count.
    page = desk.get(address).content.decode()
    assert "Labels 6 of 9" in text_of(page)
    assert 'hx-trigger="load"' in page


def test_outdated_figures_are_recomputed(large: None, campaign: Campaign) -> None:
    assert (renew_figures(), renew_figures()) == (1, 0)
    label(campaign, "dora", {"v3": 1})
    assert (renew_figures(), renew_figures()) == (1, 0)
    assert (CampaignReport.objects.get().answers, CampaignReport.objects.count()) == (7, 1)


def test_figures_of_small_campaigns_are_not_stored(campaign: Campaign, desk: Client) -> None:
    assert renew_figures() == 0
    desk.post(f"/campaigns/{campaign.pk}/compute/")
    assert (CampaignReport.objects.count(), Job.objects.count()) == (0, 0)


def test_computing_twice_stores_one_report(campaign: Campaign) -> None:
    first = compute_figures(campaign=campaign, by=OPERATOR)
    again = compute_figures(campaign=campaign, by=OPERATOR)
    assert (again.pk, CampaignReport.objects.count()) == (first.pk, 1)


# --- Queries ----------------------------------------------------------------------------------


def test_database_queries_do_not_grow_with_people_and_answers(
    campaign: Campaign, desk: Client, lead: User
) -> None:
    pages = ["", "people/", "people/csv/", f"people/{person('anna').pseudonym}/", "policy/"]

    def count() -> dict[str, int]:
        found = {}
        for part in pages:
            cache.clear()
            with CaptureQueriesContext(connection) as queries:
                assert desk.get(f"/campaigns/{campaign.pk}/{part}").status_code == 200
            found[part] = len(queries)
        return found

    few = count()
    change_policy(campaign=campaign, changes={"ceiling": 0.9}, by=lead)
    for name in ("dora", "emil", "fara"):
        label(campaign, name, {"v2": 1, "v3": 0})
        (held, *_) = claim(campaign, person(name)) or [None]
        if held:
            escalate_task(assignment_id=held.pk, annotator=person(name), kind=EscalationKind.UNSURE)
    change_policy(campaign=campaign, changes={"name": "Other"}, by=lead)
    assert count() == few


# --- A graded scale ---------------------------------------------------------------------------


def test_a_scale_of_four_steps_from_the_answers_to_the_scores(
    tmp_path: Path, desk: Client, lead: User
) -> None:
    """The threshold is step 2: lower steps are 0 in label sets, and step 2 is 1."""
    from annotation.services import adjudicate_task
    from evaluation.monitor.services import compute_agreement
    from evaluation.release.services import publish_label_set
    from evaluation.scores.services import evaluate_runs
    from pooling.models import OriginalPositive

    steps = ["nothing", "a little", "most", "all"]
    campaign = make_campaign(
        tmp_path,
        captions=1,
        videos=5,
        double_share=1,
        labels_max=2,
        scale="graded",
        steps=steps,
        threshold=2,
    )
    OriginalPositive.objects.all().delete()
    label(campaign, "anna", {"v0": 3, "v1": 1, "v2": 2, "v3": 0})
    label(campaign, "ben", {"v0": 3, "v1": 1, "v2": 2, "v3": 3})
    conflict = campaign.tasks.get(pair__video__key="v3")
    assert conflict.state == "conflicted"
    page = text_of(desk.get(f"/campaigns/{campaign.pk}/desk/").content)
    for name in ("Nothing 1", "A little 2", "Most 3", "All 4"):
        assert name in page
    adjudicate_task(task=conflict, label=2, by=lead)

    figures = measure_campaign(campaign)
    assert figures["outcomes"] == asdict(OutcomeCounts(resolved=3, adjudicated=1))
    assert figures["relevant"] == 3
    # Five of the eight labels are relevant: the steps 3, 2, 3, 2 and 3.
    assert (figures["labels"], figures["relevant_labels"]) == (8, 5)
    # Counted from the threshold, as in label sets, the labels are 2 2, 0 0, 1 1, and 0 2.
    first, every = (figures["agreement"][name] for name in ("first_labels", "all_labels"))
    assert (first["alpha_level"], first["pairwise_agreement"]) == ("ordinal", 0.75)
    labels = [[2, 2], [0, 0], [1, 1], [0, 2]]
    for found, of_v3 in ((first, [0, 2]), (every, [0, 2])):
        expected = {
            level: krippendorff.alpha(
                value_counts=[[own.count(grade) for grade in range(3)] for own in rows],
                value_domain=[0, 1, 2],
                level_of_measurement=level,
            )
            for rows in [[*labels[:3], of_v3]]
            for level in ("nominal", "ordinal")
        }
        assert found["alpha"] == pytest.approx(expected["ordinal"])
        assert found["alpha_nominal"] == pytest.approx(expected["nominal"])
    assert (
        compute_agreement(benchmark=campaign.benchmark, by=OPERATOR).result["alpha"]
        == first["alpha"]
    )
    page = text_of(desk.get(f"/campaigns/{campaign.pk}/").content)
    assert "Scale nothing, a little, most, all; relevant from “most” on" in page
    assert "Krippendorff’s alpha, ordinal small differences count less" in page
    assert "The scale of this campaign is graded, so quote the ordinal alpha." in page
    assert "Relevant 3" in page
    (row,) = [row for row in people_page(desk, campaign) if row[0].startswith("anna")]
    assert row[6] == "50.0 % 2 of 4"
    answers = table_of(person_page(desk, campaign, "anna"), "table-answers")
    assert sorted(answer[2:4] for answer in answers) == [
        ["a little", "a little"],
        ["all", "all"],
        ["most", "most"],
        ["nothing", "most"],
    ]

    label_set = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    import gzip

    with label_set.file.open("rb") as stream:
        lines = gzip.decompress(stream.read()).decode().splitlines()
    assert lines == [
        "caption_id,video_id,label,source,judgments,relevant",
        "c0,v0,2,majority,2,2",
        "c0,v1,0,majority,2,0",
        "c0,v2,1,majority,2,2",
        "c0,v3,1,adjudicated,2,1",
    ]
    (scored,) = evaluate_runs(benchmark=campaign.benchmark, labels_only=True, by=OPERATOR).runs
    # The run lists v0 to v4 in this order. v0, v2 and v3 are relevant.
    scores = {name: scored.labelled[name] for name in ("C@1", "P@5", "R@5")}
    assert scores == {"C@1": 1.0, "P@5": 0.6, "R@5": 1.0}
