"""Send files by the tus protocol, as a browser or a script does."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

UPLOADS = "/benchmarks/tiny/videos/uploads/"
PART = "application/offset+octet-stream"


def checksum_of(content: bytes, algorithm: str = "sha256") -> str:
    digest = hashlib.new(algorithm, content).digest()
    return f"{algorithm} {base64.b64encode(digest).decode()}"


def metadata(name: str, modified: int = 7) -> str:
    pairs = {"filename": name, "modified": str(modified)}
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in pairs.items()}
    return ",".join(f"{key} {text}" for key, text in encoded.items())


@dataclass
class TusClient:
    """A client of one person. `headers` are sent with every request."""

    client: Client
    headers: dict[str, str] = field(default_factory=lambda: {"Tus-Resumable": "1.0.0"})

    def create(self, name: str, size: int, modified: int = 7) -> Any:
        headers = {"Upload-Length": str(size), "Upload-Metadata": metadata(name, modified)}
        return self.client.post(UPLOADS, headers=self.headers | headers)

    def send(self, url: str, offset: int, content: bytes, checksum: str = "") -> Any:
        headers = {"Upload-Offset": str(offset)}
        if checksum:
            headers["Upload-Checksum"] = checksum
        return self.client.patch(url, content, PART, headers=self.headers | headers)

    def offset(self, url: str) -> int:
        return int(self.client.head(url, headers=self.headers)["Upload-Offset"])

    def delete(self, url: str) -> int:
        return self.client.delete(url, headers=self.headers).status_code

    def upload(self, name: str, content: bytes) -> str:
        """Send a whole file in one part; return its address."""
        url: str = self.create(name, len(content))["Location"]
        if content:
            assert self.send(url, 0, content, checksum_of(content)).status_code == 204
        return url
