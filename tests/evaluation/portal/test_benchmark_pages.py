"""The tabs of a benchmark: which one is current, what each shows, and the next step."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.enums import GoldUse, MembershipState
from annotation.models import Campaign, Membership
from annotation.selectors.tasks import NO_TASKS, NewCounts
from annotation.services import Policy, open_campaign
from evaluation.portal.steps import Preparation, Progress, next_step, steps_of
from evaluation.portal.tabs import TABS, tab_links
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache as cache
from pooling.enums import MediaState
from pooling.models import Benchmark, PublicPage, Video
from tests import factories
from tests.accounts.world import make_member
from tests.factories import build_pool
from tests.hearth.test_webhooks import make_webhook
from tests.pooling.test_run_uploads import make_public

pytestmark = pytest.mark.django_db
TAB_LINK = re.compile(r'<a href="([^"]+)"( aria-current="(?:page|true)")?>([^<]+)</a>')


def sign_in(username: str, role: Role) -> Client:
    client = Client()
    client.force_login(factories.make_user(username, role))
    return client


@pytest.fixture
def lead() -> Client:
    return sign_in("lea", Role.LEAD)


@pytest.fixture
def researcher() -> Client:
    return sign_in("rosa", Role.RESEARCHER)


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path)


def text_of(client: Client, address: str) -> str:
    """Return the text of the page's main part, with single spaces."""
    page = client.get(address)
    assert page.status_code == 200
    main = page.content.decode().split("<main", 1)[1]
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def current_tabs(page: str) -> list[tuple[str, str]]:
    """Return the titles of the current tabs, each with its `aria-current`."""
    nav = re.search(r'<nav class="benchmark-tabs".*?</nav>', page, re.DOTALL)
    assert nav is not None
    return [
        (title, current.split('"')[1]) for _, current, title in TAB_LINK.findall(nav[0]) if current
    ]


# --- Tabs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ("Overview", "page")),
        ("captions/", ("Captions and videos", "page")),
        ("videos/", ("Captions and videos", "true")),
        ("equal-captions/", ("Captions and videos", "true")),
        ("train-captions/new/", ("Captions and videos", "true")),
        ("tags/new/", ("Captions and videos", "true")),
        ("runs/", ("Runs", "page")),
        ("runs/new/", ("Runs", "true")),
        ("results/", ("Runs", "true")),
        ("proxies/", ("Proxies", "page")),
        ("proxies/new/", ("Proxies", "true")),
        ("proxies/matrix/", ("Proxies", "true")),
        ("proxies/embeddings/", ("Proxies", "true")),
        ("campaigns/", ("Pools and campaigns", "page")),
        ("pools/new/", ("Pools and campaigns", "true")),
        ("campaigns/new/", ("Pools and campaigns", "true")),
        ("judgments/new/", ("Pools and campaigns", "true")),
        ("labels/", ("Labels", "page")),
        ("analyses/", ("Analyses", "page")),
        ("analyses/ranks/", ("Analyses", "true")),
        ("compare/", ("Analyses", "true")),
        ("people/", ("People", "page")),
        ("training/", ("Settings", "true")),
        ("settings/", ("Settings", "page")),
        ("guidelines/", ("Settings", "true")),
        ("guidelines/new/", ("Settings", "true")),
        ("gold/", ("Settings", "true")),
        ("gold/new/", ("Settings", "true")),
    ],
)
def test_each_page_has_one_current_tab(
    benchmark: Benchmark, lead: Client, path: str, expected: tuple[str, str]
) -> None:
    page = lead.get(f"/benchmarks/tiny/{path}")
    assert page.status_code == 200
    assert current_tabs(page.content.decode()) == [expected]


def test_pages_of_a_campaign_have_the_tab_of_campaigns(tmp_path: Path, lead: Client) -> None:
    campaign = factories.make_campaign(tmp_path)
    for path in ("", "people/", "policy/", "desk/", "desk/rulings/"):
        page = lead.get(f"/campaigns/{campaign.pk}/{path}").content.decode()
        assert current_tabs(page) == [("Pools and campaigns", "true")]


def test_no_page_is_below_two_tabs() -> None:
    names = [name for tab in TABS for name in (tab.name, *tab.below)]
    assert len(names) == len(set(names))


def test_only_leads_have_the_tab_of_people(benchmark: Benchmark, researcher: Client) -> None:
    assert [link.title for link in tab_links("tiny", "", leads=False)] == [
        "Overview",
        "Captions and videos",
        "Runs",
        "Proxies",
        "Pools and campaigns",
        "Labels",
        "Analyses",
        "Settings",
    ]
    assert "/benchmarks/tiny/people/" not in researcher.get("/benchmarks/tiny/").content.decode()
    assert researcher.get("/benchmarks/tiny/people/").status_code == 404


