"""Phrasings by a language model, from a server on this machine that stands in for one."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import Cancelled, InvalidInput
from pooling.models import Benchmark
from pooling.phrasings.endpoint import instructions, texts_of_lines
from pooling.phrasings.models import ModelAnswer, Phrasing
from pooling.phrasings.services.asking import ERRORS_IN_A_ROW
from pooling.phrasings.services.expanding import Expander, ExpandOptions, expand
from tests.factories import make_benchmark, row_counts

pytestmark = pytest.mark.django_db


@dataclass
class Model:
    """What was asked, by caption, and the captions that get an error."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    headers: list[str | None] = field(default_factory=list)


@pytest.fixture
def model(settings: Any) -> Iterator[Model]:
    found = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            caption = body["messages"][1]["content"]
            found.asked.append(caption)
            found.requests.append({**body, "path": self.path})
            found.headers.append(self.headers["Authorization"])
            if caption in found.failing or "all" in found.failing:
                self.send_error(503)
                return
            content = f'1. {caption}, again\n- "{caption}, once more"\n{caption}\n\n'
            answer = {
                "choices": [{"message": {"role": "assistant", "content": content}}],
                "usage": {"total_tokens": 10},
            }
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    settings.PHRASING_ENDPOINT = found.url
    settings.PHRASING_MODEL = "stand-in"
    settings.PHRASING_KEY = "a key"
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path, captions=20, videos=4)


def texts_of(benchmark: Benchmark) -> list[str]:
    return list(benchmark.queries.order_by("number").values_list("text", flat=True))


def by_model(**options: Any) -> ExpandOptions:
    return ExpandOptions(method=Expander.MODEL, **{"count": 4, **options})


def test_nothing_is_sent_unless_an_endpoint_is_configured(
    model: Model, benchmark: Benchmark, settings: Any
) -> None:
    settings.PHRASING_ENDPOINT = ""
    with pytest.raises(InvalidInput, match="Set PHRASING_ENDPOINT"):
        expand(benchmark=benchmark, options=by_model(), by=OPERATOR)
    expand(
        benchmark=benchmark, options=ExpandOptions(method=Expander.CAPTIONS, count=1), by=OPERATOR
    )
    assert model.asked == []


def test_a_model_writes_phrasings_within_the_budget_and_continues(
    model: Model, benchmark: Benchmark
) -> None:
    captions = texts_of(benchmark)
    model.failing = {captions[1]}
    made = expand(benchmark=benchmark, options=by_model(budget=6), by=OPERATOR)
    assert sorted(model.asked) == sorted(captions[:6])
    prompt = instructions(4)
    assert model.requests[0] == {
        "model": "stand-in",
        "messages": [
            {"role": "system", "content": prompt},
            {"role": "user", "content": model.asked[0]},
        ],
        "path": "/v1/chat/completions",
    }
    assert set(model.headers) == {"Bearer a key"}
    assert (made.set.n_phrasings, made.set.name) == (10, "Language model stand-in")
    assert made.notes == (
        "requests: 6, tokens: 50",
        "14 captions not asked about yet; expand again to continue",
        "captions with an error, which the next expansion repeats: 1",
        "caption c1: HTTP 503",
    )
    own = Phrasing.objects.filter(query__number=0).values_list(
        "number", "text", "origin", "model", "prompt_sha256"
    )
    sha = hashlib.sha256(prompt.encode()).hexdigest()
    assert list(own) == [
        (1, f"{captions[0]}, again", "model", "stand-in", sha),
        (2, f"{captions[0]}, once more", "model", "stand-in", sha),
    ]
    # The next expansion asks about the others, and about the caption with an error.
    model.asked, model.failing = [], set()
    call_command("expand", "tiny", "--method", "model")
    assert sorted(model.asked) == sorted([captions[1], *captions[6:]])
    assert Phrasing.objects.count() == 40
    assert not ModelAnswer.objects.exists()


def test_a_cancelled_expansion_keeps_its_answers(model: Model, benchmark: Benchmark) -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        expand(benchmark=benchmark, options=by_model(), by=OPERATOR, progress=cancel)
    assert (len(model.asked), ModelAnswer.objects.count()) == (8, 8)
    assert not Phrasing.objects.exists()
    expand(benchmark=benchmark, options=by_model(), by=OPERATOR)
    assert sorted(model.asked) == sorted(texts_of(benchmark))
    assert Phrasing.objects.count() == 40


def test_an_endpoint_that_only_fails_is_asked_no_further(
    model: Model, benchmark: Benchmark
) -> None:
    model.failing = {"all"}
    with pytest.raises(InvalidInput, match=r"wrote no text\. Caption c0: HTTP 503"):
        expand(benchmark=benchmark, options=by_model(), by=OPERATOR)
    assert len(model.asked) == ERRORS_IN_A_ROW
    assert row_counts()["phrasings.Phrasing"] == 0


def test_marks_of_lines_are_no_part_of_texts() -> None:
    lines = ["1. a dog runs", "2) “A dog is running.”", "* a dog", "", "a cat", "a dog"]
    assert texts_of_lines(lines, "a cat") == ["a dog runs", "A dog is running.", "a dog"]
