"""Hearth's rules for allauth: no sign-up, and no sign-in to demo accounts outside the demo."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from config.accounts.models import User
from config.accounts.policies import can_sign_in


class InvitedOnlyAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse | None:
        """Explain why a demo account cannot sign in; its password was correct."""
        if user.is_active and not can_sign_in(user):
            return render(request, "account/demo_only.html", status=403)
        response: HttpResponse | None = super().pre_login(request, user, **options)
        return response
