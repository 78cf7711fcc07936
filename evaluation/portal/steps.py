"""The steps from the first run to published scores, and the next one in a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from annotation.selectors.tasks import NO_TASKS, NewCounts
from hearth.shared.words import counted
from pooling.models import Benchmark


@dataclass(frozen=True, slots=True)
class Preparation:
    """What annotators need before they judge.

    guideline: the newest version of the guidelines, 0 for the default text. gold: number of gold
    items in use. has_training: whether a training queue is open. annotators: number of annotators,
    including open invitations.
    """

    guideline: int = 0
    gold: int = 0
    has_training: bool = False
    annotators: int = 0

    @property
    def has_begun(self) -> bool:
        return self != Preparation()


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of one benchmark that decide which step is next.

    without_file: videos without a playable file or an address. new: tasks that no campaign
    contains, or None while they are counted. at_desk: tasks that wait for a lead. desk_url: address
    of the desk with the most such tasks. settled, unsettled: judged pairs that are settled, and
    judged pairs that are not. not_settled: all pairs that are not settled, judged or not, or None
    while they are counted. version: number of the newest label set, or None. newly_settled: pairs
    settled since that label set. unscored: runs without scores by the newest labels.
    """

    runs: int
    pairs: int
    without_file: int
    prepared: Preparation
    campaigns: int
    new: NewCounts | None
    settled: int
    unsettled: int
    not_settled: int | None
    at_desk: int
    desk_url: str
    version: str | None
    newly_settled: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Step:
    """A step with its state.

    note: a short text about the progress. is_done: whether no work remains. has_begun: whether
    later steps can be done meanwhile. url: the page on which a lead does the step. action: the text
    of its button. advice: the text that is shown if this step is next. links: titles and addresses
    of other pages for the step.
    """

    title: str
    note: str
    is_done: bool
    advice: str
    action: str
    url: str
    has_begun: bool = False
    links: tuple[tuple[str, str], ...] = ()


def steps_of(benchmark: Benchmark, now: Progress) -> list[Step]:
    """Return the steps of a lead, in order."""

    def page(name: str) -> str:
        return reverse(name, args=[benchmark.key])

    invite_url = f"{reverse('invite')}?scope={benchmark.key}"
    preparation = _preparation_step(now, page, invite_url)
    return [
        Step(
            "Import runs",
            counted(now.runs, "run"),
            now.runs > 0,
            "Upload the ranked lists of the systems that you want to compare.",
            "Upload a run",
            page("run-upload"),
        ),
        Step(
            "Build a pool",
            counted(now.pairs, "pooled pair"),
            now.pairs > 0,
            "When all runs that you have are imported, pool their top videos. "
            "A later run can be pooled, too.",
            "Build a pool",
            page("pool-build"),
        ),
        Step(
            "Add videos",
            f"{now.without_file:,} cannot be shown" if now.without_file else "all can be shown",
            not now.without_file or now.campaigns > 0,
            f"{counted(now.without_file, 'video')} {'has' if now.without_file == 1 else 'have'} no "
            "playable file yet. Annotators need the videos of the pooled pairs.",
            "Add videos",
            page("videos-add"),
        ),
        preparation,
        _campaign_step(now, page("campaign-open"), preparation),
        _judging_step(now, page("benchmark-campaigns"), invite_url),
        Step(
            "Settle conflicts",
            f"{now.at_desk:,} at the desk" if now.at_desk else "none at the desk",
            now.campaigns > 0 and not now.at_desk,
            f"{counted(now.at_desk, 'task')} at the desk {'needs' if now.at_desk == 1 else 'need'} "
            "a lead: pairs in conflict, escalations, and videos that cannot play.",
            "Go to the desk",
            now.desk_url,
        ),
        _publish_step(now, page("benchmark-labels")),
        Step(
            "Score runs",
            _scored(now),
            now.runs > 0 and now.version is not None and not now.unscored,
            f"{counted(now.unscored, 'run')} {'has' if now.unscored == 1 else 'have'} no scores "
            "by the newest labels yet.",
            "Score the runs",
            page("results"),
        ),
    ]


