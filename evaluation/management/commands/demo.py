"""Build the demo benchmark, from videos to corrected scores, and serve it."""

from __future__ import annotations

import io
import socket
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import transaction

from annotation.enums import GoldUse
from annotation.models import Campaign
from annotation.questions.order.answers import ordering_studies
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.training import find_training_queue
from annotation.services import (
    Policy,
    import_gold,
    open_campaign,
    open_training,
    write_guideline,
)
from evaluation.demo.annotators import make_annotators
from evaluation.demo.benchmark import DEFAULT_SEED, DemoBenchmark, make_benchmark
from evaluation.demo.estimates import (
    add_machine_judge,
    estimate_lines,
    estimate_system,
    estimated,
)
from evaluation.demo.files import write_benchmark, write_gold
from evaluation.demo.gold import choose_gold
from evaluation.demo.guideline import GUIDELINE, make_examples
from evaluation.demo.moments import KEY as MOMENTS_KEY
from evaluation.demo.moments import build_moments, moment_lines, moments_of_demo
from evaluation.demo.noise import DemoNoise, DemoScore, noise_lines, true_scores
from evaluation.demo.people import (
    ACCOUNTS,
    PASSWORD,
    admit_careless,
    careless_annotator,
    judge_pairs,
    make_accounts,
    order_captions,
    train_annotators,
    withdraw_careless,
)
from evaluation.demo.phrasings import add_phrasings
from evaluation.demo.proxies import auc_by_truth, proxy_lines
from evaluation.demo.sequences import add_sequences
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.management.commands.evaluate import abc
from evaluation.models import NEWEST_FIRST, LabelSet
from evaluation.release.selectors import label_set_labels, original_judged
from evaluation.scores.selectors import stored_scores
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.jobs.models import JobState
from hearth.jobs.services import enqueue_job
from hearth.processes import child, raise_on_signals
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import Conflict, HearthError, InvalidInput
from hearth.shared.progress import Progress
from pooling.core.direction import Direction
from pooling.core.pool import union_codes
from pooling.core.pool_options import PoolOptions
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.enums import ProxyMethod
from pooling.models import Benchmark
from pooling.scenes.actions import FindScenes
from pooling.scenes.services import find_scenes
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.pools import pair_arrays
from pooling.selectors.proxies import find_proxies, has_wordnet, values_of_proxy
from pooling.selectors.runs import find_runs, ranked_lists
from pooling.services import (
    Details,
    ImportFiles,
    build_pool,
    compute_proxy,
    import_benchmark,
    import_run,
    import_tags,
    import_train_captions,
)

KEY = "moving-shapes"
DEPTH = 10
# The share of labels that is left for people who try the demo.
LEFT_FOR_VISITOR = 0.05
# The number of training items, and of control pairs.
GOLD = 24
POLICY = Policy(
    gate_share=10 / 12,
    gate_last=12,
    gold_share=0.03,
    gold_bar=0.8,
    gold_last=5,
)
# The ordering study: the number of its videos, and of the people who order each.
STUDY_VIDEOS, STUDY_PEOPLE = 20, 3
ASKED = 12  # phrasings that visitors are asked about
JOB_SECONDS = 120
WITHOUT_WORDNET = "PoS instead of SYN, because WordNet is not installed"
COLUMNS = ("C@1", "C@5", "C@10", "AP")
WORKER = ["celery", "--quiet", "-A", "config.celery", "worker", "--beat"]
WORKER += ["--concurrency", "1", "--loglevel", "INFO"]


