"""A web server for the tests of the client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.webserver import WebServer, web_server


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    """The web server of all tests in a module. It shares the home folder of the test process."""
    with web_server(Path(settings.HEARTH_HOME)) as started:
        yield started
