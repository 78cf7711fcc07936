"""The tabs of a benchmark, and the pages below each of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from annotation.questions.kind import kinds


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab. `name` is the URL name of its page, and `below` has those of the pages below it.

    of_kinds: the attribute of the kinds of questions with a further page below it.
    """

    title: str
    name: str
    below: frozenset[str] = frozenset()
    for_leads: bool = False
    of_kinds: str = ""


@dataclass(frozen=True, slots=True)
class TabLink:
    """A tab on one page. `current` is the value of `aria-current`, empty for other tabs."""

    title: str
    url: str
    current: str


def set_of(names: str) -> frozenset[str]:
    return frozenset(names.split())


TABS = (
    Tab("Overview", "benchmark"),
    Tab(
        "Captions and videos",
        "benchmark-captions",
        set_of(
            "benchmark-videos caption video captions-update equal-captions "
            "train-captions-upload train-captions-delete tags-upload videos-add "
            "video-addresses-upload paragraphs paragraphs-add similarities-upload run-focus "
            "clips-upload clips-delete phrasings-upload phrasing-embeddings-upload "
            "phrasings-expand phrasings-delete faithfulness-open scenes-find"
        ),
    ),
    Tab(
        "Runs",
        "benchmark-runs",
        set_of(
            "run-upload run run-change run-delete results benchmark-run-uploads run-upload-refuse "
            "runs-fuse phrased-lists-upload run-estimate"
        ),
    ),
    Tab(
        "Proxies",
        "proxies",
        set_of(
            "proxy proxy-compute proxy-upload embeddings-upload proxy-delete "
            "relevant-pairs-find relevant-pairs machines machine"
        ),
    ),
    Tab(
        "Pools and campaigns",
        "benchmark-campaigns",
        set_of(
            "pool-build pool-preview pool-delete campaign-delete campaign-open "
            "judgments-upload judgments-plan campaign campaign-people "
            "campaign-person campaign-policy campaign-members judgments-reopen desk "
            "desk-pair desk-rulings"
        ),
        of_kinds="opening",
    ),
    Tab("Labels", "benchmark-labels", set_of("labels-publish label-set label-set-diff")),
    Tab("Analyses", "analyses", set_of("analysis compare")),
    Tab("People", "benchmark-people", for_leads=True),
    Tab(
        "Settings",
        "benchmark-settings",
        set_of(
            "benchmark-change public-page benchmark-delete recent-uploads webhooks "
            "guidelines guideline guideline-write gold gold-upload gold-pair "
            "gold-item training training-person training-comment"
        ),
        of_kinds="gold_page",
    ),
)


def tab_links(key: str, current: str, *, leads: bool) -> list[TabLink]:
    """Return the tabs of the benchmark with this key, on the page with the URL name `current`."""
    return [
        TabLink(tab.title, reverse(tab.name, args=[key]), _aria_current(tab, current))
        for tab in TABS
        if leads or not tab.for_leads
    ]


def _aria_current(tab: Tab, current: str) -> str:
    if current == tab.name:
        return "page"
    links = [getattr(kind, tab.of_kinds) for kind in kinds().values()] if tab.of_kinds else []
    return "true" if current in {*tab.below, *(link.page for link in links if link)} else ""
