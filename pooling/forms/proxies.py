"""Forms that compute and upload proxies."""

from __future__ import annotations

from django.forms import BoundField

from hearth.shared.option_fields import OptionsForm
from hearth.shared.options import OptionFault
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.exports import TrainingOptions
from pooling.selectors.proxies import check_installed


class ProxyForm(OptionsForm[ProxyRequest]):
    """The method of a proxy that is computed from captions, and its options."""

    action = ProxyRequest

    def _is_changed(self, field: BoundField) -> bool:
        needs_wordnet = field.name == "lexicon" and "method" in self.errors
        return needs_wordnet or super()._is_changed(field)

    def check(self) -> None:
        super().check()
        if self.errors:
            return
        try:
            check_installed(self.options)
        except OptionFault as fault:
            self.add_fault(fault)


class MatrixForm(OptionsForm[ProxyUpload]):
    """A matrix that another program computed."""

    action = ProxyUpload
    required = ("file",)
    caption_embeddings = video_embeddings = own_as_computed = None


class EmbeddingsForm(OptionsForm[ProxyUpload]):
    """Embeddings that another program computed."""

    action = ProxyUpload
    file = keys = None

    def check(self) -> None:
        if not self.sent_files():
            self.add_error(None, "Add embeddings of captions, of videos, or of both.")


class TrainingForm(OptionsForm[TrainingOptions]):
    """The options of training files, which are in the address of the download."""

    action = TrainingOptions
