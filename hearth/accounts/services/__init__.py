"""Services for people, roles, consents, invitations, sessions, second factors and tokens."""

from __future__ import annotations

from hearth.accounts.services.consent import give_consent, write_consent_text
from hearth.accounts.services.invitations import (
    Invited,
    accept_invitation,
    invite,
    join,
    revoke_invitation,
)
from hearth.accounts.services.notices import tell
from hearth.accounts.services.people import (
    check_user_name,
    create_user,
    deactivate_person,
    erase_person,
    reactivate_person,
    register,
)
from hearth.accounts.services.roles import grant_role, withdraw_role
from hearth.accounts.services.sessions import end_all_sessions, end_session, remove_second_factors
from hearth.accounts.services.single_sign_on import (
    join_by_single_sign_on,
    leave_only_single_sign_on,
)
from hearth.accounts.services.tokens import NewToken, create_token, revoke_token
