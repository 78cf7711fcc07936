"""The lists of captions and videos, on pages, in files and in the API."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from hearth.accounts.roles import Role
from pooling.models import Benchmark, Tag
from tests import factories
from tests.evaluation.catalogue.world import make_catalogue

pytestmark = pytest.mark.postgresql

API = "/api/v1/benchmarks/tiny/"
PAGE = "/benchmarks/tiny/"


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_catalogue(tmp_path)


@pytest.fixture
def client(benchmark: Benchmark) -> Client:
    client = Client()
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    return client


def results(client: Client, path: str) -> list[dict[str, Any]]:
    answer = client.get(API + path)
    assert answer.status_code == 200, answer.content
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def ids(client: Client, path: str) -> list[str]:
    return [row.get("caption_id") or row["video_id"] for row in results(client, path)]


def rows_of(client: Client, path: str) -> list[list[str]]:
    answer = client.get(PAGE + path)
    assert answer.status_code == 200
    content = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(content)))


def keys_on_page(client: Client, path: str) -> list[str]:
    page = client.get(PAGE + path).content.decode()
    heads = re.findall(r'<th scope="row".*?</th>', page, re.DOTALL)
    return [re.findall(r"<code>(.*?)</code>", head)[0] for head in heads]


def test_captions_have_numbers_texts_and_counts(client: Client) -> None:
    assert results(client, "queries/") == [
        {
            "number": number,
            "caption_id": f"c#{number}",
            "caption": text,
            "words": words,
            "original_positives": positives,
            "pairs": pairs,
            "judged": judged,
            "relevant": relevant,
        }
        for number, text, words, positives, pairs, judged, relevant in [
            (0, "a man plays", 3, ["v/0"], 2, 1, 1),
            (1, "a woman sings a song", 5, ["v/1"], 3, 1, 0),
            # The label of the equal caption also applies here.
            (2, "A man plays.", 3, ["v/1"], 0, 0, 1),
            (3, "=a dog", 2, ["v/2"], 0, 0, 0),
        ]
    ]


def test_videos_have_numbers_states_and_counts(client: Client) -> None:
    names = ("number", "video_id", "state", "seconds", "captions", "pairs", "judged", "relevant")
    assert results(client, "videos/") == [
        dict(zip(names, values, strict=True))
        for values in [
            (0, "v/0", "playable", 4.5, 1, 2, 0, 0),
            (1, "v/1", "missing", None, 2, 2, 1, 2),
            (2, "v/2", "broken", None, 1, 1, 1, 0),
        ]
    ]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("queries/?q=MAN", ["c#0", "c#1", "c#2"]),
        ("queries/?q=man+play", ["c#0", "c#2"]),
        ("queries/?q=%233", ["c#3"]),
        ("queries/?least=3&most=4", ["c#0", "c#2"]),
        ("queries/?tag=music", ["c#1"]),
        ("queries/?positives=none", []),
        ("queries/?judged=some", ["c#0", "c#1"]),
        ("queries/?judged=not-pooled", ["c#2", "c#3"]),
        ("videos/?q=/1", ["v/1"]),
        ("videos/?state=broken", ["v/2"]),
        ("videos/?captions=several", ["v/1"]),
        ("videos/?judged=all", ["v/2"]),
        ("videos/?judged=none", ["v/0"]),
        ("videos/?least=4&most=5", ["v/0"]),
        ("videos/?tag=music", ["v/1"]),
    ],
)
def test_filters(client: Client, path: str, found: list[str]) -> None:
    assert ids(client, path) == found
    page = path.replace("queries/", "captions/")
    assert keys_on_page(client, page) == found
    assert [row[1] for row in rows_of(client, page.replace("/?", "/csv/?"))[1:]] == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("captions/?sort=-words", ["c#1", "c#0", "c#2", "c#3"]),
        ("captions/?sort=-number", ["c#3", "c#2", "c#1", "c#0"]),
        ("captions/?sort=judged", ["c#2", "c#3", "c#0", "c#1"]),
        ("videos/?sort=-duration", ["v/0", "v/1", "v/2"]),
        ("videos/?sort=pairs", ["v/2", "v/0", "v/1"]),
    ],
)
def test_pages_are_sorted(client: Client, path: str, found: list[str]) -> None:
    assert keys_on_page(client, path) == found
    assert [row[1] for row in rows_of(client, path.replace("/?", "/csv/?"))[1:]] == found


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("queries/?least=3&most=2", "most: The maximum must not be below the minimum."),
        (f"queries/?q={'a' * 101}", "q: Search for at most 100 characters."),
        ("queries/?cursor=-1", "The cursor is not valid. Take it from the `next` address of"),
        ("queries/?limit=1001", "The limit must be a whole number from 1 to 1,000."),
        ("queries/?labels=2", "labels: "),
        ("pairs/?caption_id=x", "caption_id: tiny has no such caption_id."),
    ],
)
def test_invalid_values_are_refused(client: Client, path: str, reason: str) -> None:
    answer = client.get(API + path)
    assert (answer.status_code, reason in answer.json()["detail"]) == (400, True), answer.content


def test_a_cursor_visits_each_caption_once(client: Client) -> None:
    found, address = [], f"{API}queries/?limit=3&positives=one"
    while address:
        page = client.get(address).json()
        found.append([row["number"] for row in page["results"]])
        address = page["next"]
    assert found == [[0, 1, 2], [3]]


def test_files_are_safe_for_spreadsheets(client: Client) -> None:
    assert rows_of(client, "captions/csv/?q=dog") == [
        [
            "number",
            "caption_id",
            "caption",
            "words",
            "original_positives",
            "pairs",
            "judged",
            "relevant",
        ],
        ["3", "c#3", "'=a dog", "2", "v/2", "0", "0", "0"],
    ]


def test_tags_of_another_benchmark_are_not_offered(client: Client, tmp_path: Path) -> None:
    other = factories.make_benchmark(tmp_path, key="other")
    factories.add_tags(tmp_path, other, ("c0", "secret"))
    assert Tag.objects.count() == 2
    assert client.get(f"{PAGE}captions/?tag=secret").status_code == 422
