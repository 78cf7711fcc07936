"""The small WordNet of `made_wordnet`, and its readers in Hearth and in NLTK."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooling.core.proxies.wordnet import WordNet
from tests.pooling.core.proxies.made_wordnet import make_wordnet


@pytest.fixture(scope="session")
def wordnet_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wordnet(tmp_path_factory.mktemp("wordnet") / "wordnet")


@pytest.fixture(scope="session")
def wordnet(wordnet_folder: Path) -> WordNet:
    return WordNet(wordnet_folder)


@pytest.fixture(scope="session")
def nltk_wordnet(wordnet_folder: Path) -> object:
    """NLTK's own reader of the same files."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            """Do nothing, because only other languages need other versions of WordNet."""

    nltk.data.path.append(str(wordnet_folder.parent))
    try:
        yield Reader(str(wordnet_folder), object())
    finally:
        nltk.data.path.remove(str(wordnet_folder.parent))
