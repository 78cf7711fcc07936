"""What a kind of question must offer, and the kinds that this installation has.

A kind is a package in `annotation/questions/`: what annotators are asked, and how their answers are
checked, stored, decided, shown and exported. Its module `kind` has one object, `KIND`. All other
code calls this object, which `Campaign.question_kind` returns, and knows no kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.consensus import Outcomes, complete
from annotation.questions.packages import modules
from hearth.shared.bulk import Among, read_columns
from hearth.shared.errors import InvalidInput

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.serializers import Field

    from annotation.models import Adjudication, Campaign, GoldItem, Judgment, JudgmentTask
    from annotation.questions.room import Room
    from annotation.services.policy import Policy
    from pooling.models import Benchmark

Int64Array: TypeAlias = npt.NDArray[np.int64]
# What `outcomes` needs of the answers to n tasks. Each kind has its own form; by default, it is the
# number of answers to each task, int64 [n].
Answers: TypeAlias = Any


class Subject(StrEnum):
    """What an annotator sees: a pair of a pool, or an item of a study."""

    PAIR = "pair"
    VIDEO = "video"
    TEXTS = "texts"
    SCENE = "scene"


class Recorded(Protocol):
    """An answer: its label, its payload (by the JSON keys of the API), or both."""

    @property
    def label(self) -> int | None: ...
    @property
    def payload(self) -> dict[str, Any] | None: ...


class Value(NamedTuple):
    """An answer in the form in which it is stored. rows: what `keep` stores in a kind's table."""

    label: int | None = None
    payload: dict[str, Any] | None = None
    rows: Sequence[Any] = ()


