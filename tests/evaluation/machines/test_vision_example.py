"""The example for vision models, against a made model."""

from __future__ import annotations

import importlib.util
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from evaluation.machines.calling import Endpoint
from evaluation.machines.core.protocol import Answer, Item, Machine, VideoFile
from evaluation.machines.reference import serving

EXAMPLE = Path(__file__).parents[3] / "client/examples/judge_with_vision_model.py"


class Model(BaseHTTPRequestHandler):
    """Sends a picture, and answers with the number of characters of the caption."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"picture")

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, picture = sent["messages"][0]["content"]
        assert picture["image_url"]["url"] == "data:image/jpeg;base64,cGljdHVyZQ=="
        caption = text["text"].rpartition("Caption: ")[2]
        answer = f"{len(caption)}" if caption != "silent" else "I cannot tell."
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": answer}}]}).encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_the_example_asks_a_model_about_each_contact_sheet(monkeypatch: Any) -> None:
    spec = importlib.util.spec_from_file_location("example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.Handler.log_message = Model.log_message
    with (
        serving(ThreadingHTTPServer(("127.0.0.1", 0), Model)) as model,
        serving(ThreadingHTTPServer(("127.0.0.1", 0), example.Handler)) as url,
    ):
        for name, value in {"MODEL_URL": model, "MODEL_NAME": "m", "JUDGE_KEY": "k"}.items():
            monkeypatch.setenv(name, value)
        video = VideoFile(None, "", None, f"{model}/sheet.jpg")
        items = [
            Item("0", "a dog", video),
            Item("1", "silent", video),
            Item("2", "a cat", VideoFile(None, "", None)),
        ]
        endpoint = Endpoint("m", url, "k")
        assert endpoint.is_healthy()
        assert endpoint.judge("b", "Rules", [], items) == (
            Machine("m", "", "m"),
            [
                Answer(0.05),
                Answer(None, "the model did not answer with a number"),
                Answer(None, "the video has no contact sheet"),
            ],
        )
