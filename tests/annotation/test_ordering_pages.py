"""The page that plans and opens an ordering study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.models import Campaign
from hearth.accounts.roles import Role
from tests.factories import add_proxy, make_benchmark, make_user

pytestmark = pytest.mark.django_db

ADDRESS = "/benchmarks/tiny/orderings/new/"
FORM = {
    "proxy": "overlap",
    "videos": "10",
    "labels_each": "3",
    "levels": "captions",
    "name": "Order the captions",
    "joining": "everybody",
    "seed": "0",
}


@pytest.fixture
def lead(tmp_path: Path, client: Client) -> Client:
    """Sign in a lead of a benchmark with six captions and three videos.

    The proxy has one value for all captions of v0, three equal values for v1, and six different
    values for v2.
    """
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    values = np.zeros((6, 3))
    values[:, 2] = np.arange(6) / 10
    values[:, 1] = [0.6, 0.6, 0.6, 0.3, 0.2, 0.1]
    add_proxy(tmp_path, benchmark, values, "overlap")
    client.force_login(make_user("lena", Role.LEAD))
    return client


def test_a_preview_stores_nothing(lead: Client) -> None:
    page = lead.post(ADDRESS, FORM | {"step": "preview"})
    figures = {name: (figure.text, figure.note) for name, figure in page.context["figures"]}
    assert figures == {
        "Videos": ("2", "8 fewer than requested"),
        "Orders to collect": ("6", "3 for each video"),
        "Videos with equal values": ("1", "the proxy has the same value for two of the captions"),
        "Videos left out": ("1", "the proxy has the same value for all captions"),
    }
    assert not Campaign.objects.exists()


def test_a_study_is_opened_with_the_previewed_options(lead: Client) -> None:
    preview = lead.post(ADDRESS, FORM | {"step": "preview"})
    sent = dict(preview.context["form"].sent_values())
    answer = lead.post(ADDRESS, sent)
    study = Campaign.objects.get()
    assert answer["Location"] == f"/campaigns/{study.pk}/"
    assert (study.is_study, study.name, study.n_tasks) == (True, "Order the captions", 2)
    assert (study.labels_each, study.seed, str(study.proxy)) == (3, 0, "overlap")


def test_invalid_options_are_shown_next_to_their_fields(lead: Client) -> None:
    page = lead.post(ADDRESS, FORM | {"labels_each": "1", "proxy": "other"})
    assert page.status_code == 422
    assert set(page.context["form"].errors) == {"labels_each", "proxy"}


def test_only_leads_open_studies(lead: Client) -> None:
    lead.force_login(make_user("rita", Role.RESEARCHER))
    assert lead.get(ADDRESS).status_code == 403
