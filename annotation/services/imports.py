"""Importing judgments from a file as a closed campaign."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils import timezone

from annotation.core.consensus import NO_LABEL, Outcomes, count_values, places_within, resolve
from annotation.core.plan import count_plan
from annotation.core.readers.judgments import (
    CSV,
    JUDGMENTS,
    NO_TIME,
    JudgmentsFile,
    JudgmentsOf,
    header_of,
    parse_judgments,
)
from annotation.enums import LABELS, AnnotationAct, CampaignState, JudgmentState, Scale
from annotation.models import SLOTS_MAX, Annotator, Campaign, Judgment, JudgmentTask
from annotation.policies import check_can_lead
from annotation.selectors.tasks import pairs_per_unit
from annotation.services.slots import TASK_STATES
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.arrays import combined
from hearth.shared.bulk import copy_columns, lock_row, long_transaction, reserve_ids
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.folding import fold
from hearth.shared.progress import Progress, no_progress
from pooling.core.equal_texts import text_pair_codes
from pooling.core.lines import SourceFile
from pooling.core.pool import union_codes
from pooling.core.readers.layouts import JUDGMENT_COLUMNS
from pooling.core.readers.registry import AUTO
from pooling.core.strata import Stratum, stated_strata
from pooling.models import Benchmark
from pooling.selectors.arrays import query_numbers, query_texts, video_numbers
from pooling.selectors.captions import first_equal_captions

# The only service of `pooling` that a service of this app calls: only `pooling` writes pairs
# (docs/decisions/009).
from pooling.services.pools import add_judged_pairs

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ImportedJudgments:
    """The result of an import. `created` is False if the file was already imported.

    notes: what its reader noticed, such as an annotator in two spellings.
    """

    campaign: Campaign
    judgments: int
    pairs: int
    created: bool
    notes: tuple[str, ...]


def import_judgments(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    format: str = AUTO,
    scale: Scale = Scale.BINARY,
    pool_equal: bool | None = None,
    data_set: str = "",
    columns: Sequence[str] = (),
    values: Sequence[str] = (),
    licence: str = "",
    progress: Progress = no_progress,
) -> ImportedJudgments:
    """Store a file of judgments as a closed campaign, with any number of labels for a pair.

    format: the name of a reader of `annotation.core.readers`; by default, the format is recognised
    by the file's start. The campaign
    stores the format, each licence that the file states, and `licence`, which is stated elsewhere.
    The licences may contradict each other, and none replaces another. data_set: the data set whose
    entries are imported from a FIRE file. A judgment gets the time that the file contains, or else
    the time of the import.

    columns: names of columns, such as `annotator=WorkerId`. values: labels, such as `yes=1`. They
    are stored, and later imports of tables with these columns use them again.

    Pairs that are not in any pool are added in a new pool, as are pairs that the file names without
    a label. The labels of the file decide each pair,
    and no further label is requested. A label applies only to its own caption. But if `pool_equal`
    is True, captions with equal texts share a task, and its label applies to all of them. A further
    label of the task by the same annotator is then stored as surplus. By default, only the labels
    of FIRE files are shared, because these files name texts and not captions.

    Raises `InvalidInput` for an invalid file, and `Conflict` if the file was imported with another
    `pool_equal`. Nothing is stored after an error. If the file was imported before, its campaign is
    returned.
    """
    check_can_lead(by, benchmark)
    file = read_file(
        *(benchmark, path, format, scale, data_set, source, progress),
        columns=columns,
        values=values,
    )
    pool_equal = file.has_texts if pool_equal is None else pool_equal
    origin = _origin(file, source or path.name, licence, data_set)
    if columns or values:
        origin |= {"columns": list(columns), "values": list(values)}
    progress(0, None, "storing judgments")
    with long_transaction():
        lock_row(benchmark)
        benchmark.refresh_from_db(fields=["equal_texts"])
        earlier = Campaign.objects.filter(benchmark=benchmark, source_sha256=file.sha256)
        stored = earlier.first()
        if stored is not None:
            _check_pool_equal(stored, pool_equal)
        campaign = stored or _store(benchmark, file, scale, pool_equal, origin, by)
        if stored is None:
            after = {"judgments": len(file.labels), "sha256": file.sha256, "format": file.format}
            record(AnnotationAct.JUDGMENTS_IMPORTED, by=by, on=campaign, after=after)
    n_pairs = len(union_codes([codes_of_file(benchmark, file)]))
    return ImportedJudgments(campaign, len(file.labels), n_pairs, stored is None, file.notes)


def read_file(
    benchmark: Benchmark,
    path: Path,
    format: str,
    scale: Scale,
    data_set: str,
    source: str | None,
    progress: Progress,
    *,
    columns: Sequence[str] = (),
    values: Sequence[str] = (),
) -> JudgmentsFile:
    """Read a file of judgments. columns, values: texts `NAME=NAME IN FILE`, `TEXT=LABEL`."""
    used, texts = _as_before(benchmark, SourceFile.at(path, source), format, columns, values)
    of = JudgmentsOf(
        query_numbers=query_numbers(benchmark),
        video_numbers=video_numbers(benchmark),
        query_texts=query_texts(benchmark),
        now=timezone.now(),
        labels=LABELS[scale],
        data_set=data_set,
        columns=_mapping(used, "column", JUDGMENT_COLUMNS),
        values=_mapping(texts, "value"),
    )
    file = parse_judgments(
        path,
        of,
        format=format,
        progress=lambda done, total: progress(done, total, "reading judgments"),
        source=source,
    )
    if (used, texts) == (tuple(columns), tuple(values)):
        return file
    note = f"columns and values as in the last import: {', '.join((*used, *texts))}"
    return replace(file, notes=(note, *file.notes))


def _as_before(
    benchmark: Benchmark,
    file: SourceFile,
    format: str,
    columns: Sequence[str],
    values: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the selected columns and values, or else those of the last import that selected any.

    The latter are used for a table that has all of these columns.
    """
    chosen = tuple(columns), tuple(values)
    if any(chosen) or format not in (AUTO, CSV):
        return chosen
    imported = Campaign.objects.filter(benchmark=benchmark, source__has_key="columns")
    before = imported.order_by("-pk").values_list("source", flat=True).first()
    if not before or JUDGMENTS.choose(file, format).name != CSV:
        return chosen
    wanted = _mapping(before["columns"], "column", JUDGMENT_COLUMNS).values()
    if not {*wanted} <= {*header_of(file)}:
        return chosen
    return tuple(before["columns"]), tuple(before["values"])


