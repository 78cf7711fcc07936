"""A browser without JavaScript, for the web servers of the tests."""

from __future__ import annotations

import requests

from tests.webserver import WebServer


class Visitor(requests.Session):
    """A browser without JavaScript that keeps cookies and sends the CSRF token."""

    def __init__(self, server: WebServer) -> None:
        super().__init__()
        self.url = server.url
        self.trust_env = False

    def open(self, path: str, **options: object) -> requests.Response:
        return self.get(self.url + path, timeout=60, **options)  # type: ignore[arg-type]

    def submit(self, path: str, data: dict[str, str], **options: object) -> requests.Response:
        if "csrftoken" not in self.cookies:
            self.open("/accounts/login/")
        token = {"csrfmiddlewaretoken": self.cookies["csrftoken"]}
        return self.post(self.url + path, data | token, timeout=60, **options)  # type: ignore[arg-type]

    def sign_in(self, name: str, password: str, **options: object) -> requests.Response:
        return self.submit("/accounts/login/", {"login": name, "password": password}, **options)
