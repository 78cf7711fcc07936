"""Home: open work for each role, and the page for visitors."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.enums import CampaignState, EscalationKind, GoldUse
from annotation.models import Campaign, Membership
from annotation.selectors import tasks
from annotation.services import (
    Policy,
    escalate_task,
    open_campaign,
    open_training,
    pause_member,
)
from annotation.tasks import count_new_tasks_task
from evaluation.portal.selectors import newest_label_sets
from evaluation.portal.todo import LINKS_MAX, find_todos
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache as cache
from pooling.models import Benchmark
from tests import factories
from tests.accounts.world import make_member
from tests.factories import build_pool

pytestmark = pytest.mark.django_db


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def home_of(user: User) -> str:
    """Return the text of the person's home, with single spaces."""
    page = client_of(user).get("/")
    assert page.status_code == 200
    main = page.content.decode().split("<main", 1)[1]
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def make_work(folder: Path, key: str) -> Benchmark:
    """Make a benchmark that gives a lead five kinds of work.

    These are a conflict, an escalated pair, a paused annotator, a new task and an unscored run.
    """
    benchmark = factories.make_benchmark(folder, captions=1, videos=4, key=key)
    factories.make_run(folder, benchmark, {"c0": ["v0", "v1", "v2"]}, system=f"first of {key}")
    build_pool(benchmark=benchmark, depth=2)
    campaign = open_campaign(
        benchmark=benchmark,
        by=OPERATOR,
        name=f"round of {key}",
        policy=Policy(double_share=1, labels_max=2),
    )
    anna, bert = (factories.make_annotator(f"{name} of {key}") for name in ("anna", "bert"))
    for held in factories.claim(campaign, anna):
        if held.task.video.key == "v0":
            factories.submit(held, 1)
        else:
            escalate_task(
                assignment_id=held.pk,
                annotator=anna,
                kind=EscalationKind.UNSURE,
                reason="Is it a dog?",
            )
    factories.judge(campaign, bert, {"v0": 0})
    member = Membership.objects.get(annotator=bert)
    pause_member(
        membership=member,
        reason="Please call me.",
        by=factories.make_user(f"head of {key}", Role.LEAD),
    )
    factories.make_run(folder, benchmark, {"c0": ["v3"]}, system=f"second of {key}")
    build_pool(benchmark=benchmark, depth=1)
    evaluate_runs(
        benchmark=benchmark, by=OPERATOR, run_names=[f"first of {key}"], labels="original"
    )
    return benchmark


# --- Visitors and new accounts ----------------------------------------------------------------


def test_visitors_see_what_hearth_is() -> None:
    page = Client().get("/")
    assert page.status_code == 200
    assert page["Cache-Control"] == "private, no-store"
    content = page.content.decode()
    assert "Hearth is a platform on which people judge whether a caption is relevant" in content
    assert '<a class="btn btn-primary" href="/accounts/login/">Sign in</a>' in content
    assert "Main" not in content


def test_an_account_without_a_role_sees_a_message() -> None:
    assert home_of(factories.make_user("nora")).endswith(
        "Your account has no role yet, so there is nothing to see or do. "
        "An admin of this site can give you one."
    )


# --- Leads ----------------------------------------------------------------------------------


def test_leads_see_work_with_its_number_and_link(tmp_path: Path) -> None:
    benchmark = make_work(tmp_path, "tiny")
    campaign = Campaign.objects.get(benchmark=benchmark)
    lead = make_member("lea", Role.LEAD, of="tiny")
    todos = find_todos([benchmark], newest_label_sets([benchmark]))
    assert [(todo.total, todo.noun, [link.url for link in todo.links]) for todo in todos] == [
        (1, "pair in conflict", [f"/campaigns/{campaign.pk}/desk/?kind=conflicted"]),
        (1, "escalated pair", [f"/campaigns/{campaign.pk}/desk/?kind=escalated"]),
        (1, "paused annotator", [f"/campaigns/{campaign.pk}/people/"]),
        (1, "task to judge (1 pair)", ["/benchmarks/tiny/campaigns/new/"]),
        (1, "unscored run", ["/benchmarks/tiny/results/"]),
    ]
    client = client_of(lead)
    for todo in todos:
        for link in todo.links:
            assert client.get(link.url).status_code == 200
    text = home_of(lead)
    assert "To do 1 pair in conflict Go to the desk: round of tiny 1 1 escalated pair" in text


