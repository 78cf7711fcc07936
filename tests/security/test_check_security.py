"""`manage.py check_security`: a new site fails only one check, and a weak setting is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.signals import user_login_failed
from django.db import connection

from hearth.accounts.audit_receivers import record_failed_sign_in
from hearth.audit.triggers import DROP
from hearth.security import accounts, code, limits, web  # noqa: F401  # they register checks
from hearth.security.code import unhashed
from hearth.security.registry import numbers, run_checks
from tests.databases import migrate
from tests.hearth.test_settings import OWN_KEY, start

# The requirement that a new site does not meet, and how to meet it.
UNDECIDED = {
    "6.3.2": "Not required for: admin, lead. Set MFA_REQUIRED_ROLES=admin,lead. People with these "
    "roles then set up a second factor when they next open a page."
}


def test_a_production_site_meets_all_requirements_but_one(tmp_path: Path) -> None:
    variables = {"ALLOWED_HOSTS": "hearth.example", "SECRET_KEY": OWN_KEY + "0123456789"}
    migrate({"HEARTH_HOME": str(tmp_path)})  # nothing is left to migrate below
    assert start(tmp_path, "migrate", "--verbosity=0", **variables).stderr == ""
    done = start(tmp_path, "check_security", "--json", **variables)
    result = json.loads(done.stdout)
    failed = {
        verdict["number"]: verdict["problem"]
        for verdict in result["requirements"]
        if not verdict["passed"]
    }
    assert failed == UNDECIDED
    assert (done.returncode, done.stderr) == (1, "")
    assert result["passed"] + result["failed"] == len(result["requirements"]) == len(numbers())
    assert result["passed"] >= 45


@pytest.mark.parametrize(
    ("number", "name", "value", "problem"),
    [
        ("3.3.3", "SESSION_COOKIE_NAME", "session", "SESSION_COOKIE"),
        ("3.3.4", "SESSION_COOKIE_HTTPONLY", False, "SESSION_COOKIE_HTTPONLY is off."),
        ("3.4.5", "SECURE_REFERRER_POLICY", None, "No Referrer-Policy"),
        ("3.4.8", "SECURE_CROSS_ORIGIN_OPENER_POLICY", None, "GET /api/v1/nothing/"),
        ("3.4.4", "SECURE_CONTENT_TYPE_NOSNIFF", False, "X-Content-Type-Options"),
        ("3.5.3", "ACCOUNT_LOGOUT_ON_GET", True, "A GET signs people out."),
        ("4.1.3", "TRUSTED_PROXIES", 7, "different numbers of proxies"),
        ("5.2.1", "DATA_UPLOAD_MAX_MEMORY_SIZE", None, "too large"),
        ("6.2.1", "AUTH_PASSWORD_VALIDATORS", [], "Seven characters"),
        ("6.2.4", "AUTH_PASSWORD_VALIDATORS", [], "A common password"),
        ("7.3.2", "SESSION_COOKIE_AGE", 10**8, "days"),
        ("11.2.3", "SECRET_KEY", "a" * 60, "too regular"),
        ("11.4.2", "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"], "md5"),
        ("13.4.2", "DEBUG", True, "DEBUG is on."),
        ("1.5.2", "CELERY_ACCEPT_CONTENT", ["json", "pickle"], "CELERY_ACCEPT_CONTENT"),
    ],
)
def test_a_weak_setting_is_found(
    db: None, settings: Any, number: str, name: str, value: Any, problem: str
) -> None:
    setattr(settings, name, value)
    (found,) = run_checks(number)
    assert not found["passed"]
    assert problem in found["problem"]


def test_the_roles_that_need_a_second_factor_are_named(settings: Any) -> None:
    settings.MFA_REQUIRED_ROLES = ["admin", "researcher"]
    assert run_checks("6.3.2")[0]["problem"].startswith(
        "Not required for: lead. Set MFA_REQUIRED_ROLES=admin,lead,researcher. "
    )
    settings.MFA_REQUIRED_ROLES = ["admin", "lead"]
    assert run_checks("6.3.2")[0]["passed"]


def test_a_missing_header_is_found(db: None, settings: Any) -> None:
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "Policy" not in name]
    assert [verdict["passed"] for verdict in run_checks("3.4.3", "3.4.6", "3.4.4")] == [
        False,
        False,
        True,
    ]


@pytest.mark.postgresql
def test_missing_triggers_are_found(db: None) -> None:
    assert run_checks("16.4.2")[0]["passed"]
    with connection.cursor() as cursor:
        cursor.execute(DROP[connection.vendor][0])
    assert "The triggers are missing" in run_checks("16.4.2")[0]["problem"]


def test_unrecorded_sign_ins_are_found() -> None:
    user_login_failed.disconnect(record_failed_sign_in)
    try:
        assert run_checks("16.3.1")[0]["problem"] == "Not recorded: failed sign-ins."
    finally:
        user_login_failed.connect(record_failed_sign_in)


def test_a_package_without_a_version_or_hash_is_found() -> None:
    digest = "--hash=sha256:" + "0" * 64
    lines = ["# a comment", "a==1.0 \\", f"    {digest} \\", f"    {digest}", "    # via b"]
    assert unhashed("\n".join([*lines, "b==2.0", f"c>=3 {digest}"])) == ["b==2.0", "c>=3"]