class Link(NamedTuple):
    """A page of a kind: the name of its address, which has the key of the benchmark, and a text."""

    page: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The texts of a kind. Those for annotators are translated when they are shown.

    study, studies: a campaign. item, items: what its tasks show. answer, answers: what annotators
    give. controls: gold items. heading: over the answers to a task. proxy: what the proxy of a
    campaign did with it. chosen_by: heading of that proxy. is_missing: what a person on the desk
    reads instead of a ruling. no_pairs: the error if a campaign would contain no pair. go: the
    buttons that begin and continue. complete: nothing is left for anyone. summary: what annotators
    do, after the name of a campaign.
    """

    study: str = "study"
    studies: str = "studies"
    item: str = "video"
    items: str = "videos"
    answer: str = "answer"
    answers: str = "answers"
    answered: str = "answered"
    control: str = "control item"
    controls: str = "control items"
    about_controls: str = ""
    heading: str = "Answers"
    proxy: str = "chose the items of the study"
    chosen_by: str = ""
    alone: str = "no other answer to the same items"
    nobody: str = "No one has answered yet."
    no_ruling: str = "A lead cannot answer here. Return the video to the queue."
    no_control: str = "control items for this study"
    no_pairs: str = "Every pair of {benchmark} is already in a campaign."
    start: Any = field(default_factory=lambda: _("Start judging"))
    go_on: Any = field(default_factory=lambda: _("Continue judging"))
    complete: Any = field(default_factory=lambda: _("Nothing is left for you at the moment."))
    summary: Any = ""

    @property
    def complete_items(self) -> str:
        return f"{self.items.capitalize()} with all {self.answers}"

    @property
    def table_title(self) -> str:
        return f"{self.studies.capitalize()}, newest first"


class QuestionKind:
    """A kind of question. The defaults are those of a study whose answers need not agree.

    In such a study, each task shows an item, and each answer has a payload. A task is resolved when
    it has its planned number of answers. Nobody rules on it, and no answer enters a label set.

    name: as stored in `Campaign.question`. fields: the keys of a payload, which are also those of
    the API. room: its judging room. campaigns: the `kind` of its campaigns in the API. publishes:
    whether answers may enter drafts and label sets. has_checklist: whether campaigns can show the
    elements of a caption. needs_proxy: whether a study needs a proxy. shown, prefetched: the
    relations of a task, and of an assignment, that its item is made of. guideline: template of the
    default text. gold_template, gold_relations, gold_title, gold_answer, gold_rule: how a gold item
    and its correct answer are shown. gold_page, opening: pages that add gold and open a study.
    asks: the question, if leads can choose it for a campaign over pooled pairs. takes_all: whether
    such a campaign contains all pooled pairs that are in no campaign. answer_relations: what
    `words_of` reads of an answer. desk_template: what leads see of the answers to a task, and how
    they enter a ruling. summary_template: the figures of a campaign, from `summary`.
    analysis: name and link of the analysis of a study. heads: columns of `rows`. figure_titles:
    titles of `figures`.
    """

    name: str
    fields: tuple[str, ...]
    room: Room
    subject = Subject.VIDEO
    campaigns = "study"
    publishes = False
    has_checklist = False
    words = Words()
    shown: tuple[str, ...] = ("item__video",)
    prefetched: tuple[str, ...] = ()
    guideline = "annotation/guidelines/_default.html"
    gold_template = ""
    gold_relations: tuple[str, ...] = ()
    gold_title = "Item without a caption"
    gold_answer = ""
    gold_rule = ""
    gold_page: Link | None = None
    opening: Link | None = None
    asks = ""
    takes_all = True
    answer_relations: tuple[str, ...] = ()
    desk_template = ""
    summary_template = ""
    needs_proxy = False
    analysis: Link | None = None
    heads: tuple[str, ...] = ()
    figure_titles: tuple[str, ...] = ()

    @property
    def has_video(self) -> bool:
        """Whether annotators see a video. Otherwise, they see only texts."""
        return self.subject is not Subject.TEXTS

    # --- The API of the judging room ---------------------------------------------------------

    def item_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        """Return the fields of an item, from its assignment, besides the video."""
        return {}

    def answer_fields(self, of: str = "") -> dict[str, Field[Any, Any, Any, Any]]:
        """Return the fields of an answer, each with its source in an object with label and payload.

        of: the prefix of these sources. No field is required, because a request has the fields of
        one kind only.
        """
        raise NotImplementedError

    def feedback(self, judgment: Judgment) -> dict[str, Any]:
        """Return what annotators see after they have answered an item of a training queue."""
        gold = judgment.task.gold
        return {"is_right": judgment.is_right, "explanation": gold.explanation if gold else ""}

    # --- Answers -----------------------------------------------------------------------------

    def parse(self, task: JudgmentTask, answer: Recorded) -> Value:
        """Return the answer as it is stored. Raises `InvalidInput` if it does not fit."""
        if answer.label is not None or tuple(answer.payload or ()) != self.fields:
            raise InvalidInput(self.needed)
        return Value(payload=self.checked(task.campaign, answer.payload or {}))

    @property
    def needed(self) -> str:
        """The error for an answer of another kind."""
        return gettext("This campaign needs another kind of answer.")

    def checked(self, campaign: Campaign, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the payload as it is stored. Raises `InvalidInput`."""
        return payload

    def same(self, stored: Judgment, answer: Recorded) -> bool:
        """Return whether an answer that is sent again is the stored one."""
        value = self.parse(stored.task, answer)
        return (stored.label, stored.payload) == value[:2]

    def keep(self, stored: Judgment | Adjudication, value: Value) -> None:
        """Store the rows of an answer or of a ruling that was just stored."""

    def keep_gold(self, item: GoldItem, rows: Any) -> None:
        """Store the rows of the correct answer to a gold item that was just stored."""

    def gold_fault(self, rows: Any, seconds: float | None) -> str | None:
        """Return why the correct answer to a gold item does not fit a video of this length."""
        return None

    def is_right(self, campaign: Campaign, gold: GoldItem, answer: Recorded) -> bool:
        """Return whether an answer to a gold item is correct."""
        return gold.answer == answer.payload

    def gold_with(self, word: str) -> Q:
        """Return the condition that a gold item has a word in texts that this kind stores."""
        return Q(pk=None)

    def words_of(self, campaign: Campaign, answer: Recorded) -> str:
        """Return an answer as a text, for lists and for the desk."""
        return ", ".join(map(str, (answer.payload or {}).values()))

    def texts_of(self, task: JudgmentTask) -> list[str]:
        """Return the texts that an annotator sees, in their order."""
        return [task.item.text] if task.item and task.item.text else []

    def keys_of(self, task: JudgmentTask) -> tuple[str, str]:
        """Return the keys of caption and video that files name, each empty if there is none."""
        return task.query.key, str(task.video)

    def rulings(self, campaign: Campaign) -> dict[int, str]:
        """Return the labels that a lead's ruling can have. Empty if no task is ever in conflict."""
        return {}

    def ruling(self, task: JudgmentTask, label: int, text: str) -> Value:
        """Return a ruling as it is stored. text: the field `answer` of `desk_template`."""
        return Value(label)

    def case(self, task: JudgmentTask) -> Any:
        """Return what `desk_template` shows of a task."""
        return None

    # --- Opening -----------------------------------------------------------------------------

    def pairs_taken(self, taken: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
        """Return those of the tasks of campaigns whose pairs a new campaign cannot contain."""
        return taken

    def pairs_wanted(self, benchmark: Benchmark, options: dict[str, Any]) -> Int64Array | None:
        """Return the only text pairs that a new campaign can contain, ascending; None for all."""
        return None

    def opened_with(self, policy: Policy, **own: Any) -> dict[str, Any]:
        """Return the `options` of a new campaign. Raises `OptionFault` if the policy cannot be."""
        return {}

    # --- Outcomes ----------------------------------------------------------------------------

    def answers_of(self, campaign: Campaign, judgments: Sequence[Judgment]) -> Answers:
        """Return the counted answers to one task for `outcomes`."""
        return np.array([len(judgments)])

    def read(self, campaign: Campaign, judgments: QuerySet[Judgment], tasks: Int64Array) -> Answers:
        """Return the answers to many tasks for `outcomes`. tasks: primary keys, ascending."""
        (of_task,) = read_columns(judgments.filter(Among("task_id", tasks)), "task_id")
        places = np.searchsorted(tasks, of_task)
        return np.bincount(places, minlength=len(tasks))

    def outcomes(
        self,
        campaign: Campaign,
        answers: Answers,
        planned: Int64Array,
        carried: Int64Array,
        *,
        closed: bool,
    ) -> Outcomes:
        """Return the outcomes of n tasks, computed only from their answers.

        planned: [n], the planned number of answers. carried: [n], a label from an earlier campaign
        or `NO_LABEL`. closed: whether no further answers will arrive.
        """
        return complete(answers, planned)

    # --- Pages and files ---------------------------------------------------------------------

    def settings(self, campaign: Campaign) -> list[tuple[str, str]]:
        """Return the names and values of the settings that cannot change."""
        return [
            (f"{self.words.answers.capitalize()} per {self.words.item}", str(campaign.labels_each)),
            ("Seed", str(campaign.seed)),
        ]

    def figures(self, campaign: Campaign) -> dict[str, dict[int, float]]:
        """Return further figures of the annotators, by title and by primary key."""
        return {}

    def summary(self, campaign: Campaign) -> Any:
        """Return what `summary_template` shows of a campaign."""
        return None

    def agreement(self, benchmark: Benchmark) -> dict[str, Any] | None:
        """Return what `summary_template` shows of all campaigns of a benchmark, as JSON."""
        return None

    def rows(self, campaign: Campaign) -> Iterator[Sequence[Any]]:
        """Yield the counted answers as rows of a file, with the columns `heads`."""
        return iter(())


@cache
def kinds() -> dict[str, QuestionKind]:
    """Return the kinds by name."""
    return {module.KIND.name: module.KIND for module in modules("kind")}


def openings(benchmark: Benchmark) -> list[Link]:
    """Return the pages that open a study, if the benchmark has what the study needs."""
    has_proxies = benchmark.proxies.exists()
    found = (kind for kind in kinds().values() if has_proxies or not kind.needs_proxy)
    return [kind.opening for kind in found if kind.opening]


def openings_with_proxies() -> list[Link]:
    """Return the pages that open a study about proxies."""
    return [kind.opening for kind in kinds().values() if kind.needs_proxy and kind.opening]


def about_texts() -> list[str]:
    """Return the names of the kinds without a video. They have guidelines of their own."""
    return [kind.name for kind in kinds().values() if not kind.has_video]


def publishing() -> list[str]:
    """Return the names of the kinds whose answers may enter label sets."""
    return [kind.name for kind in kinds().values() if kind.publishes]
