"""Errors of the client. Their texts can be shown to people."""

from __future__ import annotations

from typing import Any


class ClientError(Exception):
    """An error that the caller can understand and act on."""


class NotSignedIn(ClientError):
    """Raised if the address of the site or the API token is missing."""


class Unreachable(ClientError):
    """The site does not answer."""


class Refused(ClientError):
    """The site returned an error. `status` is the HTTP status."""

    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body
        super().__init__(f"{text_of(body) or 'The site gave no reason.'} (HTTP {status})")


class JobFailed(ClientError):
    """A job on the site failed or was cancelled. `job` is the job as the site last returned it."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        reason = job["error"] or f"The job was {job['state']}."
        super().__init__(f"{job['title']}: {reason}")


def text_of(body: Any) -> str:
    """Return the text of an error: its `detail`, or the errors of single fields."""
    if not isinstance(body, dict):
        return ""
    if "detail" in body:
        return str(body["detail"])
    return " ".join(
        f"{name}: {error}"
        for name, errors in body.items()
        for error in (errors if isinstance(errors, list) else [errors])
    )
