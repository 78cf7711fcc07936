"""JSON runs: plain lists, the layouts of the FIRE study's code, and the error of each bad file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from hearth.shared.errors import InvalidInput
from tests.pooling.core.tiny import TEXTS, lists, read, write

RED, CAT = TEXTS[0], TEXTS[2]


def videos(run_path: Path, **options: object) -> dict[int, list[int]]:
    return {
        query: [v for v, _ in pairs] for query, pairs in lists(read(run_path, **options)).items()
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"q1": ["vB", "vA"]}, {1: [1, 2]}),
        ({"q1": ["vB", "vA", "vC"], "q0": ["vC"]}, {1: [1, 2, 0], 2: [0]}),
        ({CAT: ["vB"]}, {2: [1]}),
        ({RED: ["vB", "vC"]}, {0: [1, 0], 1: [1, 0]}),  # every caption with this text
        ({"q1": [["vB", 0.5], ["vA", 2]]}, {1: [2, 1]}),
        ({"q1": [["vC", 1], ["vA", 1], ["vB", 1]]}, {1: [0, 2, 1]}),  # ties: rank in the list
        ({"q1": {"vC": 1, "vA": 1, "vB": 2}}, {1: [1, 2, 0]}),  # ties: key
        ({"q1": [], "q0": ["vA"]}, {2: [2]}),
    ],
)
def test_plain_lists(tmp_path: Path, data: object, expected: dict[int, list[int]]) -> None:
    assert videos(write(tmp_path, json.dumps(data))) == expected


def test_list_without_scores_keeps_its_order_as_scores(tmp_path: Path) -> None:
    run = read(write(tmp_path, gzip.compress(b'\n {"q1": ["vB", "vA", "vC"]}')), depth=2)

    assert lists(run) == {1: [(1, -1.0), (2, -2.0)]}
    assert (run.format, run.tag, run.depth) == ("json", None, 2)
    assert run.warnings == ("captions without a ranked list: 2 of 3",)


def entry(text: str, preds: list[str], **more: object) -> dict[str, object]:
    return {"caption": text, "preds": preds, "metrics": {"P@1": 1.0}, **more}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # MSR-VTT: numbered entries, with `gold` as a string.
        (
            {"0": entry(CAT, ["vB"], gold="vA", caption_idx=0), "1": entry(RED, ["vC"], gold="vC")},
            {2: [1], 0: [0], 1: [0]},  # the only entry with this text is used for both captions
        ),
        ([entry(CAT, ["vB", "vA"])], {2: [1, 2]}),
        # MSVD: by video and then by caption index, with `gold` as a list.
        (
            {
                "vB": {"0": entry(RED, ["vB"], gold=["vB"])},
                "vC": {"0": entry(RED, ["vC"], gold=["vC"])},
            },
            {1: [1], 0: [0]},  # matched by original positives, not by order
        ),
        ({"vB": {"3": entry(RED, ["vB"])}, "vC": {"7": entry(RED, ["vC"])}}, {1: [1], 0: [0]}),
        ([entry(RED, ["vA"]), entry(RED, ["vB"])], {0: [2], 1: [1]}),  # matched by order
    ],
)
def test_predictions_of_the_fire_code(
    tmp_path: Path, data: object, expected: dict[int, list[int]]
) -> None:
    assert videos(write(tmp_path, json.dumps(data))) == expected


def test_equal_texts_are_matched_in_order_without_positives(tmp_path: Path) -> None:
    data = [entry(RED, ["vB"], gold="vB"), entry(RED, ["vC"], gold="vC")]
    assert videos(write(tmp_path, json.dumps(data)), original=None) == {0: [1], 1: [0]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": ["vA",\n ]}', "a.run, line 2: the file is not JSON: Expecting value (column 2)"),
        (
            '{"q1": ["vA"]',
            "a.run, line 1: the file is not JSON: Expecting ',' delimiter (column 14)",
        ),
        ('{"q1": ["vA"]} {}', "a.run, line 1: the file is not JSON: Extra data (column 16)"),
        ('{"q1": ["vA"], "q1": ["vB"]}', "a.run: the key 'q1' occurs twice in one object"),
        ('{"q1": {"vA": 1, "vA": 2}}', "a.run: the key 'vA' occurs twice in one object"),
        ('{"q1": {"vA": NaN}}', "a.run: NaN is not a JSON number"),
        ('{"q1": [["vA", -Infinity]]}', "a.run: -Infinity is not a JSON number"),
        ("[" * 100_000, "a.run: lists or objects are nested too deeply"),
        ('{"q1": ' * 100_000, "a.run: lists or objects are nested too deeply"),
        (
            '{"q1": {"vA": 1e999}}',
            "a.run: caption 'q1' has a score beyond the range of 32-bit numbers",
        ),
        (
            '{"q1": {"vA": 1%s}}' % ("0" * 400),
            "a.run: caption 'q1' has a score beyond the range of 32-bit numbers",
        ),
        ('{"q1": {"vA": 1%s}}' % ("0" * 5000), "a.run: an integer has too many digits"),
        ('{"q1": {"vA": "1"}}', "a.run: caption 'q1' has a score that is not a number"),
        ('{"q1": {"vA": true}}', "a.run: caption 'q1' has a score that is not a number"),
        ('{"q1": ["v\\ud800"]}', "a.run: caption 'q1': unknown video 'v\\ud800'"),
        ('{"\\udfffq": ["vA"]}', "a.run: unknown caption '\\udfffq', neither a key nor a text"),
        ('{"q1": ["vA", "vX"]}', "a.run: caption 'q1': unknown video 'vX'"),
        ('{"q1": ["vA", "vB", "vA"]}', "a.run: caption 'q1' has video 'vA' twice"),
        (
            '{"q1": ["vA", 3]}',
            "a.run: caption 'q1' must list only videos, or only pairs of video and score",
        ),
        (
            '{"q1": [["vA", 1], ["vB"]]}',
            "a.run: caption 'q1' must list only videos, or only pairs of video and score",
        ),
        ('{"q1": [[[], 1]]}', "a.run: caption 'q1' has an entry that is not a video key"),
        ('{"q1": "vA"}', "a.run: caption 'q1' has no list of videos"),
        ('{"q1": ["vA"], "q0": null}', "a.run: caption 'q0' has no list of videos"),
        (
            '{"q1": ["vA"], "a red shape": ["vA"]}',
            "a.run: caption 'a red shape' is the same caption as caption 'q1', which already has a "
            "list",
        ),
        ("{}", "a.run: the run has no ranked list"),
        ("[]", "a.run: the run has no ranked list"),
        ('{"q1": []}', "a.run: the run has no ranked list"),
        ("[1]", 'a.run: entry 0 is not an object with "caption" and "preds"'),
        ('[{"preds": []}]', 'a.run: the "caption" of entry 0 is missing or not a text'),
        (
            '[{"caption": "a blue shape", "preds": []}]',
            "a.run: entry 0: no caption has the text 'a blue shape'",
        ),
        (
            '[{"caption": "a red shape", "preds": [], "gold": 3}]',
            'a.run: entry 0 has neither a video nor a list of videos as its "gold"',
        ),
        (
            '[{"caption": "a red shape", "preds": [], "gold": "vX"}]',
            "a.run: entry 0: unknown video 'vX'",
        ),
        (
            '{"vA": {"0": {"caption": "a red shape", "preds": []}}, "vB": 1}',
            "a.run: entry 'vB' is not an object like the first",
        ),
        (
            '{"vX": {"0": {"caption": "a red shape", "preds": []}}}',
            "a.run: entry 'vX' '0': unknown video 'vX'",
        ),
    ],
)
def test_bad_json_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [entry(RED, ["vA"])] * 3,
            "a.run: entry 2: no caption 'a red shape' is left for this list",
        ),
        (
            [entry(RED, ["vA"], gold="vC"), entry(RED, ["vA"], gold="vA")],
            "a.run: entry 1: no caption 'a red shape' is left for this list",
        ),
    ],
)
def test_more_entries_than_captions_are_refused(
    tmp_path: Path, entries: list[object], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, json.dumps(entries)))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("7", "the outermost value is neither an object nor a list"),
        ('"q1"', "the outermost value is neither an object nor a list"),
        ("null", "the outermost value is neither an object nor a list"),
    ],
)
def test_wrong_outermost_value_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content), format="json")
    assert refused.value.reason == reason


def test_utf16_is_refused_although_json_accepts_it(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-le"):
        with pytest.raises(InvalidInput) as refused:
            read(write(tmp_path, '{"q1": ["vA"]}'.encode(encoding)))
        assert str(refused.value) == "a.run, line 1: the text is UTF-16; save it as UTF-8"