def test_work_in_other_benchmarks_is_not_shown(tmp_path: Path) -> None:
    make_work(tmp_path, "tiny")
    factories.make_benchmark(tmp_path, key="mine")
    text = home_of(make_member("lea", Role.LEAD, of="mine"))
    assert "To do Nothing waits for a lead. Conflicts, escalations," in text
    assert "tiny" not in text


def test_without_benchmarks_there_is_nothing_to_do() -> None:
    text = home_of(factories.make_user("lea", Role.LEAD))
    assert "Nothing waits for a lead, because there is no benchmark yet." in text
    assert "To import one, you need a file with its captions" in text
    text = home_of(factories.make_user("rosa", Role.RESEARCHER))
    assert "There is no benchmark yet. A lead or an admin of this site can import one." in text
    assert "To do" not in text


def test_finished_work_is_not_shown(tmp_path: Path) -> None:
    benchmark = make_work(tmp_path, "tiny")
    evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    open_campaign(benchmark=benchmark, by=OPERATOR, name="second")
    Campaign.objects.filter(name="round of tiny").update(state=CampaignState.CLOSED)
    todos = find_todos([benchmark], newest_label_sets([benchmark]))
    # A conflict of a closed campaign still needs a ruling.
    assert [todo.noun for todo in todos] == ["pair in conflict", "escalated pair"]


def test_pages_show_that_new_tasks_are_still_being_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "PAIRS_PER_PAGE", 2)
    benchmark = factories.make_benchmark(tmp_path, captions=1, videos=3)
    factories.make_run(tmp_path, benchmark, {"c0": ["v0", "v1", "v2"]})
    build_pool(benchmark=benchmark, depth=3)
    evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    lea = factories.make_user("lea", Role.LEAD)
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        text = home_of(lea)
    assert "To do … tasks to judge Open a campaign: tiny being counted" in text
    assert "The tasks to judge are being counted. Reload the page in a minute" in text
    assert "% settled" not in text
    assert [one["sql"] for one in queries if 'FROM "pooling_pair"' in one["sql"]] == []
    pages = [client_of(lea).get(f"/benchmarks/tiny/{page}") for page in ("", "campaigns/")]
    shown = ["tasks to judge are being counted" in page.content.decode().lower() for page in pages]
    assert (shown, [page.status_code for page in pages]) == ([True, True], [200, 200])
    count_new_tasks_task()
    text = home_of(lea)
    assert "To do 3 tasks to judge (3 pairs) Open a campaign: tiny 3" in text
    assert "being counted" not in text
    assert "0 % settled" in text


def test_a_new_label_set_makes_all_runs_unscored(tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path)
    for system in ("A", "B"):
        videos = ["v1", "v2"] if system == "A" else ["v2"]
        factories.make_run(tmp_path, benchmark, {"c0": videos}, system=system)
    evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    assert find_todos([benchmark], newest_label_sets([benchmark])) == []
    factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "anna", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    (todo,) = find_todos([benchmark], newest_label_sets([benchmark]))
    assert (todo.total, todo.noun) == (2, "unscored runs")
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    assert find_todos([benchmark], newest_label_sets([benchmark])) == []


