"""Forms that compute and upload proxies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from hearth.shared.errors import InvalidInput
from hearth.shared.options import SEED_MAX
from hearth.shared.uploads import check_is_readable
from pooling.core.proxies.options import Method
from pooling.core.proxies.request import (
    FILES,
    LEXICON,
    NOUN_CLASSES,
    OWN_WORDS,
    VERB_CLASSES,
    ProxyRequest,
    StopList,
)
from pooling.core.proxies.words import PERCENT
from pooling.exports import ANCHORS, CAPTION, NEGATIVES_MAX, TrainingOptions
from pooling.forms.fields import check_printable
from pooling.forms.runs import KEYS_HELP
from pooling.selectors.proxies import has_wordnet
from pooling.services.names import NAME_LENGTH

NEEDS_WORDNET = (
    "This method needs WordNet, which is not installed here. Upload it in the field WordNet below, "
    "or install it: on Debian or Ubuntu, run apt-get install wordnet-base."
)
METHODS = [
    (Method.BOW.value, "BoW: the overlap of the words"),
    (Method.POS.value, "PoS: the overlap of the verbs and of the nouns"),
    (Method.SYN.value, "SYN: like PoS, but words with the same sense are equal"),
    (Method.METEOR.value, "METEOR: equal words, stems and synonyms, and their order"),
]


def name_field(by_default: str) -> forms.CharField:
    return forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        required=False,
        help_text=f"By default, {by_default}.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


def own_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Value of a video and its own caption",
        choices=[
            ("", "1, as in equation 5 of Wray et al."),
            ("on", "The computed value, as in the published code"),
        ],
        required=False,
        widget=forms.RadioSelect,
    )


class ProxyForm(forms.Form):
    """The method of a proxy that is computed from captions, and its options."""

    method = forms.ChoiceField(
        label="Method", choices=METHODS, initial=Method.BOW.value, widget=forms.RadioSelect
    )
    name = name_field("the name of the method")
    own_as_computed = own_field()
    percent = forms.IntegerField(
        label="Minimum share of a video’s captions that contain a word (%)",
        min_value=1,
        max_value=100,
        initial=PERCENT,
        help_text="BoW, PoS and SYN use it for videos with several captions. At 25 %, a video with "
        "20 captions keeps the words that at least 5 of them contain. METEOR compares several "
        "captions by the match kernel of Wray et al. instead.",
    )
    stop_words = forms.ChoiceField(
        label="Stop words",
        choices=[
            (StopList.SPACY.value, "spaCy’s 326 English stop words, as in Wray et al."),
            (StopList.NONE.value, "None"),
            (StopList.OWN.value, "My own list"),
        ],
        initial=StopList.SPACY.value,
        widget=forms.RadioSelect,
        help_text="The words to leave out. spaCy’s list contains put, take, get, give, make, move "
        "and can, which are common words in kitchens.",
    )
    own_words = forms.FileField(
        label="Own stop words", required=False, help_text="A text file with one word per line."
    )
    white_space = forms.BooleanField(
        label="Split captions at any white space",
        required=False,
        help_text="By default, captions are split at single spaces, as the published code does. "
        "Two spaces in a row then give an empty word.",
    )
    commands = forms.BooleanField(
        label="Captions are commands, such as “wash hands”",
        required=False,
        help_text="The tagger then reads each caption as if it began with “I”, because it would "
        "otherwise take the verb for a noun.",
    )
    verb_classes = forms.FileField(
        label="Classes of verbs",
        required=False,
        help_text="A CSV file with the columns id and instances, as in EPIC-KITCHENS. Words of the "
        "same class are equal. Without classes, the simplified Lesk algorithm selects the senses "
        "of WordNet.",
    )
    noun_classes = forms.FileField(
        label="Classes of nouns", required=False, help_text="The same for nouns."
    )
    lemmas_by_tagger = forms.BooleanField(
        label="Look up classes by the tagger’s lemmas",
        required=False,
        help_text="This needs no WordNet. By default, the lemmas are WordNet’s.",
    )
    synonyms_of_words = forms.BooleanField(
        label="Look up synonyms of words, not of stems",
        required=False,
        help_text="NLTK looks up stems, which loses synonyms: “automobile” becomes “automobil”.",
    )
    lexicon = forms.FileField(
        label="WordNet",
        required=False,
        help_text="A .zip or .tar.gz archive with the files index.*, data.* and *.exc, such as "
        "NLTK’s wordnet.zip. By default, the installed WordNet is used.",
    )

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])

    def clean_own_as_computed(self) -> bool:
        return bool(self.cleaned_data["own_as_computed"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in FILES:
            if data.get(name) and name != LEXICON:
                _check_text(self, name, data[name])
        if self.errors:
            return data
        if data["stop_words"] == StopList.OWN and not data[OWN_WORDS]:
            self.add_error(OWN_WORDS, "Add the file with your own stop words.")
        if bool(data[VERB_CLASSES]) != bool(data[NOUN_CLASSES]):
            missing = VERB_CLASSES if data[NOUN_CLASSES] else NOUN_CLASSES
            self.add_error(missing, "Add both tables, the classes of verbs and those of nouns.")
        has_classes = bool(data[VERB_CLASSES])
        if self.request().needs_wordnet(has_classes=has_classes) and not (
            data[LEXICON] or has_wordnet()
        ):
            self.add_error("method", NEEDS_WORDNET)
        return data

    def request(self) -> ProxyRequest:
        return ProxyRequest.of(self.cleaned_data)

    def sent_files(self) -> dict[str, UploadedFile[Any]]:
        """Return the files that the method uses, by the names of their fields."""
        method, used = self.cleaned_data["method"], []
        if method == Method.BOW and self.cleaned_data["stop_words"] == StopList.OWN:
            used = [OWN_WORDS]
        elif method == Method.SYN:
            used = [VERB_CLASSES, NOUN_CLASSES, LEXICON]
        elif method == Method.METEOR:
            used = [LEXICON]
        return {name: file for name in used if (file := self.cleaned_data[name])}

    def main_fields(self) -> list[forms.BoundField]:
        return [self["method"], self["name"]]

    def groups(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """Return for each group its title, its fields, and whether the page opens the group.

        The page opens it if a field has an error or a value that is not its default.
        """
        titles = {
            "Own captions, and several captions per video": ("own_as_computed", "percent"),
            "Words of BoW": ("stop_words", OWN_WORDS, "white_space"),
            "Verbs and nouns of PoS and SYN": ("commands",),
            "Senses of SYN": (VERB_CLASSES, NOUN_CLASSES, "lemmas_by_tagger"),
            "Synonyms of METEOR": ("synonyms_of_words",),
            "WordNet for SYN and METEOR": (LEXICON,),
        }
        changed = {*self.errors, *self.changed_data} if self.is_bound else set()
        if "method" in self.errors:  # the method needs WordNet, which is missing
            changed.add(LEXICON)
        return [
            (title, [self[name] for name in names], not changed.isdisjoint(names))
            for title, names in titles.items()
        ]


class MatrixForm(forms.Form):
    """A matrix that another program computed."""

    files_of = ("file", "keys")

    file = forms.FileField(label="Matrix", help_text="A .npy file of float16, float32 or float64.")
    keys = forms.FileField(
        label="Keys",
        required=False,
        help_text=KEYS_HELP,
    )
    name = name_field("the name of the file")

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])

    def sent_files(self) -> dict[str, UploadedFile[Any]]:
        return _sent(self.cleaned_data, self.files_of)


class EmbeddingsForm(forms.Form):
    """Embeddings that another program computed."""

    files_of = ("caption_embeddings", "video_embeddings")

    caption_embeddings = forms.FileField(
        label="Embeddings of captions",
        required=False,
        help_text="A .npy matrix with a row for each caption, in the order of the benchmark.",
    )
    video_embeddings = forms.FileField(
        label="Embeddings of videos",
        required=False,
        help_text="A .npy matrix with a row for each video. Without it, the embedding of a video "
        "is the mean of those of its own captions.",
    )
    name = name_field("the name of the first file")
    own_as_computed = own_field()

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])

    def clean_own_as_computed(self) -> bool:
        return bool(self.cleaned_data["own_as_computed"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not self.sent_files():
            self.add_error(None, "Add embeddings of captions, of videos, or of both.")
        return data

    def sent_files(self) -> dict[str, UploadedFile[Any]]:
        return _sent(self.cleaned_data, self.files_of)


class TrainingForm(forms.Form):
    """The options of training files, which are in the address of the download."""

    threshold = forms.FloatField(label="Threshold", min_value=0.01, max_value=1, initial=0.5)
    anchor = forms.ChoiceField(
        label="Anchor of triplets", choices=list(ANCHORS.items()), initial=CAPTION, required=False
    )
    negatives = forms.IntegerField(
        label="Negatives per positive",
        min_value=1,
        max_value=NEGATIVES_MAX,
        initial=1,
        required=False,
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=SEED_MAX, initial=0, required=False
    )

    def options(self) -> TrainingOptions:
        """Return the options of a valid form. Missing ones have their defaults."""
        given = {
            name: value for name, value in self.cleaned_data.items() if value not in ("", None)
        }
        return TrainingOptions(**given)


def _sent(data: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, UploadedFile[Any]]:
    return {name: data[name] for name in names if data.get(name)}


def _check_text(form: forms.Form, name: str, file: UploadedFile[Any]) -> None:
    try:
        check_is_readable(file, "A text file")
    except InvalidInput as error:
        form.add_error(name, str(error))
