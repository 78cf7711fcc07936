"""The connection to a site: requests, their repetition, and waiting for jobs."""

from __future__ import annotations

import email.message
import email.utils
import hashlib
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, quote, urlsplit

import requests

from hearth_client import credentials
from hearth_client.errors import ClientError, JobFailed, Refused, Unreachable
from hearth_client.streams import write_complete
from hearth_client.uploads import FileBody, OnBytes

ATTEMPTS = 6
# With these statuses, the site is busy or is being restarted. The request is repeated.
RETRIED = frozenset({429, 502, 503, 504})
CONFLICT = 409
LONGEST_WAIT = 120.0
# The maximum number of seconds to connect, and to wait for the next byte of a response.
TIMEOUT = (10, 120)
POLL_SECONDS = (0.3, 2.0)
FINISHED = frozenset({"done", "failed", "cancelled"})
BLOCK = 1 << 18

Json = dict[str, Any]
OnJob = Callable[[Json], None]


class Connection:
    """An authenticated connection. `Hearth` describes the options."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        insecure: bool = False,
        on_wait: Callable[[str], None] = lambda text: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = credentials.checked_url(url, insecure=insecure)
        self._on_wait, self._sleep = on_wait, sleep
        self._session = requests.Session()
        # A separate authentication class, because `requests` would otherwise send a password of the
        # .netrc file.
        self._session.auth = _TokenAuth(token)

    def jobs(self) -> Iterator[Json]:
        """Yield the jobs of the benchmarks that the person may see, newest first."""
        return self.list("jobs/")

    def job(self, job_id: str) -> Json:
        return self.get(f"jobs/{quote(job_id, safe='')}/")

    def wait_for_job(self, job: Json, on_job: OnJob = lambda job: None) -> Json:
        """Wait until a job ends, and return it. Raises `JobFailed` if it fails or is cancelled."""
        pause, longest = POLL_SECONDS
        while job["state"] not in FINISHED:
            on_job(job)
            self._sleep(pause)
            pause = min(longest, pause * 1.5)
            job = self.job(job["id"])
        on_job(job)
        if job["state"] != "done":
            raise JobFailed(job)
        return job

    def wait_for_upload(self, upload: Json) -> Json:
        """Wait until an upload is scored, and return it. Raises `ClientError` if it is refused."""
        pause, longest = POLL_SECONDS
        while (found := self.get(f"uploads/{upload['id']}/"))["state"] == "waiting":
            self._sleep(pause)
            pause = min(longest, pause * 1.5)
        if found["state"] == "refused":
            raise ClientError(f"The upload is refused. {found['reason']}")
        return found

    def get(self, path: str, **parameters: Any) -> Json:
        return self._json(self._send("GET", path, params=parameters))

    def post(self, path: str, body: Json | None = None) -> Json:
        return self._json(self._send("POST", path, json=body or {}))

    def list(self, path: str, **parameters: Any) -> Iterator[Json]:
        """Yield the rows of all pages of a list."""
        while True:
            page = self.get(path, **parameters)
            yield from page["results"]
            if not page["next"]:
                return
            # Only the parameters are used, because the address may differ behind a proxy.
            parameters = dict(parse_qsl(urlsplit(page["next"]).query))

    def upload(
        self,
        path: str,
        file: Path,
        fields: dict[str, str],
        on_bytes: OnBytes,
        field: str = "file",
        others: dict[str, Path] | None = None,
    ) -> Json:
        try:
            body = FileBody(file, fields, on_bytes, field, others)
        except OSError as error:
            raise ClientError(
                f"{error.filename or file} cannot be read: {error.strerror}."
            ) from None
        with closing(body):
            headers = {"Content-Type": body.content_type}
            return self._json(self._send("POST", path, data=body, headers=headers))

    def download(self, path: str, file: Path | None, on_bytes: OnBytes, sha256: str) -> Path:
        """Store a response as a file. The file gets its name only when it is complete.

        file: the path of the file, or `-` for the standard output; None for the name in the
        response. sha256: the expected hash;
        empty to accept any file.
        """
        with closing(self._send("GET", path, stream=True)) as response:
            target = file or Path(_name_in(response))
            try:
                with write_complete(target) as out:
                    found = _write(response, out, on_bytes)
                    if sha256 and found != sha256:
                        raise ClientError(f"The file has the SHA-256 {found}, expected {sha256}.")
            except requests.RequestException:
                raise Unreachable("The connection broke during the download. Try again.") from None
            except OSError as error:
                raise ClientError(f"{target} cannot be written: {error.strerror}.") from None
        return target

    def delete(self, path: str) -> None:
        self._send("DELETE", path).close()

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request, and return the response. Raises `Refused` for an error of the site."""
        with closing(self._send(method, path, **options)) as response:
            return response

    def _send(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request, and repeat it if the site is busy or does not answer."""
        headers = options.pop("headers", {})
        if method == "POST":
            # The site does a request with this key only once, even if it arrives several times.
            headers = {**headers, "Idempotency-Key": str(uuid.uuid4())}
        for attempt in range(ATTEMPTS):
            if isinstance(options.get("data"), FileBody):
                options["data"].rewind()
            is_last = attempt == ATTEMPTS - 1
            response = self._try(method, path, is_last, headers=headers, **options)
            seconds = 2.0**attempt if response is None else _seconds_to_wait(response, attempt)
            if response is not None and (seconds is None or is_last):
                return self._checked(response)
            self._on_wait(f"The site is busy. The next attempt is in {seconds:.0f} s.")
            self._sleep(seconds or 0)
        raise AssertionError("the last attempt returns or raises")

    def _try(
        self, method: str, path: str, is_last: bool, **options: Any
    ) -> requests.Response | None:
        """Return a response, or None if the connection broke and another attempt is left."""
        url = f"{self.url}/api/v1/{path}"
        try:
            return self._session.request(
                method, url, timeout=TIMEOUT, allow_redirects=False, **options
            )
        except requests.exceptions.SSLError as error:
            raise Unreachable(f"The certificate of {self.url} is not valid: {error}") from None
        except (requests.ConnectionError, requests.Timeout):
            if is_last:
                raise Unreachable(f"{self.url} does not answer.") from None
            return None
        except requests.RequestException as error:
            raise Unreachable(f"The request to {self.url} failed: {error}") from None

    def _checked(self, response: requests.Response) -> requests.Response:
        if response.is_redirect:
            target = response.headers["Location"]
            raise ClientError(f"{self.url} refers to {target}. Sign in to that address.")
        if not response.ok:
            with closing(response):
                raise Refused(response.status_code, _body_of(response))
        return response

    def _json(self, response: requests.Response) -> Json:
        body = _body_of(response)
        if not isinstance(body, dict):
            raise ClientError(f"{self.url} did not answer like a Hearth site.")
        return body


class _TokenAuth(requests.auth.AuthBase):
    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Token {self._token}"
        return request


def _write(response: requests.Response, out: BinaryIO, on_bytes: OnBytes) -> str:
    """Write the body of a response, and return its SHA-256."""
    received, total = 0, int(response.headers.get("Content-Length", 0))
    sha256 = hashlib.sha256()
    for block in response.iter_content(BLOCK):
        out.write(block)
        sha256.update(block)
        received += len(block)
        on_bytes(received, total)
    return sha256.hexdigest()


def _name_in(response: requests.Response) -> str:
    """Return the file name of a download, without any folder."""
    header = email.message.Message()
    header["Content-Disposition"] = response.headers.get("Content-Disposition", "")
    return Path((header.get_filename() or "").replace("\\", "/")).name or "download"


def _body_of(response: requests.Response) -> Any:
    try:
        return response.json()
    except requests.JSONDecodeError:
        return None


def _seconds_to_wait(response: requests.Response, attempt: int) -> float | None:
    """Return the seconds until the next attempt, or None if the response is final.

    A conflict with `Retry-After` is temporary: the site is still doing an earlier attempt.
    """
    wanted = _retry_after(response)
    if response.status_code not in RETRIED and (response.status_code != CONFLICT or wanted is None):
        return None
    seconds = 2.0**attempt if wanted is None else wanted
    return seconds if seconds <= LONGEST_WAIT else None


def _retry_after(response: requests.Response) -> float | None:
    """Return `Retry-After` in seconds. The header has a number or a date."""
    text = response.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
