"""Forms of public benchmarks: the public page, an upload for scoring, and its refusal."""

from __future__ import annotations

from typing import Any

from django import forms

from hearth.shared.option_fields import OptionsForm
from pooling.core.run_options import ScoreRun
from pooling.services.changing_runs import UploadRefusal
from pooling.services.public_pages import PublicPageFields

# The settings that let visitors see more.
SHOWN = ("is_public", "shows_while_judging", "shows_texts")


class PublicPageForm(OptionsForm[PublicPageFields]):
    action = PublicPageFields

    confirmed = forms.BooleanField(
        label="I have read “What visitors see” on this page, and I agree to show it.",
        required=False,
        help_text="Required if visitors will see more than they see now.",
    )

    def clean(self) -> dict[str, Any]:
        values = dict(self.cleaned_data)
        confirmed = values.pop("confirmed")
        if values["is_public"] and self._shows_more(values) and not confirmed:
            self.add_error("confirmed", "Read what visitors will see, and confirm it.")
        return values

    def _shows_more(self, values: dict[str, Any]) -> bool:
        """Return whether visitors will see something that they do not see now."""
        return any(values[name] and not self.initial[name] for name in SHOWN)


class RunScoringForm(OptionsForm[ScoreRun]):
    action = ScoreRun


class RefuseForm(OptionsForm[UploadRefusal]):
    action = UploadRefusal
