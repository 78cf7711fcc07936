"""Who may write benchmarks, runs, pools and metadata, and the person that is stored with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from hearth.accounts.actors import OPERATOR, Actor
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import erase_person
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import enqueue_job, run_job
from hearth.shared.errors import NotPermitted
from pooling import services
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.enums import EqualTexts
from pooling.models import Benchmark, Pool, Run
from pooling.services import ImportFiles
from pooling.services.pools import add_judged_pairs
from tests.accounts.world import admin, make_member
from tests.factories import (
    build_pool,
    caption_rows,
    make_benchmark,
    make_run,
    make_user,
    row_counts,
    write_captions,
    write_csv,
    write_run,
)

pytestmark = pytest.mark.django_db

Write = Callable[[Benchmark, Path, Actor], Any]


def write_benchmark(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    captions = write_captions(folder, caption_rows(1, 1))
    return services.import_benchmark(key="new", files=ImportFiles.of(captions), by=by)


def write_new_run(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    path = write_run(folder / "new.run", {"c0": ["v2"]})
    return services.import_run(benchmark=benchmark, path=path, system="New", by=by)


def write_proxy(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return services.compute_proxy(benchmark=benchmark, options=ProxyOptions(Method.BOW), by=by)


def write_train_captions(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    path = write_csv(folder / "train.csv", "caption", [("a dog",)])
    return services.import_train_captions(benchmark=benchmark, path=path, by=by)


def write_tags(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    path = write_csv(folder / "tags.csv", "caption_id,tag", [("c0", "food")])
    return services.import_tags(benchmark=benchmark, path=path, by=by)


def write_pool(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return build_pool(benchmark=benchmark, depth=2, by=by)


def write_pool_of_one_run(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return build_pool(benchmark=benchmark, depth=10, run_names=["A"], by=by)


def write_deep_pool_of_one_run(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return build_pool(benchmark=benchmark, depth=11, run_names=["A"], by=by)


def write_judged_pairs(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return add_judged_pairs(benchmark=benchmark, codes=np.array([3]), by=by)


def write_rule(benchmark: Benchmark, folder: Path, by: Actor) -> Any:
    return services.set_equal_texts(benchmark=benchmark, rule=EqualTexts.OFF, by=by)


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path)
    make_run(tmp_path, found, {"c0": ["v0", "v1"]}, system="A")
    return found


LEADS_ONLY = [
    write_benchmark,
    write_train_captions,
    write_tags,
    write_pool,
    write_deep_pool_of_one_run,
    write_judged_pairs,
    write_rule,
]
RESEARCHERS_TOO = [write_new_run, write_pool_of_one_run, write_proxy]
ONLY_LEADS_POOL = (
    "Only leads and admins may build this pool. Researchers may pool up to the top 10 of one run, "
    "without other options."
)
REASONS = {
    write_benchmark: "Only leads and admins may import a benchmark.",
    write_new_run: "Only researchers, leads and admins may import a run.",
    write_proxy: "Only researchers, leads and admins may add a proxy.",
    write_train_captions: "Only leads and admins may import train captions and tags.",
    write_tags: "Only leads and admins may import train captions and tags.",
    write_pool: ONLY_LEADS_POOL,
    write_deep_pool_of_one_run: ONLY_LEADS_POOL,
    write_pool_of_one_run: ONLY_LEADS_POOL,
    write_judged_pairs: "Only leads and admins may build pools.",
    write_rule: "Only leads and admins may change the rule for equal texts.",
}


@pytest.mark.parametrize("write", [*LEADS_ONLY, *RESEARCHERS_TOO])
@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER])
def test_a_write_without_the_right_stores_nothing(
    benchmark: Benchmark, tmp_path: Path, write: Write, role: Role
) -> None:
    if role == Role.RESEARCHER and write in RESEARCHERS_TOO:
        role = Role.ANNOTATOR
    person = make_user("pat", role)
    before = row_counts()
    with pytest.raises(NotPermitted) as refused:
        write(benchmark, tmp_path, person)
    assert str(refused.value) == REASONS[write]
    assert row_counts() == before
    benchmark.refresh_from_db()
    assert benchmark.equal_texts == EqualTexts.FOLDED


@pytest.mark.parametrize("write", [*LEADS_ONLY, *RESEARCHERS_TOO])
def test_leads_of_another_benchmark_have_no_right(
    benchmark: Benchmark, tmp_path: Path, write: Write
) -> None:
    with pytest.raises(NotPermitted):
        write(benchmark, tmp_path, make_member("lea", Role.LEAD, of="other"))


@pytest.mark.parametrize("write", [*LEADS_ONLY, *RESEARCHERS_TOO])
def test_leads_and_the_operator_may_write(
    benchmark: Benchmark, tmp_path: Path, write: Write
) -> None:
    write(benchmark, tmp_path, make_user("lena", Role.LEAD))
    write(benchmark, tmp_path, OPERATOR)


@pytest.mark.parametrize("write", RESEARCHERS_TOO)
def test_researchers_may_import_and_pool_a_run(
    benchmark: Benchmark, tmp_path: Path, write: Write
) -> None:
    write(benchmark, tmp_path, make_member("rosa", Role.RESEARCHER, of="tiny"))


def test_a_lead_of_one_benchmark_may_import_it(tmp_path: Path) -> None:
    captions = write_captions(tmp_path, caption_rows(1, 1))
    lead = make_member("lea", Role.LEAD, of="new")
    done = services.import_benchmark(key="new", files=ImportFiles.of(captions), by=lead)
    assert (done.created, done.benchmark.created_by) == (True, lead)


def test_the_right_is_checked_again_when_the_job_runs(benchmark: Benchmark) -> None:
    job = enqueue_job(
        kind="build_pool",
        title="Pool",
        params={"benchmark": "tiny", "depth": 2, "runs": [], "sample": None, "seed": 0},
        benchmark_key="tiny",
        by=make_user("rosa", Role.RESEARCHER),
    )
    run_job(job.pk)
    job.refresh_from_db()
    reason = ONLY_LEADS_POOL
    assert (job.state, job.error) == (JobState.FAILED, reason)
    assert Pool.objects.count() == 0


# --- The person that is stored ------------------------------------------------------------------


@pytest.fixture
def lena(benchmark: Benchmark, tmp_path: Path) -> User:
    """A lead who has imported the run "New" and built a pool."""
    lead = make_user("lena", Role.LEAD)
    write_new_run(benchmark, tmp_path, lead)
    write_pool(benchmark, tmp_path, lead)
    Job.objects.all().delete()
    return lead


def test_runs_and_pools_store_who_made_them(
    benchmark: Benchmark, tmp_path: Path, lena: User
) -> None:
    assert benchmark.created_by is None
    assert list(Run.objects.order_by("pk").values_list("name", "created_by")) == [
        ("A", None),
        ("New", lena.pk),
    ]
    # Adding the same run and pool again does not change the stored person.
    write_new_run(benchmark, tmp_path, OPERATOR)
    write_pool(benchmark, tmp_path, OPERATOR)
    assert [run.created_by for run in Run.objects.order_by("pk")] == [None, lena]
    assert [pool.created_by for pool in Pool.objects.all()] == [lena]


def test_the_page_of_a_run_without_a_person_names_the_command_line(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rosa", Role.RESEARCHER))
    run = Run.objects.get()
    assert "by the command line" in client.get(f"/benchmarks/tiny/runs/{run.pk}/").text


def test_an_erased_person_is_not_named(benchmark: Benchmark, lena: User, client: Client) -> None:
    erased = erase_person(person=lena, by=admin()).username
    client.force_login(make_user("rosa", Role.RESEARCHER))
    run = Run.objects.get(name="New")
    for address in ("/benchmarks/tiny/campaigns/", f"/benchmarks/tiny/runs/{run.pk}/"):
        page = client.get(address).text
        assert f"<bdi>{erased}</bdi>" in page
        assert "lena" not in page
    assert (run.created_by, Pool.objects.get().created_by) == (lena, lena)
