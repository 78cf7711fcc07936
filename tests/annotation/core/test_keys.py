"""The keys of the judging room: names, valid choices, and actions."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.keys import (
    OTHERS,
    KeyProblem,
    Keys,
    bindings,
    key_problem,
    normal_key,
    room_keys,
    shown_key,
    without_characters,
)
from annotation.core.keys import keys_of as keys_of_actions
from annotation.core.keys import keys_problems as problems_in_rooms
from annotation.questions.rooms import all_actions, key_rooms

DEFAULTS = {action.name: action.keys for action in all_actions()}


def keys_of(stored: Any) -> Keys:
    return keys_of_actions(stored, all_actions(), key_rooms())


def keys_problems(keys: dict[str, tuple[str, ...]]) -> dict[tuple[str, int], KeyProblem]:
    return problems_in_rooms(keys, key_rooms())


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("J", "j"),
        (" j ", "j"),
        ("Ö", "ö"),
        ("?", "?"),
        ("", ""),
        (" ", "Space"),
        ("space", "Space"),
        ("page up", "PageUp"),
        ("PAGEUP", "PageUp"),
        ("←", "ArrowLeft"),
        ("arrowleft", "ArrowLeft"),
    ],
)
def test_a_typed_key_has_its_stored_name(typed: str, key: str) -> None:
    assert normal_key(typed) == key
    assert normal_key(shown_key(key)) == key


@pytest.mark.parametrize("key", ["j", "ö", "ж", "?", "[", "+", "€", "ß", "Space", "ArrowUp"])
def test_a_key_that_can_be_chosen(key: str) -> None:
    assert key_problem(key) is None


@pytest.mark.parametrize(
    "key",
    [
        "tab",
        "enter",
        "escape",
        "0",
        "1",
        "9",
        "٣",
        "jk",
        "f5",
        "\x07",
        "\u202e",
        "i̇",
        "👩‍👩‍👧",
        " ",
    ],
)
def test_a_key_that_cannot_be_chosen(key: str) -> None:
    assert key_problem(key) is not None


def test_a_key_with_two_actions_is_refused() -> None:
    assert keys_problems(DEFAULTS) == {}
    problem = KeyProblem("{key} is chosen twice.", "J")
    assert str(problem) == "J is chosen twice."
    assert keys_problems({**DEFAULTS, "undo": ("z", "j")}) == {
        ("low", 0): problem,
        ("undo", 1): problem,
    }
    problem = KeyProblem("{key} is chosen twice.", "Z")
    assert keys_problems({"undo": ("z", "z")}) == {("undo", 0): problem, ("undo", 1): problem}
    invalid = keys_problems({**DEFAULTS, "undo": ("z", "1"), "sheet": ("Tab",)})
    assert list(invalid) == [("undo", 1), ("sheet", 0)]


def test_actions_of_different_rooms_can_have_the_same_key() -> None:
    # Only the room that orders captions moves them, and only another one merges spans.
    assert (DEFAULTS["raise"], DEFAULTS["merge"]) == (("o",), ("o",))
    mine = keys_of({"raise": ["v"], "undo": ["l"]})
    assert (mine["merge"], mine["lower"], mine["lock"]) == (("o",), (), ())
    assert set(keys_problems({**DEFAULTS, "split": ("o",), "play": ("v",)})) == {
        ("split", 0),
        ("merge", 0),
    }
    assert set(keys_problems({**DEFAULTS, "play": ("o",)})) == {
        ("raise", 0),
        ("play", 0),
        ("merge", 0),
    }


def test_an_action_may_have_no_key() -> None:
    assert keys_problems({**DEFAULTS, "cannot-play": ()}) == {}
    assert keys_of({"cannot-play": []})["cannot-play"] == ()


def test_invalid_stored_keys_are_ignored() -> None:
    """Keys that another version stored must not break the room."""
    assert keys_of(None) == DEFAULTS
    stored: list[Any] = [[], "j", 5, {"undo": "z"}, {"undo": [1]}, {"gone": ["y"]}]
    for preferences in stored:
        assert keys_of(preferences) == DEFAULTS
    # The person's own choice of a key has priority over the default of another action.
    mine = keys_of({"undo": ["j", "tab"]})
    assert (mine["undo"], mine["low"]) == (("j",), ("ArrowLeft",))


def test_two_steps_have_their_own_keys() -> None:
    keys = room_keys(keys_of(None), steps=2, checklist=False)
    assert (keys["answer-0"], keys["answer-1"]) == (("j", "ArrowLeft"), ("k", "ArrowRight"))
    assert set(keys) == {"answer-0", "answer-1", *(action.name for action in OTHERS)}
    assert bindings(keys)["ArrowLeft"] == "answer-0"
    assert "1" not in bindings(keys)


def test_longer_scales_have_digits_and_letters() -> None:
    keys = room_keys(keys_of(None), steps=4, checklist=False)
    assert [keys[f"answer-{label}"] for label in range(4)] == [
        ("1", "a"),
        ("2", "s"),
        ("3", "d"),
        ("4", "f"),
    ]
    assert "5" not in bindings(keys)


def test_a_checklist_uses_the_digits() -> None:
    keys = room_keys(keys_of(None), steps=4, checklist=True)
    assert [keys[f"answer-{label}"] for label in range(4)] == [("a",), ("s",), ("d",), ("f",)]
    done = bindings(keys)
    assert [done[digit] for digit in "123456789"] == [f"mark-{digit}" for digit in "123456789"]
    assert len(done) == sum(map(len, keys.values()))


def test_the_longest_scale_has_a_key_for_each_step() -> None:
    keys = room_keys(keys_of(None), steps=9, checklist=True)
    assert all(keys[f"answer-{label}"] for label in range(9))
    assert len(bindings(keys)) == sum(map(len, keys.values()))


def test_without_character_keys_only_named_keys_remain() -> None:
    keys = room_keys(keys_of(None), steps=2, checklist=True)
    assert bindings(without_characters(keys)) == {
        "ArrowLeft": "answer-0",
        "ArrowRight": "answer-1",
        "Backspace": "undo",
        "Space": "play",
    }
