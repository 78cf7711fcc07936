"""E-mails about changes of the ways to sign in to an account, which a thief could have made."""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import partial
from smtplib import SMTPException

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hearth.accounts.acts import AccountAct
from hearth.accounts.models import User

log = logging.getLogger(__name__)

NOTICES = {
    AccountAct.EMAIL_ADDED: _("An e-mail address was added to the account."),
    AccountAct.EMAIL_CONFIRMED: _("A new e-mail address of the account was confirmed."),
    AccountAct.EMAIL_CHANGED: _("The account has a new primary e-mail address."),
    AccountAct.EMAIL_REMOVED: _("An e-mail address was removed from the account."),
    AccountAct.PASSWORD_CHANGED: _("The password was changed."),
    AccountAct.PASSWORD_RESET: _("The password was reset with a link in an e-mail."),
    AccountAct.FACTOR_ADDED: _("A second factor was added."),
    AccountAct.FACTOR_REMOVED: _("A second factor was removed."),
    AccountAct.SIGN_ON_CONNECTED: _("Single sign-on was connected to the account."),
    AccountAct.SIGN_ON_REMOVED: _("Single sign-on was removed from the account."),
    AccountAct.TOKEN_MADE: _("An API token was created."),
}


def tell(act: AccountAct, *, person: User, earlier: str = "", new: str = "") -> None:
    """Tell a person about an act on their account, if `NOTICES` has a sentence for it.

    The e-mail goes to the primary and the confirmed addresses, and to `earlier`, an address that
    the account had before. It does not go to the address `new`, which may be that of a thief.
    """
    if act not in NOTICES or not settings.CAN_SEND_EMAIL:
        return
    confirmed = EmailAddress.objects.filter(user=person, verified=True)
    primary = User.objects.filter(pk=person.pk)
    found = [*primary.values_list("email", flat=True), *confirmed.values_list("email", flat=True)]
    addresses = {*found, earlier} - {"", new}
    if addresses:
        send = partial(_send, act, person.username, sorted(addresses))
        transaction.on_commit(send, robust=True)


def _send(act: AccountAct, username: str, addresses: Collection[str]) -> None:
    """Send an e-mail to each address. The change is stored already, so errors are only logged."""
    body = render_to_string(
        "account/email/notice_message.txt", {"username": username, "notice": NOTICES[act]}
    )
    subject = gettext("Your account in Hearth was changed")
    messages = [EmailMessage(subject, body, to=[address]) for address in addresses]
    try:
        get_connection().send_messages(messages)
    except (SMTPException, OSError) as error:
        log.error("A notice could not be sent: %s", type(error).__name__)
