"""Further texts of captions: synonyms, and the other captions of a video."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.core.management import call_command

from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from pooling.core.proxies.wordnet import WordNet
from pooling.phrasings.core.expansion import other_captions, replace_by_synonyms
from pooling.phrasings.models import Phrasing
from pooling.phrasings.services.expanding import Expander, ExpandOptions, expand
from tests.factories import make_benchmark
from tests.pooling.core.proxies.made_wordnet import make_wordnet

CAPTIONS = ["a dog runs", "a cat", "a dog runs", "it is a dog", "a bird"]


def test_other_captions_of_the_video() -> None:
    """Captions 0, 1, 2 and 3 are of video 0, and caption 1 is also of video 1, with caption 4."""
    queries, videos = np.array([0, 1, 1, 2, 3, 4]), np.array([0, 0, 1, 0, 0, 1])
    assert other_captions(CAPTIONS, queries, videos, 2) == [
        ["a cat", "it is a dog"],
        ["a dog runs", "it is a dog"],
        ["a cat", "it is a dog"],
        ["a dog runs", "a cat"],
        ["a cat"],
    ]
    assert other_captions(CAPTIONS, queries, videos, 9)[1] == [
        "a dog runs",
        "it is a dog",
        "a bird",
    ]


def test_nouns_and_verbs_are_replaced_by_synonyms(tmp_path) -> None:
    """The first sense of “plate” has no other word, so the second one is taken."""
    wordnet = WordNet(make_wordnet(tmp_path / "wordnet"))
    texts = ["The child takes plates.", "red and blue", "a machine"]
    found = replace_by_synonyms(texts, wordnet, 3, np.random.default_rng(1))
    assert found[:2] == [["The kid get dish."], []]
    assert len(found[2]) == 3
    assert set(found[2]) <= {f"a {word}" for word in ("car", "auto", "automobile", "motorcar")}
    assert found == replace_by_synonyms(texts, wordnet, 3, np.random.default_rng(1))


@pytest.mark.django_db
def test_the_other_captions_are_stored_and_named_an_upper_bound(tmp_path, capsys) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=2)
    texts = list(benchmark.queries.order_by("number").values_list("text", flat=True))
    call_command("expand", "tiny", "--method", "captions", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["phrasings"], printed["captions"], printed["created"]) == (2, 2, True)
    assert "upper bound" in printed["notes"][0]
    rows = Phrasing.objects.order_by("query__number").values_list("number", "text", "origin")
    assert list(rows) == [(1, texts[2], "caption"), (1, texts[0], "caption")]


@pytest.mark.django_db
def test_nothing_to_expand(tmp_path) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=2)
    with pytest.raises(InvalidInput, match="No caption can be expanded"):
        expand(benchmark=benchmark, options=ExpandOptions(method=Expander.CAPTIONS), by=OPERATOR)


@pytest.mark.django_db
def test_the_phrasing_that_differs_most_is_selected_and_written(tmp_path, capsys) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=2)
    first = benchmark.queries.get(number=0)
    texts = [f"{first.text} again", "a black bird sleeps"]
    path = tmp_path / "phrasings.csv"
    rows = "".join(f"{first.key},{n},{text},person\n" for n, text in enumerate(texts, start=1))
    path.write_text(f"caption_id,phrasing,text,origin\n{rows}")
    call_command("import_phrasings", "tiny", path, "--json")
    capsys.readouterr()
    output = tmp_path / "selected.csv"
    call_command("select_phrasings", "tiny", "--count", "1", "--output", output, "--json")
    assert json.loads(capsys.readouterr().out) == {
        "captions": 1,
        "phrasings": 1,
        "selected": {first.key: [2]},
    }
    assert output.read_text() == (
        f"caption_id,phrasing,text,origin\n{first.key},2,a black bird sleeps,person\n"
    )
