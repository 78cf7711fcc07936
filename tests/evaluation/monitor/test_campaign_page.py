"""Tests of the progress on the page of a campaign."""

from __future__ import annotations

import datetime
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.enums import CampaignState
from annotation.models import Campaign, Judgment
from evaluation.monitor.selectors import campaigns as selectors
from evaluation.monitor.services import compute_agreement
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache
from tests import factories
from tests.evaluation.scores.test_results import table_of


@pytest.fixture
def researcher(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    return client


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """Make a campaign in which two labels of v0 differ and those of v1 agree."""
    made = factories.make_campaign(tmp_path, double_share=1)
    for name, labels in (("anna", {"v0": 1, "v1": 0}), ("ben", {"v0": 0, "v1": 0})):
        factories.judge(made, factories.make_annotator(name), labels)
    compute_agreement(benchmark=made.benchmark, by=OPERATOR)
    return made


def test_campaign_progress(campaign: Campaign, researcher: Client) -> None:
    page = researcher.get(f"/campaigns/{campaign.pk}/").content.decode()
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    # The disagreement requires a third label, which makes seven in total.
    for part in (
        "Labels 4 of 7",
        "Pairs settled 1 of 3",
        "Relevant 0",
        "In conflict 0",
        "All labels of a pair equal 50.0 %",
        "Krippendorff’s alpha 0.000",
        "Pairs with an extra label 100 %, 3 tasks",
    ):
        assert part in text
    assert table_of(page, "table-narrow table-counts") == [["2", "2", "50.0 %"]]


def test_progress_announces_changes(campaign: Campaign, researcher: Client) -> None:
    address = f"/campaigns/{campaign.pk}/progress/"
    same = researcher.get(address, {"seen": "33"}).content.decode()
    changed = researcher.get(address, {"seen": "10"}).content.decode()
    assert ('hx-trigger="every 5s"' in same, 'role="status"' in same) == (True, False)
    assert "33 % of the pairs are settled." in changed


def test_progress_of_a_paused_campaign_reloads_the_page(
    campaign: Campaign, researcher: Client
) -> None:
    address = f"/campaigns/{campaign.pk}/progress/?seen=33"
    assert "HX-Refresh" not in researcher.get(address)
    Campaign.objects.update(state=CampaignState.PAUSED)
    assert researcher.get(address)["HX-Refresh"] == "true"
    # A page without counts requests the progress only once, without `seen`.
    assert "HX-Refresh" not in researcher.get(f"/campaigns/{campaign.pk}/progress/")


def test_requests_at_the_same_time_share_one_computation() -> None:
    measured = []

    def measure(campaign: Campaign) -> dict[str, int]:
        measured.append(campaign)
        time.sleep(0.2)  # until all requests have begun
        return {"answers": 7}

    campaign = Campaign(pk=1, state=CampaignState.OPEN)

    def request(_: int) -> Any:
        return selectors._cached_figures(campaign, 7, measure)

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(request, range(3)))
    assert ([stored.figures for stored in found], len(measured)) == ([{"answers": 7}] * 3, 1)


def test_figures_of_many_answers_are_kept_for_a_minute(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    client.force_login(factories.make_user("lena", Role.LEAD))
    people = f"/campaigns/{campaign.pk}/people/"
    monkeypatch.setattr(selectors, "ALWAYS_CURRENT", 3)  # the campaign has four answers
    client.get(people)
    factories.judge(campaign, factories.make_annotator("cleo"), {"v0": 1})
    with CaptureQueriesContext(connection) as queries:
        page = client.get(people).content.decode()
    assert "; 1 newer answer" in page
    read = [one["sql"] for one in queries if 'FROM "annotation_judgment"' in one["sql"]]
    assert read == []
    process_cache.clear()  # as after a minute
    assert "newer answer" not in client.get(people).content.decode()
    monkeypatch.setattr(selectors, "ALWAYS_CURRENT", 9)
    client.get(people)
    factories.judge(campaign, factories.make_annotator("dora"), {"v2": 1})
    assert "newer answer" not in client.get(people).content.decode()


def test_an_answer_millennia_away_leaves_a_small_page(
    campaign: Campaign, researcher: Client
) -> None:
    """Older versions imported judgments with times in the future."""
    far = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)
    Judgment.objects.filter(pk=Judgment.objects.earliest("pk").pk).update(created_at=far)
    page = researcher.get(f"/campaigns/{campaign.pk}/").content
    assert b"Number of answers, by 1,044 weeks" in page
    assert len(page) < 500_000
