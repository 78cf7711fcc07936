"""WordNet's files, compared with NLTK's reader of the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.proxies.wordnet import Part, WordNet
from tests.pooling.core.proxies.made_wordnet import SYNSETS, TYPES, make_wordnet

NAMES = [name for synsets in SYNSETS.values() for names, _ in synsets for name in names.split()]
WORDS = sorted(
    {name.partition("(")[0] for name in NAMES}
    | set("hands children took left leaves taking washes washed boxes men women bigger".split())
    | set("Hands largest automobil unknown dishes machines".split())
)


@pytest.mark.parametrize("part", list(Part))
def test_lemmas_senses_and_definitions_are_those_of_nltk(wordnet, nltk_wordnet, part) -> None:
    kind = TYPES[part]
    for word in WORDS:
        forms = nltk_wordnet._morphy(word, kind)
        assert wordnet.lemma(word, part) == (min(forms, key=len) if forms else word), word
        expected = nltk_wordnet.synsets(word, kind)
        senses = wordnet.senses(word, part)
        assert [place for _, place in senses] == [synset.offset() for synset in expected], word
        definitions = [wordnet.definition(sense) for sense in senses]
        assert definitions == [synset.definition() for synset in expected], word


def test_synonyms_are_those_of_nltk(wordnet, nltk_wordnet) -> None:
    for word in WORDS:
        names = {lemma.name() for synset in nltk_wordnet.synsets(word) for lemma in synset.lemmas()}
        assert wordnet.synonyms(word) == {n for n in names if "_" not in n} | {word}, word


def test_exact_lemmas_and_synonyms(wordnet) -> None:
    assert wordnet.version == "WordNet 3.0"
    assert wordnet.lemma("children", Part.NOUN) == "child"
    assert wordnet.lemma("took", Part.VERB) == "take"
    assert wordnet.lemma("unknown", Part.VERB) == "unknown"
    assert wordnet.synonyms("man") == {"man"}
    assert wordnet.synonyms("automobil") == {"automobil"}
    cars = {"auto", "automobile", "car", "machine", "motorcar"}
    assert wordnet.synonyms("autos") == cars | {"autos"}


def test_without_wordnet_the_error_states_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as error:
        WordNet(tmp_path)
    assert str(error.value) == (
        "WordNet is not installed, and this proxy needs it. On Debian or Ubuntu, run: "
        "apt-get install wordnet-base"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("index.noun", "car n x\n"),
        ("data.noun", "\n"),
        ("data.noun", "broken\n" * 99),
        ("noun.exc", None),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: str | None) -> None:
    folder = make_wordnet(tmp_path / "wordnet")
    (folder / name).unlink()
    if content:
        (folder / name).write_text(content)
    wordnet = WordNet(folder)
    with pytest.raises(InvalidInput, match=f"^the file {name} of WordNet cannot be read$"):
        wordnet.synonyms("car")