def _mapping(texts: Sequence[str], noun: str, known: Collection[str] = ()) -> dict[str, str]:
    """Return what each text `LEFT=RIGHT` maps. known: the possible left sides, if not all."""
    found = {}
    for text in texts:
        left, mark, right = (part.strip() for part in text.partition("="))
        if not (left and mark and right) or (known and left not in known):
            wanted = f"one of {', '.join(known)}" if known else "a text of the file"
            raise InvalidInput(
                f"The {noun} {text!r} must have the form LEFT=RIGHT, where LEFT is {wanted}."
            )
        found[left] = right
    return found


def _origin(file: JudgmentsFile, name: str, licence: str, data_set: str) -> dict[str, Any]:
    """Return the facts that a campaign stores about its imported file."""
    return {
        "format": file.format,
        "name": Path(name).name,
        "data_set": data_set,
        "licences_in_file": list(file.licences),
        "licence_stated_elsewhere": licence.strip(),
        "has_annotators": file.has_annotators,
        "has_times": bool((file.times != NO_TIME).any()),
        **({"strata": _strata_counts(file)} if file.strata else {}),
    }


def _strata_counts(file: JudgmentsFile) -> dict[str, list[int]]:
    return {name: list(counts) for name, counts in sorted(file.counts_by_stratum().items())}


def _check_pool_equal(stored: Campaign, pool_equal: bool) -> None:
    """Raise `Conflict` if the stored judgments were imported with another `pool_equal`."""
    if stored.tasks.filter(unit__isnull=False).exists() != pool_equal:
        raise Conflict(
            f"Campaign {stored.pk} already contains these judgments. There, captions with equal "
            f"texts {'do not share' if pool_equal else 'share'} labels."
        )


def codes_of_file(benchmark: Benchmark, file: JudgmentsFile) -> Int64Array:
    return benchmark.pair_space.encode(file.queries, file.videos)


def _store(
    benchmark: Benchmark,
    file: JudgmentsFile,
    scale: Scale,
    pool_equal: bool,
    origin: dict[str, Any],
    by: Actor,
) -> Campaign:
    codes = codes_of_file(benchmark, file)
    pairs = union_codes([codes])
    keys = task_keys(benchmark, codes, pool_equal)
    tasks = union_codes([keys])
    task_of = np.searchsorted(tasks, keys)
    is_live = ~repeats(task_of, file.annotators)
    counts = count_values(task_of[is_live], file.labels[is_live], len(tasks), len(LABELS[scale]))
    n_labels = counts.sum(axis=1)
    most = int(n_labels.max(initial=1))
    if most > SLOTS_MAX:
        raise InvalidInput(f"A pair has {most} labels. The maximum is {SLOTS_MAX}.")
    pooled = union_codes([pairs, benchmark.pair_space.encode(*file.unjudged)])
    pool, all_ids = add_judged_pairs(
        benchmark=benchmark, codes=pooled, by=by, strata=_strata(benchmark, file, codes)
    )
    pair_ids = all_ids[np.searchsorted(pooled, pairs)]
    shared = _shared(benchmark, tasks) if pool_equal else {}
    campaign = Campaign.objects.create(
        benchmark=benchmark,
        pool=pool,
        name=f"{benchmark.key} imported {file.sha256[:8]}",
        state=CampaignState.CLOSED,
        scale=scale,
        labels_max=most,
        n_tasks=len(tasks),
        plan=count_plan([(n_labels, shared.get("n_pairs", np.ones_like(tasks)))]),
        source_sha256=file.sha256,
        source=origin,
        closed_at=timezone.now(),
        created_by=account_of(by),
    )
    pair_keys = task_keys(benchmark, pairs, pool_equal)
    by_key = np.argsort(pair_keys, kind="stable")
    shown = by_key[np.searchsorted(pair_keys[by_key], tasks)]  # the first pair of each task
    task_ids = _copy_tasks(
        campaign,
        resolve(counts, n_labels, labels_max=n_labels, threshold=campaign.threshold),
        pair_id=pair_ids[shown],
        **shared,
    )
    copy_columns(
        Judgment,
        {
            "task_id": task_ids[task_of],
            "annotator_id": _annotator_ids(benchmark, file)[file.annotators],
            "label": file.labels,
            "created_at": _times(file),
            **_slots(task_of, is_live),
        },
    )
    return campaign