# --- The next step --------------------------------------------------------------------------

DONE = Progress(
    runs=3,
    pairs=100,
    without_file=0,
    prepared=Preparation(guideline=1, annotators=2),
    campaigns=1,
    new=NO_TASKS,
    settled=90,
    unsettled=0,
    not_settled=10,
    at_desk=0,
    desk_url="",
    version="2.0.0",
    newly_settled=0,
    unscored=0,
)


@pytest.mark.parametrize(
    ("changes", "title", "advice"),
    [
        ({}, None, ""),
        ({"runs": 0}, "Import runs", "Upload the ranked lists"),
        ({"pairs": 0}, "Build a pool", "When all runs that you have"),
        ({"without_file": 2, "campaigns": 0}, "Add videos", "2 videos have no playable file yet."),
        ({"without_file": 1}, None, ""),
        (
            {"campaigns": 0, "prepared": Preparation()},
            "Prepare annotators",
            "Annotators need guidelines, and each needs an account.",
        ),
        (
            {"campaigns": 0, "prepared": Preparation(gold=1)},
            "Open a campaign",
            "Open a campaign, so that annotators",
        ),
        ({"prepared": Preparation()}, None, ""),
        ({"campaigns": 0}, "Open a campaign", "Open a campaign, so that annotators"),
        (
            {"new": NewCounts(1, 2)},
            "Open a campaign",
            "1 task to judge (2 pairs) is not in any campaign.",
        ),
        (
            {"new": NewCounts(2000, 2000)},
            "Open a campaign",
            "2,000 tasks to judge (2,000 pairs) are not in any campaign.",
        ),
        ({"at_desk": 1, "desk_url": "/d"}, "Settle conflicts", "1 task at the desk needs a lead"),
        ({"at_desk": 7, "desk_url": "/d"}, "Settle conflicts", "7 tasks at the desk need a lead"),
        ({"version": None, "settled": 0}, "Judge pairs", "Annotators find the campaign"),
        ({"version": None}, "Publish labels", "Publish the labels as a numbered label set."),
        (
            {"newly_settled": 5},
            "Publish labels",
            "5 pairs have been settled since label set 2.0.0.",
        ),
        ({"unscored": 1}, "Score runs", "1 run has no scores by the newest labels yet."),
        ({"unscored": 2}, "Score runs", "2 runs have no scores by the newest labels yet."),
    ],
)
def test_the_next_step(changes: dict[str, Any], title: str | None, advice: str) -> None:
    now = Progress(**{name: getattr(DONE, name) for name in DONE.__slots__} | changes)
    step = next_step(steps_of(Benchmark(key="tiny"), now))
    assert (step and step.title) == title
    if step is not None:
        assert step.advice.startswith(advice)


@pytest.mark.parametrize(
    ("changes", "note", "is_done", "page"),
    [
        ({"settled": 0}, "10 pairs not settled", False, "/invitations/"),
        ({}, "10 pairs not settled", False, "/campaigns/"),
        ({"not_settled": None}, "90 pairs settled", False, "/campaigns/"),
        ({"not_settled": 0}, "90 pairs settled", True, "/campaigns/"),
    ],
)
def test_judging_is_done_when_all_pairs_are_settled(
    changes: dict[str, Any], note: str, is_done: bool, page: str
) -> None:
    now = Progress(**{name: getattr(DONE, name) for name in DONE.__slots__} | changes)
    (step,) = [step for step in steps_of(Benchmark(key="tiny"), now) if step.title == "Judge pairs"]
    assert (step.note, step.is_done) == (note, is_done)
    assert page in step.url


def test_unsettled_pairs_are_named_before_publishing() -> None:
    now = Progress(
        **{name: getattr(DONE, name) for name in DONE.__slots__} | {"version": None, "unsettled": 3}
    )
    step = next_step(steps_of(Benchmark(key="tiny"), now))
    assert step is not None
    assert step.advice.endswith("3 pairs are not settled yet and would get no label.")


