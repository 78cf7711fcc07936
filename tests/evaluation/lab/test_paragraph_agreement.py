"""Agreement on sentences and on the paragraphs that follow, computed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluation.core.paragraphs.opinions import paragraph_opinions
from evaluation.core.people.agreement_figures import Opinions, Resampling
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.selectors import agreement_figures, live_labels
from hearth.accounts.actors import OPERATOR
from pooling.paragraphs.actions import AddParagraphs
from pooling.paragraphs.services import add_paragraphs
from tests.factories import add_judgments, import_benchmark, write_captions, write_videos

CAPTIONS = [
    (f"v{n}#{place}", f"Sentence {place} of v{n}.", f"v{n}") for n in "01" for place in "01"
]


def test_opinions_of_paragraphs() -> None:
    """Anna judges both groups. Ben leaves a sentence of the second one out."""
    labels = Opinions(
        pairs=np.array([0, 1, 2, 3, 0, 1, 2]),
        annotators=np.array([7, 7, 7, 7, 8, 8, 8]),
        labels=np.array([1, 2, 1, 0, 1, 0, 1]),
        is_first=np.array([True, True, True, False, True, True, True]),
    )
    groups, sentences = np.array([0, 0, 1, 1, 0, 0, 1]), np.full(7, 2)
    found = paragraph_opinions(labels, groups, sentences)
    rows = zip(found.pairs, found.annotators, found.labels, found.is_first, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [(0, 7, 1, 1), (0, 8, 0, 1), (1, 7, 0, 0)]
    half = paragraph_opinions(labels, groups, sentences, 0.5)
    assert (half.pairs.tolist(), half.labels.tolist()) == ([0, 0, 1], [1, 1, 1])


@pytest.mark.django_db
def test_annotators_who_agree_on_three_of_four_sentences(tmp_path: Path) -> None:
    """They differ on one sentence, and so on one of two paragraphs."""
    videos = write_videos(tmp_path, [("v0", "", ""), ("v1", "", "")])
    captions = write_captions(tmp_path, CAPTIONS)
    sentences = import_benchmark(key="tiny", captions=captions, videos=videos).benchmark
    wanted = AddParagraphs(paragraphs="tiny-p")
    made = add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR).paragraphs.benchmark
    labels = [
        (key, "v0", person, int((key, person) != ("v1#1", "ben")))
        for key, _, _ in CAPTIONS
        for person in ("anna", "ben")
    ]
    add_judgments(tmp_path, sentences, labels)
    question = build_question(get_analysis("paragraph-agreement"), made, {"resamples": 100})
    found = analyse(question=question)
    found.refresh_from_db()
    names = ("level", "labels", "pairs", "agreement", "pairwise", "alpha")
    rows = [tuple(row[name] for name in names) for row in found.result["agreement"]]
    # Alpha is 1 - (n - 1) * disagreements / (ones * zeros) for pairs of labels.
    assert rows == [
        ("sentences", "first_labels", 4, 0.75, 0.75, pytest.approx(0)),
        ("sentences", "all_labels", 4, 0.75, 0.75, pytest.approx(0)),
        ("paragraphs", "first_labels", 2, 0.5, 0.5, pytest.approx(0)),
        ("paragraphs", "all_labels", 2, 0.5, 0.5, pytest.approx(0)),
    ]
    reason = "fewer than three annotators share pairs"
    intervals = [(row["alpha_interval"], row["undefined"]) for row in found.result["agreement"]]
    assert intervals == [(None, reason)] * 4
    assert all(row["alpha_interval_pairs"] for row in found.result["agreement"][:2])
    add_judgments(tmp_path, sentences, [(key, "v0", "cara", 1) for key, _, _ in CAPTIONS])
    question = build_question(get_analysis("paragraph-agreement"), made, {"resamples": 100})
    found = analyse(question=question)
    own = agreement_figures(live_labels(sentences)[0], Resampling(100))["all_labels"]
    row = found.result["agreement"][1]
    names = ("alpha_interval", "alpha_interval_pairs")
    assert [row[name] for name in names] == [own[name] for name in names]
    assert row["alpha_interval"] != row["alpha_interval_pairs"]
    (table,) = get_analysis("paragraph-agreement").tables(found.result)
    assert table.note.startswith("Sentences: alpha is low: below 0.667 (bounds by Krippendorff")
