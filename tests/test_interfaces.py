"""Every interface of an action has the options that the action declares."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import get_resolver

from annotation.questions.faithfulness.opening import NewFaithfulness
from annotation.questions.order.study import NewStudy
from annotation.questions.scene.study import DescribeScenes
from annotation.services import CampaignOptions, ImportGold, ImportJudgments
from config.interfaces import CLIENT, COMMANDS, client_source, commands_document
from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.services import DrawOptions
from evaluation.machines.request import MachineRequest
from evaluation.release.exports import ExportOptions
from evaluation.release.exports.training import TrainingMoments
from evaluation.release.selectors import ConfirmOptions
from evaluation.release.services import PublishOptions
from evaluation.scores.services import EvaluateOptions
from hearth.shared.option_fields import OptionsForm, OptionsSerializer
from hearth.shared.options import options_of
from hearth_client.calls import Calls
from pooling.core.pool_options import PoolRequest
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.core.run_options import ImportRun, ScoreRun
from pooling.exports import TrainingOptions
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportClips, ImportSimilarities
from pooling.phrasings.services.expanding import ExpandOptions
from pooling.phrasings.services.fusing import FuseOptions
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload
from pooling.phrasings.services.phrasings import PhrasingsUpload
from pooling.phrasings.services.vectors import TextVectorsUpload
from pooling.relevant_pairs.core.request import PartsRequest, RelevantPairsRequest
from pooling.scenes.actions import FindScenes
from pooling.services.addresses import AddressesUpload
from pooling.services.changing_benchmarks import BenchmarkFields
from pooling.services.changing_runs import RunFields, RunWithdrawal, UploadRefusal
from pooling.services.metadata import TagsUpload, TrainCaptionsUpload
from pooling.services.public_pages import PublicPageFields

# The form, the schema of the API, the command and the call of the client of each action; "" for
# none.
ACTIONS: dict[type, tuple[str, str, str, str]] = {
    AddParagraphs: ("ParagraphsForm", "AddParagraphs", "add_paragraphs", ""),
    FocusRun: ("FocusForm", "FocusRun", "focus_run", ""),
    ImportClips: ("ClipsForm", "ClipsUpload", "import_clips", ""),
    ImportSimilarities: ("SimilaritiesForm", "SimilaritiesUpload", "import_similarities", ""),
    AddressesUpload: ("AddressesForm", "", "", ""),
    BenchmarkFields: ("BenchmarkForm", "BenchmarkFields", "", ""),
    CampaignOptions: ("CampaignForm", "", "open_campaign", ""),
    ConfirmOptions: ("", "Confirmation", "confirm_positives", "confirm_positives"),
    DescribeScenes: ("SceneStudyForm", "DescribeScenes", "describe_scenes", ""),
    EstimateOptions: ("EstimateForm", "Estimate", "estimate", "estimate"),
    DrawOptions: ("DrawForm", "Draw", "draw_captions", "draw_captions"),
    EvaluateOptions: ("", "Evaluate", "evaluate", "evaluate"),
    ExpandOptions: ("ExpandForm", "Expand", "expand", ""),
    ExportOptions: ("", "Export", "export_labels", ""),
    FindScenes: ("ScenesForm", "FindScenes", "find_scenes", "find_scenes"),
    FuseOptions: ("FuseForm", "Fuse", "fuse_runs", "fuse_runs"),
    ImportGold: ("GoldUploadForm", "GoldUpload", "import_gold", ""),
    ImportJudgments: ("JudgmentsUploadForm", "JudgmentsUpload", "import_judgments", ""),
    ImportRun: ("RunUploadForm", "RunUpload", "import_run", "begin_upload"),
    MachineRequest: ("MachineForm", "MachineRequest", "judge_by_machine", "judge_by_machine"),
    NewFaithfulness: ("FaithfulnessForm", "Faithfulness", "open_faithfulness", ""),
    NewStudy: ("NewStudyForm", "", "create_ordering_study", ""),
    PhrasedListsUpload: ("PhrasedListsForm", "PhrasedLists", "import_phrased_lists", ""),
    PartsRequest: ("PartsForm", "PartsRequest", "export_parts", ""),
    PhrasingsUpload: ("PhrasingsForm", "PhrasingsUpload", "import_phrasings", ""),
    PoolRequest: ("PoolForm", "PoolBuild", "build_pool", "build_pool"),
    ProxyRequest: ("ProxyForm", "ProxyRequest", "compute_proxy", "compute_proxy"),
    ProxyUpload: ("MatrixForm", "Matrix", "import_proxy", ""),
    RelevantPairsRequest: ("RelevantPairsForm", "RelevantPairsRequest", "find_relevant_pairs", ""),
    PublicPageFields: ("PublicPageForm", "PublicPage", "public_page", ""),
    PublishOptions: ("PublishForm", "Publish", "publish_labels", "publish_labels"),
    RunWithdrawal: ("WithdrawForm", "Withdraw", "", ""),
    TrainingMoments: ("TrainingMomentsForm", "TrainingMoments", "export_training", ""),
    UploadRefusal: ("RefuseForm", "Reason", "", ""),
    RunFields: ("RunForm", "RunFields", "", ""),
    ScoreRun: ("RunScoringForm", "RunForScoring", "", ""),
    TextVectorsUpload: ("TextVectorsForm", "TextVectors", "import_phrasing_embeddings", ""),
    TagsUpload: ("TagsForm", "TagsUpload", "import_tags", ""),
    TrainCaptionsUpload: (
        "TrainCaptionsForm",
        "TrainCaptionsUpload",
        "import_train_captions",
        "",
    ),
    TrainingOptions: ("TrainingForm", "Training", "export_proxy", "training_options"),
}
# Options that an interface does not have, and why.
MISSING = {
    # The form is on the page of the run.
    "DrawForm": {"run"},
    # Matrices and embeddings have a form each.
    "MatrixForm": {"caption_embeddings", "video_embeddings", "own_as_computed"},
    # Only a preview uses these, which has a schema of its own.
    "PoolBuild": {"rate", "seconds"},
    "build_pool()": {"rate", "seconds"},
    # Jobs score all runs by all common measures.
    "Evaluate": {"labels_only", "run_names", "measures"},
    "evaluate()": {"labels_only", "run_names", "measures"},
}


def test_the_calls_of_the_client_are_up_to_date() -> None:
    assert CLIENT.read_text(encoding="utf-8") == client_source(), "run `make interfaces`"


def test_the_page_about_commands_is_up_to_date() -> None:
    assert COMMANDS.read_text(encoding="utf-8") == commands_document(), "run `make interfaces`"


def test_every_action_is_listed() -> None:
    get_resolver().url_patterns  # noqa: B018 # loads all forms and serializers
    made = subclasses(OptionsForm) | subclasses(OptionsSerializer)
    found = {each.action for each in made if not each.action.__module__.startswith("tests.")}
    assert found == set(ACTIONS)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_each_interface_has_the_options_of_its_action(action: type) -> None:
    form, schema, command, call = ACTIONS[action]
    names = {option.name for option in options_of(action)}
    if form:
        fields = named(OptionsForm, form).base_fields
        pages = {option.name for option in options_of(action) if option.page_name in fields}
        assert pages == names - MISSING.get(form, set())
    if schema:
        fields = named(OptionsSerializer, f"{schema}Serializer")._declared_fields
        assert set(fields) & names == names - MISSING.get(schema, set())
    if command:
        parser = load_command_class(get_commands()[command], command).create_parser("", command)
        given = {option.dest for option in parser._actions}
        others = {option.name for option in options_of(action) if not option.option.in_commands}
        not_sent = {"own_words"} if action is ProxyRequest else set()
        assert names - given == others | not_sent
    if call:
        parameters = set(inspect.signature(getattr(Calls, call)).parameters)
        assert names - parameters == MISSING.get(f"{call}()", set())


def named(base: type, name: str) -> Any:
    """Return the class of a name; the derived one if it adds to a class of the same name."""
    found = [each for each in subclasses(base) if each.__name__ == name]
    return max(found, key=lambda each: len(each.__mro__))


def subclasses(base: type) -> set[Any]:
    direct = set(base.__subclasses__())
    return direct.union(*map(subclasses, direct))


@pytest.mark.parametrize("action", list(ACTIONS))
def test_no_option_hides_a_function_of_its_form(action: type) -> None:
    """A field named `matches` hides the function of its form that htmx calls on each page."""
    used_by_scripts = {"attributes", "children", "closest", "elements", "matches", "submit"}
    assert not used_by_scripts & {option.page_name for option in options_of(action)}
