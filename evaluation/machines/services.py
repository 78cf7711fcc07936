"""Asking machine judges, and storing their answers as proxies."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
from django.core.files import File
from django.db import transaction

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.machines.calling import Endpoint, get_endpoint
from evaluation.machines.core.judgment_file import read_judgments
from evaluation.machines.core.protocol import BATCH, Answer, Item, Machine
from evaluation.machines.models import MachineBatch, MachineJudge
from evaluation.machines.models import MachineRequest as Stored
from evaluation.machines.request import MachineRequest
from evaluation.machines.selectors import (
    LABELS_SHOWN,
    ROW,
    Questions,
    guidelines_for,
    pairs_to_ask,
)
from hearth.accounts.actors import Actor
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.core.equal_texts import expand_text_pairs
from pooling.core.lines import sha256_of_file
from pooling.core.proxies.proxy_file import new_matrix
from pooling.enums import PoolingAct, ProxyMethod
from pooling.models import Benchmark, Proxy, proxy_storage
from pooling.policies import check_can_add_proxy
from pooling.selectors.arrays import query_numbers, video_numbers
from pooling.selectors.captions import first_equal_captions
from pooling.services.proxies import new_proxy, store_proxy

# Takes a batch id, guidelines and items; see `Endpoint.judge`.
Ask = Callable[[str, str, list[Item]], tuple[Machine, list[Answer]]]


class JudgeReport(TypedDict):
    """A machine judge in the result of a job and in the output of `--json`."""

    proxy: str
    machine: str
    version: str
    family: str
    pairs: int
    errors: int
    sha256: str
    created: bool


@dataclass(frozen=True, slots=True)
class AddedJudge:
    """A machine judge. created: False if the same answers were already stored."""

    judge: MachineJudge
    created: bool

    def report(self) -> JudgeReport:
        judge = self.judge
        return {
            "proxy": judge.proxy.name,
            "machine": judge.machine,
            "version": judge.version,
            "family": judge.family,
            "pairs": judge.n_pairs,
            "errors": judge.n_errors,
            "sha256": judge.sha256,
            "created": self.created,
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """Pairs, ascending, their probabilities (NaN for an error), and the errors by pair."""

    machine: Machine
    codes: IntArray
    p: FloatArray
    errors: dict[int, str]


def judge_by_machine(
    *,
    benchmark: Benchmark,
    request: MachineRequest,
    by: Actor,
    progress: Progress = no_progress,
    ask: Ask | None = None,
) -> AddedJudge:
    """Store what a machine answers about pairs, from a file or by asking the machine.

    ask: asks a machine in this process instead of the judge in the settings. Answers are stored
    batch by batch, so the same request continues after an interruption. Raises `NotPermitted` if
    `by` may not add proxies, `InvalidInput` if a file, a name or an answer is invalid, and
    `MachineFailed` if the machine does not answer.
    """
    check_can_add_proxy(by, benchmark)
    request.check()
    name = request.name or request.judge or request.machine
    proxy = new_proxy(benchmark, ProxyMethod.JUDGE, name, by)
    if request.file is not None:
        machine = Machine.read(
            {"name": request.machine, "version": request.version, "family": request.family}
        )
        progress(0, None, "reading the file")
        found = read_judgments(request.file, query_numbers(benchmark), video_numbers(benchmark))
        proxy.source = Path(request.file.source).name[:255]
        return _store(proxy, _Answers(machine, *found), "", by, progress)
    if ask is not None:
        asked = _Asking.of(benchmark, request)
    else:
        endpoint = get_endpoint(request.judge)
        endpoint.check(request.budget)
        asked, ask = _Asking.of(benchmark, request), _asking(endpoint)
        asked.check_machine(endpoint.card())
    answers = asked.answers(ask, progress)
    added = _store(proxy, answers, request.judge, by, progress)
    asked.stored.delete()
    return added


def _asking(endpoint: Endpoint) -> Ask:
    return lambda batch, guidelines, items: endpoint.judge(batch, guidelines, LABELS_SHOWN, items)


@dataclass(frozen=True, slots=True, eq=False)
class _Asking:
    """A request with its pairs in the order in which they are asked.

    The order follows from the content of the request, so that a request that starts again has the
    same batches.
    """

    benchmark: Benchmark
    stored: Stored
    guidelines: str
    codes: IntArray

    @classmethod
    def of(cls, benchmark: Benchmark, request: MachineRequest) -> _Asking:
        guidelines = request.guidelines.strip() or guidelines_for(benchmark)
        codes = pairs_to_ask(benchmark, request)
        parts = (request.judge, guidelines, str(request.budget), benchmark.captions_sha256)
        digest = hashlib.sha256("\0".join(parts).encode() + codes.tobytes()).hexdigest()
        order = np.random.default_rng(int(digest[:16], 16)).permutation(len(codes))
        same = {"benchmark": benchmark, "digest": digest}
        if request.restart:
            Stored.objects.filter(**same).delete()
        stored, _ = Stored.objects.get_or_create(**same, defaults={"judge": request.judge})
        return cls(benchmark, stored, guidelines, codes[order][: request.budget])

    def answers(self, ask: Ask, progress: Progress) -> _Answers:
        """Ask about all batches that have no answer yet, and return all answers."""
        questions = Questions.of(self.benchmark)
        known = dict(self.stored.batches.values_list("number", "answers"))
        found: list[tuple[float | None, str]] = []
        for number, start in enumerate(range(0, len(self.codes), BATCH)):
            progress(start, len(self.codes), "asking the machine")
            if number not in known:
                items = questions.items(self.codes[start : start + BATCH])
                batch = uuid.uuid5(uuid.NAMESPACE_OID, f"{self.stored.pk}-{number}")
                machine, answers = ask(str(batch), self.guidelines, items)
                known[number] = self._keep(number, machine, answers)
            found += known[number]
        progress(len(self.codes), len(self.codes), "storing the answers")
        return self._expanded(found)

    def check_machine(self, machine: Machine) -> None:
        """Raise Conflict if another machine answered the batches so far."""
        if self.stored.machine and self.stored.machine != asdict(machine):
            raise Conflict(
                "The machine has changed while it was asked. Start the request again with the "
                "option “Start again”."
            )

    @transaction.atomic
    def _keep(
        self, number: int, machine: Machine, answers: list[Answer]
    ) -> list[tuple[float | None, str]]:
        """Store a batch. Raises Conflict if another machine answered the batches before."""
        current = Stored.objects.select_for_update().filter(pk=self.stored.pk).first()
        if current is None:
            raise Conflict("Another job has finished this request, or started it again.")
        stated = asdict(machine)
        self.stored.machine = current.machine
        self.check_machine(machine)
        if not current.machine:
            Stored.objects.filter(pk=current.pk).update(machine=stated)
        self.stored.machine = stated
        rows = [(answer.p, answer.error) for answer in answers]
        MachineBatch.objects.get_or_create(
            request=current, number=number, defaults={"answers": rows}
        )
        return rows

    def _expanded(self, found: list[tuple[float | None, str]]) -> _Answers:
        """Return the answers for each caption with an equal text."""
        place, codes = expand_text_pairs(
            self.codes, first_equal_captions(self.benchmark), self.benchmark.pair_space
        )
        order = np.argsort(codes)
        place, codes = place[order], codes[order]
        p = np.array([np.nan if value is None else value for value, _ in found])[place]
        wrong = np.flatnonzero(np.isnan(p)).tolist()
        errors = {int(codes[at]): found[place[at]][1] for at in wrong}
        return _Answers(Machine(**self.stored.machine), codes, p, errors)


def _store(
    proxy: Proxy, answers: _Answers, judge: str, by: Actor, progress: Progress
) -> AddedJudge:
    """Store the proxy, with 0 for pairs without a value, and the pairs that were asked."""
    benchmark, machine = proxy.benchmark, answers.machine
    has_value = ~np.isnan(answers.p)
    if not has_value.any():
        raise InvalidInput("The machine has answered no pair with a value.")
    proxy.options = {
        "machine": machine.name,
        "version": machine.version,
        "family": machine.family,
        "pairs": f"{len(answers.codes):,}",
        "without a value": f"{len(answers.errors):,}",
    }
    row = MachineJudge(
        machine=machine.name,
        version=machine.version,
        family=machine.family,
        judge=judge,
        n_pairs=len(answers.codes),
        n_errors=len(answers.errors),
        errors={str(code): text for code, text in answers.errors.items()},
    )
    _store_file(row, answers)

    def store_judge(proxy: Proxy) -> None:
        row.proxy = proxy
        row.save()

    with new_matrix(benchmark.n_queries, benchmark.n_videos) as (path, matrix):
        queries, videos = benchmark.pair_space.decode(answers.codes[has_value])
        matrix[queries, videos] = answers.p[has_value]
        done = store_proxy(proxy, path, PoolingAct.PROXY_COMPUTED, by, progress, store_judge)
    return AddedJudge(MachineJudge.objects.get(proxy=done.proxy), done.created)


def _store_file(row: MachineJudge, answers: _Answers) -> None:
    """Store the file of the pairs. Housekeeping removes it if it gets no row."""
    rows = np.empty(len(answers.codes), ROW)
    rows["code"], rows["p"] = answers.codes, answers.p
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.npy"
        np.save(path, rows)
        row.sha256 = sha256_of_file(path, str(path))
        with path.open("rb") as file:
            row.file.name = proxy_storage().save(f"{uuid.uuid4().hex}.npy", File(file))
