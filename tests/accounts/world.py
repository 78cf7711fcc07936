"""People with roles in single benchmarks, invitations and consent texts for tests."""

from __future__ import annotations

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import ConsentText, Invitation, TokenRight, User
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.services import Invited, create_token, invite, write_consent_text
from hearth.accounts.services.roles import set_role
from tests.factories import make_user

JOINING = {
    "username": "anna",
    "name": "Anna Ast",
    "email": "anna@example.org",
    "password1": "moving shapes at noon",
    "password2": "moving shapes at noon",
}


def make_member(username: str, *roles: Role, of: str) -> User:
    """Create a person who holds the roles only in one benchmark."""
    user = make_user(username)
    for role in roles:
        set_role(user, role, of, OPERATOR)
    return user


def admin() -> User:
    return User.objects.filter(username="ada").first() or make_user("ada", Role.ADMIN)


def invited(role: Role = Role.ANNOTATOR, scope: str = EVERYWHERE, note: str = "") -> Invited:
    return invite(role=role, scope=scope, note=note, by=admin())


def invited_by(maker: User, scope: str) -> Invitation:
    return invite(role=Role.ANNOTATOR, scope=scope, by=maker).invitation


def consent_text(text: str = "You may stop at any time.") -> ConsentText:
    return write_consent_text(text=text, by=admin())


def token_of(person: User, *rights: TokenRight, name: str = "script") -> str:
    """Return the key of a new token, with all rights by default."""
    return create_token(by=person, name=name, rights=rights or tuple(TokenRight), days=None).key
