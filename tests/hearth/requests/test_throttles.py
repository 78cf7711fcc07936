"""Limits of requests: one account cannot send without a limit, and no answer is lost."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign, Judgment
from evaluation.core.people.pace import TOO_FAST_MS
from evaluation.demo.annotators import make_annotators
from evaluation.demo.benchmark import make_benchmark
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.requests.throttles import PERMITS, STEP, Permits
from tests.factories import make_campaign, make_user
from tests.pooling.test_run_uploads import make_public
from tests.services import free_port

NOW = 1_000_000.0


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A list whose only element is the time that the throttle reads."""
    now = [NOW - NOW % 60 + 48.5]
    monkeypatch.setattr(PERMITS, "clock", lambda: now[0])
    return now


def test_no_answer_is_lost_behind_the_limit(
    campaign: Campaign, settings: Any, clock: list[float]
) -> None:
    settings.REQUESTS_PER_MINUTE = {**settings.REQUESTS_PER_MINUTE, "answers": 1}
    anna = signed_in(make_user("anna", Role.ANNOTATOR))
    items = anna.post(f"/api/v1/campaigns/{campaign.pk}/claim/", {"count": 3}, format="json").json()
    answers = [
        {"assignment": item["assignment"], "label": 1, "client_key": str(uuid.uuid4())}
        for item in items["items"]
    ]
    assert len(answers) == 3
    statuses = []
    for answer in answers:
        while (got := anna.post("/api/v1/judgments/", answer, format="json")).status_code == 429:
            statuses.append(429)
            assert got["Retry-After"] in {"12", "60"}
            assert set(got.json()) == {"detail"}
            clock[0] += float(got["Retry-After"])
        statuses.append(got.status_code)
    assert statuses == [201, 429, 201, 429, 201]
    assert Judgment.objects.count() == 3


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("judgments/", "answers"),
        ("escalations/", "answers"),
        ("campaigns/{}/claim/", "claims"),
        ("campaigns/{}/release/", "claims"),
        ("jobs/", "requests"),
    ],
)
def test_each_account_has_its_own_limit(
    campaign: Campaign, settings: Any, clock: list[float], path: str, scope: str
) -> None:
    settings.REQUESTS_PER_MINUTE = {**settings.REQUESTS_PER_MINUTE, scope: 2}
    anna, bo = (signed_in(make_user(name, Role.LEAD)) for name in ("anna", "bo"))
    address = f"/api/v1/{path.format(campaign.pk)}"

    def status(client: APIClient) -> int:
        call = client.get if scope == "requests" else client.post
        return call(address, format="json").status_code  # type: ignore[operator]

    assert [status(anna) == 429 for _ in range(4)] == [False, False, True, True]
    assert status(bo) != 429
    clock[0] += 12
    assert status(anna) != 429


def test_a_person_never_reaches_the_limits() -> None:
    """A fast person sends one answer per second, and one claim for ten answers."""
    rates = django_settings.REQUESTS_PER_MINUTE
    own = {"answers": 240, "claims": 120, "requests": 600}
    assert rates == {**own, "visits": 300, "downloads": 60}
    permits = Permits()
    assert all(permits.take("answers:1", rates["answers"], NOW + second) for second in range(3600))


def test_an_annotator_who_answers_too_fast_is_not_hindered() -> None:
    """Answers under `TOO_FAST_MS` are flagged, because no one can watch a video in that time.

    A minute of such answers, each of them corrected, stays below the limit. So do claims of ten
    pairs, each followed by a request for the history, which has the same limit.
    """
    rates = django_settings.REQUESTS_PER_MINUTE
    answers = 60_000 / TOO_FAST_MS
    assert round(answers) == 86
    assert 2 * answers < rates["answers"]
    assert 2 * answers / 10 < rates["claims"] / 6


