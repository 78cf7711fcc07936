"""An archived benchmark offers only what it allows: no page has a form or link that is refused."""

# ruff: noqa: F811  (fixtures of another module are arguments here)
from __future__ import annotations

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone

from annotation.enums import CampaignState
from annotation.models import Campaign
from pooling.models import Benchmark
from tests.test_pages import TABLE, campaign, places, visit  # noqa: F401

# The forms that an archived benchmark accepts. They compute, restore, delete, or concern webhooks.
ALLOWED = {
    "agreement-compute",
    "analysis-compute",
    "benchmark-archive",
    "benchmark-delete",
    "campaign-compute",
    "delivery-repeat",
    "draft-make",
    "evaluate",
    "label-set-verify",
    "paper-compute",
    "run-delete",
    "pool-delete",
    "proxy-delete",
    "webhook-delete",
    "webhooks",
}


# The addresses of the pages of a benchmark begin with one of these.
PARTS = ("/benchmarks/tiny/", "/campaigns/", "/imports/")


class Offers(HTMLParser):
    """Collects the links and the forms of a page, each form with its initial values."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.is_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and values.get("href", "").startswith(PARTS):
            self.links.add(urlsplit(values["href"]).path)
        elif tag == "form":
            is_post = values.get("method", "").lower() == "post"
            self.is_open = is_post and values["action"].startswith(PARTS)
            if self.is_open:
                self.forms.append((values["action"], {}))
        elif tag in ("input", "button", "textarea") and self.is_open and "name" in values:
            self.forms[-1][1].setdefault(values["name"], values.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        self.is_open = self.is_open and tag != "form"


@pytest.fixture
def archived(places: dict[str, Any]) -> dict[str, Any]:
    Campaign.objects.update(state=CampaignState.PAUSED)
    Benchmark.objects.filter(key="tiny").update(archived_at=timezone.now())
    benchmark = Benchmark.objects.get(key="tiny")
    return places | {
        "run": benchmark.runs.get().pk,
        "pool": benchmark.pools.latest("pk").pk,
        "split": benchmark.train_splits.get().pk,
    }


# Pages of objects that exist. `TABLE` has these pages only for the primary key 0, which no object
# has.
FURTHER = (
    "/benchmarks/tiny/runs/{run}/",
    "/benchmarks/tiny/runs/{run}/edit/",
    "/benchmarks/tiny/runs/{run}/delete/",
    "/benchmarks/tiny/pools/{pool}/delete/",
    "/benchmarks/tiny/train-captions/{split}/delete/",
)


def pages(places: dict[str, Any]) -> Iterator[str]:
    listed = [address for _, method, address, _ in TABLE if method == "GET"]
    for address in (*listed, *FURTHER):
        path = address.format(**places)
        if path.startswith(PARTS) and name_of(path) != "import-new":
            yield path


def status_of(client: Client, method: str, path: str, body: str) -> int:
    with transaction.atomic():
        answer = client.generic(
            method, path, body, content_type="application/x-www-form-urlencoded"
        )
        transaction.set_rollback(True)
    return answer.status_code


def name_of(path: str) -> str | None:
    try:
        return resolve(urlsplit(path).path).url_name
    except Resolver404:
        return path


@pytest.mark.parametrize("visitor", ["researcher", "lead", "admin"])
def test_an_archived_benchmark_offers_nothing_that_is_refused(
    visitor: str, archived: dict[str, Any], visit: Callable[[str], Client]
) -> None:
    client = visit(visitor)
    refused: dict[str, set[str]] = {}
    links: dict[str, str] = {}
    # The statuses of the forms and links that other pages had, too.
    known: dict[tuple[str, ...], int] = {}
    n_banners = 0

    def answers(method: str, path: str, values: dict[str, str]) -> int:
        sent = (method, path, urlencode(values))
        if sent not in known:
            known[sent] = status_of(client, *sent)
        return known[sent]

    for page in pages(archived):
        answer = client.get(page)
        known["GET", page, ""] = answer.status_code
        if answer.status_code != 200 or "html" not in answer["Content-Type"] or answer.streaming:
            continue
        body = answer.content.decode()
        n_banners += body.count("This benchmark is archived")
        offers = Offers()
        offers.feed(body)
        links |= dict.fromkeys(offers.links, page)
        for action, values in offers.forms:
            status = answers("POST", action, values)
            if name_of(action) not in ALLOWED or status == 409:
                refused.setdefault(page, set()).add(f"{name_of(action)}: {status}")
    for link, page in links.items():
        if answers("GET", link, {}) == 409:
            refused.setdefault(page, set()).add(f"link to {name_of(link)}")
    assert refused == {}
    assert n_banners > 20
