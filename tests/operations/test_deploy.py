"""The files in deploy agree with the code and with docs/operations.md.

Other tests here are about the first admin, and about settings that a site must not have.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import Resolver404, resolve

from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.operations.health import CHECKS
from hearth.requests.files import file_rule_of
from tests.conftest import ROOT
from tests.factories import make_user
from tests.operations.sites import Site
from tests.security.walk import addresses

DEPLOY = ROOT / "deploy"
GUIDE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
LARGE = 1 << 20  # as `client_max_body_size` of the other addresses in locations.conf
# Variables of development, tests and the image.
NOT_FOR_OPERATORS = {"HEARTH_DEMO", "PROMETHEUS_MULTIPROC_DIR"}


def test_every_variable_of_the_settings_is_documented() -> None:
    names = read_by_hearth() - NOT_FOR_OPERATORS
    assert len(names) > 25
    assert {name for name in names if f"`{name}`" not in GUIDE} == set()


def read_by_hearth() -> set[str]:
    """Return the variables that the settings and gunicorn's configuration read."""
    code = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    gunicorn = (DEPLOY / "gunicorn.conf.py").read_text(encoding="utf-8")
    names = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', code)
    return {*names, *re.findall(r'os\.environ\.get\("([A-Z_]+)"', code + gunicorn)}


def containers_of(part: Any) -> Iterator[dict[str, Any]]:
    """Yield all containers of Hearth's image inside a manifest."""
    if isinstance(part, dict):
        if part.get("image") == "hearth":
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from containers_of(one)


def test_hearth_reads_the_variables_that_compose_sets() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = [one for one in compose["services"].values() if one["image"] == "hearth"]
    assert len(services) == 5
    names = {name for one in services for name in one["environment"]}
    assert {"SECRET_KEY", "BACKUP_DIR"} <= names
    assert names - read_by_hearth() == {"TMPDIR"}


def test_hearth_reads_the_variables_that_the_manifests_set() -> None:
    folder = DEPLOY / "kubernetes"
    manifests = {
        path.name: list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        for path in folder.glob("*.yaml")
    }
    (kustomization,) = manifests["kustomization.yaml"]
    assert {*kustomization["resources"], "kustomization.yaml"} == set(manifests)
    literals = kustomization["configMapGenerator"][0]["literals"]
    secrets = (folder / "secrets.env.example").read_text(encoding="utf-8").split()
    names = {line.partition("=")[0] for line in [*literals, *secrets]}
    containers = [one for parts in manifests.values() for one in containers_of(parts)]
    assert len(containers) == 5
    names |= {variable["name"] for one in containers for variable in one.get("env", [])}
    assert names - read_by_hearth() == {"TMPDIR", "DIRECT_DATABASE_URL"}


def test_hearth_reads_the_variables_that_the_units_set() -> None:
    folder = DEPLOY / "systemd"
    written = (folder / "hearth.env").read_text(encoding="utf-8")
    names = set(re.findall(r"^#?([A-Z_]+)=", written, re.M))
    assert {"SECRET_KEY", "EMAIL_URL"} <= names
    for unit in folder.glob("*.service"):
        for line in re.findall(r"^Environment=(.*)$", unit.read_text(encoding="utf-8"), re.M):
            names |= {word.partition("=")[0] for word in line.split()}
    assert names - read_by_hearth() == set()


def test_every_variable_of_compose_is_documented() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    names = set(re.findall(r"\$\{([A-Z_]+)", text))
    assert {"TLS_FOLDER", "POSTGRES_PASSWORD"} <= names
    assert {name for name in names if f"`{name}`" not in GUIDE} == set()
    required = set(re.findall(r"\$\{([A-Z_]+):\?", text))
    (written,) = re.findall(r"cat > \.env <<EOF\n(.*?)EOF", GUIDE, re.S)
    assert {line.partition("=")[0] for line in written.splitlines()} == required


def test_nginx_takes_large_requests_exactly_where_hearth_does() -> None:
    text = (DEPLOY / "nginx" / "locations.conf").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"location ~ (\S+) \{", text)
    every = list(addresses().values())
    large = {address for address in every if request_bytes_max(address) > LARGE}
    assert "/benchmarks/nothing/runs/new/" in large
    assert {address for address in every if re.search(pattern, address)} == large
    others = ["/x/benchmarks/msvd/runs/new/", "/benchmarks/a/b/runs/new/", "/imports/new/x/"]
    assert [address for address in others if re.search(pattern, address)] == []


