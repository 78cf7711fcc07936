"""Runs that outside researchers upload for scoring: the limit, the states and publication."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Evaluation
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services.roles import set_role
from hearth.audit.models import AuditEntry
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import cancel_job, run_job, sweep_jobs
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from hearth.shared.uploads import uploaded_file
from hearth.webhooks.models import Delivery, Event
from hearth.webhooks.services import create_webhook
from pooling import services
from pooling.models import Benchmark, Run, RunUpload
from pooling.selectors.runs import find_runs
from pooling.services import run_uploads
from tests.accounts.world import make_member
from tests.factories import (
    add_judgments,
    add_run,
    at_once,
    import_run,
    make_benchmark,
    make_outsider,
)

LISTS = {"c0": ["v1", "v0"], "c1": ["v1"]}


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_public(make_benchmark(tmp_path, captions=3, videos=3))


@pytest.fixture
def olga(db: None) -> User:
    return make_outsider("olga")


def make_public(benchmark: Benchmark, **changes: Any) -> Benchmark:
    values = {"is_public": True, **changes}
    services.change_public_page(benchmark=benchmark, changes=values, by=OPERATOR)
    return benchmark


def run_file(lists: dict[str, list[str]] | None = None, text: str = "") -> SimpleUploadedFile:
    lines = [
        f"{caption} Q0 {video} {rank} {10 - rank} x"
        for caption, videos in (LISTS if lists is None else lists).items()
        for rank, video in enumerate(videos, 1)
    ]
    return SimpleUploadedFile("mine.run", (text or "\n".join(lines) + "\n").encode())


def upload(benchmark: Benchmark, by: User, system: str = "Mine", **options: Any) -> RunUpload:
    file = options.pop("file", None) or run_file()
    return services.upload_run(benchmark=benchmark, file=file, system=system, by=by, **options)


def scored(benchmark: Benchmark, by: User, **options: Any) -> RunUpload:
    made = upload(benchmark, by, **options)
    assert made.job is not None
    run_job(made.job)
    made.refresh_from_db()
    return made


def test_an_upload_is_scored_as_a_private_run(benchmark: Benchmark, olga: User) -> None:
    made = scored(benchmark, olga)
    assert (made.state, made.reason, made.slot) == ("scored", "", 0)
    run = made.run
    assert run is not None
    assert (run.name, run.is_private, run.created_by) == ("Mine", True, olga)
    # The original positives are c0 v0, c1 v1 and c2 v2, so only c1 is correct at rank 1.
    assert Evaluation.objects.get(run=run).scores["C@1"] == pytest.approx(1 / 3)
    assert find_runs(benchmark) == []
    job = Job.objects.get()
    assert (job.state, job.title, job.result) == (
        "done",
        "Score a run that was uploaded to tiny",
        {},
    )
    assert list(AuditEntry.objects.filter(by=olga).values_list("act", flat=True)) == [
        "run_uploaded"
    ]


def test_a_refused_file_lists_all_its_errors_and_frees_its_slot(
    benchmark: Benchmark, olga: User
) -> None:
    made = scored(benchmark, olga, file=run_file(text="c0 Q0 v9 1 2 x\nc9 Q0 v0 1 2 x\n"))
    assert (made.state, made.slot, made.run) == ("refused", None, None)
    assert made.reason.startswith("mine.run, line 1: ")
    assert [problem["line"] for problem in made.problems] == [1, 2]
    assert Job.objects.get().error == ""
    assert Run.everything.count() == 0


def test_the_limit_of_the_day_counts_scored_and_waiting_uploads(
    benchmark: Benchmark, olga: User
) -> None:
    make_public(benchmark, runs_per_day=2)
    scored(benchmark, olga, file=run_file(text="broken"))
    scored(benchmark, olga)
    upload(benchmark, olga, "Other")
    with pytest.raises(Conflict, match="uploaded 2 runs to this benchmark today"):
        upload(benchmark, olga, "Third")
    upload(benchmark, make_outsider("oscar"))
    RunUpload.objects.update(day=timezone.now().date() - timedelta(days=1))
    assert upload(benchmark, olga, "Third").slot == 0


def test_files_with_errors_have_a_separate_limit(
    benchmark: Benchmark, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_uploads, "ERRORS_PER_DAY", 2)
    for text in ("broken", "also broken"):
        scored(benchmark, olga, file=run_file(text=text))
    with pytest.raises(Conflict, match="2 of your files were refused today"):
        upload(benchmark, olga)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_parallel_uploads_do_not_exceed_the_limit(tmp_path: Path) -> None:
    benchmark = make_public(make_benchmark(tmp_path, captions=3, videos=3), runs_per_day=3)
    olga = make_outsider("olga")

    def send(number: int) -> Callable[[], str]:
        def call() -> str:
            try:
                upload(benchmark, olga, f"S{number}", file=run_file({"c0": [f"v{number % 3}"]}))
            except Conflict:
                return "refused"
            return "stored"

        return call

    answers = at_once(*(send(number) for number in range(8)))
    assert sorted(answers) == ["refused"] * 5 + ["stored"] * 3
    assert sorted(RunUpload.objects.values_list("slot", flat=True)) == [0, 1, 2]


@pytest.mark.postgresql
def test_the_database_refuses_a_slot_used_twice_and_a_state_without_its_reason_or_run(
    benchmark: Benchmark, olga: User
) -> None:
    made = upload(benchmark, olga)
    values = {"benchmark": benchmark, "created_by": olga, "day": made.day, "source": "", "name": ""}
    for wrong in ({"slot": 0}, {"state": "refused"}, {"state": "scored"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            RunUpload.objects.create(**values, **wrong)


def test_a_job_that_starts_again_stores_the_run_once(benchmark: Benchmark, olga: User) -> None:
    made = upload(benchmark, olga)

    def stop(done: int, total: int | None, phase: str = "") -> None:
        if phase == "scoring":
            raise RuntimeError

    job = Job.objects.get()
    path = uploaded_file(job.params["upload"])
    options = {"path": path, "source": "mine.run", "system": "Mine", "format": "auto"}
    with pytest.raises(RuntimeError):
        services.score_upload(upload=made, depth=None, progress=stop, **options)
    made.refresh_from_db()
    assert (made.state, Run.everything.count()) == ("waiting", 1)
    run_job(job.pk)
    made.refresh_from_db()
    assert (made.state, Run.everything.count()) == ("scored", 1)


def test_an_upload_whose_worker_died_three_times_is_refused(
    benchmark: Benchmark, olga: User
) -> None:
    made = upload(benchmark, olga)
    past = timezone.now() - timedelta(hours=1)
    Job.objects.update(state=JobState.RUNNING, attempts=3, lease_expires_at=past)
    assert services.settle_run_uploads() == 0
    assert sweep_jobs()[1] == 1
    assert services.settle_run_uploads() == 1
    made.refresh_from_db()
    assert (made.state, made.slot) == ("refused", None)
    assert made.reason == (
        "The server could not score this file. It does not count toward your limit, so upload it "
        "again. The worker died 3 times during this job."
    )


@pytest.mark.parametrize("way", ["cancelled", "deleted", "never stored"])
def test_an_upload_whose_job_is_cancelled_or_missing_is_refused(
    benchmark: Benchmark, olga: User, way: str
) -> None:
    made = upload(benchmark, olga)
    if way == "cancelled":
        cancel_job(job=Job.objects.get(), by=OPERATOR)
    elif way == "deleted":
        Job.objects.all().delete()
    else:
        RunUpload.objects.update(job=None)
        assert services.settle_run_uploads() == 0
        RunUpload.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    assert services.settle_run_uploads() == 1
    made.refresh_from_db()
    assert made.state == "refused"


def test_publishing_adds_the_run_with_its_metadata(benchmark: Benchmark, olga: User) -> None:
    made = scored(benchmark, olga)
    changes = {"name": "Mine 2", "paper": "https://example.org/paper"}
    run = services.publish_run(upload=made, changes=changes, by=olga)
    assert find_runs(benchmark) == [run]
    assert (run.name, run.paper, run.is_private) == ("Mine 2", "https://example.org/paper", False)
    with pytest.raises(Conflict, match="already published"):
        services.publish_run(upload=made, changes={}, by=olga)
    services.withdraw_run(run=run, by=olga)
    assert find_runs(benchmark) == []


def test_only_the_uploader_publishes_and_only_leads_refuse(
    benchmark: Benchmark, olga: User
) -> None:
    made = scored(benchmark, olga)
    lea = make_member("lea", Role.LEAD, of=benchmark.key)
    others = [make_outsider("oscar"), make_member("rita", Role.RESEARCHER, of=benchmark.key), lea]
    for other in others:
        with pytest.raises(NotPermitted):
            services.publish_run(upload=made, changes={}, by=other)
    for other in (olga, *others[:-1]):
        with pytest.raises(NotPermitted):
            services.refuse_upload(upload=made, reason="No.", by=other)
    with pytest.raises(NotPermitted):
        services.withdraw_run(run=made.run, by=others[0])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="State the reason"):
        services.refuse_upload(upload=made, reason=" ", by=lea)
    services.refuse_upload(upload=made, reason="Trained on the test captions.", by=lea)
    assert (made.state, made.reason, made.slot) == ("refused", "Trained on the test captions.", 0)
    with pytest.raises(Conflict, match="Only a scored run"):
        services.publish_run(upload=made, changes={}, by=olga)


def test_private_runs_do_not_reveal_each_other(
    benchmark: Benchmark, olga: User, tmp_path: Path
) -> None:
    """Several people can have the same file and name in private, but only one can publish them."""
    first, second = scored(benchmark, olga), scored(benchmark, make_outsider("oscar"))
    assert (first.run.name, second.run.name) == ("Mine", "Mine")  # type: ignore[union-attr]
    path = tmp_path / "mine.run"
    path.write_bytes(run_file().read())
    assert import_run(benchmark=benchmark, path=path, system="Mine").created
    with pytest.raises(Conflict, match="The same file is already published as run Mine"):
        services.publish_run(upload=first, changes={}, by=olga)


def test_private_runs_are_also_scored_under_new_labels(benchmark: Benchmark, olga: User) -> None:
    made = scored(benchmark, olga)
    Evaluation.objects.all().delete()
    evaluated = evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    assert evaluated.runs == []
    assert Evaluation.objects.get().run == made.run


ROLES = {
    "no role": (None, True),
    "researcher": (Role.RESEARCHER, True),
    "lead": (Role.LEAD, True),
    "annotator": (Role.ANNOTATOR, False),
}


@pytest.mark.parametrize("name", ROLES)
def test_annotators_of_a_benchmark_cannot_upload_to_it(benchmark: Benchmark, name: str) -> None:
    role, may = ROLES[name]
    person = make_member("petra", role, of=benchmark.key) if role else make_outsider("petra")
    if may:
        assert upload(benchmark, person).state == "waiting"
    else:
        with pytest.raises(NotPermitted):
            upload(benchmark, person)
    services.change_public_page(benchmark=benchmark, changes={"is_public": False}, by=OPERATOR)
    with pytest.raises(NotPermitted):
        upload(benchmark, person)


def test_private_runs_are_deleted_with_their_benchmark(
    benchmark: Benchmark, olga: User, tmp_path: Path
) -> None:
    scored(benchmark, olga)
    add_run(tmp_path, benchmark, {"c0": ["v0"]})
    delete(benchmark, by=OPERATOR)
    assert (Run.everything.count(), RunUpload.objects.count()) == (0, 0)


def test_the_uploader_restores_a_withdrawn_run(benchmark: Benchmark, olga: User) -> None:
    made = scored(benchmark, olga)
    run = services.publish_run(upload=made, changes={}, by=olga)
    services.withdraw_run(run=run, by=olga)
    with pytest.raises(NotPermitted):
        services.restore_run(run=run, by=make_outsider("oscar"))
    services.restore_run(run=run, by=olga)
    assert find_runs(benchmark) == [run]
    with pytest.raises(Conflict, match="not withdrawn"):
        services.restore_run(run=run, by=olga)


def test_a_restored_private_run_is_private_and_scored_under_the_newest_labels(
    benchmark: Benchmark, olga: User, tmp_path: Path
) -> None:
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1)])
    made = scored(benchmark, olga)
    services.withdraw_run(run=made.run, by=olga)  # type: ignore[arg-type]
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    services.restore_run(run=made.run, by=olga)  # type: ignore[arg-type]
    made.refresh_from_db()
    assert find_runs(benchmark) == []
    newest = benchmark.label_sets.get()
    assert Evaluation.objects.filter(run=made.run, label_set=newest).count() == 1
    services.publish_run(upload=made, changes={}, by=olga)
    assert find_runs(benchmark) == [made.run]


def test_only_leads_restore_a_run_that_they_refused(benchmark: Benchmark, olga: User) -> None:
    made = scored(benchmark, olga)
    run = services.publish_run(upload=made, changes={}, by=olga)
    lea = make_member("lea", Role.LEAD, of=benchmark.key)
    services.refuse_upload(upload=made, reason="Trained on the test captions.", by=lea)
    set_role(olga, Role.RESEARCHER, benchmark.key, OPERATOR)
    with pytest.raises(NotPermitted, match="Only they may restore or delete it"):
        services.restore_run(run=run, by=olga)
    services.restore_run(run=run, by=lea)
    made.refresh_from_db()
    assert (made.state, made.reason, find_runs(benchmark)) == ("scored", "", [run])


def test_only_leads_restore_or_delete_a_run_that_a_lead_withdrew(
    benchmark: Benchmark, olga: User, client: Client
) -> None:
    made = scored(benchmark, olga)
    run = services.publish_run(upload=made, changes={}, by=olga)
    lea = make_member("lea", Role.LEAD, of=benchmark.key)
    set_role(olga, Role.RESEARCHER, benchmark.key, OPERATOR)
    client.force_login(olga)
    pages = [reverse("run-uploads"), reverse("run-change", args=[benchmark.key, run.pk])]

    def offers() -> list[bool]:
        return ['value="restore"' in client.get(page).content.decode() for page in pages]

    services.withdraw_run(run=run, by=olga)
    assert (run.withdrawn_by, offers()) == (olga, [True, True])
    services.restore_run(run=run, by=olga)
    for by in (lea, OPERATOR):
        services.withdraw_run(run=run, by=by)
        assert (run.withdrawn_by, offers()) == (lea if by is lea else None, [False, False])
        for act in (partial(services.restore_run, run=run), partial(delete, run)):
            with pytest.raises(NotPermitted, match="Only they may restore or delete it"):
                act(by=olga)
        for address in (
            reverse("run-upload-withdraw", args=[made.pk]),
            reverse("run-withdraw", args=[benchmark.key, run.pk]),
        ):
            assert client.post(address, {"action": "restore"}).status_code == 403
        services.restore_run(run=run, by=lea)
        assert (run.is_withdrawn, run.withdrawn_by) == (False, None)


def test_a_published_or_restored_run_is_scored_again_and_announced(
    benchmark: Benchmark, olga: User
) -> None:
    create_webhook(
        benchmark_key=benchmark.key,
        url="https://hooks.example.org/hearth",
        events=[Event.RUN_SCORED],
        by=OPERATOR,
    )
    made = scored(benchmark, olga)
    assert Delivery.objects.count() == 0
    run = services.publish_run(upload=made, changes={"name": "Shown"}, by=olga)
    run_job(Job.objects.get(kind="evaluate").pk)
    assert [json.loads(sent.body)["run"] for sent in Delivery.objects.all()] == ["Shown"]
    services.withdraw_run(run=run, by=olga)
    services.restore_run(run=run, by=olga)
    run_job(Job.objects.get(kind="evaluate", state="queued").pk)
    assert Delivery.objects.count() == 2
