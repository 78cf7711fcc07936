from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class AuditConfig(AppConfig):
    name = "hearth.audit"
    label = "audit"

    def ready(self) -> None:
        # The filter of the log lists the acts of all apps, even before a service has used them.
        autodiscover_modules("acts")