def request_bytes_max(address: str) -> int:
    """Return the maximum size of a request with files to this address, 0 if it receives none."""
    with suppress(Resolver404):
        rule = file_rule_of(resolve(address).func)
        return rule.bytes_max if rule else 0
    return 0


def test_nginx_of_debian_accepts_the_settings_of_the_http_block() -> None:
    # Debian 12 and 13 set these in the http block, and nginx refuses the same directive twice.
    of_debian = {"sendfile", "tcp_nopush", "types_hash_max_size", "server_tokens", "default_type"}
    of_debian |= {"ssl_protocols", "ssl_prefer_server_ciphers", "access_log", "gzip"}
    text = (DEPLOY / "nginx" / "http.conf").read_text(encoding="utf-8")
    own = set(re.findall(r"^([a-z_]+) ", text, re.M))
    assert {"log_format", "client_header_timeout"} <= own
    assert own & of_debian == set()


def alert_rules() -> list[dict[str, Any]]:
    text = (DEPLOY / "prometheus" / "hearth.rules.yml").read_text(encoding="utf-8")
    (group,) = yaml.safe_load(text)["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def test_the_dashboard_and_the_alerts_use_metrics_that_exist(db: None) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "hearth.json").read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [rule["expr"] for rule in alert_rules()]
    used = {name for query in queries for name in re.findall(r"hearth_\w+", query)}
    made = set(re.findall(r"^# TYPE (\w+)", Client().get("/metrics").content.decode(), re.M))
    assert {name for name in used if re.sub("_(bucket|sum|count)$", "", name) not in made} == set()
    documented = set(re.findall(r"`(hearth_\w+)`", GUIDE))
    families = {name for name in made if not name.endswith("_created")}
    assert families - documented <= {"hearth_build", "hearth_scrape_seconds"}
    assert documented <= families


def test_alerts_cover_all_checks_and_name_a_fix() -> None:
    rules = {rule["alert"]: rule for rule in alert_rules()}
    assert len(rules) == 11
    for name, rule in rules.items():
        assert rule["labels"]["severity"] in {"critical", "warning"}, name
        assert set(rule["annotations"]) == {"summary", "fix"}, name
    others, judging = rules["HearthCheckFails"]["expr"], rules["HearthCannotJudge"]["expr"]
    (without,), (only,) = (
        re.findall(r'check(?:!~|=~)"([a-z|]+)"', text) for text in (others, judging)
    )
    assert without == only
    assert set(only.split("|")) <= set(CHECKS)


def test_the_archive_of_the_log_keeps_each_file_once(tmp_path: Path) -> None:
    archive, log = tmp_path / "archive", tmp_path / "000000010000000000000001"
    archive.mkdir()

    def store(content: bytes) -> int:
        log.write_bytes(content)
        program = DEPLOY / "postgresql" / "hearth-archive-wal"
        command = [str(program), str(log), log.name, str(archive)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    # After a crash, PostgreSQL passes the same file again. It must keep a file that is not stored.
    assert [store(b"log"), store(b"log"), store(b"other") != 0] == [0, 0, True]
    (stored,) = archive.iterdir()
    assert (stored.name, gzip.decompress(stored.read_bytes())) == (f"{log.name}.gz", b"log")
    missing = [str(DEPLOY / "postgresql" / "hearth-archive-wal"), str(log), "b", "/nonexistent"]
    assert subprocess.run(missing, capture_output=True, check=False).returncode != 0


def test_the_guide_names_the_files_of_the_deployment() -> None:
    page = (ROOT / "docs" / "point-in-time-recovery.md").read_text(encoding="utf-8")
    for path in ("postgresql/hearth-archive-wal", "postgresql/hearth-wal.conf"):
        assert f"/opt/hearth/deploy/{path}" in page
        assert (DEPLOY / path).is_file()
    for path in ("systemd/journald.conf", "prometheus/hearth.rules.yml", "grafana/hearth.json"):
        assert f"deploy/{path}" in GUIDE
        assert (DEPLOY / path).is_file()


def test_the_units_run_files_that_exist() -> None:
    for unit in (DEPLOY / "systemd").glob("*.service"):
        for command in re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.M):
            assert command.startswith("/opt/hearth/.venv/bin/"), unit
            for word in command.split():
                if "/" in word and not word.startswith("/"):
                    assert (ROOT / word).exists(), (unit, word)


def test_all_units_have_the_same_sandbox() -> None:
    found = {
        re.search(r"^UMask=.*^ReadWritePaths=[^\n]*", unit.read_text(), re.M | re.S).group()  # type: ignore[union-attr]
        for unit in (DEPLOY / "systemd").glob("*.service")
    }
    assert len(found) == 1
    # systemd's set of calls for services lacks those by which decoders confine themselves.
    assert "\nSystemCallFilter=landlock_create_ruleset " in found.pop()


# --- The first admin ----------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_first_admin_chooses_a_password_at_a_link_that_works_once(capsys: Any) -> None:
    call_command("create_admin", "grace", "--email=grace@example.org", "--json")
    made = json.loads(capsys.readouterr().out)
    assert (made["username"], made["days"]) == ("grace", 3)
    address = made["link"].removeprefix("http://localhost:8000")
    assert Client().login(username="grace", password="") is False

    client = Client()
    page = client.get(address, follow=True)
    form = {"password1": "a new one for grace", "password2": "a new one for grace"}
    home = client.post(page.redirect_chain[-1][0], form, follow=True)
    grace = User.objects.get()
    assert (home.redirect_chain, home.context["user"]) == ([("/", 302)], grace)
    assert "Password successfully changed" not in home.content.decode()
    assert grace.check_password("a new one for grace")
    assert (grace.is_superuser, grace.is_staff) == (True, True)

    second = Client().get(address, follow=True)
    assert "password1" not in second.content.decode()
    with pytest.raises(CommandError, match="There is already an account Grace"):
        call_command("create_admin", "Grace")
    call_command("create_admin", "grace", "--new-link", "--json")
    again = json.loads(capsys.readouterr().out)["link"].removeprefix("http://localhost:8000")
    assert "password1" in Client().get(again, follow=True).content.decode()


@pytest.mark.django_db
def test_links_are_only_for_admins() -> None:
    make_user("lead", Role.LEAD)
    for name in ("lead", "nobody"):
        with pytest.raises(CommandError, match="There is no active admin"):
            call_command("create_admin", name, "--new-link")


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "https://hearth.example"),
        ({"HTTPS_PORT": "8443"}, "https://hearth.example:8443"),
        ({"HEARTH_SITE": "https://labels.example/"}, "https://labels.example"),
    ],
)
def test_the_link_has_the_address_of_the_site(
    tmp_path: Path, variables: dict[str, str], address: str
) -> None:
    site = Site(tmp_path, f"sqlite:///{tmp_path / 'hearth.sqlite3'}")
    production = {"ALLOWED_HOSTS": ".hearth.example,other.example", "SECRET_KEY": "k" * 60}
    site.migrate()
    made = site.result_of("create_admin", "grace", **production, **variables)
    assert made["link"].startswith(f"{address}/accounts/password/reset/key/")
    words = ("create_admin", "grace", "--new-link", "--site", "https://given.example:99")
    if not variables:
        link = site.result_of(*words, **production)["link"]
        assert link.startswith("https://given.example:99/accounts/")


