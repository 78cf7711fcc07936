from __future__ import annotations

from django.apps import AppConfig


class SecurityConfig(AppConfig):
    name = "hearth.security"
    label = "security"
