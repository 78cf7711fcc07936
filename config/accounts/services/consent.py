"""What annotators agree to, and that they did."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from config.accounts.models import Consent, ConsentText, User
from config.accounts.policies import check_can_administer
from config.accounts.selectors import newest_consent_text
from config.shared.errors import Conflict, InvalidInput

TEXT_LENGTH = 50_000


def write_consent_text(*, text: str, by: User, after: int | None = None) -> ConsentText:
    """A new version, which everybody is asked to agree to before they judge on.

    `after` is the version that the writer began with, 0 for none. Raises `InvalidInput` for no text
    and for that of the newest version, `Conflict` where somebody else has written one since then or
    does so at the same moment.
    """
    check_can_administer(by)
    text = text.replace("\r\n", "\n").strip()
    if not 0 < len(text) <= TEXT_LENGTH:
        raise InvalidInput(f"a consent text has 1 to {TEXT_LENGTH:,} characters")
    newest = newest_consent_text()
    if newest is not None and newest.text == text:
        raise InvalidInput(f"this is the text of version {newest.version} already")
    last = newest.version if newest else 0
    if after is not None and after != last:
        raise Conflict(f"Somebody has written version {last} meanwhile; look at that first.")
    version = last + 1
    try:
        with transaction.atomic():
            return ConsentText.objects.create(version=version, text=text, written_by=by)
    except IntegrityError:
        raise Conflict(f"Version {version} was written by somebody else at this moment.") from None


@transaction.atomic
def give_consent(*, person: User, version: int) -> Consent:
    """The person agrees to the newest text; said twice, it is one consent.

    Raises `Conflict` where the version that they read is not the newest any more.
    """
    newest = newest_consent_text()
    if newest is None or newest.version != version:
        raise Conflict("The text has changed since you opened it. Please read it again.")
    return Consent.objects.get_or_create(user=person, text=newest)[0]
