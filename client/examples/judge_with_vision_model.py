"""A machine judge that asks a vision model with an OpenAI-compatible address.

    MODEL_URL=http://localhost:11434/v1 MODEL_NAME=llava python judge_with_vision_model.py

The operator then sets MACHINE_JUDGES={"llava": {"url": "http://127.0.0.1:8020"}}. Only the standard
library is needed. The model sees the contact sheet of the video (frames in a grid), the guidelines
and the caption, and answers with a number from 0 to 100.

Environment: MODEL_URL, MODEL_NAME, MODEL_KEY (the key of the model), FAMILY (models that it is
related to, default: MODEL_NAME), PORT (default: 8020), JUDGE_KEY (what Hearth must send).

Not tried: any real model. The program was run against a made server with the address
`/chat/completions` only, so the quality of the answers, and how well a model reads a number of
frames in one picture, are unknown. Compare the answers with people's labels
(`analyse KEY machine`) before you use them.
"""

from __future__ import annotations

import base64
import json
import os
import re
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS = 60
QUESTION = """{guidelines}

The picture shows frames of one video in order of time. How likely is the following caption
relevant to the video by these guidelines? Answer with one whole number from 0 to 100 and nothing
else.

Caption: {caption}"""


def machine() -> dict[str, str]:
    name = os.environ["MODEL_NAME"]
    return {"name": name, "version": "", "family": os.environ.get("FAMILY", name)}


def judge(item: dict[str, Any], guidelines: str) -> dict[str, Any]:
    """Return the answer for one item."""
    sheet = item["video"].get("sheet")
    if not sheet:
        return {"item": item["item"], "error": "the video has no contact sheet"}
    try:
        text = ask(QUESTION.format(guidelines=guidelines, caption=item["caption"]), load(sheet))
    except (OSError, ValueError, LookupError) as error:
        return {"item": item["item"], "error": type(error).__name__}
    number = re.search(r"\d+", text)
    if number is None or int(number[0]) > 100:
        return {"item": item["item"], "error": "the model did not answer with a number"}
    return {"item": item["item"], "p": int(number[0]) / 100}


def load(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=SECONDS) as response:  # noqa: S310
        return bytes(response.read())


def ask(question: str, picture: bytes) -> str:
    """Return what the model answers to a question about a JPEG."""
    address = f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"
    content = [
        {"type": "text", "text": question},
        {"type": "image_url", "image_url": {"url": address}},
    ]
    sent = {
        "model": os.environ["MODEL_NAME"],
        "messages": [{"role": "user", "content": content}],
        "max_tokens": 5,
        "temperature": 0,
    }
    request = urllib.request.Request(  # noqa: S310
        f"{os.environ['MODEL_URL'].rstrip('/')}/chat/completions",
        json.dumps(sent).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('MODEL_KEY', '')}",
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310
        return str(json.load(response)["choices"][0]["message"]["content"])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/healthz":
            self.send(200, {"status": "ok"})
        elif self.path == "/v1/card" and self.is_allowed():
            self.send(200, machine())
        else:
            self.send(404, {})

    def do_POST(self) -> None:
        if self.path != "/v1/judge" or not self.is_allowed():
            self.send(404, {})
            return
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = [judge(item, sent["guidelines"]) for item in sent["items"]]
        self.send(200, {"machine": machine(), "judgments": found})

    def is_allowed(self) -> bool:
        key = os.environ.get("JUDGE_KEY", "")
        return not key or self.headers.get("Authorization") == f"Bearer {key}"

    def send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    address = ("127.0.0.1", int(os.environ.get("PORT", "8020")))
    with ThreadingHTTPServer(address, Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
