"""The question in which order five captions describe a video, for the human study of proxies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.questions.kind import Link, QuestionKind, Recorded, Words
from annotation.questions.order.answers import orders_of
from annotation.questions.order.models import GoldCaption, captions_of
from annotation.questions.order.orders import (
    CAPTIONS,
    Levels,
    is_in_steps,
    is_order,
    tau_with_others,
    text_of_order,
)
from annotation.questions.order.room import ROOM
from hearth.shared.errors import InvalidInput
from pooling.selectors.arrays import query_keys, video_keys

if TYPE_CHECKING:
    from annotation.models import Campaign, GoldItem, JudgmentTask

TAU = "Kendall’s tau with the others"
QUARTILES = {Levels.CAPTIONS: "the captions", Levels.VALUES: "the distinct values"}


class OrderKind(QuestionKind):
    """The payload is {"places": …}: places of the captions on the screen, most similar first."""

    name = "order"
    fields = ("places",)
    room = ROOM
    campaigns = "ordering"
    words = Words(
        study="ordering study",
        studies="ordering studies",
        answer="order",
        answers="orders",
        answered="ordered",
        control="control order",
        controls="control orders",
        about_controls="Control orders are videos with captions whose correct order is known. They "
        "measure the accuracy of each annotator, who cannot recognise them. Add control orders "
        "first. 0: none.",
        heading="Orders, the most similar caption first",
        proxy="chose the captions of the ordering study",
        chosen_by="Captions chosen by",
        alone="no other order of the same videos",
        nobody="No one has put captions in order yet.",
        no_ruling="A lead cannot order captions. Return the video to the queue.",
        no_control="control orders for videos outside the study. Add a control order first.",
        start=_("Start ordering captions"),
        go_on=_("Continue ordering captions"),
        complete=_("There are no more captions to put in order in this study."),
        summary=_("captions to put in order"),
    )
    prefetched = ("task__ordering_captions__query", "task__gold__captions__query")
    guideline = "annotation/questions/order/_guideline.html"
    gold_template = "annotation/questions/order/_gold.html"
    gold_relations = ("captions__query",)
    gold_title = "Order of five captions"
    gold_answer = "Order in steps"
    gold_rule = "Captions of a lower step come before those of a higher step."
    gold_page = Link("gold-order", "Add a control order")
    needs_proxy = True
    opening = Link("ordering-open", "Open an ordering study")
    analysis = Link("proxy-orderings", "Compare proxies with people")
    figure_titles = (TAU,)
    heads = ("video_id", "annotator", "caption_id", "level", "value", "place", "rank")

    def item_fields(self) -> dict[str, Any]:
        from annotation.questions.order.fields import captions_field

        return {"captions": captions_field()}

    def answer_fields(self, of: str = "") -> dict[str, Any]:
        from annotation.questions.order.fields import PlacesField

        return {"places": PlacesField(source=f"{of}payload.places")}

    @property
    def needed(self) -> str:
        return gettext("This campaign needs an order of the captions: send places, not a label.")

    def checked(self, campaign: Campaign, payload: dict[str, Any]) -> dict[str, Any]:
        if not is_order(payload["places"]):
            message = gettext("The places must contain each number from 0 to {last} once.")
            raise InvalidInput(message.format(last=CAPTIONS - 1))
        return {"places": list(payload["places"])}

    def is_right(self, campaign: Campaign, gold: GoldItem, answer: Recorded) -> bool:
        steps = [caption.step for caption in gold.captions.all()]
        return is_in_steps((answer.payload or {})["places"], steps)

    def gold_with(self, word: str) -> Q:
        found = GoldCaption.objects.filter(query__text__icontains=word)
        return Q(pk__in=found.values("item"))

    def words_of(self, campaign: Campaign, answer: Recorded) -> str:
        return text_of_order((answer.payload or {})["places"])

    def texts_of(self, task: JudgmentTask) -> list[str]:
        return [caption.query.text for caption in captions_of(task).select_related("query")]

    def settings(self, campaign: Campaign) -> list[tuple[str, str]]:
        return [
            (self.words.chosen_by, str(campaign.proxy)),
            ("Quartiles over", QUARTILES[Levels(campaign.options["levels"])]),
            *super().settings(campaign),
        ]

    def figures(self, campaign: Campaign) -> dict[str, dict[int, float]]:
        """Return each annotator's mean tau with the other orders of the same videos."""
        found = orders_of(campaign)
        taus = tau_with_others(found.ranks, found.task)
        compared = ~np.isnan(taus)
        return {
            TAU: {
                annotator: float(taus[compared & (found.annotator == annotator)].mean())
                for annotator in np.unique(found.annotator[compared]).tolist()
            }
        }

    def rows(self, campaign: Campaign) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each caption of each counted order.

        Annotators have numbers from 1 that are valid only in this file. level: the caption's level;
        the caption at level 0 is the most similar one by the proxy that chose the captions. value:
        the value of that proxy. place: the caption's place on the screen, from 0. rank: the rank
        that the annotator gave the caption, from 0.
        """
        found = orders_of(campaign)
        videos, captions = video_keys(campaign.benchmark), query_keys(campaign.benchmark)
        _, person = np.unique(found.annotator, return_inverse=True)
        for number, task in enumerate(found.task.tolist()):
            for level in range(CAPTIONS):
                yield (
                    videos[found.videos[task]],
                    int(person[number]) + 1,
                    captions[found.captions[task, level]],
                    level,
                    float(found.values[task, level]),
                    int(found.places[task, level]),
                    int(found.ranks[number, level]),
                )


KIND = OrderKind()