def test_the_fastest_annotator_of_the_demo_is_far_below_the_limit() -> None:
    people = make_annotators(make_benchmark())
    fastest = min(people, key=lambda person: person.seconds_per_answer)
    n_captions, n_videos = fastest.truth.shape
    pairs = np.random.default_rng(1).permutation(n_captions * n_videos)[:20_000]
    _, seconds = fastest.judge_many(pairs // n_videos, pairs % n_videos)
    times = seconds.cumsum()
    in_a_minute = np.searchsorted(times, times + 60) - np.arange(len(times))
    assert in_a_minute.max() == 35
    assert 6 * in_a_minute.max() < django_settings.REQUESTS_PER_MINUTE["answers"]


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/public/tiny/", "visits"),
        ("/api/v1/public/tiny/", "visits"),
        ("/public/tiny/ids/videos/", "downloads"),
        ("/public/tiny/results/csv/", "downloads"),
        ("/public/tiny/labels/1.0.0/csv/", "downloads"),
    ],
)
def test_visitors_are_limited_by_address_and_get_a_waiting_time(
    campaign: Campaign, settings: Any, clock: list[float], path: str, scope: str
) -> None:
    make_public(campaign.benchmark, shows_while_judging=True)
    settings.REQUESTS_PER_MINUTE = {**settings.REQUESTS_PER_MINUTE, scope: 2}

    def visit(address: str) -> Any:
        return Client(REMOTE_ADDR=address).get(path)

    assert [visit("192.0.2.7").status_code == 429 for _ in range(3)] == [False, False, True]
    refused = visit("192.0.2.7")
    assert (refused.status_code, refused["Retry-After"]) == (429, "12")
    assert visit("192.0.2.8").status_code != 429
    # Addresses with the same first 64 bits belong to one network.
    networks = ("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1")
    assert [visit(one).status_code == 429 for one in networks] == [False, False, True, False]
    clock[0] += 12
    assert visit("192.0.2.7").status_code != 429


def test_the_page_of_a_refused_visitor_states_what_to_do(
    campaign: Campaign, settings: Any, clock: list[float]
) -> None:
    make_public(campaign.benchmark, shows_while_judging=True)
    settings.REQUESTS_PER_MINUTE = {**settings.REQUESTS_PER_MINUTE, "downloads": 1}
    client = Client()
    client.force_login(make_user("olga"))
    pages = [client.get("/public/tiny/ids/videos/") for _ in range(2)]
    assert [page.status_code for page in pages] == [200, 429]
    assert "Try again in 12 s." in pages[1].content.decode()


@pytest.mark.parametrize("backend", ["process", "table"])
def test_processes_share_one_count(
    db: None, settings: Any, backend: str, django_assert_max_num_queries: Any
) -> None:
    """Each process takes `STEP` permits at once from the shared count.

    The sum is exact, and few requests use the cache.
    """
    if backend == "table":
        table = {"BACKEND": "hearth.accounts.caches.SharedCache", "LOCATION": ""}
        settings.CACHES = {**settings.CACHES, "default": table}
    processes = [Permits() for _ in range(4)]
    # Ten steps are granted, and each process is refused once. A step is a SELECT and an UPDATE in a
    # transaction.
    with django_assert_max_num_queries(0 if backend == "process" else 14 * 4 + 10):
        taken = [processes[number % 4].take("answers:1", 95, NOW) for number in range(400)]
    assert taken.count(True) == 95
    assert cache.get(f"permits:answers:1:{int(NOW // 60)}") == 10 * STEP + 4 * STEP


def test_a_cache_that_does_not_respond_stops_no_one(settings: Any) -> None:
    nobody = f"redis://127.0.0.1:{free_port()}"
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {**settings.CACHES, "default": {"BACKEND": backend, "LOCATION": nobody}}
    assert all(PERMITS.take("answers:1", 5, NOW) for _ in range(100))


def test_zero_sets_no_limit(campaign: Campaign, settings: Any) -> None:
    settings.REQUESTS_PER_MINUTE = dict.fromkeys(settings.REQUESTS_PER_MINUTE, 0)
    lead = signed_in(make_user("lena", Role.LEAD))
    assert {lead.get("/api/v1/jobs/").status_code for _ in range(30)} == {200}
