"""Every address of the site: who may open it, headers, parameters, and requests from other sites.

`tests.test_pages.TABLE` and `tests.test_api.OPERATIONS` state what each role gets for objects that
exist. The tests of access here take the addresses from the resolver, including those of allauth and
the Django admin, with objects that do not exist. Most other tests use the two tables.
"""

# ruff: noqa: F811  (fixtures of another module are arguments here)
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.forms.forms import BaseForm
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign
from config.settings import BASE_DIR
from evaluation.release.serializers import ExportSerializer
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import withdraw_role
from hearth.audit.models import AuditEntry
from tests import factories
from tests.accounts.world import make_member
from tests.security.headers import FOREIGN, problems_of, use_https
from tests.security.walk import addresses, changes, snapshot
from tests.test_api import API, OPERATIONS, client_for
from tests.test_pages import TABLE, VISITORS, campaign, places, visit  # noqa: F401

METHODS = ("GET", "POST", "PUT", "DELETE", "TRACE")
CLOSED = {401, 403, 404, 405}

READ, FORM, ANY = {"GET"}, {"GET", "POST", "PUT"}, set(METHODS)
# The addresses that visitors may open, and the methods that are answered there. The objects in the
# addresses do not exist. At all other addresses, visitors are sent to the sign-in page or refused.
# Some pages of allauth treat PUT as POST. All methods are answered by pages that only state that
# registration is closed or that a link is not valid.
OPEN_TO_VISITORS: dict[str, set[str]] = {
    "/": READ,
    "/public/": READ,
    "/api/v1/public/": READ,
    "/healthz": READ,
    "/readyz": READ,
    "/metrics": READ,
    "/accounts/login/": FORM,
    "/accounts/signup/": ANY,
    "/accounts/inactive/": READ,
    "/accounts/confirm-email/": READ,
    r"/accounts/^confirm-email/(?P<key>[-:\w]+)/$": READ,
    "/accounts/password/reset/": {"GET", "POST"},
    "/accounts/password/reset/done/": READ,
    "/accounts/password/reset/key/done/": READ,
    "/accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": ANY,
    "/accounts/3rdparty/login/cancelled/": READ,
    # Addresses of earlier versions of allauth, which redirect to addresses below
    # /accounts/3rdparty/.
    "/accounts/social/login/cancelled/": FORM | {"DELETE"},
    "/accounts/social/login/error/": FORM | {"DELETE"},
    "/accounts/social/signup/": FORM | {"DELETE"},
    "/accounts/social/connections/": FORM | {"DELETE"},
    # It redirects to /admin/, and then to the sign-in page.
    "/admin/logout/": ANY,
}


def is_refused(answer: Any) -> bool:
    """Return whether the status is in `CLOSED`, or the response redirects to a sign-in page."""
    if answer.status_code == 302:
        return re.match(r"(/accounts/login/|/admin/login/)(\?|$)", answer["Location"]) is not None
    return answer.status_code in CLOSED


def test_visitors_get_nothing_but_the_open_pages(db: None) -> None:
    """A new address must be closed to visitors, or be listed in OPEN_TO_VISITORS.

    The objects in the addresses do not exist.
    """
    client = Client(raise_request_exception=False)
    opened: dict[str, set[str]] = {}
    before = snapshot()
    for route, address in addresses().items():
        for method in METHODS:
            answer = client.generic(method, address)
            if not is_refused(answer):
                opened.setdefault(route, set()).add(method)

    assert opened == OPEN_TO_VISITORS
    assert changes(before, snapshot()) == []


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER, Role.LEAD])
def test_the_django_admin_is_closed_to_all_but_admins(db: None, role: Role) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.make_user("otto", role))
    admin = {
        route: address for route, address in addresses().items() if address.startswith("/admin/")
    }
    del admin["/admin/logout/"]
    entered = [
        (route, method, answer.status_code)
        for route, address in admin.items()
        for method in ("GET", "POST", "DELETE")
        if not is_refused(answer := client.generic(method, address))
    ]
    assert len(admin) > 50
    assert entered == []


@pytest.mark.postgresql(only=True)
def test_no_address_fails_for_an_admin(db: None) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.make_user("ada", Role.ADMIN))
    failed = {}
    for route, address in addresses().items():
        for method in ("GET", "POST", "PATCH"):
            with transaction.atomic():
                status = client.generic(method, address).status_code
                transaction.set_rollback(True)
            # A site whose scheduler has not run yet is not ready.
            if status >= 500 and (route, status) != ("/readyz", 503):
                failed[method, route] = status
    assert failed == {}


