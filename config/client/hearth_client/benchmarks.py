"""One benchmark of a site: its runs, scores and label sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hearth_client.errors import ClientError

if TYPE_CHECKING:
    from hearth_client.site import Hearth, Json, OnJob
    from hearth_client.uploads import OnBytes

LATEST = "latest"
# The format whose SHA-256 is that of the label set.
HASHED = "csv"


def ignore(*_: Any) -> None:
    """Ignore progress."""


class Benchmark:
    """A benchmark, by its key. Each method sends requests, so nothing here is out of date."""

    def __init__(self, site: Hearth, key: str) -> None:
        self.site = site
        self.key = key
        self._path = f"benchmarks/{quote(key, safe='')}/"

    def runs(self) -> Iterator[Json]:
        return self.site.list(f"{self._path}runs/")

    def begin_upload(
        self,
        file: str | Path,
        *,
        system: str,
        name: str = "",
        format: str = "auto",
        depth: int | None = None,
        on_bytes: OnBytes = ignore,
    ) -> Json:
        """Send the file of a run, and return the job that checks and stores it."""
        fields = {"system": system, "name": name, "format": format}
        if depth is not None:
            fields["depth"] = str(depth)
        return self.site.upload(f"{self._path}runs/", Path(file), fields, on_bytes)

    def upload_run(self, file: str | Path, *, on_job: OnJob = ignore, **options: Any) -> Json:
        """Send the file of a run, and wait until it is stored and scored.

        Return the result of the job that stored it, in which `run` is the name. The options are
        those of `begin_upload`. Raises `JobFailed` with the line and the reason if the file has an
        error.
        """
        job = self.begin_upload(file, **options)
        result: Json = self.site.wait_for_job(job, on_job)["result"]
        for scoring in result["scoring"]:
            self.site.wait_for_job(self.site.job(scoring), on_job)
        return result

    def scores(self, labels: str = LATEST) -> Json:
        """Return the stored scores of all runs.

        labels: `latest`, the version of a label set, or `original`.
        """
        return self.site.get(f"{self._path}scores/", labels=labels)

    def scores_of(self, run: str, labels: str = LATEST) -> Json:
        """Return the scores of one run. Raises `ClientError` if it is not scored."""
        found: Json | None = self.scores(labels)["runs"].get(run)
        if found is None or found["bounds"] is None:
            raise ClientError(f"The run {run} has no scores by the labels {labels}.")
        return found

    def label_sets(self) -> Iterator[Json]:
        """Yield the label sets, newest first."""
        return self.site.list(f"{self._path}label-sets/")

    def download_labels(
        self,
        version: str | int = LATEST,
        *,
        format: str = "csv",
        file: str | Path | None = None,
        on_bytes: OnBytes = ignore,
    ) -> Path:
        """Download a label set and return the path of the file.

        version: `latest` for the newest; 2 means 2.0.0.
        file: by default, the name that the site gives, in the current folder. Raises `ClientError`
        if a file in the format `csv` differs from the SHA-256 of the label set.
        """
        label_set = self._label_set(str(version))
        number = quote(str(label_set["version"]), safe="")
        path = f"{self._path}label-sets/{number}/{quote(format, safe='')}/"
        sha256 = label_set["sha256"] if format == HASHED else ""
        return self.site.download(path, Path(file) if file else None, on_bytes, sha256)

    def _label_set(self, version: str) -> Json:
        full = f"{version}.0.0" if version.isdigit() else version
        for label_set in self.label_sets():
            if full in (LATEST, label_set["version"]):
                return label_set
        raise ClientError(f"{self.key} has no label set {version}.")
