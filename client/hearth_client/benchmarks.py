"""One benchmark of a site: its captions, videos, runs, proxies, scores and label sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from hearth_client.calls import Calls, File, Json, OnBytes, OnJob, ignore
from hearth_client.connection import Connection
from hearth_client.errors import ClientError
from hearth_client.videos import VideoSender, files_of

LATEST = "latest"
# The SHA-256 of a file in this format is the SHA-256 of the label set.
HASHED = "csv"


class Benchmark(Calls):
    """The benchmark with a key. Each method sends a request, so its result is always current."""

    def __init__(self, site: Connection, key: str) -> None:
        self.site = site
        self.key = key
        self._path = f"benchmarks/{quote(key, safe='')}/"

    def runs(self) -> Iterator[Json]:
        return self.site.list(f"{self._path}runs/")

    def captions(self, **filters: Any) -> Iterator[Json]:
        """Yield the captions in the order of their numbers. filters: as in the API."""
        return self.site.list(f"{self._path}queries/", **filters)

    def videos(self, **filters: Any) -> Iterator[Json]:
        """Yield the videos in the order of their numbers. filters: as in the API."""
        return self.site.list(f"{self._path}videos/", **filters)

    def upload_videos(self, folder: str | Path, *, on_bytes: OnBytes = ignore) -> list[Json]:
        """Send the video files of a folder to the benchmark, and return one row for each file.

        A row has `name`, and `refused` with the reason if the site does not accept the file. If a
        file was sent only in part, the rest is sent. The site prepares the files in a job.
        """
        path = f"{self._path}videos/uploads/"
        return list(VideoSender(self.site, path, files_of(Path(folder)), on_bytes).send())

    def video_uploads(self) -> Iterator[Json]:
        """Yield the files that were sent, with `state`, `percent` and `reason`."""
        return self.site.list(f"{self._path}videos/uploads/")

    def score_run(self, file: str | Path, *, wait: bool = True, **options: Any) -> Json:
        """Upload a run to a public benchmark for scoring, and return the upload with its scores.

        wait: if False, the upload is returned immediately, without scores. The options are those of
        `begin_upload`. Every confirmed account may do this. The run is private until
        `Hearth.publish` publishes it. Raises `ClientError` with the reason if the upload
        is refused.
        """
        made = self.begin_upload(file, for_scoring=True, **options)
        return self.site.wait_for_upload(made) if wait else made

    def upload_run(self, file: str | Path, *, on_job: OnJob = ignore, **options: Any) -> Json:
        """Send the file of a run, and wait until it is stored and scored.

        Return the result of the job that stored it, in which `run` is the name of the run. The
        options are those of `begin_upload`. Raises `JobFailed` with the line and the reason if the
        file has an error.
        """
        job = self.begin_upload(file, **options)
        result: Json = self.site.wait_for_job(job, on_job)["result"]
        for scoring in result["scoring"]:
            self.site.wait_for_job(self.site.job(scoring), on_job)
        return result

    def proxies(self) -> Iterator[Json]:
        """Yield the proxies in the order of their names."""
        return self.site.list(f"{self._path}proxies/")

    def upload_proxy(
        self,
        file: str | Path,
        *,
        kind: str = "matrix",
        name: str = "",
        on_bytes: OnBytes = ignore,
        on_job: OnJob = ignore,
    ) -> Json:
        """Send a .npy file, and return the result of the job that stores the proxy.

        kind: the content of the file. A `matrix` has a row for each caption and a column for each
        video, `caption_embeddings` have a row for each caption, and `video_embeddings` have a row
        for each video. Raises `JobFailed` with the reason if the file has an error.
        """
        field = "file" if kind == "matrix" else kind
        path = f"{self._path}proxies/uploads/"
        job = self.site.upload(path, Path(file), {"name": name}, on_bytes, field)
        result: Json = self.site.wait_for_job(job, on_job)["result"]
        return result

    def download_proxy(
        self,
        name: str,
        *,
        export: str = "matrix",
        file: str | Path | None = None,
        on_bytes: OnBytes = ignore,
        **options: Any,
    ) -> Path:
        """Download a proxy and return the path of the file.

        export: matrix, keys, positives or triplets. options: as in the API, such as `threshold`.
        Raises `ClientError` if the SHA-256 of a matrix is not that of the proxy.
        """
        proxy = self._proxy(name)
        query = f"?{urlencode(options)}" if options else ""
        path = f"{self._path}proxies/{proxy['id']}/{quote(export, safe='')}/{query}"
        sha256 = proxy["sha256"] if export == "matrix" else ""
        return self.site.download(path, Path(file) if file else None, on_bytes, sha256)

    def delete_proxy(self, name: str) -> None:
        """Delete a proxy. Raises `Refused` with the reason if it cannot be deleted."""
        self.site.delete(f"{self._path}proxies/{self._proxy(name)['id']}/")

    def _proxy(self, name: str) -> Json:
        for proxy in self.proxies():
            if proxy["name"] == name:
                return proxy
        raise ClientError(f"{self.key} has no proxy {name}.")

    def scores(self, labels: str = LATEST) -> Json:
        """Return the stored scores of all runs.

        labels: `latest`, the version of a label set, or `original`.
        """
        return self.site.get(f"{self._path}scores/", labels=labels)

    def scores_of(self, run: str, labels: str = LATEST) -> Json:
        """Return the scores of one run. Raises `ClientError` if it is not scored."""
        found: Json | None = self.scores(labels)["runs"].get(run)
        if found is None or found["bounds"] is None:
            raise ClientError(f"The run {run} has no scores under the labels {labels}.")
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

        version: such as 2.0.0, or 2 for short, or `latest` for the newest.
        file: the path of the file. By default, the file is stored in the current folder under the
        name that the site sends. Raises `ClientError` if the SHA-256 of a file in the format `csv`
        is not that of the label set.
        """
        label_set = self._label_set(str(version))
        number = quote(str(label_set["version"]), safe="")
        path = f"{self._path}label-sets/{number}/{quote(format, safe='')}/"
        sha256 = label_set["sha256"] if format == HASHED else ""
        return self.site.download(path, Path(file) if file else None, on_bytes, sha256)

    def _begin(
        self,
        values: Json,
        files: Mapping[str, File | None],
        on_bytes: OnBytes,
        for_scoring: bool,
    ) -> Json:
        """Send the file of a run. for_scoring: send it to the public benchmark."""
        public = f"public/{quote(self.key, safe='')}/uploads/"
        return self._send(public if for_scoring else f"{self._path}runs/", values, files, on_bytes)

    def _do(self, path: str, values: Json, files: Mapping[str, File | None], on_job: OnJob) -> Json:
        """Send a request for an action, and return the result of its job."""
        job = self._send(f"{self._path}{path}", values, files, ignore)
        result: Json = self.site.wait_for_job(job, on_job)["result"]
        return result

    def _read(self, path: str, values: Json) -> Json:
        """Return what the site answers to these options."""
        return self.site.get(f"{self._path}{path}", **values)

    def _send(
        self, path: str, values: Json, files: Mapping[str, File | None], on_bytes: OnBytes
    ) -> Json:
        sent = {name: Path(file) for name, file in files.items() if file is not None}
        if not sent:
            return self.site.post(path, values)
        field = next(iter(sent))
        fields = {name: str(value) for name, value in values.items() if value is not None}
        return self.site.upload(path, sent.pop(field), fields, on_bytes, field, sent)

    def _label_set(self, version: str) -> Json:
        full = f"{version}.0.0" if version.isdigit() else version
        for label_set in self.label_sets():
            if full in (LATEST, label_set["version"]):
                return label_set
        raise ClientError(f"{self.key} has no label set {version}.")