class Command(HearthCommand):
    help = "Build the demo benchmark end to end, then serve it on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-serve", action="store_true", help="only build the demo, without a web server"
        )
        parser.add_argument(
            "--port", type=int, default=8000, help="port of the web server; default: 8000"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if not settings.ON_THIS_MACHINE_ONLY:
            raise InvalidInput(
                "The accounts of the demo have a known password, so it runs only on this machine. "
                "Unset ALLOWED_HOSTS."
            )
        if not options["no_serve"]:
            check_free(options["port"])
        raise_on_signals()
        call_command("migrate", verbosity=0)
        # An earlier call may have built the demo already.
        is_built = LabelSet.objects.filter(benchmark__key=KEY).exists()
        make_accounts()
        if not is_built:
            build(self.progress)
        # An earlier version may have built a demo without moments.
        if not is_built or not LabelSet.objects.filter(benchmark__key=MOMENTS_KEY).exists():
            build_rooms(self.progress)
        with child(WORKER, log=settings.HEARTH_HOME / "logs" / "worker.log"):
            if not is_built:
                wait_for_job(
                    "agreement", "Compute the agreement of the demo’s annotators", self.progress
                )
                # The pairs that are left for people to judge are pending.
                wait_for_job(
                    "publish_labels",
                    "Publish the labels of the demo",
                    self.progress,
                    allow_pending=True,
                )
            # After the label set, which therefore has no labels that were sampled for a run.
            demo, benchmark = make_benchmark(), Benchmark.objects.get(key=KEY)
            add_machine_judge(benchmark, self.progress)
            estimate_system(benchmark, make_annotators(demo), self.progress)
            self.progress.close()
            result = summary(benchmark)
            if not options["no_serve"]:
                self.report(result)
                self.serve(options["port"])
        return result

    def report(self, result: dict[str, Any]) -> None:
        if "reported" in result:
            return
        result["reported"] = True
        for line in table(result):
            self.stdout.write(line)

    def serve(self, port: int) -> None:
        gunicorn = ["gunicorn", "config.wsgi", "--config", "deploy/gunicorn.conf.py"]
        address = f"127.0.0.1:{port}"
        with child(
            [*gunicorn, "--bind", address], WEB_CONCURRENCY="2", WEB_THREADS="32", HEARTH_DEMO="1"
        ) as server:
            wait_for_port(port)
            campaign = campaigns_of(Benchmark.objects.get(key=KEY)).filter(draw=None)[0]
            for line in addresses(f"http://{address}", campaign):
                self.stdout.write(line)
            self.stdout.flush()
            try:
                server.wait()
            except KeyboardInterrupt:
                self.stdout.write("\nStopping …")


def build(progress: Progress) -> None:
    """Build everything up to the last simulated answer, with the ordinary services.

    After an interruption, the next call continues at the step that was interrupted.
    """
    demo = make_benchmark()
    folder = settings.HEARTH_HOME / "demo"
    files = write_benchmark(demo, folder, lambda d, t: progress(d, t, "drawing videos"))
    benchmark = import_benchmark(
        key=KEY,
        files=ImportFiles.of(files.captions, videos=files.videos),
        details=Details(
            name="Moving shapes (demo)",
            licence="GPL-3.0-or-later",
            description="Moving coloured shapes, drawn by Hearth. The correct label of each pair "
            "is known, so labels can be compared with the correct ones.",
        ),
        media_dir=files.media,
        by=OPERATOR,
        progress=progress,
    ).benchmark
    import_train_captions(
        benchmark=benchmark, path=files.train_captions, by=OPERATOR, progress=progress
    )
    import_tags(benchmark=benchmark, path=files.tags, by=OPERATOR, progress=progress)
    for system, path in files.runs.items():
        import_run(
            benchmark=benchmark, path=path, system=system, by=OPERATOR, depth=20, progress=progress
        )
    build_pool(
        benchmark=benchmark, options=PoolOptions(depth=DEPTH), by=OPERATOR, progress=progress
    )
    # This video-to-text run is imported after the pool was built, so it adds no pairs to the pool.
    import_run(
        benchmark=benchmark,
        path=files.runs["still-frame"],
        system="still-frame",
        direction=Direction.VIDEO_TO_TEXT,
        by=OPERATOR,
        depth=20,
        progress=progress,
    )
    compute_proxies(benchmark, progress)
    import_gold_items(demo, benchmark, folder)
    train(demo, benchmark)
    campaign = campaigns_of(benchmark).first() or open_campaign(
        benchmark=benchmark,
        by=OPERATOR,
        policy=POLICY,
        seed=demo.seed,
        name="Moving shapes, round 1",
    )
    judge(demo, campaign, progress)
    order(demo, benchmark)


def build_rooms(progress: Progress) -> None:
    """Add phrasings, paragraphs, moments and scenes."""
    demo, benchmark = make_benchmark(), get_benchmark(KEY)
    folder = settings.HEARTH_HOME / "demo"
    progress(0, None, "adding phrasings")
    add_phrasings(demo, benchmark, folder)
    ask_about_phrasings(benchmark)
    add_sequences(folder / "sequences", make_annotators(demo), progress)
    build_moments(demo.seed, folder / "moments", progress)
    for each in (benchmark, get_benchmark(MOMENTS_KEY)):
        find_scenes(benchmark=each, options=FindScenes(), by=OPERATOR, progress=progress)


def compute_proxies(benchmark: Benchmark, progress: Progress) -> None:
    """Compute the proxies BoW and SYN, or PoS instead of SYN if WordNet is not installed.

    A stored proxy is not replaced.
    """
    for method in (Method.BOW, Method.SYN if has_wordnet() else Method.POS):
        options = ProxyOptions(method)
        compute_proxy(benchmark=benchmark, options=options, by=OPERATOR, progress=progress)


@transaction.atomic
def import_gold_items(demo: DemoBenchmark, benchmark: Benchmark, folder: Path) -> None:
    """Write the guidelines with examples, and import gold items.

    Examples and gold items are pairs outside the pool, so that the correct answer of a pooled pair
    is never shown.
    """
    if latest_guideline(benchmark) is not None:
        return
    codes = pair_arrays(benchmark).codes.tolist()
    pooled = {benchmark.pair_space.decode(code) for code in codes}
    gold = choose_gold(demo, 2 * GOLD, seed=demo.seed, without=pooled)
    for use, pairs in ((GoldUse.TRAINING, gold[:GOLD]), (GoldUse.CONTROL, gold[GOLD:])):
        path = write_gold(folder / f"gold-{use}.csv", demo, pairs)
        import_gold(benchmark=benchmark, by=OPERATOR, path=path, use=use)
    examples = make_examples(demo, pooled | {(pair.caption, pair.video) for pair in gold})
    write_guideline(benchmark=benchmark, by=OPERATOR, text=GUIDELINE, pictures=examples)


def train(demo: DemoBenchmark, benchmark: Benchmark) -> None:
    lead = User.objects.get(username="lead")
    training = find_training_queue(benchmark) or open_training(
        benchmark=benchmark, by=lead, name="Moving shapes, training"
    )
    train_annotators(training, make_annotators(demo))


def judge(demo: DemoBenchmark, campaign: Campaign, progress: Progress) -> None:
    people = make_annotators(demo)
    planned = campaign.n_tasks + campaign.n_extra(campaign.n_tasks)
    goal = round(planned * (1 - LEFT_FOR_VISITOR))
    admit_careless(campaign, people)
    all_annotators = [*people, careless_annotator(people)]
    judge_pairs(campaign, all_annotators, up_to=goal // 2, progress=progress)
    withdraw_careless(campaign, people)
    judge_pairs(campaign, people, up_to=goal, progress=progress)


def ask_about_phrasings(benchmark: Benchmark) -> None:
    """Open a campaign in which visitors can judge whether phrasings say the same."""
    if not benchmark.campaigns.filter(question="faithfulness").exists():
        call_command(
            "open_faithfulness",
            benchmark.key,
            phrasings=ASKED,
            name="Same meaning",
            stdout=io.StringIO(),
        )


def order(demo: DemoBenchmark, benchmark: Benchmark) -> None:
    """Let three simulated annotators do an ordering study, whose captions BoW chose."""
    if not ordering_studies(benchmark):
        call_command(
            "create_ordering_study",
            benchmark.key,
            proxy=find_proxies(benchmark)[0].name,
            videos=STUDY_VIDEOS,
            labels_each=STUDY_PEOPLE,
            seed=demo.seed,
            name="Moving shapes, ordering",
            stdout=io.StringIO(),
        )
    study = ordering_studies(benchmark)[0]
    order_captions(study, demo, make_annotators(demo)[-STUDY_PEOPLE:])


def wait_for_job(kind: str, title: str, progress: Progress, **params: Any) -> None:
    """Queue a job and wait until the worker has finished it."""
    job = enqueue_job(
        kind=kind,
        title=title,
        params={"benchmark": KEY, **params},
        benchmark_key=KEY,
        by=OPERATOR,
    )
    deadline = time.monotonic() + JOB_SECONDS
    while not job.is_finished:
        if time.monotonic() > deadline:
            raise Conflict(
                f"{title}: the worker has not finished this job within {JOB_SECONDS} seconds. "
                "Its log is logs/worker.log in HEARTH_HOME."
            )
        progress(job.done, job.total, f"{title.lower()} (worker)")
        time.sleep(0.2)
        job.refresh_from_db()
    if job.state != JobState.DONE:
        raise HearthError(f"{title}: the job is {job.state}. {job.error}".rstrip())


def summary(benchmark: Benchmark) -> dict[str, Any]:
    label_set = benchmark.label_sets.earliest(*NEWEST_FIRST)
    original = stored_scores(benchmark, None)
    labelled = stored_scores(benchmark, label_set)
    return {
        "benchmark": KEY,
        "labels": label_set.version,
        "sha256": label_set.sha256,
        "pairs": label_set.n_pairs,
        "judgments": label_set.n_judgments,
        "relevant": label_set.n_relevant,
        "runs": {
            run.name: {
                name: {
                    "labelled": labelled[run.pk].scores[name],
                    "original": original[run.pk].scores[name],
                }
                for name in COLUMNS
            }
            for run in find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
            # A run that a person has uploaded may be unscored.
            if run.pk in original and run.pk in labelled
        },
        "noise": noise_of(benchmark, label_set),
        "proxies": {
            proxy.name: auc_by_truth(make_benchmark(), values_of_proxy(proxy))
            for proxy in find_proxies(benchmark)
            if proxy.method != ProxyMethod.JUDGE
        },
        "estimate": estimated(make_benchmark(), benchmark),
        "moments": moments_of_demo(DEFAULT_SEED),
    }


def noise_of(benchmark: Benchmark, label_set: LabelSet) -> DemoNoise:
    """Return the error rates of the labels, and the raw, corrected and true scores of each run."""
    question = build_question(get_analysis("label-noise"), benchmark, {"labels": label_set.version})
    result = analyse(question=question).result
    rates = next((row for row in result["rates"] if row["used"]), None)
    positives, _ = original_judged(benchmark).positives()
    codes = union_codes([label_set_labels(label_set).codes, positives])
    ranked = {run.name: ranked_lists(run) for run in question.inputs.runs}
    truth = true_scores(make_benchmark(), ranked, codes, COLUMNS)
    runs: dict[str, dict[str, DemoScore]] = {name: {} for name in ranked}
    for row in result["scores"]:
        if row["measure"] in COLUMNS:
            runs[row["run"]][row["measure"]] = {
                "raw": row["raw"],
                "corrected": row["corrected"],
                "interval": row["interval"],
                "truth": truth[row["run"]][row["measure"]],
            }
    return {
        "false_alarms": rates and rates["false_alarm"],
        "misses": rates and rates["miss"],
        "runs": runs,
    }


def table(result: dict[str, Any]) -> list[str]:
    """Return the lines of the report: the scores as A (B + C), their correction, the proxies."""
    head = "".join(f"{name:>26}" for name in COLUMNS)
    lines = [
        "",
        "{judgments:,} judgments of {pairs:,} pairs, {relevant:,} relevant; label set {labels}, "
        "sha256 {sha256:.12}".format(**result),
        "",
        "A (B + C): score by the label set (by the original positives only + the difference)",
        f"{'':14}{head}",
    ]
    for name, scores in result["runs"].items():
        cells = "".join(
            f"{abc(scores[column]['original'], scores[column]['labelled']):>26}"
            for column in COLUMNS
        )
        lines.append(f"{name:14}{cells}")
    noise, proxies = noise_lines(result["noise"], COLUMNS), proxy_lines(result["proxies"])
    estimate, moments = estimate_lines(result["estimate"]), moment_lines(result["moments"])
    return [*lines, "", *noise, "", *proxies, "", *estimate, "", *moments, ""]


def addresses(root: str, campaign: Campaign) -> list[str]:
    return [
        f"Hearth is at          {root}/",
        f"Judge                 {root}/campaigns/{campaign.pk}/judge/   (as annotator)",
        f"Train first           {root}/   (as newcomer)",
        f"Training, gold        {root}/benchmarks/{KEY}/training/   (as lead)",
        f"Results               {root}/benchmarks/{KEY}/results/   (as researcher)",
        f"Proxies               {root}/benchmarks/{KEY}/proxies/   (as researcher)",
        f"Machine judge         {root}/benchmarks/{KEY}/machines/   (as researcher)",
        f"Estimates             {root}/benchmarks/{KEY}/analyses/estimates/   (as researcher)",
        f"Moments               {root}/benchmarks/{MOMENTS_KEY}/results/   (as researcher)",
        *([] if has_wordnet() else [f"{'':22}{WITHOUT_WORDNET}"]),
        f"Accounts              {', '.join(ACCOUNTS)}; password of all: {PASSWORD}",
        "Press Ctrl-C to stop. The data is kept.",
    ]


def check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise InvalidInput(
                f"The port {port} is in use. Choose another one: --port {port + 1}, or "
                f"`make demo PORT={port + 1}`."
            ) from None


def wait_for_port(port: int) -> None:
    for _ in range(150):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise Conflict("The web server did not start. Its messages are above.")