def _preparation_step(now: Progress, page: Callable[[str], str], invite_url: str) -> Step:
    found = now.prepared
    notes = [
        counted(found.annotators, "annotator"),
        "own guidelines" if found.guideline else "default guidelines",
        counted(found.gold, "gold item"),
    ]
    if found.has_training:
        notes.append("training")
    action, url = ("Invite annotators", invite_url)
    if not found.guideline:
        action, url = "Write the guidelines", page("guideline-write")
    return Step(
        "Prepare annotators",
        ", ".join(notes),
        now.campaigns > 0 or (found.annotators > 0 and found.guideline > 0),
        "Annotators need guidelines, and each needs an account. Gold items, whose correct answers "
        "are known, can train annotators and check their answers.",
        action,
        url,
        found.has_begun,
        (
            ("Guidelines", page("guidelines")),
            ("Gold items", page("gold")),
            ("Training", page("training")),
            ("Invitations", invite_url),
        ),
    )


def _campaign_step(now: Progress, url: str, preparation: Step) -> Step:
    links: tuple[tuple[str, str], ...] = ()
    if not now.campaigns:
        links = () if preparation.is_done else preparation.links
        note, advice = (
            "no campaign",
            "Open a campaign, so that annotators can judge the pooled pairs."
            + ("" if preparation.is_done else " You can prepare more for the annotators first."),
        )
    elif now.new is None:
        note = counted(now.campaigns, "campaign")
        advice = (
            "The tasks to judge that are not in any campaign are being counted. If there are some, "
            "open another campaign."
        )
    else:
        note = counted(now.campaigns, "campaign")
        advice = (
            f"{now.new} {_be(now.new.tasks)} not in any campaign. Open another campaign, so that "
            "annotators can judge them."
        )
    is_done = now.campaigns > 0 and now.new == NO_TASKS
    return Step("Open a campaign", note, is_done, advice, "Open a campaign", url, links=links)


def _judging_step(now: Progress, campaigns_url: str, invite_url: str) -> Step:
    has_begun = now.settled > 0 or now.at_desk > 0
    return Step(
        "Judge pairs",
        f"{counted(now.not_settled, 'pair')} not settled"
        if now.not_settled
        else f"{counted(now.settled, 'pair')} settled",
        now.settled > 0 and now.not_settled == 0,
        "Annotators find the campaign on their home page. Invite annotators who have no account. "
        "You can publish labels when the first pairs are settled.",
        "Invite annotators",
        campaigns_url if has_begun else invite_url,
        has_begun,
    )


def _publish_step(now: Progress, url: str) -> Step:
    note = "no label set" if now.version is None else f"label set {now.version}"
    if now.version is None:
        advice = (
            "Publish the labels as a numbered label set. Runs are scored by it, and papers can "
            "cite it."
        )
    else:
        advice = (
            f"{counted(now.newly_settled, 'pair')} {'has' if now.newly_settled == 1 else 'have'} "
            f"been settled since label set {now.version}. Publish the labels as the next label set."
        )
    if now.unsettled:
        advice += (
            f" {counted(now.unsettled, 'pair')} {_be(now.unsettled)} not settled yet and would "
            "get no label."
        )
    is_done = now.version is not None and not now.newly_settled
    return Step("Publish labels", note, is_done, advice, "Go to the labels", url)


def next_step(steps: list[Step]) -> Step | None:
    """Return the first step that is neither done nor begun, or None."""
    return next((step for step in steps if not step.is_done and not step.has_begun), None)


def _scored(now: Progress) -> str:
    if not now.runs:
        return "no runs"
    return f"{now.unscored:,} unscored" if now.unscored else "all scored"


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
