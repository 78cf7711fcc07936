"""The verbs, nouns and lemmas that the tagger HanTa 1.2.1 finds in captions."""

from __future__ import annotations

import pytest

from pooling.core.proxies.parsing import ParsedCaption, Word, parse_captions


def words(*pairs: tuple[str, str]) -> tuple[Word, ...]:
    return tuple(Word(*pair) for pair in pairs)


@pytest.fixture(scope="module")
def parsed() -> dict[str, ParsedCaption]:
    return parse_captions(
        [
            "Two cats are sitting near the window.",
            "a woman has been slicing onions",
            "a man's dog doesn't run",
            "Obama visits New York",
            "wash hands",
            "",
            "wash hands",
        ]
    )


def test_auxiliaries_are_not_verbs_and_names_are_not_nouns(parsed) -> None:
    assert [(c.verbs, c.nouns) for c in parsed.values()] == [
        (words(("sitting", "sit")), words(("cats", "cat"), ("window", "window"))),
        (words(("slicing", "slice")), words(("woman", "woman"), ("onions", "onion"))),
        (words(("run", "run")), words(("man", "man"), ("dog", "dog"))),
        (words(("visits", "visit")), ()),
        ((), words(("wash", "wash"), ("hands", "hand"))),  # wrong: "wash" is a verb, see `commands`
        ((), ()),
    ]


def test_commands_begin_with_a_verb() -> None:
    parsed = parse_captions(["wash hands", "put down wooden spoon", ""], commands=True)
    assert [(c.verbs, c.nouns) for c in parsed.values()] == [
        (words(("wash", "wash")), words(("hands", "hand"))),
        (words(("put", "put")), words(("spoon", "spoon"))),
        ((), ()),
    ]


def test_equal_captions_are_tagged_once() -> None:
    calls: list[tuple[int, int | None, str]] = []

    def note(done: int, total: int | None, phase: str = "") -> None:
        calls.append((done, total, phase))

    parse_captions(["a cat"] * 3, progress=note)
    assert calls == [(0, 1, "tagging captions")]
