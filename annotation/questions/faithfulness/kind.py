"""The question whether a phrasing says the same as its caption. Annotators see no video."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.questions.faithfulness.room import ROOM
from annotation.questions.kind import QuestionKind, Subject, Words
from annotation.questions.label.kind import LabelKind

if TYPE_CHECKING:
    from annotation.models import Campaign, Judgment, JudgmentTask

AGREEMENT = "Agreement with the others"


class FaithfulnessKind(LabelKind):
    """The label is 1 if the phrasing says the same. Agreement decides, as for pairs.

    Answers are about texts, so they enter no label set.
    """

    name = "faithfulness"
    room = ROOM
    subject = Subject.TEXTS
    campaigns = "faithfulness"
    publishes = False
    has_checklist = False
    asks = ""
    words = Words(
        study="faithfulness campaign",
        studies="faithfulness campaigns",
        item="phrasing",
        items="phrasings",
        heading="Answers",
        alone="no other answer to the same phrasings",
        nobody="No one has judged a phrasing yet.",
        start=_("Start comparing texts"),
        go_on=_("Continue comparing texts"),
        complete=_("There are no more texts to compare in this campaign."),
        summary=_("texts to compare"),
    )
    shown = ("item", "of_phrasing__phrasing__query")
    guideline = "annotation/questions/faithfulness/_guideline.html"
    summary_template = "annotation/questions/faithfulness/_summary.html"
    figure_titles = (AGREEMENT,)
    heads = ("caption_id", "phrasing", "origin", "model", "annotator", "label", "outcome")

    def item_fields(self) -> dict[str, Any]:
        from rest_framework.serializers import CharField

        of_phrasing = "task.of_phrasing.phrasing"
        text = "only in faithfulness campaigns: the text to compare with the caption"
        return {
            "caption": CharField(source=f"{of_phrasing}.query.text", required=False),
            "phrasing": CharField(source=f"{of_phrasing}.text", required=False, help_text=text),
        }

    def feedback(self, judgment: Judgment) -> dict[str, Any]:
        return QuestionKind.feedback(self, judgment)

    @property
    def needed(self) -> str:
        return gettext("This campaign needs a label.")

    def texts_of(self, task: JudgmentTask) -> list[str]:
        phrasing = task.of_phrasing.phrasing
        return [phrasing.query.text, phrasing.text]

    def keys_of(self, task: JudgmentTask) -> tuple[str, str]:
        """Return the key of the phrasing, as files of runs have it."""
        phrasing = task.of_phrasing.phrasing
        return f"{phrasing.query.key}#{phrasing.number}", ""

    def settings(self, campaign: Campaign) -> list[tuple[str, str]]:
        return [
            ("Maximum answers per phrasing", str(campaign.labels_max)),
            *super().settings(campaign),
        ]

    def figures(self, campaign: Campaign) -> dict[str, dict[int, float]]:
        from annotation.questions.faithfulness.consensus import agreement_by_annotator

        return {AGREEMENT: agreement_by_annotator(campaign)}

    def summary(self, campaign: Campaign) -> Any:
        from annotation.questions.faithfulness.consensus import summarise

        return summarise(campaign)

    def rows(self, campaign: Campaign) -> Iterator[tuple[Any, ...]]:
        """Yield the counted answers. Annotators have numbers from 1 that hold only in this file.

        outcome: the label of the phrasing, empty while it is open or at the desk.
        """
        from annotation.questions.faithfulness.consensus import counted_answers

        numbers: dict[int, int] = {}
        for answer in counted_answers(campaign).values_list(
            "task__of_phrasing__phrasing__query__key",
            "task__of_phrasing__phrasing__number",
            "task__of_phrasing__phrasing__origin",
            "task__of_phrasing__phrasing__model",
            "annotator",
            "label",
            "task__label",
        ):
            number = numbers.setdefault(answer[4], len(numbers) + 1)
            yield (*answer[:4], number, *answer[5:])


KIND = FaithfulnessKind()
