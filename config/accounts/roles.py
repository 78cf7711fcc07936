"""Who may do what in general: four roles, each a Django group of the same name.

A person may hold several. What a role may do with one object is decided by the
`policies` of the app that owns the object; they build on the predicates here.
"""

from __future__ import annotations

import rules
from django.db import models


class Role(models.TextChoices):
    ANNOTATOR = "annotator", "Annotator"
    LEAD = "lead", "Lead"
    RESEARCHER = "researcher", "Researcher"
    ADMIN = "admin", "Admin"


# `is_group_member` caches the user's groups on the user, so a page asks the database once.
is_admin = rules.is_superuser | rules.is_group_member(Role.ADMIN.value)
is_lead = is_admin | rules.is_group_member(Role.LEAD.value)
is_researcher = is_lead | rules.is_group_member(Role.RESEARCHER.value)
is_annotator = is_lead | rules.is_group_member(Role.ANNOTATOR.value)

rules.add_perm("accounts.administer", is_admin)
rules.add_perm("accounts.lead", is_lead)
rules.add_perm("accounts.research", is_researcher)
rules.add_perm("accounts.annotate", is_annotator)