# --- Settings that a site must not have -----------------------------------------------------------


def test_a_public_site_refuses_debug_mode(tmp_path: Path) -> None:
    site = Site(tmp_path, f"sqlite:///{tmp_path / 'hearth.sqlite3'}")
    done = site.manage("check", ALLOWED_HOSTS="hearth.example", SECRET_KEY="k" * 60, DEBUG="1")
    assert done.returncode != 0
    assert "DEBUG shows settings and code to every visitor" in done.stderr


@pytest.mark.django_db
@pytest.mark.parametrize(("password", "problems"), [("admin", 1), ("moving-shapes", 1), ("xY7", 0)])
def test_the_deployment_check_finds_a_known_password(password: str, problems: int) -> None:
    from hearth.operations.checks import check_admins

    admin = make_user("admin", Role.ADMIN)
    admin.set_password(password)
    admin.save()
    lead = make_user("lead", Role.LEAD)
    lead.set_password("admin")
    lead.save()
    found = check_admins()
    assert [problem.id for problem in found] == ["hearth.E002"] * problems


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    ["/.git/config", "/.env", "/static/", "/media/", "/protected/a.mp4", "/server-status"],
)
def test_hidden_files_and_folders_are_not_found(address: str) -> None:
    assert Client().get(address).status_code == 404


@pytest.mark.django_db
def test_trace_is_refused() -> None:
    for address in ("/", "/accounts/login/", "/healthz", "/jobs/"):
        assert Client().generic("TRACE", address).status_code in (302, 405)
