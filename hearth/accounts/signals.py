"""Signals about people, for the apps that build on accounts.

Each is sent inside the transaction of the change, so that a failing receiver undoes the change.
"""

from __future__ import annotations

from django.dispatch import Signal

# `person` is the User after the change.
person_deactivated = Signal()
person_erased = Signal()
# Sent after a role was withdrawn. The person can still hold other roles.
role_withdrawn = Signal()
