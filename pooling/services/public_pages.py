"""Making a benchmark public, what visitors see of it, and who may upload runs to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.limits import check_length
from hearth.shared.options import Entry, Option
from pooling import policies
from pooling.enums import PoolingAct
from pooling.models import Benchmark, PublicPage, Uploader

RUNS_PER_DAY_MAX = 100
CITATION_LENGTH = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPageFields:
    """What visitors see of a benchmark.

    is_public: Everyone can open the public page, without an account.
    shows_while_judging: People whose only role in this benchmark is that of annotator do not see
        them while they are signed in.
    shows_texts: By default, downloads contain only ids and labels.
    runs_per_day: Files with errors do not count. Days begin at midnight UTC.
    contact: Whom to ask about the benchmark. Visitors see the contact.
    citation: How to cite the benchmark, such as a BibTeX entry.
    """

    is_public: Annotated[bool, Option("Public")] = False
    shows_while_judging: Annotated[
        bool, Option("Show scores and labels while a campaign is not closed")
    ] = False
    shows_texts: Annotated[bool, Option("Include the texts of captions in downloads")] = False
    runs_per_day: Annotated[
        int, Option("Maximum uploaded runs per person and day", low=1, high=RUNS_PER_DAY_MAX)
    ]
    contact: Annotated[str, Option("Contact", length=200, printable=True)] = ""
    citation: Annotated[
        str,
        Option(
            "Citation",
            length=CITATION_LENGTH,
            entry=Entry.AREA,
            attrs={"rows": 5, "spellcheck": "false"},
        ),
    ] = ""


IS_PUBLIC = "is_public"
PAGE_FIELDS = tuple(field.name for field in fields(PublicPageFields) if field.name != IS_PUBLIC)


@transaction.atomic
def change_public_page(
    *, benchmark: Benchmark, changes: Mapping[str, Any], by: Actor
) -> PublicPage:
    """Make a benchmark public or private, and change what visitors see of it.

    changes: the new values by name: `is_public` and the names in `PAGE_FIELDS`. Values that are not
    named stay unchanged. Raises `NotPermitted` if `by` does not lead the benchmark, `Conflict` if
    it is archived, and `InvalidInput` for a value that is not valid.
    """
    policies.check_can_manage_benchmark(by, benchmark)
    lock_row(benchmark)
    benchmark.refresh_from_db()
    policies.check_not_archived(benchmark)
    _check(changes)
    page = PublicPage.objects.get_or_create(benchmark=benchmark)[0]
    before = page_values(page)
    changed = {name: value for name, value in changes.items() if value != before[name]}
    for name, value in changed.items():
        if name == IS_PUBLIC:
            page.opened_at = timezone.now() if value else None
        else:
            setattr(page, name, value)
    if changed:
        page.save()
        record(
            PoolingAct.PUBLIC_PAGE_CHANGED,
            by=by,
            on=benchmark,
            before={name: before[name] for name in changed},
            after=changed,
        )
    return page


def page_values(page: PublicPage) -> dict[str, Any]:
    """Return the values that a lead can change, by name."""
    values = {name: getattr(page, name) for name in PAGE_FIELDS}
    return {IS_PUBLIC: page.opened_at is not None, **values}


def _check(changes: Mapping[str, Any]) -> None:
    if unknown := set(changes) - {IS_PUBLIC, *PAGE_FIELDS}:
        raise InvalidInput(f"A public page has no field {min(unknown)!r} that can change.")
    if not 1 <= changes.get("runs_per_day", 1) <= RUNS_PER_DAY_MAX:
        raise InvalidInput(f"A person may upload from 1 to {RUNS_PER_DAY_MAX} runs a day.")
    check_length(PublicPage, "contact", changes.get("contact", ""))
    if len(changes.get("citation", "")) > CITATION_LENGTH:
        raise InvalidInput(f"The citation must have at most {CITATION_LENGTH:,} characters.")


def ask_for_confirmation(*, benchmark: Benchmark, by: User) -> Uploader:
    """Ask the leads of a public benchmark to confirm `by`. Asking again has no effect.

    Raises `NotPermitted` if the benchmark is not public or `by` may not see its public page, and
    `Conflict` if the person is confirmed.
    """
    policies.check_can_upload_for_scoring(by, benchmark)
    if policies.is_confirmed_for(by, benchmark.key):
        raise Conflict("Your account is already confirmed. You can upload runs.")
    return Uploader.objects.get_or_create(benchmark=benchmark, person=by)[0]


@transaction.atomic
def confirm_uploader(*, uploader: Uploader, by: Actor) -> None:
    """Let a person upload runs to the benchmark.

    Raises `Conflict` if the person is already confirmed, or was removed from the list.
    """
    policies.check_can_confirm_uploader(by, uploader.benchmark)
    waiting = Uploader.objects.filter(pk=uploader.pk, confirmed_at=None)
    if not waiting.update(confirmed_at=timezone.now()):
        raise Conflict("This person is already confirmed, or was removed from the list.")
    after = {"benchmark": uploader.benchmark.key}
    record(PoolingAct.UPLOADER_CONFIRMED, by=by, on=uploader.person, after=after)


@transaction.atomic
def remove_uploader(*, uploader: Uploader, by: Actor) -> None:
    """Remove a request or a confirmation. The person may ask again."""
    policies.check_can_confirm_uploader(by, uploader.benchmark)
    deleted, _ = Uploader.objects.filter(pk=uploader.pk).delete()
    if not deleted:
        raise Conflict("This person was already removed from the list.")
    before = {"benchmark": uploader.benchmark.key}
    record(PoolingAct.UPLOADER_REMOVED, by=by, on=uploader.person, before=before)
