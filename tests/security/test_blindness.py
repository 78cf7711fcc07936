"""Blindness: nothing that an annotator receives depends on the answers of others or on gold.

Two worlds differ only in what another annotator answered, in the correct answers of the control
pairs, or in the proxy of an ordering study. Everything that the second annotator can reach is the
same in both: bodies, headers, ETags, counts, orders, errors and logs. Planted words show that no
text of others is sent either. The same holds for visitors and uploaders and a label set that the
public page hides.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from rest_framework.test import APIClient

from annotation.enums import EscalationKind
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    GoldItem,
    Judgment,
    JudgmentTask,
    Membership,
)
from annotation.questions.order.models import OrderingCaption
from annotation.services import escalate_task
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.services import run_job
from hearth.shared.caches import process_cache
from pooling.models import Benchmark, Pair, Proxy
from pooling.services import change_public_page, upload_run
from tests import factories
from tests.test_api import API, FOR_VISITORS, OPERATIONS
from tests.test_pages import TABLE

CANARY = "canaria"
# Tokens of forms, ids of answers and of pairs, ids of videos, sizes and durations in the log differ
# between two requests or between two transactions on PostgreSQL.
# Each has its own pattern, because Python searches thirty times faster for a pattern that begins
# with fixed letters.
VOLATILE = [
    re.compile(pattern)
    for pattern in (
        r'name="csrfmiddlewaretoken" value="\w+"',
        r'"X-CSRFToken": ?"\w+"',
        r"X-CSRFToken[^}]*",
        r'"(?:assignment|id)": ?\d+',
        r"[0-9a-f]{8}-[0-9a-f-]{27}",
        r"\d+ bytes [\d.]+ ms",
    )
]
# Signing out, the times of the person's own sessions, and responses for monitoring programs.
LEFT_OUT = ("/accounts/logout/", "/accounts/sessions/", "/healthz", "/readyz", "/metrics")
HEADERS = {"Content-Length", "Expires", "Set-Cookie", "X-Request-ID"}

# The primary keys of these tables would reveal the work of others: the difference between two keys
# is the number of rows that were stored in between. Here, keys start at a number that is easy to
# find.
COUNTING = (JudgmentTask, Assignment, Judgment, Escalation, Pair, Membership)
FIRST_KEY = 7_700_000_000
PRIMARY_KEY = re.compile(r"(?<!\d)7700000\d{3}(?!\d)")

# A value of a proxy that is easy to find.
VALUE = 0.765432109
PLANTED = re.compile(rf"{CANARY}|{str(VALUE)[2:8]}")

Answers = dict[str, tuple[int, dict[str, str], str]]
World = Callable[[], None]


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """A campaign whose pairs need two labels each, with control pairs.

    Its benchmark is public, and visitors see its scores and labels.
    """
    start_keys_at(FIRST_KEY)
    made = factories.make_campaign_with_gold(
        tmp_path, captions=2, videos=2, gold=4, double_share=1, gold_share=0.5
    )
    show_to_visitors(made.benchmark)
    return made


@pytest.fixture
def study(db: None, tmp_path: Path) -> Campaign:
    """An ordering study of a public benchmark. The name of its proxy contains the planted word."""
    start_keys_at(FIRST_KEY)
    benchmark = factories.make_benchmark(tmp_path, captions=5, videos=3)
    factories.add_gold_items(tmp_path, benchmark, [("c0", "v0", 1, "")])
    made = factories.make_study(tmp_path, benchmark=benchmark, name="Order the captions")
    Proxy.objects.update(name=f"{CANARY}-overlap")
    show_to_visitors(benchmark)
    return made


def show_to_visitors(benchmark: Benchmark) -> None:
    shown = {"is_public": True, "shows_while_judging": True}
    change_public_page(benchmark=benchmark, changes=shown, by=OPERATOR)


def start_keys_at(first: int) -> None:
    with connection.cursor() as cursor:
        for table in [model._meta.db_table for model in COUNTING]:
            if connection.vendor == "postgresql":
                setval = "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)"
                cursor.execute(setval, [table, first])
            else:
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, %s)", [table, first])


@pytest.fixture
def others(campaign: Campaign) -> Annotator:
    return make_other_annotator()


def make_other_annotator() -> Annotator:
    """Return the other annotator, whose name contains the planted word."""
    person = factories.make_user(f"{CANARY}-anna", Role.ANNOTATOR)
    User.objects.filter(pk=person.pk).update(first_name=CANARY, email=f"{CANARY}@example.org")
    return factories.make_annotator(f"{CANARY}-otto")


@pytest.fixture
def bert(campaign: Campaign) -> APIClient:
    return bert_in(campaign)


def bert_in(campaign: Campaign) -> APIClient:
    client = APIClient()
    # The order of pairs depends on the primary key of the annotator. On PostgreSQL, this key would
    # differ between the worlds if each of them made the annotator.
    annotator = factories.make_annotator("bert")
    Membership.objects.create(campaign=campaign, annotator=annotator)
    client.force_login(annotator.user)
    client.raise_request_exception = False
    return client


def places_in(campaign: Campaign) -> dict[str, Any]:
    """Return the values of the placeholders in the addresses of `TABLE`."""
    return {
        "campaign": campaign.pk,
        "anna": Annotator.objects.exclude(user__username="bert").earliest("pk").pseudonym,
        "person": User.objects.get(username=f"{CANARY}-otto").pk,
        "gold": GoldItem.objects.earliest("pk").pk,
        "trainee": Annotator.objects.earliest("pk").pk,
        "job": "00000000-0000-0000-0000-000000000001",
        "video": "00000000-0000-0000-0000-000000000001",
        "import": "00000000-0000-0000-0000-000000000001",
        "run_upload": "00000000-0000-0000-0000-000000000001",
        "uploader": 0,
        "proxy": 0,
        "upload": "00000000-0000-0000-0000-000000000001",
        "picture": "00000000-0000-0000-0000-000000000001",
        "invitation": 1,
        "token": "wrong",
    }


def add_to(answers: Answers, name: str, response: Any) -> Any:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    headers = {key: value for key, value in response.items() if key not in HEADERS}
    answers[name] = (response.status_code, headers, body.decode(errors="replace"))
    return response


def read_all(answers: Answers, client: APIClient, campaign: Campaign, when: str) -> None:
    """Send a request to each page, and read all of the API that can be read."""
    # Cached figures would hide a difference.
    process_cache.clear()
    places = places_in(campaign)
    for _, method, address, _ in TABLE:
        path = address.format(**places)
        if not path.startswith(LEFT_OUT):
            with transaction.atomic():
                add_to(answers, f"{when} {method} {path}", client.generic(method, path))
                transaction.set_rollback(True)
    visited = [(path, "get") for path in FOR_VISITORS]
    for path, method, *_ in [*OPERATIONS, *visited]:
        if method == "get":
            real = path.replace("campaigns/0/", f"campaigns/{campaign.pk}/")
            add_to(answers, f"{when} {real}", client.get(API + real))


def everything(client: APIClient, campaign: Campaign, caplog: Any) -> Answers:
    """Return all responses that an annotator can get: before, during and after judging."""
    caplog.clear()
    answers: Answers = {}

    def ask(name: str, response: Any) -> Any:
        return add_to(answers, name, response)

    read_all(answers, client, campaign, "before")
    order = list(range(5))
    own, opposite = (
        ({"places": order}, {"places": order[::-1]})
        if campaign.is_study
        else ({"label": 1}, {"label": 0})
    )
    judged = 0
    while judged < 6:
        claimed = ask(f"claim {judged}", client.post(f"{API}campaigns/{campaign.pk}/claim/", {}))
        items = claimed.json()["items"]
        if not items:
            break
        for item in items:
            key = f"00000000-0000-4000-8000-{judged:012}"
            content = {"assignment": item["assignment"], "client_key": key, **own}
            ask(f"answer {judged}", client.post(f"{API}judgments/", content, format="json"))
            ask(f"again {judged}", client.post(f"{API}judgments/", content, format="json"))
            other = {**content, **opposite}
            ask(f"conflict {judged}", client.post(f"{API}judgments/", other, format="json"))
            judged += 1
    escalation = {"assignment": content["assignment"], "kind": "unsure"}
    ask("escalation", client.post(f"{API}escalations/", escalation, format="json"))
    read_all(answers, client, campaign, "after")
    log = "\n".join(record.getMessage() for record in caplog.records)
    answers["log"] = (0, {}, log)
    # The number of judged pairs depends on the places of the control pairs.
    assert judged >= 2
    return answers


def in_world(change: World, client: APIClient, campaign: Campaign, caplog: Any) -> Answers:
    """Return what the annotator receives after a change, which is rolled back."""
    with transaction.atomic():
        change()
        seen = everything(client, campaign, caplog)
        transaction.set_rollback(True)
    return seen


def differences(one: Answers, other: Answers) -> dict[str, Any]:
    """Return the responses that differ, after their volatile parts are removed."""
    stable = [
        {name: (status, headers, without_volatile(text)) for name, (status, headers, text) in world}
        for world in (one.items(), other.items())
    ]
    return {
        name: [world.get(name) for world in stable]
        for name in {*one, *other}
        if stable[0].get(name) != stable[1].get(name)
    }


def without_volatile(text: str) -> str:
    for pattern in VOLATILE:
        text = pattern.sub("*", text)
    return text


def test_no_response_depends_on_or_reveals_the_work_of_others_or_correct_answers(
    campaign: Campaign, others: Annotator, bert: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The planted words and numbers are texts of others, and keys that reveal work."""
    caplog.set_level(logging.INFO)
    GoldItem.objects.update(explanation=CANARY)
    escalated, *held = factories.claim(campaign, others, 4)
    escalate_task(
        assignment_id=escalated.pk, annotator=others, kind=EscalationKind.UNSURE, reason=CANARY
    )
    Membership.objects.filter(annotator=others).update(reason=CANARY)

    def world(labels: tuple[int, ...], *, gold: bool = True) -> World:
        def change() -> None:
            GoldItem.objects.update(is_relevant=gold)
            for assignment, label in zip(held, labels, strict=True):
                factories.submit(assignment, label)

        return change

    plain, labelled, corrected = (
        in_world(change, bert, campaign, caplog)
        for change in (world((0, 0, 0)), world((1, 0, 1)), world((0, 0, 0), gold=False))
    )
    assert differences(plain, labelled) == {}
    assert differences(plain, corrected) == {}
    sent = {name for name, answer in plain.items() if CANARY in str(answer)}
    assert sent == set()
    counting = {name: PRIMARY_KEY.findall(str(answer)) for name, answer in plain.items()}
    assert {name: keys for name, keys in counting.items() if keys} == {}
    assert Escalation.objects.earliest("pk").pk > FIRST_KEY
    assert len(plain) > 200


