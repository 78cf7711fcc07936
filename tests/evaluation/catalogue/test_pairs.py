"""The pages of one caption and of one video, and pooled pairs in files and in the API."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.catalogue.selectors import pairs
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from tests import factories
from tests.evaluation.catalogue.world import make_catalogue

pytestmark = pytest.mark.postgresql

API = "/api/v1/benchmarks/tiny/pairs/"
PAGE = "/benchmarks/tiny/"
ALL = [("c#0", "v/0"), ("c#0", "v/1"), ("c#1", "v/0"), ("c#1", "v/1"), ("c#1", "v/2")]


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_catalogue(tmp_path)


@pytest.fixture
def client(benchmark: Benchmark) -> Client:
    return sign_in("rosa", Role.RESEARCHER)


def sign_in(name: str, role: Role) -> Client:
    client = Client()
    client.force_login(factories.make_user(name, role))
    return client


def table_of(client: Client, path: str) -> list[str]:
    """Return the text of each row of the first table of a page."""
    page = client.get(PAGE + path).content.decode()
    body = page.split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [unescape(" ".join(re.sub(r"<[^>]+>", " ", row).split())) for row in rows]


def visit_all(client: Client, address: str | None) -> list[list[tuple[str, str]]]:
    """Return the pairs of each page, and follow `next` to the last one."""
    found = []
    while address:
        page = client.get(address).json()
        found.append([(row["caption_id"], row["video_id"]) for row in page["results"]])
        address = page["next"]
    return found


def test_a_pair_has_numbers_keys_and_outcome(client: Client) -> None:
    first, second, *_ = client.get(API).json()["results"]
    assert first == {
        "query": 0,
        "video": 0,
        "caption_id": "c#0",
        "video_id": "v/0",
        "original_positive": True,
        "outcome": "unjudged",
        "label": None,
        "judgments": 0,
        "relevant": 0,
    }
    assert (second["outcome"], second["label"], second["judgments"]) == ("relevant", 1, 1)


def test_leads_can_use_a_settled_pair_as_gold(benchmark: Benchmark, client: Client) -> None:
    def links(person: Client, path: str) -> list[str]:
        page = person.get(PAGE + path).content.decode()
        return [unescape(url) for url in re.findall(r'<a href="([^"]+)">Use as gold</a>', page)]

    lead = sign_in("lena", Role.LEAD)
    (address,) = links(lead, "caption/?id=c%230")  # of its pairs, only that with v/1 is settled
    assert address == "/benchmarks/tiny/gold/pair/?caption=c%230&video=v%2F1&answer=1"
    assert address in links(lead, "video/?id=v/1")
    assert lead.get(address).status_code == 200
    assert links(client, "caption/?id=c%230") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ALL),
        ("?caption_id=c%230", ALL[:2]),
        ("?video_id=v/0", [ALL[0], ALL[2]]),
        ("?outcome=unjudged", [ALL[0], ALL[2], ALL[3]]),
        ("?outcome=relevant", [ALL[1]]),
        ("?outcome=not-relevant", [ALL[4]]),
        ("?outcome=conflicted", []),
        ("?caption_id=c%232", []),
    ],
)
def test_filters_of_pairs(client: Client, query: str, found: list[tuple[str, str]]) -> None:
    assert [pair for page in visit_all(client, API + query) for pair in page] == found
    answer: Any = client.get(f"{PAGE}pairs/csv/{query}")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert rows[0][:4] == ["query", "video", "caption_id", "video_id"]
    assert [(row[2], row[3]) for row in rows[1:]] == found


def test_a_page_of_pairs_reads_a_limited_number_of_captions(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part that is read contains all pairs of some captions. A page reads only some parts.

    Here a part has one caption, and a page reads one part.
    """
    monkeypatch.setattr(pairs, "PAIRS_PER_PART", 1)
    monkeypatch.setattr("evaluation.catalogue.api.PARTS_PER_PAGE", 1)
    assert visit_all(client, f"{API}?limit=2") == [ALL[:2], ALL[2:4], ALL[4:]]
    assert visit_all(client, f"{API}?limit=9") == [ALL[:2], ALL[2:]]
    assert visit_all(client, f"{API}?outcome=unjudged&limit=1") == [[ALL[0]], [ALL[2]], [ALL[3]]]
    assert visit_all(client, f"{API}?video_id=v/2") == [[ALL[4]]]


def test_a_caption_has_its_pairs_ranks_and_labels(client: Client) -> None:
    # Video, original positive, label, judgments, campaign, and ranks in A and B.
    assert table_of(client, "caption/?id=c%230") == [
        "no picture v/0 ★ yes Unjudged – round : 0 of 1 labels 2 1",
        "no picture v/1 Relevant 1 of 1 relevant round : Resolved 1 –",
    ]
    by_rank = table_of(client, "caption/?id=c%230&sort=rank1")
    assert [row.split()[2] for row in by_rank] == ["v/1", "v/0"]
    page = client.get(f"{PAGE}caption/?id=c%230").content.decode()
    assert re.findall(r'href="([^"]+compare[^"]+)"', page) == [
        "/benchmarks/tiny/compare/?caption=c%230"
    ]
    assert "1 equal caption, which shares judgments with this caption" in page


def test_an_equal_caption_shows_the_label_that_it_shares(client: Client) -> None:
    assert table_of(client, "caption/?id=c%232") == [
        "no picture v/1 not in a pool ★ yes Relevant 1 of 1 relevant round : Resolved – –"
    ]


def test_a_video_has_its_pairs_ranks_and_labels(client: Client) -> None:
    assert table_of(client, "video/?id=v/1") == [
        "a man plays c#0 Relevant 1 of 1 relevant round : Resolved 1 –",
        "a woman sings a song c#1 ★ yes Unjudged – round : 0 of 1 labels – 2",
        "A man plays. c#2 · not in a pool ★ yes Relevant 1 of 1 relevant round : Resolved – –",
    ]


def test_only_leads_see_answers(client: Client) -> None:
    lead = sign_in("lea", Role.LEAD)
    path = "caption/?id=c%230"
    assert table_of(lead, path)[1] == (
        "no picture v/1 Relevant Use as gold 1 of 1 relevant "
        "round : Resolved Annotator A: relevant 1 –"
    )
    for visitor in (lead, client):
        assert "anna" not in visitor.get(PAGE + path).content.decode()
    assert "Annotator A" not in client.get(PAGE + path).content.decode()


def test_pages_of_a_benchmark_without_pools(db: None, tmp_path: Path) -> None:
    factories.make_benchmark(tmp_path, captions=1, videos=2)
    client = sign_in("lea", Role.LEAD)
    assert table_of(client, "caption/?id=c0") == ["no picture v0 not in a pool ★ yes Unjudged –"]
    page = client.get(f"{PAGE}video/?id=v1").content.decode()
    assert "No caption has this video as an original positive, and it is in no pool." in page
    assert client.get(API).json() == {"next": None, "results": []}
