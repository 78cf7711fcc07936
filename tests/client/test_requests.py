"""Requests of the client to a server that is busy, breaks connections, or redirects."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hearth_client import ClientError, Hearth, Refused, Unreachable
from hearth_client.cli import main

Answer = tuple[int, dict[str, str], bytes]
OK: Answer = (200, {}, b'{"results": [], "next": null}')
BREAK: Answer = (0, {}, b"")


@dataclass
class Script:
    """Responses in their order, and the requests that received them.

    The last response is repeated.
    """

    answers: list[Answer]
    url: str = ""
    requests: list[tuple[str, str, str | None, bytes]] = field(default_factory=list)


@contextmanager
def serving(*answers: Answer) -> Iterator[Script]:
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            key = self.headers.get("Idempotency-Key")
            script.requests.append((self.path, self.headers["Authorization"], key, body))
            status, headers, text = script.answers[0]
            if len(script.answers) > 1:
                del script.answers[0]
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()


def busy(status: int, after: str) -> Answer:
    return status, {"Retry-After": after}, b'{"detail": "busy"}'


def test_a_request_to_a_busy_site_is_repeated_after_the_stated_time() -> None:
    waits: list[float] = []
    with serving(busy(429, "7"), busy(503, "2"), busy(409, "1"), OK) as script:
        assert Hearth(script.url, "secret", sleep=waits.append).post("x/")["results"] == []
    assert waits == [7, 2, 1]
    keys = {key for _, _, key, _ in script.requests}
    assert (len(script.requests), len(keys), None in keys) == (4, 1, False)
    assert {token for _, token, _, _ in script.requests} == {"Token secret"}


def test_a_token_is_sent_over_http_only_with_insecure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    counted = (200, {}, b'{"results": [], "next": null, "count": 0}')
    with serving(counted, counted, counted, counted) as script:
        # A name of this machine that the client cannot recognise as local.
        url = script.url.replace("127.0.0.1", "127.1")
        with pytest.raises(ClientError, match=r"must begin with https://.*insecure=True"):
            Hearth(url, "secret")
        monkeypatch.setattr("sys.stdin", io.StringIO("secret"))
        assert main(["login", url, "--token-stdin"]) == 2
        monkeypatch.setattr("sys.stdin", io.StringIO("secret"))
        assert main(["login", url, "--token-stdin", "--insecure"]) == 0
        assert main(["jobs"]) == 0  # `login` has remembered it
        monkeypatch.setenv("HEARTH_URL", url)
        monkeypatch.setenv("HEARTH_TOKEN", "other")
        assert [main(["jobs"]), main(["jobs", "--insecure"])] == [2, 0]
        assert list(Hearth.signed_in(insecure=True).jobs()) == []
    tokens = [token for _, token, _, _ in script.requests]
    assert tokens == ["Token secret", "Token secret", "Token other", "Token other"]
    assert capsys.readouterr().err.count("must begin with https://") == 2


def test_an_upload_is_sent_again_in_full_after_a_broken_connection(tmp_path: Path) -> None:
    waits: list[float] = []
    file = tmp_path / "my.run"
    file.write_bytes(b"x" * 1_000_000)
    sent: list[tuple[int, int]] = []
    with serving(BREAK, OK) as script:
        Hearth(script.url, "t", sleep=waits.append).benchmark("k").begin_upload(
            file, system="ä B", on_bytes=lambda done, total: sent.append((done, total))
        )
    first, second = script.requests
    assert (first, waits) == (second, [1])
    assert (first[0], len(first[3])) == ("/api/v1/benchmarks/k/runs/", sent[-1][1])
    assert sent[-1][0] == sent[-1][1]
    assert b'name="system"\r\n\r\n\xc3\xa4 B\r\n' in first[3]


def test_a_run_is_sent_with_its_keys(tmp_path: Path) -> None:
    file, keys = tmp_path / "m.npy", tmp_path / "k.json"
    file.write_bytes(b"numbers")
    keys.write_bytes(b"{}")
    with serving(OK) as script:
        Hearth(script.url, "t").benchmark("k").begin_upload(file, system="S", keys=keys)
    ((_, _, _, body),) = script.requests
    kind = b"Content-Type: application/octet-stream\r\n\r\n"
    assert b'name="keys"; filename="k.json"\r\n' + kind + b"{}\r\n--" in body
    assert b'name="file"; filename="m.npy"\r\n' + kind + b"numbers\r\n--" in body


def test_a_terminal_without_utf8_gets_replacements(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(SystemExit):
        main(["öl"])
    terminal.seek(0)
    assert "'?l'" in terminal.read()


def test_a_proxy_is_sent_in_the_field_of_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "c.npy"
    file.write_bytes(b"numbers")
    done = {"id": "1", "state": "done", "result": {"created": True, "proxy": "c"}}
    with serving((202, {}, json.dumps(done).encode())) as script:
        found = Hearth(script.url, "t").benchmark("k").upload_proxy(file, kind="caption_embeddings")
    ((path, _, _, body),) = script.requests
    assert (path, found) == ("/api/v1/benchmarks/k/proxies/uploads/", done["result"])
    assert b'name="caption_embeddings"; filename="c.npy"' in body


def test_a_proxy_is_downloaded_by_its_name(tmp_path: Path) -> None:
    listed = {"results": [{"id": 7, "name": "c", "sha256": "0" * 64}], "next": None}
    page = (200, {}, json.dumps(listed).encode())
    with serving(page, (200, {}, b"caption_id\n"), page, (200, {}, b"other")) as script:
        benchmark = Hearth(script.url, "t").benchmark("k")
        target = tmp_path / "p.csv"
        benchmark.download_proxy("c", export="positives", file=target, threshold=0.3)
        with pytest.raises(ClientError, match="expected 0000"):
            benchmark.download_proxy("c", file=tmp_path / "m.npy")
    assert target.read_bytes() == b"caption_id\n"
    assert [request[0] for request in script.requests][1::2] == [
        "/api/v1/benchmarks/k/proxies/7/positives/?threshold=0.3",
        "/api/v1/benchmarks/k/proxies/7/matrix/",
    ]


@pytest.mark.parametrize(
    ("answer", "error", "attempts"),
    [
        (busy(503, "3600"), Refused, 1),
        (busy(503, "1"), Refused, 6),
        ((409, {}, b'{"detail": "no"}'), Refused, 1),
        ((500, {}, b"<html>"), Refused, 1),
        ((302, {"Location": "https://elsewhere.example/"}, b""), ClientError, 1),
        ((200, {}, b"<html>"), ClientError, 1),
        (BREAK, Unreachable, 6),
    ],
)
def test_a_request_fails_after_a_number_of_attempts(
    answer: Answer, error: type[ClientError], attempts: int
) -> None:
    with serving(answer) as script, pytest.raises(error):
        Hearth(script.url, "t", sleep=lambda seconds: None).get("x/")
    assert len(script.requests) == attempts


def test_all_pages_are_read_from_the_address_of_the_site() -> None:
    following = b'{"results": [{"n": 1}], "next": "http://elsewhere.example/y/?cursor=4"}'
    with serving(
        (200, {}, following), (200, {}, b'{"results": [{"n": 2}], "next": null}')
    ) as script:
        assert list(Hearth(script.url, "t").list("x/")) == [{"n": 1}, {"n": 2}]
    assert [path for path, *_ in script.requests] == ["/api/v1/x/", "/api/v1/x/?cursor=4"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\evil.csv", "plain.csv"])
def test_a_download_stays_in_the_folder_and_is_checked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sets = b'{"results": [{"version": "1.0.0", "sha256": "0"}], "next": null}'
    file = (200, {"Content-Disposition": f'attachment; filename="{name}"'}, b"labels")
    with serving((200, {}, sets), file, (200, {}, sets), file) as script:
        benchmark = Hearth(script.url, "t").benchmark("k")
        path = benchmark.download_labels(1, format="qrels")
        assert (path.parent, path.read_bytes()) == (Path(), b"labels")
        with pytest.raises(ClientError, match=r"has the SHA-256 .*, expected 0"):
            benchmark.download_labels("latest", file="other.csv")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
