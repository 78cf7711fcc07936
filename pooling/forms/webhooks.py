"""The form of a new webhook."""

from __future__ import annotations

from django import forms

from hearth.webhooks.models import URL_LENGTH, Event


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=URL_LENGTH,
        help_text="It must begin with https:// and be reachable from the internet.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        label="Events", choices=Event.choices, widget=forms.CheckboxSelectMultiple
    )

    def clean_events(self) -> list[Event]:
        return [Event(value) for value in self.cleaned_data["events"]]