def _strata(benchmark: Benchmark, file: JudgmentsFile, codes: Int64Array) -> list[Stratum]:
    """Return the strata that the file states. codes: int64 [n], the pair of each judgment."""
    if not file.strata:
        return []
    unjudged = benchmark.pair_space.encode(*file.unjudged)
    is_judged = np.repeat([True, False], [len(codes), len(unjudged)])
    return stated_strata(file.strata, file.stratum, np.concatenate([codes, unjudged]), is_judged)


def _times(file: JudgmentsFile) -> Any:
    """Return the time of each judgment: the time in the file, or else the time of the import."""
    now = timezone.now()
    if (file.times == NO_TIME).all():
        return now
    return [
        now if seconds == NO_TIME else datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        for seconds in file.times.tolist()
    ]


def task_keys(benchmark: Benchmark, codes: Int64Array, pool_equal: bool) -> Int64Array:
    """Return an identifier of each pair's task, int64 [n]: the text pair, or the pair itself."""
    if not pool_equal:
        return codes
    return text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)


def repeats(task_of: Int64Array, annotators: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return whether the annotator of each row judged its task in an earlier row, bool [n]."""
    answers = combined(task_of, annotators)
    order = np.argsort(answers, kind="stable")
    repeats = np.empty(len(task_of), np.bool_)
    repeats[order] = np.diff(answers[order], prepend=-1) == 0
    return repeats


def _slots(task_of: Int64Array, is_live: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return the columns that mark which judgments count. Slots follow the order of the file."""
    if is_live.all():
        return {"slot": places_within(task_of)}
    slots = np.ma.array(np.zeros_like(task_of), mask=~is_live)
    slots[is_live] = places_within(task_of[is_live])
    states = np.array([JudgmentState.SURPLUS.value, JudgmentState.LIVE.value], object)
    return {"slot": slots, "state": states[is_live.astype(int)]}


def _shared(benchmark: Benchmark, units: Int64Array) -> dict[str, Int64Array]:
    """Return the columns of tasks whose label applies to all equal captions."""
    return {"unit": units, "n_pairs": pairs_per_unit(benchmark, units)}


def _copy_tasks(campaign: Campaign, outcomes: Outcomes, **columns: Int64Array) -> Int64Array:
    """Store tasks with their outcomes. Return their primary keys. columns: [n_tasks] each."""
    ids = reserve_ids(JudgmentTask, len(outcomes.states))
    states = np.array([TASK_STATES[state].value for state in sorted(TASK_STATES)], object)
    copy_columns(
        JudgmentTask,
        {
            "id": ids,
            "campaign_id": campaign.pk,
            "position": np.arange(len(ids)),
            "labels_planned": outcomes.n_labels,
            "labels_required": outcomes.n_labels,
            "labels_live": outcomes.n_labels,
            "seats_open": 0,
            "state": states[outcomes.states],
            "label": np.ma.masked_equal(outcomes.labels, NO_LABEL),
            **columns,
        },
    )
    return ids


def _annotator_ids(benchmark: Benchmark, file: JudgmentsFile) -> Int64Array:
    """Return primary keys of the file's annotators, in the order of `file.annotator_keys`.

    An annotator of an earlier file is the same if the key is, or else if the folded keys are equal.
    """
    earlier = Annotator.objects.filter(benchmark=benchmark).order_by("-pk")
    known = dict(earlier.values_list("key", "pk"))
    by_name = {fold(key): pk for key, pk in known.items()}
    new = [key for key in file.annotator_keys if fold(key) not in by_name]
    made = Annotator.objects.bulk_create([Annotator(benchmark=benchmark, key=key) for key in new])
    by_name |= {fold(one.key): one.pk for one in made}
    ids = [known.get(key) or by_name[fold(key)] for key in file.annotator_keys]
    return np.array(ids, dtype=np.int64)
