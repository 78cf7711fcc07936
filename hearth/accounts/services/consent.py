"""The consent text, and the consent of people to it."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from hearth.accounts.acts import AccountAct
from hearth.accounts.models import CONSENT_LENGTH, Consent, ConsentText, User
from hearth.accounts.policies import check_can_administer, check_is_active
from hearth.accounts.selectors import newest_consent_text
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput


def write_consent_text(*, text: str, by: User, after: int | None = None) -> ConsentText:
    """Store a new version. Everyone must agree to it before they judge again.

    `after` is the version that the author started from, 0 for none. Raises `InvalidInput` if the
    text is empty, too long or equal to the newest version, and `Conflict` if another person has
    written a version in the meantime.
    """
    check_can_administer(by)
    text = text.replace("\r\n", "\n").strip()
    if not 0 < len(text) <= CONSENT_LENGTH:
        raise InvalidInput(f"The consent text must have 1 to {CONSENT_LENGTH:,} characters.")
    newest = newest_consent_text()
    if newest is not None and newest.text == text:
        raise InvalidInput(f"The text is the same as version {newest.version}.")
    last = newest.version if newest else 0
    if after is not None and after != last:
        raise Conflict(
            f"Version {last} was written in the meantime. Read it before you save your text."
        )
    version = last + 1
    try:
        with transaction.atomic():
            written = ConsentText.objects.create(version=version, text=text, written_by=by)
            record(AccountAct.CONSENT_WRITTEN, by=by, on=written, after={"version": version})
            return written
    except IntegrityError:
        raise Conflict(f"Another admin has just written version {version}.") from None


@transaction.atomic
def give_consent(*, by: User, version: int) -> Consent:
    """Record that the person agrees to the newest text. If they agree again, nothing changes.

    Raises `Conflict` if the version that the person has read is no longer the newest.
    """
    check_is_active(by)
    newest = newest_consent_text()
    if newest is None or newest.version != version:
        raise Conflict(_("The text has changed since you opened it. Please read it again."))
    consent, is_new = Consent.objects.get_or_create(user=by, text=newest)
    if is_new:
        record(AccountAct.CONSENT_GIVEN, by=by, on=newest)
    return consent
