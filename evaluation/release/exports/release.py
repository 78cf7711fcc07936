"""A label set as a folder that can be published: data, card, datasheet and metadata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from evaluation.core.files.archive import Archive
from evaluation.core.files.release import card, linked_data, metadata
from evaluation.core.files.release.facts import (
    JUDGMENTS,
    JUDGMENTS_TABLE,
    LABELS,
    QRELS,
    SPANS,
    SPANS_TABLE,
    TABLE,
    AgreementFacts,
    Publisher,
    ReleaseFacts,
    RunFacts,
    SpanFacts,
    VersionFacts,
)
from evaluation.core.people.agreement_figures import Resampling, figures_from_store
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.models import LabelSet
from evaluation.release.exports import tables
from evaluation.release.exports.options import DEFAULT, ExportOptions
from evaluation.release.exports.qrels import qrels
from evaluation.release.selectors import label_set_judged, original_judged
from evaluation.spans.selectors import stored_spans
from pooling.models import Run
from pooling.selectors.runs import ranked_lists

MEASURES = ("C@1", "C@5", "C@10", "AP")


def release(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield a zip archive. It is completed in a temporary file first."""
    facts = replace(release_facts(label_set, options), runs=_runs(label_set))
    with TemporaryFile() as out:
        archive = Archive(out, facts.stem, label_set.created_at.date())
        for path, pieces in _data(label_set, options):
            archive.add(path, pieces)
        described = linked_data.croissant(facts, tuple(archive.files))
        for path, text in [*_documents(facts), ("croissant.json", described)]:
            archive.add(path, [text.encode()])
        archive.close()
        out.seek(0)
        while piece := out.read(tables.BYTES_PER_PIECE):
            yield piece


def _data(label_set: LabelSet, options: ExportOptions) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield TABLE, tables.parquet(label_set, options)
    yield JUDGMENTS_TABLE, tables.judgments_parquet(label_set)
    yield LABELS, _stored(label_set.file)
    yield JUDGMENTS, _stored(label_set.judgments_file)
    yield QRELS, qrels(label_set, DEFAULT)
    if found := stored_spans(label_set):
        yield SPANS_TABLE, tables.spans_parquet(label_set)
        yield SPANS, _stored(found.file)


def _stored(file: Any) -> Iterator[bytes]:
    with file.storage.open(file.name, "rb") as stream:
        while piece := stream.read(tables.BYTES_PER_PIECE):
            yield piece


def _documents(facts: ReleaseFacts) -> Iterator[tuple[str, str]]:
    yield "README.md", f"---\n{_yaml(metadata.card_metadata(facts))}---\n\n{card.card(facts)}"
    yield "DATASHEET.md", card.datasheet(facts)
    yield "CHANGES.md", card.changes(facts)
    yield "CITATION.cff", _yaml(metadata.citation(facts))
    yield "datacite.json", linked_data.datacite(facts)
    yield "eval.yaml", _yaml(metadata.benchmark_metadata(facts))
    for number, run in enumerate(facts.runs, start=1):
        if not run.is_withdrawn:
            name = metadata.file_name(run, number)
            yield f".eval_results/{name}", _yaml(metadata.eval_results(facts, run))
    yield "ir-metadata.yml", _yaml(metadata.ir_metadata(facts))
    yield "prov.json", linked_data.provenance(facts)


def datasheet_text(label_set: LabelSet) -> str:
    """Return the datasheet of the release, with the runs but without their scores."""
    runs = [_run_facts(run, {}) for run in _runs_at(label_set)]
    return card.datasheet(replace(release_facts(label_set, DEFAULT), runs=runs))


def _yaml(value: Any) -> str:
    # Most commands load this module, but do not need YAML.
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text