def test_the_overview_leads_from_importing_runs_to_settling_conflicts(
    benchmark: Benchmark, lead: Client, tmp_path: Path
) -> None:
    def heading() -> str:
        found = re.search(
            r'<h2 id="next">(.*?)</h2>', lead.get("/benchmarks/tiny/").content.decode(), re.DOTALL
        )
        assert found is not None
        return " ".join(found[1].split())

    assert heading() == "Next: import runs"
    factories.make_run(tmp_path, benchmark, {"c0": ["v1", "v2"]})
    assert heading() == "Next: build a pool"
    build_pool(benchmark=benchmark, depth=1)
    assert heading() == "Next: add videos"
    Video.objects.update(state=MediaState.PLAYABLE)
    assert heading() == "Next: prepare annotators"
    names = ("Guidelines", "Gold items", "Training", "Invitations")
    for name, address in prepared_links(lead):
        assert (name in names, lead.get(address).status_code) == (True, 200)
    factories.make_user("nina", Role.ANNOTATOR)
    assert "1 annotator, default guidelines, 0 gold items" in text_of(lead, "/benchmarks/tiny/")
    assert heading() == "Next: open a campaign"
    # The guidelines are still the default text, so the pages of the step before stay at hand.
    assert [name for name, _ in prepared_links(lead)] == [*names]
    campaign = open_campaign(
        benchmark=benchmark, by=OPERATOR, name="round", policy=Policy(double_share=1, labels_max=2)
    )
    assert heading() == "Next: judge pairs"
    for name, label in (("anna", 1), ("bert", 0)):
        (held,) = factories.claim(campaign, factories.make_annotator(name))
        factories.submit(held, label)
    assert heading() == "Next: settle conflicts"
    page = lead.get("/benchmarks/tiny/").content.decode()
    assert f'<a class="btn btn-primary" href="/campaigns/{campaign.pk}/desk/">' in page


def prepared_links(lead: Client) -> list[tuple[str, str]]:
    """Return the titles and addresses of the links of the next step."""
    page = lead.get("/benchmarks/tiny/").content.decode()
    (links,) = re.findall(r"<p>\s+(<a href=.*?)</p>", page.partition('id="next"')[2], re.DOTALL)[:1]
    found = [(name, unescape(url)) for url, name in re.findall(r'<a href="(.*?)">(.*?)</a>', links)]
    assert len(found) == 4
    return found


def test_the_page_for_publishing_shows_that_there_are_no_judgments(
    benchmark: Benchmark, lead: Client
) -> None:
    page = text_of(lead, "/benchmarks/tiny/labels/publish/")
    assert "This benchmark has no judgments, so there is nothing to publish." in page


def test_the_overview_leads_from_labels_to_the_results(
    benchmark: Benchmark, lead: Client, tmp_path: Path
) -> None:
    factories.make_run(tmp_path, benchmark, {"c0": ["v1"]})
    factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "carl", 1)])
    assert "Next: publish labels Publish the labels as a numbered" in text_of(
        lead, "/benchmarks/tiny/"
    )
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    assert "Next: score runs 1 run has no scores" in text_of(lead, "/benchmarks/tiny/")
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    assert "All steps are done The results show the scores by label set 1.0.0 next" in text_of(
        lead, "/benchmarks/tiny/"
    )
    factories.add_judgments(tmp_path, benchmark, [("c1", "v2", "carl", 1)])
    cache.clear()
    assert "Next: publish labels 1 pair has been settled since label set 1.0.0." in text_of(
        lead, "/benchmarks/tiny/"
    )


def test_researchers_see_what_they_can_do(
    benchmark: Benchmark, researcher: Client, tmp_path: Path
) -> None:
    assert "Next: add a run" in text_of(researcher, "/benchmarks/tiny/")
    factories.make_run(tmp_path, benchmark, {"c0": ["v1", "v2"]})
    text = text_of(researcher, "/benchmarks/tiny/")
    assert "Next: score the runs 1 run has no scores by the newest labels yet." in text
    evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    text = text_of(researcher, "/benchmarks/tiny/")
    assert "Next: compare the systems In the run with the largest unjudged share, 100.0 %" in text


# --- The other tabs -------------------------------------------------------------------------


def test_captions_are_searched_and_paged(tmp_path: Path, researcher: Client) -> None:
    factories.make_benchmark(tmp_path, captions=60, videos=4)
    page = researcher.get("/benchmarks/tiny/captions/").content.decode()
    assert page.count('<th scope="row" class="wide caption-cell"') == 50
    text = text_of(researcher, "/benchmarks/tiny/captions/?page=2")
    assert "caption 59 c59 2 v3 0 0 0" in text
    assert "51 to 60 of 60 captions" in text
    found = researcher.get("/benchmarks/tiny/captions/?q=caption+c7").content.decode()
    assert found.count("caption-cell") == 1
    assert "No caption matches. Show all captions" in text_of(
        researcher, "/benchmarks/tiny/captions/?q=nothing"
    )


