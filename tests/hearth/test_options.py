"""One declaration of options yields form, serializer, arguments and job parameters."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict
from rest_framework.exceptions import ValidationError

from hearth.shared.option_fields import OptionsForm, serializer_of
from hearth.shared.options import (
    Entry,
    Group,
    Option,
    OptionFault,
    Seed,
    SentFile,
    add_options,
    as_params,
    build,
    options_of,
    read_options,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


FOLDED = Group("Shares", "Rarely needed.", is_folded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    seed: Annotated[Seed, Option(help="Draws them.")] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    depth: Annotated[int, Option("Depth", "How deep.", low=1, high=9)]
    inner: Inner
    colour: Annotated[Colour, Option("Colour", entry=Entry.RADIO)] = Colour.RED
    names: Annotated[tuple[str, ...], Option("Names", entry=Entry.LINES)] = ("a",)
    runs: Annotated[tuple[str, ...], Option("Runs", entry=Entry.OFFERED, flag="run")] = ()
    share: Annotated[
        float, Option("Share (%)", entry=Entry.PERCENT, page="percent", group=FOLDED)
    ] = 0.1
    bar: Annotated[float, Option("Minimum", part_of="last", page="right", group=FOLDED)] = 0
    last: Annotated[int, Option("Of the last", in_commands=False, group=FOLDED)] = 10
    step: Annotated[int | None, Option("Step", entry=Entry.STEP, low=1)] = None
    file: Annotated[SentFile | None, Option("File", "A table.")] = None
    exact: Annotated[bool, Option("Exact", "Compare all 100 %.")] = False

    def check(self) -> None:
        if self.exact and self.file is None:
            raise OptionFault("file", "Add the file.")


class WantedForm(OptionsForm[Wanted]):
    action = Wanted


SENT = {
    "depth": "4",
    "seed": "5",
    "colour": "blue",
    "names": "x y\n\n z ",
    "runs": ["r"],
    "percent": "12.5",
    "right": "3",
    "last": "4",
    "step": "2",
    "exact": "on",
}
FILE = SentFile(Path(), "table.csv")
CHOSEN = Wanted(
    depth=4,
    inner=Inner(seed=5),
    colour=Colour.BLUE,
    names=("x y", "z"),
    runs=("r",),
    share=0.125,
    bar=0.75,
    last=4,
    step=1,
    file=FILE,
    exact=True,
)
PARAMS = {
    "depth": 4,
    "seed": 5,
    "colour": "blue",
    "names": ["x y", "z"],
    "runs": ["r"],
    "share": 0.125,
    "bar": 0.75,
    "last": 4,
    "step": 1,
    "exact": True,
}


def sent(**changed: Any) -> MultiValueDict[str, Any]:
    data = SENT | changed
    return MultiValueDict(
        {name: value if isinstance(value, list) else [value] for name, value in data.items()}
    )


def form(data: MultiValueDict[str, Any], *, with_file: bool = True) -> WantedForm:
    files = {"file": SimpleUploadedFile("table.csv", b"x")} if with_file else {}
    return WantedForm(data, files, offered={"runs": [("r", "Run r")]})


def test_a_form_has_the_options_that_a_person_entered() -> None:
    valid = form(sent())
    assert valid.is_valid(), valid.errors
    assert valid.options == CHOSEN
    assert list(valid.sent_files()) == ["file"]


def test_a_form_shows_options_as_people_enter_them() -> None:
    shown = WantedForm.of(CHOSEN, offered={"runs": [("r", "Run r")]})
    values = {field.name: field.value() for field in shown if field.name != "file"}
    assert values == {
        "depth": 4,
        "seed": 5,
        "colour": "blue",
        "names": "x y\nz",
        "runs": ["r"],
        "percent": Decimal("12.5"),
        "right": 3,
        "last": 4,
        "step": 2,
        "exact": True,
    }
    again = MultiValueDict[str, Any]()
    for name, value in shown.sent_values():
        again.appendlist(name, value)
    sent_again = form(again)
    assert sent_again.is_valid()
    assert sent_again.options == CHOSEN


def test_a_form_groups_its_fields_and_opens_changed_groups() -> None:
    groups = [
        (part.title, part.is_folded, part.is_open, [field.name for field in part.fields])
        for part in WantedForm().fieldsets()
    ]
    plain = ["depth", "seed", "colour", "names", "runs", "step", "file", "exact"]
    assert groups == [
        ("", False, False, plain),
        ("Shares", True, False, ["percent", "right", "last"]),
    ]
    unchanged = form(sent(percent="10", right="0", last="10"))
    assert [part.is_open for part in unchanged.fieldsets() if part.is_folded] == [False]
    changed = form(sent(percent="11"))
    assert [part.is_open for part in changed.fieldsets() if part.is_folded] == [True]


@pytest.mark.parametrize(
    ("changed", "errors"),
    [
        ({"depth": "0"}, {"depth": ["Ensure this value is greater than or equal to 1."]}),
        ({"percent": "101"}, {"percent": ["Ensure this value is less than or equal to 100."]}),
        ({"right": "5"}, {"right": ["The minimum must not exceed the number of answers."]}),
        ({"step": "1"}, {"step": ["Ensure this value is greater than or equal to 2."]}),
    ],
)
def test_a_form_shows_errors_next_to_the_field(
    changed: dict[str, str], errors: dict[str, list[str]]
) -> None:
    assert form(sent(**changed)).errors == errors


def test_a_check_of_several_options_names_its_option() -> None:
    assert form(sent(), with_file=False).errors == {"file": ["Add the file."]}
    with pytest.raises(ValidationError) as error:
        serializer_of(Wanted, "Wanted").read({"depth": 1, "exact": True})
    assert error.value.detail == {"file": ["Add the file."]}


def test_a_request_has_the_names_and_types_of_the_options() -> None:
    serializer = serializer_of(Wanted, "Wanted")
    options, files = serializer.read_with_files(
        {**PARAMS, "file": SimpleUploadedFile("table.csv", b"x")}
    )
    assert options == CHOSEN
    assert list(files) == ["file"]
    assert serializer.read({"depth": 2}) == Wanted(depth=2, inner=Inner())
    with pytest.raises(ValidationError) as error:
        serializer.read({"depth": 10, "colour": "green"})
    assert set(error.value.detail) == {"depth", "colour"}


def test_a_command_has_an_argument_for_each_option(tmp_path: Path) -> None:
    parser = ArgumentParser()
    add_options(parser, Wanted)
    text = "--depth 4 --seed 5 --colour BLUE --names x,z --run r --share 0.125 --bar 3/4 --step 1"
    path = tmp_path / "table.csv"
    arguments = vars(parser.parse_args([*text.split(), "--file", str(path), "--exact"]))
    assert as_params(read_options(Wanted, arguments)) == PARAMS | {"names": ["x", "z"]}
    assert read_options(Wanted, arguments).file == SentFile(path, str(path))
    helps = {action.dest: action.help for action in parser._actions}
    assert helps["seed"] == "seed: draws them; default: 3"
    assert helps["exact"] == "exact: compare all 100 %%"
    assert "last" not in helps
    defaults = vars(parser.parse_args(["--depth", "1"]))
    assert read_options(Wanted, defaults) == Wanted(depth=1, inner=Inner())


def test_parameters_of_a_job_hold_the_options_without_files() -> None:
    assert as_params(CHOSEN) == PARAMS
    assert build(Wanted, {**PARAMS, "file": FILE, "other": 1}) == CHOSEN
    with pytest.raises(OptionFault, match="The value must be one of red, blue"):
        build(Wanted, {"depth": 1, "colour": "green"})


def test_a_later_annotation_replaces_only_what_it_states() -> None:
    seed = next(option for option in options_of(Wanted) if option.name == "seed")
    assert (seed.option.title, seed.option.help, seed.within) == ("Seed", "Draws them.", ("inner",))
    assert seed.option.low == 0
