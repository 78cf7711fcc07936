"""Read the entries of the audit log from the database."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from hearth.audit.acts import label_of_act
from hearth.audit.models import AuditEntry
from hearth.audit.origins import Interface
from hearth.shared.folding import fold
from hearth.shared.words import short_sha

SHA256 = re.compile("[0-9a-f]{64}")
OPERATOR, VISITOR = "operator", "visitor"


@dataclass(frozen=True, slots=True)
class LogRow:
    """An entry as text. `object_name` is empty if the object has no name or does not exist."""

    entry: AuditEntry
    act: str
    actor: str
    object: str
    object_name: str
    before: SafeString
    after: SafeString
    address: str


def find_entries(
    *,
    person: str = "",
    act: str = "",
    object: tuple[str, str] = ("", ""),
    since: datetime.date | None = None,
    until: datetime.date | None = None,
) -> QuerySet[AuditEntry]:
    """Return the entries that a filter selects, newest first.

    person: the user name of the person who acted or was acted on. object: the type, with or without
    its app, and the primary key. since, until: the first and the last day.
    """
    found = AuditEntry.objects.select_related("by", "address")
    if person:
        found = found.filter(_about(person))
    if act:
        found = found.filter(act=act)
    kind, key = object
    if kind:
        is_kind = Q(object_type=kind) | Q(object_type__endswith=f".{kind}")
        found = found.filter(is_kind, **({"object_id": key} if key else {}))
    if since is not None:
        found = found.filter(at__gte=_start_of(since))
    if until is not None and until < datetime.date.max:
        found = found.filter(at__lt=_start_of(until + datetime.timedelta(days=1)))
    return found


def _about(username: str) -> Q:
    """Return the condition that a person acted or was acted on."""
    people = AuditEntry._meta.get_field("by").related_model
    person = people._default_manager.filter(username_folded=fold(username)).first()
    if person is None:
        return Q(pk__in=[])
    return Q(by=person) | Q(object_type=person._meta.label_lower, object_id=str(person.pk))


def _start_of(day: datetime.date) -> datetime.datetime:
    return timezone.make_aware(datetime.datetime.combine(day, datetime.time.min))


def log_rows(entries: Iterable[AuditEntry]) -> list[LogRow]:
    """Return entries as text, with one database query for each type of object."""
    listed = list(entries)
    names = _names_of(listed)
    return [
        LogRow(
            entry=entry,
            act=label_of_act(entry.act),
            actor=actor_of_entry(entry),
            object=" ".join(filter(None, [entry.object_type.partition(".")[2], entry.object_id])),
            object_name=names.get((entry.object_type, entry.object_id), ""),
            before=facts_html(entry.before),
            after=facts_html(entry.after),
            address=address_of(entry),
        )
        for entry in listed
    ]


def actor_of_entry(entry: AuditEntry) -> str:
    """Return the user name, `operator` for the command line and scheduled work, or `visitor`."""
    if entry.by is not None:
        return entry.by.get_username()
    is_request = entry.interface in (Interface.PAGE, Interface.API)
    return VISITOR if is_request else OPERATOR


def address_of(entry: AuditEntry) -> str:
    return entry.address.address if hasattr(entry, "address") else ""


def facts_html(facts: Mapping[str, Any] | None) -> SafeString:
    """Return facts as HTML, such as `role: lead; scope: tiny`. Hashes are shortened."""
    pairs = ((name.replace("_", " "), _fact(value)) for name, value in (facts or {}).items())
    return format_html_join("; ", "{}: {}", pairs)


def _fact(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value) if value not in ("", None) else "–"
    return short_sha(text) if SHA256.fullmatch(text) else text


def _names_of(entries: list[AuditEntry]) -> dict[tuple[str, str], str]:
    """Return the current names of the objects. Objects that no longer exist are left out."""
    keys: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        keys[entry.object_type].add(entry.object_id)
    names: dict[tuple[str, str], str] = {}
    for kind, ids in keys.items():
        try:
            model = apps.get_model(kind)
            found = model._base_manager.in_bulk(
                [model._meta.pk.to_python(object_id) for object_id in ids]
            )
        except (LookupError, ValueError):
            continue  # a type of an earlier version
        names |= {
            (kind, str(pk)): str(instance) for pk, instance in found.items() if _has_name(instance)
        }
    return names


def _has_name(instance: Any) -> bool:
    """Return whether `str` of an object is a name that needs no other database query."""
    return any(hasattr(instance, field) for field in ("username", "name", "title", "key"))