def release_facts(label_set: LabelSet, options: ExportOptions) -> ReleaseFacts:
    """Return the facts of the documents, without the runs, as of the publication."""
    benchmark = label_set.benchmark
    annotators, campaigns = _count_annotators(label_set, label_set.judgments_sha256)
    earlier = LabelSet.objects.filter(benchmark=benchmark, created_at__lt=label_set.created_at)
    return ReleaseFacts(
        stem=f"{benchmark.key}-labels-v{label_set.reference}",
        benchmark=benchmark.key,
        name=benchmark.name,
        description=benchmark.description,
        licence=options.licence or benchmark.licence,
        captions=benchmark.n_queries,
        videos=benchmark.n_videos,
        original_positives=len(original_judged(benchmark).codes),
        captions_sha256=benchmark.captions_sha256,
        labels=_version(label_set),
        undecided=label_set.n_conflicted + label_set.n_pending,
        judgments_sha256=label_set.judgments_sha256,
        annotators=annotators,
        campaigns=campaigns,
        agreement=_agreement(label_set),
        code_version=label_set.code_version,
        runs=(),
        earlier=[_version(other) for other in earlier.order_by("-created_at", "-pk")],
        publisher=Publisher(
            settings.PUBLISHER_NAME, settings.PUBLISHER_EMAIL, settings.PUBLISHER_WEBSITE
        ),
        hub_id=options.hub_id or benchmark.key,
        columns=tables.label_columns(options),
        judgment_columns=tables.judgment_columns(label_set),
        spans=_spans(label_set),
    )


def _spans(label_set: LabelSet) -> SpanFacts | None:
    found = stored_spans(label_set)
    if found is None:
        return None
    return SpanFacts(found.sha256, found.n_spans, found.n_unsettled)


def _version(label_set: LabelSet) -> VersionFacts:
    return VersionFacts(
        version=str(label_set.reference),
        published=label_set.created_at.date().isoformat(),
        sha256=label_set.sha256,
        pairs=label_set.n_pairs,
        relevant=label_set.n_relevant,
        judgments=label_set.n_judgments,
    )


@lru_cache(maxsize=8)
def _count_annotators(label_set: LabelSet, _sha256: str) -> tuple[int, int]:
    """Return the numbers of annotators and of campaigns in the judgments file.

    The hash is part of the cache key, because a new row can get the primary key of a rolled-back
    row.
    """
    pseudonyms: set[str] = set()
    queues: set[str] = set()
    for block in tables.frozen_blocks(label_set.judgments_file):
        pseudonyms.update(row[2] for row in block)
        queues.update(row[4] for row in block)
    return len(pseudonyms), len(queues)


def _agreement(label_set: LabelSet) -> AgreementFacts | None:
    if label_set.agreement is None:
        return None
    first = figures_from_store(label_set.agreement, Resampling())["first_labels"]
    return AgreementFacts(
        first["multiply_labelled"], first["agreement"], first["alpha"], first["alpha_interval"]
    )


def _runs(label_set: LabelSet) -> list[RunFacts]:
    """Return the runs that existed at publication, with their scores by these labels.

    A withdrawn run is included, but without scores.
    """
    benchmark = label_set.benchmark
    original = original_judged(benchmark, label_set)
    judged = with_positives(label_set_judged(label_set), original)
    found = []
    for run in _runs_at(label_set):
        means = {} if run.is_withdrawn else _means(run, judged)
        found.append(_run_facts(run, means))
    return found


def _means(run: Run, judged: Judged) -> dict[str, float | None]:
    measures = {name: parse_measure(name) for name in MEASURES}
    scores = score_run(ranked_lists(run), judged.facing(run.facing), measures.values())
    return {name: scores.mean(measure).value for name, measure in measures.items()}


def _runs_at(label_set: LabelSet) -> QuerySet[Run]:
    runs = Run.objects.filter(benchmark=label_set.benchmark, created_at__lte=label_set.created_at)
    return runs.select_related("system", "benchmark").order_by("name")


def _run_facts(run: Run, means: dict[str, float | None]) -> RunFacts:
    return RunFacts(
        run.name, run.system.key, run.sha256, run.depth, means, run.is_withdrawn, run.direction
    )