def pages(places: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names and addresses of all pages and downloads in `TABLE`."""
    for name, method, address, _ in TABLE:
        if method == "GET":
            yield name, address.format(**places)


# --- Headers ----------------------------------------------------------------------------------

# tests.test_pages checks the headers of all pages.
OTHERS = (
    ("GET", "/no/such/page/"),
    ("GET", "/api/v1/nothing/"),
    ("POST", "/api/v1/judgments/"),
    ("GET", "/admin/login/"),
    ("GET", "/admin/"),
    ("TRACE", "/"),
    ("GET", "/static/css/hearth.css"),
    ("GET", "/static/js/shared/menus.js"),
    ("GET", "/static/css/none.css"),
)


@pytest.mark.parametrize("visitor", VISITORS)
def test_the_api_and_other_addresses_have_the_security_headers(
    visitor: str, campaign: Campaign, visit: Callable[[str], Client], settings: Any
) -> None:
    use_https(settings)
    client = visit(visitor)
    client.raise_request_exception = False
    operations = [("GET", API + path) for path, method, *_ in OPERATIONS if method == "get"]
    wrong = {}
    for method, address in [*operations, *OTHERS]:
        with transaction.atomic():
            answer = client.generic(method, address, **FOREIGN)
            transaction.set_rollback(True)
        if problems := problems_of(answer, address, visitor):
            wrong[method, address] = problems
    assert wrong == {}


def test_cookies_have_the_flags_against_theft_and_forged_requests(db: None, settings: Any) -> None:
    factories.make_user("anna", Role.ANNOTATOR)
    client = Client()
    client.get("/accounts/login/")
    client.post("/accounts/login/", {"login": "anna", "password": factories.PASSWORD})
    flags = {
        name: (morsel["samesite"], bool(morsel["httponly"]), morsel["path"], morsel["domain"])
        for name, morsel in client.cookies.items()
    }
    # The judging room reads the CSRF token from its cookie.
    assert flags == {
        "sessionid": ("Lax", True, "/", ""),
        "csrftoken": ("Lax", False, "/", ""),
        "messages": ("Lax", True, "/", ""),
    }


# --- Parameters -------------------------------------------------------------------------------

HOSTILE_QUERY = (
    "ordering=by__password&order_by=-user__password&sort_by=password&fields=password,email"
    "&expand=user&user__password__regex=^md5&annotator__user__email__contains=a&search=md5"
    "&format=api&is_staff=1&include=judgments&depth__gt=0"
)


# A text like those that sqlmap sends, and numbers that no column can store.
ODD_VALUES = ("1' OR '1'='1' UNION SELECT password FROM accounts_user; --", "9" * 40, "-1e999")


def parameters() -> set[str]:
    """Return the names of the parameters that pages and operations read.

    The search does not find names that the code reads from variables, so these are listed here.
    """
    assert addresses()  # this imports all forms
    reads = re.compile(
        r"""(?:GET|query_params)\.get\("(\w+)"|requested_filter\(request, "(\w+)\""""
    )
    names = {"limit", "offset", "cursor"}
    for package in ("config", "hearth", "pooling", "annotation", "evaluation"):
        for path in (BASE_DIR / package).rglob("*.py"):
            names |= {one or other for one, other in reads.findall(path.read_text("utf-8"))}
    forms = [BaseForm]
    for form in forms:
        forms += form.__subclasses__()
        names |= set(getattr(form, "base_fields", ()))
    return names | set(ExportSerializer().fields)


@pytest.mark.postgresql(only=True)
def test_unknown_parameters_and_odd_values_are_refused_or_ignored(
    places: dict[str, Any],
    visit: Callable[[str], Client],
) -> None:
    """Open all pages and operations. Lists accept only the parameters that they declare."""
    client = visit("admin")
    client.raise_request_exception = False
    names = parameters()
    assert {"page", "q", "sort", "person", "runs", "licence"} <= names
    secrets = list(User.objects.values_list("password", flat=True))
    wanted = [path for _, path in pages(places)]
    wanted += [API + path for path, method, *_ in OPERATIONS if method == "get"]
    odd = [urlencode(dict.fromkeys(names, value)) for value in ODD_VALUES]
    wrong: dict[str, object] = {}
    for address in wanted:
        plain = client.get(address)
        # A site whose scheduler has not run yet is not ready.
        assert plain.status_code < 500 or address == "/readyz", address
        hostile, *others = (
            client.get(f"{address}{'&' if '?' in address else '?'}{query}")
            for query in (HOSTILE_QUERY, *odd)
        )
        statuses = {answer.status_code for answer in (hostile, *others)}
        if statuses - {plain.status_code, 400, 404, 422}:
            wrong[address] = statuses
        if not hostile.streaming:
            if any(secret in hostile.content.decode() for secret in secrets):
                wrong[address] = "contains a password"
            is_list = address.startswith(API) and hostile.status_code == 200
            if is_list and "schema" not in address and plain.json() != hostile.json():
                wrong[address] = "another answer"
    assert wrong == {}


# --- Requests from other sites ----------------------------------------------------------------


def test_other_sites_and_other_content_types_cannot_write(
    places: dict[str, Any],
    visit: Callable[[str], Client],
) -> None:
    client = visit("admin")
    client.handler.enforce_csrf_checks = True
    token = "a" * 32
    client.cookies["csrftoken"] = token
    before = snapshot()
    foreign = {"X-CSRFToken": token, "Origin": "https://evil.example"}
    plain = {"X-CSRFToken": token}
    wrong = {}
    for path in [address.format(**places) for _, method, address, _ in TABLE if method == "POST"]:
        status = client.post(path, {}, headers=foreign).status_code
        if status != 403:
            wrong[path] = status
    for path in [API + address for address, method, *_ in OPERATIONS if method == "post"]:
        if (status := client.post(path, {}, headers=foreign).status_code) != 403:
            wrong[path] = status
        sent = client.post(path, '{"a": 1}', content_type="text/plain", headers=plain)
        if sent.status_code not in (404, 405, 415) and "claim" not in path:
            wrong[path, "text/plain"] = sent.status_code
    assert wrong == {}
    assert [table for table, _ in changes(before, snapshot()) if table != "jobs.job"] == []


# Tables to which reading a page may add rows: the session, the person as an annotator and as a
# member of the campaign, and the audit log of downloads.
STORED_BY_READING = {
    "usersessions.usersession",
    "annotation.annotator",
    "annotation.membership",
    "audit.auditentry",
    "audit.auditaddress",
}


# --- Downloads --------------------------------------------------------------------------------


def test_a_link_stops_working_when_the_role_is_withdrawn(campaign: Campaign) -> None:
    rosa = make_member("rosa", Role.RESEARCHER, of="tiny")
    client = Client()
    client.force_login(rosa)
    api = APIClient()
    api.force_authenticate(rosa)
    links = [f"/benchmarks/tiny/labels/1/{file}/" for file in ("csv", "judgments", "qrels", "fire")]
    links += ["/benchmarks/tiny/results/csv/", f"/campaigns/{campaign.pk}/csv/"]
    assert {client.get(link).status_code for link in links} == {200}
    withdraw_role(person=rosa, role=Role.RESEARCHER, scope="tiny", by=client_user())
    assert {client.get(link).status_code for link in links} == {404}
    files = [f"{API}benchmarks/tiny/label-sets/1/{file}/" for file in ("csv", "judgments")]
    fresh = client_for(Role.ANNOTATOR, name="late")
    assert {fresh.get(link).status_code for link in files} == {403}


# The acts that downloads add to the audit log, by the name of the download in `TABLE`. Scores,
# counts over time, analyses, captions, videos, pairs and proxies contain no data about people, so
# their downloads are not recorded.
RECORDED = {
    "audit-log-csv": "log_downloaded",
    "campaign-answers": "orders_downloaded",
    "campaign-people-csv": "people_downloaded",
    "desk-rulings-csv": "rulings_downloaded",
    "label-set-export": "labels_exported",
}
NOT_RECORDED = {
    "analysis-chart",
    "analysis-json",
    "analysis-latex",
    "analysis-table",
    "campaign-csv",
    "captions-csv",
    "compare-download",
    "label-set-diff-csv",
    "pairs-csv",
    "proxy-chart",
    "proxy-export",
    "results-download",
    "videos-csv",
}


def test_reading_changes_nothing_and_downloads_of_data_about_people_are_recorded(
    places: dict[str, Any],
    visit: Callable[[str], Client],
    tmp_path: Path,
) -> None:
    """A new download must be listed in RECORDED or in NOT_RECORDED."""
    client, downloads = visit("admin"), {}
    # The campaign in `places` is not an ordering study.
    other = factories.make_benchmark(tmp_path, captions=5, videos=1, key="other")
    study = factories.make_study(tmp_path, benchmark=other)
    orders = ("campaign-answers", f"/campaigns/{study.pk}/orders/csv/")
    rows = snapshot()
    for name, path in [*pages(places), orders]:
        before = AuditEntry.objects.count()
        if "attachment" in client.get(path).get("Content-Disposition", ""):
            added = AuditEntry.objects.order_by("pk")[before:]
            downloads[name] = set(added.values_list("act", flat=True))
            client.head(path)
            after = AuditEntry.objects.count()
            assert after == before + len(downloads[name]), f"HEAD {path} is recorded"
    for path, method, *_ in OPERATIONS:
        if method == "get":
            client.get(API + path)
    assert {name: acts for name, acts in downloads.items() if acts} == {
        name: {act} for name, act in RECORDED.items()
    }
    assert {name for name, acts in downloads.items() if not acts} == NOT_RECORDED
    assert {table for table, _ in changes(rows, snapshot())} <= STORED_BY_READING


def client_user() -> User:
    return factories.make_user("root", Role.ADMIN)
