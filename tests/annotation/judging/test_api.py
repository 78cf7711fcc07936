"""Requests of the judging room, as a browser sends them: with a session and a CSRF token."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import CampaignState, JudgmentState
from annotation.models import Assignment, Campaign, Judgment
from annotation.serializers import JUDGMENT
from annotation.services import Policy, open_campaign, set_campaign_state, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.public_ids import PublicIds
from pooling.models import Video
from tests.accounts.world import token_of
from tests.factories import (
    PASSWORD,
    assignment_of,
    at_once,
    build_pool,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_run,
    make_user,
    row_counts,
    shown_id,
    write_captions,
    write_videos,
)

CSRF_TOKEN = "a" * 32
JUDGMENTS = "/api/v1/judgments/"


class Browser(APIClient):
    """A client of a signed-in person that sends JSON and the CSRF token."""

    def __init__(self, user: User | None = None) -> None:
        super().__init__(enforce_csrf_checks=True)
        if user is not None:
            assert self.login(username=user.username, password=PASSWORD)
            self.cookies["csrftoken"] = CSRF_TOKEN
            self.credentials(HTTP_X_CSRFTOKEN=CSRF_TOKEN)

    def post(self, path: str, data: Any = None, **options: Any) -> Any:
        if "content_type" not in options:
            options["format"] = "json"
        return super().post(path, data, **options)


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, captions=2, videos=3)


@pytest.fixture
def anna(db: None) -> Browser:
    return Browser(make_user("anna", Role.ANNOTATOR))


@pytest.fixture
def ben(db: None) -> Browser:
    return Browser(make_user("ben", Role.ANNOTATOR))


def claim_url(campaign: Campaign) -> str:
    return f"/api/v1/campaigns/{campaign.pk}/claim/"


def release_url(campaign: Campaign) -> str:
    return f"/api/v1/campaigns/{campaign.pk}/release/"


def claimed(browser: Browser, campaign: Campaign, count: int = 1) -> list[dict[str, Any]]:
    answer = browser.post(claim_url(campaign), {"count": count})
    assert answer.status_code == 200
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def an_answer(item: dict[str, Any], label: int = 1, **other: Any) -> dict[str, Any]:
    return {
        "assignment": item["assignment"],
        "label": label,
        "client_key": str(uuid.uuid4()),
        "seconds": 1.5,
        **other,
    }


# --- Judging --------------------------------------------------------------------------------


def test_a_pair_is_leased_and_judged(anna: Browser, campaign: Campaign) -> None:
    (listed,) = anna.get("/api/v1/campaigns/").json()
    assert listed == {
        "id": campaign.pk,
        "name": "tiny 1",
        "benchmark": "tiny",
        "kind": "judging",
        "state": "open",
        "scale": "binary",
    }
    answer = anna.post(claim_url(campaign), {"count": 2}).json()
    assert sorted(answer) == ["items", "judged"]
    first, second = answer["items"]
    held = assignment_of(first)
    assert first == {
        "assignment": shown_id(held),
        "caption": held.task.pair.query.text,
        "video": None,
        "poster": None,
    }

    sent = an_answer(first)
    stored = anna.post(JUDGMENTS, sent)
    judgment = Judgment.objects.get()
    assert (stored.status_code, stored.json()) == (
        201,
        {"id": PublicIds(JUDGMENT).of(judgment.pk), "label": 1, "client_key": sent["client_key"]},
    )
    assert (judgment.task_id, judgment.annotator.user.username) == (held.task_id, "anna")  # type: ignore[union-attr]
    assert (judgment.label, judgment.state, judgment.seconds) == (1, JudgmentState.LIVE, 1.5)

    again = anna.post(claim_url(campaign), {"count": 1, "left": True}).json()
    assert (answer["judged"], again["judged"]) == (0, 1)
    assert (again["left"], again["seconds_each"]) == (5, None)

    released = anna.post(release_url(campaign), {"assignment": second["assignment"]})
    assert released.json() == {"released": 1}
    assert anna.post(release_url(campaign), {}).json() == {"released": 0}


def test_the_same_answer_again_gets_status_200_with_the_same_body(
    anna: Browser, campaign: Campaign
) -> None:
    (item,) = claimed(anna, campaign)
    sent = an_answer(item)
    first, again = anna.post(JUDGMENTS, sent), anna.post(JUDGMENTS, sent)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content
    Judgment.objects.update(created_at=F("created_at") - timedelta(days=1))
    assert anna.post(JUDGMENTS, sent).content == first.content
    assert Judgment.objects.count() == 1


def test_the_same_key_with_another_label_is_409(anna: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    sent = an_answer(item)
    anna.post(JUDGMENTS, sent)
    other = anna.post(JUDGMENTS, {**sent, "label": 0})

    assert other.status_code == 409
    assert other.json() == {"detail": "This answer was already stored with another label."}
    assert [(row.label, row.state) for row in Judgment.objects.all()] == [(1, "live")]


def test_a_late_answer_to_a_filled_slot_is_kept_and_not_counted(
    anna: Browser, ben: Browser, campaign: Campaign
) -> None:
    (item,) = claimed(anna, campaign)
    Assignment.objects.update(lease_expires_at=F("lease_expires_at") - timedelta(hours=1))
    (his,) = claimed(ben, campaign)
    assert ben.post(JUDGMENTS, an_answer(his, 0)).status_code == 201
    late = an_answer(item, 1)

    first, again = anna.post(JUDGMENTS, late), anna.post(JUDGMENTS, late)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    task = assignment_of(item).task
    assert sorted(task.judgments.values_list("label", "state")) == [(0, "live"), (1, "surplus")]
    assert (task.label, task.labels_live) == (0, 1)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_the_same_answer_sent_eight_times_at_once_is_stored_once(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    user = make_user("anna", Role.ANNOTATOR)
    tabs = [Browser(user) for _ in range(8)]
    (item,) = claimed(tabs[0], campaign)
    sent = an_answer(item)
    answers = at_once(*[lambda tab=tab: tab.post(JUDGMENTS, sent) for tab in tabs])

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.content for answer in answers}) == 1
    assert Judgment.objects.count() == 1


def test_an_answer_names_the_guideline_that_was_on_the_screen(
    anna: Browser, campaign: Campaign
) -> None:
    """Each response also contains the version that the campaign has now."""
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="one")
    answer = anna.post(claim_url(campaign), {"count": 3})
    assert answer.headers["X-Hearth-Guideline"] == "1"
    first, second, third = answer.json()["items"]
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="two")
    sent = an_answer(first, guideline=1)
    for status in (201, 200):
        stored = anna.post(JUDGMENTS, sent)
        assert (stored.status_code, stored.headers["X-Hearth-Guideline"]) == (status, "2")
    # Without the field, the current version applies.
    assert anna.post(JUDGMENTS, an_answer(second)).status_code == 201
    assert anna.post(JUDGMENTS, an_answer(third, guideline=2)).status_code == 201
    corrected = an_answer(first, 0, corrects=True, guideline=2)
    assert anna.post(JUDGMENTS, corrected).status_code == 201
    stored = Judgment.objects.order_by("pk").values_list("label", "guideline__version")
    assert list(stored) == [(1, 1), (1, 2), (1, 2), (0, 2)]


@pytest.mark.parametrize("version", [3, -1, 2**31, "new", 1.5])
def test_an_unknown_guideline_is_400(anna: Browser, campaign: Campaign, version: Any) -> None:
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="one")
    (item,) = claimed(anna, campaign)
    before = row_counts()
    assert anna.post(JUDGMENTS, an_answer(item, guideline=version)).status_code == 400
    assert row_counts() == before


def test_fields_that_the_client_may_not_set_are_ignored(anna: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    now = timezone.now()
    answer = anna.post(
        JUDGMENTS,
        an_answer(
            item,
            0,
            id=999_999,
            state="superseded",
            slot=7,
            annotator=make_annotator("cleo").pk,
            task=0,
            created_at="2001-01-01T00:00:00Z",
            is_staff=True,
            gold=True,
        ),
    )
    judgment = Judgment.objects.get()
    assert answer.status_code == 201
    assert judgment.pk != 999_999
    assert (judgment.state, judgment.slot, judgment.guideline_id) == ("live", 0, None)
    assert judgment.annotator.user.username == "anna"  # type: ignore[union-attr]
    assert abs(judgment.created_at - now) < timedelta(minutes=1)
    assert User.objects.filter(is_staff=True).count() == 0

    lease = anna.post(
        claim_url(campaign), {"count": 1, "lease_expires_at": "2099-01-01T00:00:00Z", "slot": 9}
    )
    held = assignment_of(lease.json()["items"][0])
    assert held.slot == 0
    assert held.lease_expires_at - held.created_at < timedelta(hours=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": 2},
        {"label": -1},
        {"label": 1.5},
        {"label": None},
        {"label": 10**30},
        {"client_key": "no uuid"},
        {"client_key": None},
        {"assignment": "x"},
        {"assignment": 0},
        {"seconds": -1},
        {"seconds": "nan"},
        {"seconds": 1e12},
    ],
)
def test_an_answer_with_an_invalid_value_gets_status_400(
    anna: Browser, campaign: Campaign, wrong: dict[str, Any]
) -> None:
    (item,) = claimed(anna, campaign)
    before = row_counts()
    answer = anna.post(JUDGMENTS, an_answer(item, **wrong))
    assert answer.status_code == 400
    assert row_counts() == before
    for body in ([], "text", {}):
        assert anna.post(JUDGMENTS, body).status_code == 400
    assert row_counts() == before


@pytest.mark.parametrize("count", [0, -1, 21, 10**30, "x", None])
def test_a_claim_with_an_invalid_count_is_400(
    anna: Browser, campaign: Campaign, count: Any
) -> None:
    assert anna.post(claim_url(campaign), {"count": count}).status_code == 400
    assert Assignment.objects.count() == 0


def test_api_responses_are_not_cached(anna: Browser, campaign: Campaign) -> None:
    """Otherwise a browser that goes back to the room would show outdated answers."""
    answers = [
        anna.get(f"/api/v1/campaigns/{campaign.pk}/history/"),
        anna.post(claim_url(campaign), {"count": 1}),
        anna.post(JUDGMENTS, {}),
        Browser().get("/api/v1/campaigns/"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 401]
    assert {answer["Cache-Control"] for answer in answers} == {"private, no-store"}


# --- Permissions ------------------------------------------------------------------------------


def test_objects_of_others_are_not_found(anna: Browser, ben: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    before = row_counts()
    of_anna = ben.post(JUDGMENTS, an_answer(item))
    nowhere = ben.post(JUDGMENTS, an_answer({"assignment": 10**15}))
    assert (of_anna.status_code, nowhere.status_code) == (404, 404)
    assert of_anna.content == nowhere.content
    released = ben.post(release_url(campaign), {"assignment": item["assignment"]})
    assert released.json() == {"released": 0}
    # Ben's requests created his annotator and nothing else.
    assert row_counts() == {**before, "annotation.Annotator": before["annotation.Annotator"] + 1}
    for number in (10**15, 2**63):
        assert ben.post(f"/api/v1/campaigns/{number}/claim/", {}).status_code == 404


@pytest.mark.parametrize("state", [CampaignState.PAUSED, CampaignState.CLOSED])
def test_a_campaign_that_is_not_open_assigns_nothing(
    anna: Browser, campaign: Campaign, state: CampaignState
) -> None:
    reason = f"This campaign is {state}."
    set_campaign_state(campaign=campaign, state=state, by=make_user("lena", Role.LEAD))
    answer = anna.post(claim_url(campaign), {"count": 1})
    assert answer.status_code == 409
    assert answer.json() == {"detail": reason}
    room = anna.get(f"/campaigns/{campaign.pk}/judge/")
    assert room.status_code == 409
    assert f"<h1>{reason}</h1>" in room.content.decode()
    assert '<a class="btn btn-primary" href="/">Home</a>' in room.content.decode()
    assert Assignment.objects.count() == 0
    assert anna.get("/api/v1/campaigns/").json() == []


@pytest.mark.parametrize("role", [None, Role.RESEARCHER])
def test_only_annotators_judge(campaign: Campaign, role: Role | None) -> None:
    browser = Browser(make_user("rosa", *([role] if role else [])))
    before = row_counts()
    answers = [
        browser.get("/api/v1/campaigns/"),
        browser.post(claim_url(campaign), {"count": 1}),
        browser.post(release_url(campaign), {}),
        browser.post(JUDGMENTS, an_answer({"assignment": 1})),
    ]
    # A person who may read the campaign's figures gets 403. For others, the campaign is not found.
    known = 403 if role == Role.RESEARCHER else 404
    assert [answer.status_code for answer in answers] == [403, known, known, 403]
    assert row_counts() == before


def test_judging_requires_signing_in(campaign: Campaign) -> None:
    visitor = Browser()
    answers = [
        visitor.get("/api/v1/campaigns/"),
        visitor.post(claim_url(campaign), {"count": 1}),
        visitor.post(release_url(campaign), {}),
        visitor.post(JUDGMENTS, an_answer({"assignment": 1})),
    ]
    assert [answer.status_code for answer in answers] == [401] * 4


def test_a_deactivated_person_is_signed_out_immediately(anna: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    User.objects.update(is_active=False)
    assert anna.post(JUDGMENTS, an_answer(item)).status_code == 401
    assert anna.post(claim_url(campaign), {"count": 1}).status_code == 401
    assert Judgment.objects.count() == 0


def test_a_session_needs_its_csrf_token(anna: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    before = row_counts()
    for headers in ({}, {"HTTP_X_CSRFTOKEN": "b" * 32}):
        anna.credentials(**headers)
        answers = [
            anna.post(JUDGMENTS, an_answer(item)),
            anna.post(claim_url(campaign), {"count": 5}),
            anna.post(release_url(campaign), {}),
        ]
        assert [answer.status_code for answer in answers] == [403] * 3
        assert all("CSRF" in answer.json()["detail"] for answer in answers)
    assert row_counts() == before


def test_bodies_that_are_not_json_are_refused(anna: Browser, campaign: Campaign) -> None:
    (item,) = claimed(anna, campaign)
    body = json.dumps(an_answer(item))
    as_text = anna.post(JUDGMENTS, body, content_type="text/plain")
    as_form = anna.post(JUDGMENTS, "label=1", content_type="application/x-www-form-urlencoded")
    assert (as_text.status_code, as_form.status_code) == (415, 415)
    assert anna.get(claim_url(campaign)).status_code == 405
    assert Judgment.objects.count() == 0


def test_a_token_signs_in_its_person(campaign: Campaign) -> None:
    token = token_of(make_user("script", Role.ANNOTATOR))
    script = APIClient(enforce_csrf_checks=True)
    script.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert len(script.post(claim_url(campaign), {"count": 2}).json()["items"]) == 2
    script.credentials(HTTP_AUTHORIZATION="Token wrong")
    assert script.post(claim_url(campaign), {"count": 2}).status_code == 401


# --- Blindness --------------------------------------------------------------------------------


def test_an_annotator_sees_only_caption_and_video(db: None, tmp_path: Path) -> None:
    benchmark = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, [("QUERYKEY", "a red shape", "VIDEOKEY-1")]),
        videos=write_videos(
            tmp_path,
            [("VIDEOKEY-0", "", ""), ("VIDEOKEY-1", "", "https://videos.example/1.mp4")],
        ),
        name="SECRETNAME",
    ).benchmark
    make_run(tmp_path, benchmark, {"QUERYKEY": ["VIDEOKEY-0", "VIDEOKEY-1"]}, system="SECRETSYSTEM")
    build_pool(benchmark=benchmark, depth=2)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=1))
    file = Video.objects.get(key="VIDEOKEY-0")
    Video.objects.filter(pk=file.pk).update(file=f"tiny/{file.public_id}.mp4")
    judge(campaign, make_annotator("OTHERPERSON"), {"VIDEOKEY-0": 1, "VIDEOKEY-1": 0})

    browser = Browser(make_user("anna", Role.ANNOTATOR))
    answer = browser.post(claim_url(campaign), {"count": 20})
    items = answer.json()["items"]

    assert [sorted(item) for item in items] == [["assignment", "caption", "poster", "video"]] * 2
    assert {item["caption"] for item in items} == {"a red shape"}
    assert {item["video"] for item in items} == {
        f"/media/videos/{file.public_id}/",
        "https://videos.example/1.mp4",
    }
    stored = browser.post(JUDGMENTS, an_answer(items[0]))
    assert sorted(stored.json()) == ["client_key", "id", "label"]
    for response in (
        answer,
        stored,
        browser.get("/api/v1/campaigns/"),
        browser.post(release_url(campaign), {}),
        browser.post(JUDGMENTS, an_answer(items[1], 9)),
    ):
        shown = response.content.decode() + repr(response.headers)
        for secret in ("QUERYKEY", "VIDEOKEY", "SECRET", "OTHERPERSON", "label_set", "rank"):
            assert secret not in shown


def test_a_second_answer_counts_only_as_a_correction(anna: Browser, campaign: Campaign) -> None:
    """Two tabs show one pair: the answer of the second is refused and changes nothing."""
    (item,) = claimed(anna, campaign, 1)
    assert anna.post(JUDGMENTS, an_answer(item, 1)).status_code == 201

    second = anna.post(JUDGMENTS, an_answer(item, 0))
    assert second.status_code == 409
    assert second.json() == {"detail": "You have answered this pair before. That answer counts."}
    assert list(Judgment.objects.values_list("label", "state")) == [(1, "live")]

    assert anna.post(JUDGMENTS, an_answer(item, 0, corrects=True)).status_code == 201
    states = Judgment.objects.order_by("pk").values_list("label", "state")
    assert list(states) == [(1, "superseded"), (0, "live")]


def test_escalations_are_listed_with_the_answers_until_they_are_withdrawn(
    anna: Browser, campaign: Campaign
) -> None:
    history = f"/api/v1/campaigns/{campaign.pk}/history/"

    def listed(address: str) -> list[tuple[str, Any, Any]]:
        items = anna.get(address).json()
        return [(item["assignment"], item.get("label"), item.get("escalation")) for item in items]

    first, second, third = claimed(anna, campaign, 3)
    anna.post(JUDGMENTS, an_answer(first, 1))
    escalated = {"assignment": second["assignment"], "kind": "unsure", "reason": "two dogs"}
    assert anna.post("/api/v1/escalations/", escalated).status_code == 201
    anna.post(JUDGMENTS, an_answer(third, 0))
    answers = [(third["assignment"], 0, None), (first["assignment"], 1, None)]
    between = (second["assignment"], None, "unsure")
    assert listed(history) == answers
    assert listed(f"{history}?escalations=true") == [answers[0], between, answers[1]]
    (item,) = (
        item
        for item in anna.get(f"{history}?escalations=true").json()
        if item["assignment"] == second["assignment"]
    )
    assert item == {**second, "escalation": "unsure"}
    anna.post("/api/v1/escalations/withdraw/", {"assignment": second["assignment"]})
    assert listed(f"{history}?escalations=true") == answers


def test_of_two_corrections_of_one_answer_the_second_is_refused(
    anna: Browser, campaign: Campaign
) -> None:
    """Two tabs show the same answer. The second tab does not show the correction from the first."""
    (item,) = claimed(anna, campaign, 1)
    first = an_answer(item, 1)
    assert anna.post(JUDGMENTS, first).status_code == 201
    (shown,) = anna.get(f"/api/v1/campaigns/{campaign.pk}/history/").json()
    assert (shown["label"], shown["client_key"]) == (1, first["client_key"])
    correction = {"corrects": True, "corrected_key": shown["client_key"]}
    in_one_tab, in_the_other = (an_answer(item, label, **correction) for label in (0, 1))
    assert anna.post(JUDGMENTS, in_one_tab).status_code == 201

    refused = anna.post(JUDGMENTS, in_the_other)
    assert refused.status_code == 412
    assert refused.json() == {
        "detail": "You have changed this answer in another window. That answer counts."
    }
    states = Judgment.objects.order_by("pk").values_list("label", "state")
    assert list(states) == [(1, "superseded"), (0, "live")]
    # If a repeated request arrives after another correction, the status is still 200.
    next_one = {"corrects": True, "corrected_key": in_one_tab["client_key"]}
    assert anna.post(JUDGMENTS, an_answer(item, 1, **next_one)).status_code == 201
    assert anna.post(JUDGMENTS, in_one_tab).status_code == 200


def test_huge_numbers_and_deep_nesting_are_refused(anna: Browser, db: None) -> None:
    huge = {"assignment": 10**30, "label": 1, "client_key": str(uuid.uuid4())}
    assert anna.post(JUDGMENTS, huge).status_code == 400
    deep = anna.post(JUDGMENTS, "[" * 100_000, content_type="application/json")
    assert deep.status_code == 400


def test_requests_from_the_room_of_another_person_are_refused(
    anna: Browser, ben: Browser, campaign: Campaign
) -> None:
    """On a shared machine, requests of Anna's page are refused once Ben has signed in."""
    (item,) = claimed(anna, campaign)
    owner = {"X-Hearth-Person": str(User.objects.get(username="anna").pk)}
    before = row_counts()
    sent = an_answer(item)
    answers = [
        ben.post(JUDGMENTS, sent, headers=owner),
        ben.post(claim_url(campaign), {"count": 1}, headers=owner),
        ben.post(release_url(campaign), {}, headers=owner),
        ben.get(f"/api/v1/campaigns/{campaign.pk}/history/", headers=owner),
    ]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert answers[0].json() == {"detail": "Another person is signed in."}
    assert row_counts() == before
    assert anna.post(JUDGMENTS, sent, headers=owner).status_code == 201
