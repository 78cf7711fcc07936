"""Record in the audit log what Django and allauth do.

This includes sign-ins, passwords, e-mail addresses, second factors, single sign-on, and changes in
the Django admin.
"""

from __future__ import annotations

import json
from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.signals import (
    email_added,
    email_changed,
    email_confirmed,
    email_removed,
    password_changed,
    password_reset,
    password_set,
)
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.db.models import Q
from django.db.models.signals import post_save
from django.dispatch import Signal, receiver

from hearth.accounts.actors import OPERATOR
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import User
from hearth.accounts.services import tell
from hearth.audit.origins import Interface, current_origin
from hearth.audit.services import record
from hearth.shared.folding import fold

# Each of these signals passes the person as `user`. This person acts on their own account.
OWN_ACTS: dict[Signal, AccountAct] = {
    user_logged_in: AccountAct.SIGNED_IN,
    user_logged_out: AccountAct.SIGNED_OUT,
    password_changed: AccountAct.PASSWORD_CHANGED,
    password_set: AccountAct.PASSWORD_CHANGED,
    password_reset: AccountAct.PASSWORD_RESET,
}
if apps.is_installed("allauth.mfa"):
    from allauth.mfa import signals as mfa

    OWN_ACTS |= {
        mfa.authenticator_added: AccountAct.FACTOR_ADDED,
        mfa.authenticator_removed: AccountAct.FACTOR_REMOVED,
        mfa.authenticator_reset: AccountAct.FACTOR_ADDED,
        mfa.authentication_failed: AccountAct.FACTOR_REFUSED,
    }


@transaction.atomic
def _record_own_act(signal: Signal, user: User | None = None, **facts: Any) -> None:
    authenticator = facts.get("authenticator")
    # If a visitor requests the sign-out page, there is no user.
    if user is not None:
        after = {"type": authenticator.type} if authenticator is not None else None
        record(OWN_ACTS[signal], by=user, on=user, after=after)
        tell(OWN_ACTS[signal], person=user)


for _signal in OWN_ACTS:
    _signal.connect(_record_own_act, dispatch_uid="audit")


@receiver(user_login_failed)
@transaction.atomic
def record_failed_sign_in(credentials: dict[str, Any], **_: Any) -> None:
    """Record the account, if there is one, but not the typed text, which may be a password."""
    typed = str(credentials.get("username") or credentials.get("email") or "")
    found = User.objects.filter(Q(username_folded=fold(typed)) | Q(email__iexact=typed))
    record(AccountAct.SIGN_IN_FAILED, by=None, on=found.first() if typed else None)


@receiver(social_account_added)
@receiver(social_account_removed)
@transaction.atomic
def record_single_sign_on(signal: Signal, **facts: Any) -> None:
    is_new = signal is social_account_added
    person = facts["sociallogin"].user if is_new else facts["socialaccount"].user
    act = AccountAct.SIGN_ON_CONNECTED if is_new else AccountAct.SIGN_ON_REMOVED
    record(act, by=person, on=person)
    tell(act, person=person)


@receiver(email_added)
@receiver(email_confirmed)
@transaction.atomic
def record_new_address(signal: Signal, email_address: EmailAddress, **_: Any) -> None:
    act = AccountAct.EMAIL_ADDED if signal is email_added else AccountAct.EMAIL_CONFIRMED
    person = email_address.user
    record(act, by=person, on=person)
    tell(act, person=person, new=email_address.email)


@receiver(email_changed)
@transaction.atomic
def record_primary_address(
    user: User, from_email_address: EmailAddress | None, to_email_address: EmailAddress, **_: Any
) -> None:
    record(AccountAct.EMAIL_CHANGED, by=user, on=user)
    earlier = from_email_address.email if from_email_address else ""
    tell(AccountAct.EMAIL_CHANGED, person=user, earlier=earlier, new=to_email_address.email)


@receiver(email_removed)
@transaction.atomic
def record_removed_address(user: User, email_address: EmailAddress, **_: Any) -> None:
    was_used = email_address.verified or email_address.primary
    record(AccountAct.EMAIL_REMOVED, by=user, on=user, after={"confirmed": email_address.verified})
    tell(AccountAct.EMAIL_REMOVED, person=user, earlier=email_address.email if was_used else "")


@receiver(post_save, sender=User)
@transaction.atomic
def record_password_by_command(instance: User, created: bool, **_: Any) -> None:
    """Record `manage.py changepassword`. Django has no signal for it."""
    by_command = current_origin().interface == Interface.COMMAND
    if by_command and not created and getattr(instance, "_password", None) is not None:
        record(AccountAct.PASSWORD_CHANGED, by=OPERATOR, on=instance)


@receiver(post_save, sender=LogEntry)
@transaction.atomic
def record_admin_change(instance: LogEntry, created: bool, **_: Any) -> None:
    """Record the names of the fields that changed, because their values may be about people."""
    model = instance.content_type.model_class() if instance.content_type else None
    if not created or model is None:
        return
    record(
        AccountAct.ADMIN_CHANGED,
        by=instance.user,
        on=model(pk=instance.object_id),
        after={"action": instance.get_action_flag_display(), "fields": _fields(instance)},
    )


def _fields(entry: LogEntry) -> list[str]:
    try:
        parts = json.loads(entry.change_message or "[]")
    except ValueError:
        return []
    changes: list[dict[str, Any]] = [
        next(iter(part.values()), {}) for part in parts if isinstance(part, dict)
    ]
    return [str(field) for change in changes for field in change.get("fields", [])]