def test_people_of_a_benchmark(tmp_path: Path, lead: Client) -> None:
    campaign = factories.make_campaign(tmp_path, name="round")
    make_member("tina", Role.ANNOTATOR, of="tiny")
    make_member("otto", Role.ANNOTATOR, of="elsewhere")
    anna = factories.make_annotator("anna")
    factories.judge(campaign, anna, {"v0": 1, "v1": 0})
    Membership.objects.filter(annotator=anna).update(state=MembershipState.PAUSED)
    text = text_of(lead, "/benchmarks/tiny/people/")
    assert f"anna {anna.pseudonym} Annotator in all benchmarks 2 round" in text
    assert "tina none yet Annotator of tiny 0 –" in text
    assert "otto" not in text


def test_leads_see_annotators_and_admins_see_everyone(
    benchmark: Benchmark, tmp_path: Path, lead: Client
) -> None:
    address = "/benchmarks/tiny/people/"
    assert "There are no annotators yet. To begin, invite annotators" in text_of(lead, address)
    assert "There is no campaign yet." in text_of(lead, address)
    factories.make_study(tmp_path, key="b", name="s")
    make_member("tina", Role.ANNOTATOR, of="b")
    text = text_of(lead, "/benchmarks/b/people/")
    assert "This list contains only annotators. Admins also see leads and researchers here." in text
    assert "Annotators by campaign s ordering study Open" in text
    text = text_of(sign_in("ada", Role.ADMIN), "/benchmarks/b/people/")
    assert "People with a role here Person" in text
    assert "Only admins" not in text


def test_settings_show_whether_the_page_is_public_and_webhooks_exist(
    benchmark: Benchmark, lead: Client
) -> None:
    def shows(*texts: str) -> bool:
        text = text_of(lead, "/benchmarks/tiny/settings/")
        return all(shown in text for shown in texts)

    assert shows("Public page off", "Webhooks none · signed", "Edit the name", "Edit the licence")
    assert "Uploads for scoring" not in text_of(lead, "/benchmarks/tiny/runs/")
    make_public(benchmark)
    make_webhook("https://example.org/hook")
    assert shows("Public page on · everyone can see it without an account", "Webhooks 1 webhook ·")
    assert "Uploads for scoring" in text_of(lead, "/benchmarks/tiny/runs/")
    # Uploads can still wait for a lead after the page has been closed.
    PublicPage.objects.update(opened_at=None)
    assert shows("Public page off")
    assert "Uploads for scoring" in text_of(lead, "/benchmarks/tiny/runs/")


def test_settings_show_gold_items_only_to_leads(
    tmp_path: Path, lead: Client, researcher: Client
) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=4)
    factories.add_gold_items(tmp_path, benchmark, factories.gold_rows(0, 3), use=GoldUse.TRAINING)
    assert "Gold items 3 for training, 0 control pairs" in text_of(
        lead, "/benchmarks/tiny/settings/"
    )
    assert "Gold items" not in text_of(researcher, "/benchmarks/tiny/settings/")


def test_tabs_have_the_anchors_that_other_pages_link_to(benchmark: Benchmark, lead: Client) -> None:
    for tab, anchor in (
        ("campaigns", "pools"),
        ("campaigns", "campaigns"),
        ("labels", "labels"),
        ("labels", "agreement"),
        ("captions", "metadata"),
        ("runs", "runs"),
    ):
        assert f'id="{anchor}"' in lead.get(f"/benchmarks/tiny/{tab}/").content.decode()


def test_database_queries_do_not_grow_with_people_captions_and_pauses(
    tmp_path: Path, lead: Client
) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=3, videos=4)
    factories.make_run(tmp_path, benchmark, factories.all_pairs(3, 4))
    build_pool(benchmark=benchmark, depth=4)

    def count() -> dict[str, int]:
        found = {}
        for tab in ("captions", "people"):
            lead.get(f"/benchmarks/tiny/{tab}/")
            with CaptureQueriesContext(connection) as queries:
                lead.get(f"/benchmarks/tiny/{tab}/")
            found[tab] = len(queries)
        return found

    def add_person(number: int) -> None:
        benchmark.refresh_from_db()
        person = factories.make_annotator(f"person {number}")
        campaign = Campaign.objects.first() or open_campaign(
            benchmark=benchmark, by=OPERATOR, name="round"
        )
        factories.judge(campaign, person, {f"v{number}": 1})
        Membership.objects.filter(annotator=person).update(state=MembershipState.PAUSED)

    add_person(0)
    with_one = count()
    add_person(1)
    add_person(2)
    assert with_one == {"captions": 15, "people": 11}
    assert count() == with_one
