"""A reference server of the protocol, for the demo, for tests and as an example.

It answers from the captions of videos, see `core.tfidf`. The server of a real machine has the same
three addresses.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evaluation.machines.core.protocol import BATCH, Answer, Item, Machine
from evaluation.machines.core.tfidf import MACHINE, CaptionJudge
from pooling.models import Benchmark
from pooling.selectors.proxies import captions_of_videos

REQUEST_BYTES = 4 << 20


def caption_judge(benchmark: Benchmark) -> CaptionJudge:
    """Return the judge that knows the captions of a benchmark's videos."""
    hashes = benchmark.videos.order_by("number").values_list("sha256", flat=True)
    pairs = zip(hashes, captions_of_videos(benchmark), strict=True)
    return CaptionJudge({sha256: texts for sha256, texts in pairs if sha256})


def ask_directly(judge: CaptionJudge) -> Any:
    """Return the function that asks a judge in this process, for `judge_by_machine`."""

    def ask(batch: str, guidelines: str, items: list[Item]) -> tuple[Machine, list[Answer]]:
        found = [judge.p(item.caption, item.video.sha256) for item in items]
        return MACHINE, [Answer(p, "" if p is not None else "unknown video") for p in found]

    return ask


class ReferenceServer(ThreadingHTTPServer):
    """Serves a judge on this machine. key: what clients must send; empty: nothing."""

    def __init__(self, address: tuple[str, int], judge: CaptionJudge, key: str = "") -> None:
        super().__init__(address, _Handler)
        self.judge, self.key = judge, key


class _Handler(BaseHTTPRequestHandler):
    server: ReferenceServer

    def do_GET(self) -> None:
        if self.path == "/healthz":
            self._send(200, {"status": "ok"})
        elif self.path == "/v1/card" and self._is_allowed():
            self._send(200, asdict(MACHINE))
        else:
            self._send(404, {"error": "not found"})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/v1/judge" or not self._is_allowed() or length > REQUEST_BYTES:
            self._send(404, {"error": "not found"})
            return
        try:
            items = json.loads(self.rfile.read(length))["items"][:BATCH]
            judgments = [self._judged(item) for item in items]
        except (ValueError, KeyError, TypeError):
            self._send(400, {"error": "not a request of this protocol"})
            return
        self._send(200, {"machine": asdict(MACHINE), "judgments": judgments})

    def _judged(self, item: dict[str, Any]) -> dict[str, Any]:
        p = self.server.judge.p(item["caption"], item["video"]["sha256"])
        found = {"error": "unknown video"} if p is None else {"p": p}
        return {"item": item["item"], **found}

    def _is_allowed(self) -> bool:
        sent = self.headers.get("Authorization", "")
        return not self.server.key or sent == f"Bearer {self.server.key}"

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing, because requests contain captions."""


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    """Serve in a thread, and yield the address."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
