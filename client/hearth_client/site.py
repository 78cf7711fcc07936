"""A Hearth site: its benchmarks, jobs and uploads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from hearth_client import credentials
from hearth_client.benchmarks import Benchmark
from hearth_client.connection import Connection, Json


class Hearth(Connection):
    """A site, used with the token of a person.

    insecure: allow an address that begins with http://. Then the token is sent without encryption.
    on_wait: called with a sentence before the client waits to repeat a request. sleep: waits for
    a number of seconds.
    """

    @classmethod
    def signed_in(cls, *, insecure: bool = False, **options: Any) -> Hearth:
        """Return the site of `hearth login`, or of HEARTH_URL and HEARTH_TOKEN."""
        found = credentials.load()
        return cls(found.url, found.token, insecure=insecure or found.insecure, **options)

    def benchmark(self, key: str) -> Benchmark:
        return Benchmark(self, key)

    def benchmarks(self) -> Iterator[Json]:
        return self.list("benchmarks/")

    def cancel_job(self, job_id: str) -> Json:
        return self.post(f"jobs/{quote(job_id, safe='')}/cancel/")

    def uploads(self) -> Iterator[Json]:
        """Yield the person's uploads for scoring, newest first."""
        return self.list("uploads/")

    def publish(self, upload_id: str, **details: str) -> Json:
        """Publish the run of an upload. details: name, paper, code_url, contact and so on."""
        return self.post(f"uploads/{quote(upload_id, safe='')}/publish/", details)
