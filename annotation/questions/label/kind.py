"""The question whether a caption is relevant to a video. The answer is a label of a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from django.utils.translation import gettext as _

from annotation.core.consensus import NO_LABEL, Outcomes, count_values, resolve
from annotation.questions.kind import (
    Int64Array,
    QuestionKind,
    Recorded,
    Subject,
    Value,
    Words,
)
from annotation.questions.label.room import ROOM
from hearth.shared.bulk import Among, read_columns
from hearth.shared.errors import InvalidInput

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Campaign, GoldItem, Judgment, JudgmentTask
    from annotation.questions.room import Room


class LabelKind(QuestionKind):
    """Agreement of the planned labels decides, then further labels, and then a lead."""

    name = "label"
    fields: tuple[str, ...] = ()
    room: Room = ROOM
    subject = Subject.PAIR
    campaigns = "judging"
    publishes = True
    asks = "Is the caption relevant to the video?"
    has_checklist = True
    words = Words(
        study="campaign",
        studies="campaigns",
        item="pair",
        items="pairs",
        answer="label",
        answers="labels",
        controls="control pairs",
        heading="Labels",
        proxy="ordered the pairs of the campaign",
        no_control="control pairs. Import control pairs first.",
    )
    shown = ("pair__query", "pair__video")

    def item_fields(self) -> dict[str, Any]:
        from rest_framework.serializers import CharField

        text = "missing in studies"
        return {"caption": CharField(source="task.query.text", required=False, help_text=text)}

    def answer_fields(self, of: str = "") -> dict[str, Any]:
        from rest_framework.serializers import IntegerField

        source: dict[str, Any] = {"source": f"{of}label"} if of else {}
        text = "required, except in studies"
        field = IntegerField(min_value=0, max_value=100, required=False, help_text=text, **source)
        return {"label": field}

    def feedback(self, judgment: Judgment) -> dict[str, Any]:
        gold = cast("GoldItem", judgment.task.gold)
        return {
            "is_right": judgment.is_right,
            "relevant": gold.is_relevant,
            "explanation": gold.explanation,
        }

    def parse(self, task: JudgmentTask, answer: Recorded) -> Value:
        campaign = task.campaign
        if answer.label is None or answer.payload is not None:
            raise InvalidInput(_("This campaign needs a label."))
        if answer.label not in campaign.labels:
            message = _("{label} is not on the scale of this campaign.")
            raise InvalidInput(message.format(label=answer.label))
        return Value(answer.label)

    def is_right(self, campaign: Campaign, gold: GoldItem, answer: Recorded) -> bool:
        return campaign.is_relevant(cast(int, answer.label)) == gold.is_relevant

    def words_of(self, campaign: Campaign, answer: Recorded) -> str:
        return campaign.labels.get(cast(int, answer.label), str(answer.label))

    def texts_of(self, task: JudgmentTask) -> list[str]:
        return [task.query.text]

    def rulings(self, campaign: Campaign) -> dict[int, str]:
        return campaign.labels

    # --- Outcomes, from the number of each label of each task, int64 [n, n_values] -------------

    def answers_of(self, campaign: Campaign, judgments: Sequence[Judgment]) -> Int64Array:
        labels = [judgment.label for judgment in judgments]
        return np.bincount(cast("list[int]", labels), minlength=len(campaign.labels)).reshape(1, -1)

    def read(
        self, campaign: Campaign, judgments: QuerySet[Judgment], tasks: Int64Array
    ) -> Int64Array:
        of_task, labels = read_columns(
            judgments.filter(Among("task_id", tasks)), "task_id", "label"
        )
        places = np.searchsorted(tasks, of_task)
        return count_values(places, labels, len(tasks), len(campaign.labels))

    def outcomes(
        self,
        campaign: Campaign,
        answers: Int64Array,
        planned: Int64Array,
        carried: Int64Array,
        *,
        closed: bool,
    ) -> Outcomes:
        """Return the outcomes of tasks.

        In a closed campaign the existing labels of a task decide, because no further label will
        arrive. A task without a label stays pending. A carried label counts like the other labels
        of the task, but only if there are some. `required` and `n_labels` of the outcomes do not
        include it.
        """
        has_carried = carried != NO_LABEL
        if not has_carried.any():
            return resolve_labels(campaign, answers, planned, closed=closed)
        counted = has_carried & (answers.sum(axis=1) > 0)
        answers = answers.copy()
        answers[counted, carried[counted]] += 1
        found = resolve_labels(campaign, answers, planned + counted, closed=closed)
        return replace(found, required=found.required - counted, n_labels=found.n_labels - counted)


def resolve_labels(
    campaign: Campaign, counts: Int64Array, planned: Int64Array, *, closed: bool
) -> Outcomes:
    labels_max: Int64Array | int = campaign.labels_max
    if closed:
        labels_max = counts.sum(axis=1)
        planned = np.where(labels_max > 0, np.minimum(planned, labels_max), planned)
    return resolve(counts, planned, labels_max=labels_max, threshold=campaign.threshold)


KIND = LabelKind()