def test_no_response_depends_on_the_proxy_of_a_study_or_on_the_orders_of_others(
    study: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    held = factories.claim(study, make_other_annotator(), 3)
    client = bert_in(study)
    OrderingCaption.objects.update(value=VALUE)

    def as_chosen() -> None:
        for assignment in held:
            factories.submit_order(assignment)

    def opposite() -> None:
        rows = list(OrderingCaption.objects.order_by("-level"))
        OrderingCaption.objects.all().delete()
        for row in rows:
            row.pk, row.level, row.value = None, 4 - row.level, 1 - VALUE
        OrderingCaption.objects.bulk_create(rows)
        Proxy.objects.update(name="other", code_version="other")
        for assignment in held:
            factories.submit_order(assignment, (2, 1, 0, 4, 3))

    worlds = [in_world(change, client, study, caplog) for change in (as_chosen, opposite)]
    assert differences(*worlds) == {}
    sent = {name for name, answer in worlds[0].items() if PLANTED.search(str(answer))}
    assert sent == set()


def test_no_response_to_visitors_and_uploaders_depends_on_a_hidden_label_set(
    campaign: Campaign, others: Annotator, tmp_path: Path
) -> None:
    """The worlds differ in the labels of a set that is published while annotators judge."""
    benchmark = campaign.benchmark
    shown = {"is_public": True, "shows_while_judging": False}
    change_public_page(benchmark=benchmark, changes=shown, by=OPERATOR)
    olga = factories.make_outsider("olga")
    lines = "".join(f"c{n} Q0 v1 1 2 x\nc{n} Q0 v0 2 1 x\n" for n in range(2))
    file = SimpleUploadedFile("mine.run", lines.encode())
    mine = upload_run(benchmark=benchmark, file=file, system="Mine", by=olga)
    assert mine.job is not None
    run_job(mine.job)
    uploader, visitor = APIClient(), APIClient()
    uploader.force_login(olga)
    for client in (uploader, visitor):
        client.raise_request_exception = False
    upload = f"{API}uploads/{mine.pk}/"

    def seen(label: int) -> Answers:
        answers: Answers = {}
        with transaction.atomic():
            rows = [(f"c{n}", f"v{v}", "a", label ^ v) for n in range(2) for v in range(2)]
            factories.add_judgments(tmp_path, benchmark, rows)
            published = publish_label_set(benchmark=benchmark, by=OPERATOR)
            evaluate_runs(benchmark=benchmark, by=OPERATOR)
            for when, client in (("uploader", uploader), ("visitor", visitor)):
                read_all(answers, client, campaign, when)
                for path in (upload, f"/uploads/{mine.pk}/publish/", f"/jobs/{mine.job}/"):
                    add_to(answers, f"{when} {path}", client.get(path))
                for format in ("csv", "qrels"):
                    path = f"/public/tiny/labels/{published.version}/{format}/"
                    add_to(answers, f"{when} {path}", client.get(path))
            for act in ("withdraw", "restore", "publish"):
                done = add_to(answers, act, uploader.post(f"{upload}{act}/", {}, format="json"))
                assert done.status_code == 200
            transaction.set_rollback(True)
        return answers

    worlds = [seen(label) for label in (0, 1)]
    assert differences(*worlds) == {}
    assert '"C@1"' in worlds[0][f"uploader {upload}"][2]
    assert len(worlds[0]) > 300