def test_links_above_the_limit_are_collapsed(tmp_path: Path) -> None:
    benchmarks = []
    for number in range(LINKS_MAX + 2):
        benchmark = factories.make_benchmark(tmp_path, key=f"b{number}")
        factories.make_run(tmp_path, benchmark, {"c0": ["v1"]})
        benchmarks.append(benchmark)
    (todo,) = find_todos(benchmarks, {})
    assert (todo.total, len(todo.first_links), len(todo.more_links)) == (6, 4, 2)
    assert "2 more" in home_of(factories.make_user("lea", Role.LEAD))


# --- Researchers and annotators -------------------------------------------------------------


def test_researchers_see_runs_with_judged_shares_and_label_sets(tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=1)
    factories.make_run(tmp_path, benchmark, {"c0": ["v1", "v2"]}, system="A")
    rosa = factories.make_user("rosa", Role.RESEARCHER)
    assert "A not scored yet tiny" in home_of(rosa)
    assert "There is no label set yet." in home_of(rosa)
    factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "anna", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    text = home_of(rosa)
    assert "A 50.0 tiny" in text
    assert "Newest label sets tiny , label set 1.0.0 · 1 pair ·" in text
    assert "To do" not in text


def test_open_campaigns_and_studies_are_counted_separately(tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path, captions=6)
    factories.make_study(tmp_path, benchmark=campaign.benchmark)
    rosa = factories.make_user("rosa", Role.RESEARCHER)
    assert "No label set yet · 1 open campaign · 1 open ordering study Newest runs" in home_of(rosa)


def test_sections_are_in_the_order_of_roles(tmp_path: Path) -> None:
    make_work(tmp_path, "tiny")
    text = home_of(factories.make_user("ada", Role.ADMIN))
    places = [text.index(head) for head in ("To do", "Benchmarks", "Newest runs", "Judging")]
    assert places == sorted(places)


def test_training_is_the_main_button_before_admission(tmp_path: Path) -> None:
    training = factories.make_training(tmp_path)
    policy = Policy(gate_share=0.5, gate_last=4)
    campaign = open_campaign(benchmark=training.benchmark, by=OPERATOR, name="round", policy=policy)
    page = client_of(factories.make_user("nora", Role.ANNOTATOR)).get("/").content.decode()
    main = re.findall(r'<a class="btn btn-primary" href="([^"]+)">', page)
    assert main == [f"/campaigns/{training.pk}/judge/"]
    assert f'href="/campaigns/{campaign.pk}/judge/"' not in page


# --- Database queries -----------------------------------------------------------------------


def test_database_queries_do_not_grow_with_the_work(tmp_path: Path) -> None:
    client = client_of(factories.make_user("lea", Role.LEAD))

    def count() -> int:
        cache.clear()
        client.get("/")
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/").status_code == 200
        return len(queries)

    make_work(tmp_path, "b0")
    with_one = count()
    make_work(tmp_path, "b1")
    make_work(tmp_path, "b2")
    assert with_one == 38
    assert count() == with_one


def test_database_queries_of_an_annotator_do_not_grow_with_training_queues(tmp_path: Path) -> None:
    client = client_of(factories.make_user("nora", Role.ANNOTATOR))

    def add_queue(key: str) -> None:
        benchmark = factories.make_benchmark(tmp_path, key=key)
        factories.make_run(tmp_path, benchmark, {"c0": ["v1"]})
        build_pool(benchmark=benchmark, depth=1)
        rows = [("c0", "v2", 1, ""), ("c1", "v2", 0, "")]
        factories.add_gold_items(tmp_path, benchmark, rows, use=GoldUse.TRAINING)
        open_training(benchmark=benchmark, by=factories.make_user(f"lead of {key}", Role.LEAD))
        open_campaign(
            benchmark=benchmark,
            by=OPERATOR,
            name="round",
            policy=Policy(gate_share=0.5, gate_last=2),
        )

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/").status_code == 200
        return len(queries)

    add_queue("b0")
    with_one = count()
    add_queue("b1")
    add_queue("b2")
    assert with_one == 13
    assert count() == with_one
