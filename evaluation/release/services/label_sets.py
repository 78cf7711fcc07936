"""Services that publish the current labels as a label set, and download label sets."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated

from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.consensus import OutcomeCounts
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.judgments import judgment_details
from evaluation.core.files import label_file
from evaluation.models import LabelSet, LabelSetBasis, label_set_storage
from evaluation.release import exports, policies
from evaluation.release.enums import Change, ReleaseAct
from evaluation.release.selectors import current_labels
from evaluation.release.selectors.basis import basis_of, judgment_columns
from evaluation.release.selectors.current import CurrentLabels
from evaluation.release.selectors.proposals import next_version
from evaluation.release.services.label_arrays import pack_labels, store_label_arrays
from evaluation.release.services.summary import summary_of
from evaluation.spans.selectors import spans_text
from evaluation.spans.storing import store_spans
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.arrays import numbered
from hearth.shared.bulk import snapshot
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.options import Entry, Option
from hearth.shared.progress import Progress, no_progress
from hearth.webhooks.models import Event
from hearth.webhooks.services import announce
from pooling.core.keys import text_fault
from pooling.models import Benchmark

NOTES_LENGTH = 10_000


class Unsettled(Conflict):
    """Pairs are pending or in conflict, and no one has confirmed that they get no label.

    `counts` contains their numbers.
    """

    def __init__(self, counts: OutcomeCounts) -> None:
        self.counts = counts
        super().__init__(
            f"Not all pairs are settled: {counts.pending:,} pending, {counts.conflicted:,} in "
            "conflict. They would have no label in the label set. Settle them first, or confirm "
            "this (--allow-pending, or allow_pending in the API)."
        )


def check_settled(counts: OutcomeCounts) -> None:
    """Raise `Unsettled` if a pair is pending or in conflict."""
    if counts.unsettled:
        raise Unsettled(counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """A label set to publish.

    change: The part to increase: patch (changed labels), minor (new pairs) or major (changed
        guidelines or rules, or removed pairs). By default, this rule chooses it.
    notes: What is new, for readers of the label set. Notes cannot be changed later.
    allow_pending: They have no label in the label set.
    """

    change: Annotated[Change | None, Option("Version number", entry=Entry.RADIO)] = None
    notes: Annotated[
        str,
        Option("Notes", length=NOTES_LENGTH, entry=Entry.AREA, attrs={"rows": 5, "dir": "auto"}),
    ] = ""
    allow_pending: Annotated[bool, Option("Publish although pairs are pending or in conflict")] = (
        False
    )


def publish_label_set(
    *,
    benchmark: Benchmark,
    by: Actor,
    allow_pending: bool = False,
    change: Change | None = None,
    notes: str = "",
    request: uuid.UUID | None = None,
    progress: Progress = no_progress,
) -> LabelSet:
    """Freeze the current labels of the benchmark as its next label set.

    allow_pending: publish although pairs are pending or in conflict. They have no label in the
    label set. change: the part of the version number to increase; None for the one that
    `propose_version` returns. request: the id of a job; a second call with the same id returns the
    label set of the first.

    The labels are read in one snapshot. The files are written before the row, so that every row has
    its files.

    Raises `NotPermitted` if `by` may not publish labels. Raises `InvalidInput` if there are no
    labels, or if the notes cannot be stored. Raises `Unsettled` if pairs are not settled and
    `allow_pending` is False. Raises `Conflict` if another label set was published at the same time.
    """
    policies.check_can_publish_labels(by, benchmark)
    notes = _checked_notes(notes)
    done = LabelSet.objects.filter(request=request, request__isnull=False).first()
    if done is not None:
        return done
    progress(0, 3, "reading judgments")
    with snapshot():
        frozen_at = timezone.now()
        current = current_labels(benchmark)
        basis = basis_of(benchmark, current)
        spans = spans_text(basis, current.labels, benchmark)
    if not allow_pending:
        check_settled(current.labels.outcomes)
    progress(1, 3, "writing the label set")
    with ThreadPoolExecutor() as threads:
        text = label_file.render_labels(current.labels, current.query_keys, current.video_keys)
        # Threads can do this work during the next steps, because it does not use the database.
        packed = {"labels": _compressing(threads, text)}
        summary = threads.submit(summary_of, current, text)
        arrays = threads.submit(pack_labels, current.labels)
        single, details = _judgment_texts(benchmark, current)
        packed["judgments"] = _compressing(threads, single)
        if details:
            packed["details"] = _compressing(threads, details)
        version = next_version(benchmark, current.labels, basis.rules, change)
        progress(2, 3, "writing the label set")
    files = _save(f"{benchmark.key}-v{version}", packed)
    label_set = LabelSet(
        benchmark=benchmark,
        **version._asdict(),
        notes=notes,
        judgments_sha256=hashlib.sha256(single).hexdigest(),
        file=files["labels"],
        judgments_file=files["judgments"],
        details_file=files.get("details", ""),
        **summary.result(),
        created_by=account_of(by),
        created_at=frozen_at,
        request=request,
    )
    try:
        with transaction.atomic():
            _save_rows(label_set, basis, spans)
            store_label_arrays(benchmark, label_set.sha256, arrays.result())
            after = {"version": str(version), "sha256": label_set.sha256}
            record(ReleaseAct.LABELS_PUBLISHED, by=by, on=label_set, after=after)
            announce(Event.LABELS_PUBLISHED, benchmark.key, {**after, "pairs": label_set.n_pairs})
    except IntegrityError:
        for file in (label_set.file, label_set.judgments_file, label_set.details_file):
            if file:
                file.delete(save=False)
        raise Conflict("Another label set was published at the same time. Try again.") from None
    return label_set


def _save_rows(label_set: LabelSet, basis: LabelSetBasis, spans: tuple[bytes, int, int]) -> None:
    label_set.save()
    basis.label_set = label_set
    basis.save()
    store_spans(label_set, *spans)


@transaction.atomic
def export_label_set(
    *, label_set: LabelSet, format: str, by: Actor, options: exports.ExportOptions = exports.DEFAULT
) -> Iterator[bytes]:
    """Return a label set in a format of `exports.FORMATS`, as pieces of bytes.

    Raises `NotPermitted` if `by` may not export the labels. Raises `InvalidInput` for the reasons
    of `exports.open_export`.
    """
    policies.check_can_export(by, label_set.benchmark)
    pieces = exports.open_export(label_set, format, options)
    if exports.FORMATS[format].is_for_leads:
        policies.check_can_export_comments(by, label_set.benchmark)
    after = {"format": format, "version": label_set.reference, **exports.chosen_options(options)}
    record(ReleaseAct.LABELS_EXPORTED, by=by, on=label_set, after=after)
    return pieces


def _judgment_texts(benchmark: Benchmark, current: CurrentLabels) -> tuple[bytes, bytes]:
    """Return the judgments file and the details file, which is empty if there are no details."""
    judgments = current.judgments
    people, person_of = numbered(judgments.annotators)
    # The secret is not stored, so that no one can link the annotators of two label sets.
    names = label_file.pseudonyms_of(people.tolist(), secrets.token_bytes(32))
    pseudonyms = [names[person] for person in people.tolist()], person_of
    codes, columns = judgments.codes[judgments.pair_of], judgment_columns(judgments)
    order = label_file.order_of_judgments(codes, pseudonyms, columns["queue"])
    keys = current.query_keys, current.video_keys
    text = label_file.render_judgments(codes, pseudonyms, columns, *keys, order)
    return text, _details_text(benchmark, judgments.ids[order].tolist())


def _details_text(benchmark: Benchmark, ids: list[int]) -> bytes:
    """Return the details file of these judgments, or no bytes if all campaigns are imported."""
    if all(campaign.is_imported for campaign in campaigns_of(benchmark)):
        return b""
    lines = [label_file.NO_DETAILS] * len(ids)
    place = dict(zip(ids, range(len(ids)), strict=True))
    for pk, judged_at, seconds, guideline, missing in judgment_details(benchmark):
        if pk in place:
            lines[place[pk]] = label_file.detail_line(judged_at, seconds, guideline, missing)
    return label_file.render_details(lines)


def _checked_notes(notes: str) -> str:
    """Return the notes without blanks around them. Raises `InvalidInput` if they are not valid."""
    notes = notes.strip()
    if notes and (fault := text_fault(notes, "text of the notes", longest=NOTES_LENGTH)):
        raise InvalidInput(f"{fault[0].upper()}{fault[1:]}.")
    return notes


def _compressing(threads: ThreadPoolExecutor, text: bytes) -> list[Future[bytes]]:
    """Let threads compress a text, and return the future of each compressed piece."""
    return [threads.submit(label_file.compress, piece) for piece in label_file.pieces_of(text)]


def _save(stem: str, packed: Mapping[str, list[Future[bytes]]]) -> dict[str, str]:
    """Store the compressed files, and return the name of each."""
    storage = label_set_storage()
    return {
        name: storage.save(
            f"{stem}-{name}.csv.gz", ContentFile(b"".join(piece.result() for piece in pieces))
        )
        for name, pieces in packed.items()
    }
