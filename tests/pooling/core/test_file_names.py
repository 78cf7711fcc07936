"""Which video a file belongs to."""

from __future__ import annotations

import pytest

from pooling.core.file_names import Match, MatchKind, base_name, match_names

NEW, AMBIGUOUS = Match(MatchKind.NEW), Match(MatchKind.AMBIGUOUS)


def match(key: str) -> Match:
    return Match(MatchKind.MATCH, key)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("v1.mp4", match("v1")),
        ("v1", match("v1")),
        ("folder/v1.tar.mp4", NEW),
        ("C:\\clips\\v1.mp4", match("v1")),
        ("V1.MP4", match("v1")),
        ("a.avi", match("a.avi")),
        ("A.AVI", match("a.avi")),
        ("cafe\u0301.mp4", match("café")),
        ("Twin.mp4", match("Twin")),
        ("twin.mp4", match("twin")),
        ("TWIN.mp4", AMBIGUOUS),
        ("both.mp4", AMBIGUOUS),
        (".mp4", NEW),
        ("", NEW),
    ],
)
def test_a_name_matches_a_key(name: str, expected: Match) -> None:
    keys = ["v1", "a.avi", "café", "twin", "Twin", "both", "both.mp4"]
    assert match_names([name], keys) == [expected]


def test_several_files_of_one_video_are_ambiguous() -> None:
    names = ["a/v1.mp4", "b/V1.avi", "v2.mp4", "v3.mp4"]
    assert match_names(names, ["v1", "v2"]) == [AMBIGUOUS, AMBIGUOUS, match("v2"), NEW]


@pytest.mark.parametrize("path", ["x/y.mp4", "x\\y.mp4", "y.mp4", "../x\\/y.mp4"])
def test_folders_of_unix_and_windows_are_cut_off(path: str) -> None:
    assert base_name(path) == "y.mp4"
