"""User names in several spellings: one account on both databases, in every place that compares."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from annotation.selectors.people import search_people
from hearth.accounts.adapter import InvitedOnlyAdapter
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services.people import add_person
from hearth.audit.selectors import find_entries
from hearth.shared.errors import InvalidInput
from hearth.shared.folding import fold
from tests.factories import PASSWORD, make_user

SPELLINGS = {
    "Émile": ("Émile", "émile", "E\u0301MILE", " émile"),
    "İnci": ("İnci", "inci", "INCI", "ıncı"),
    "straße": ("straße", "STRASSE", "Strasse"),
}


def test_case_and_encoding_never_make_two_names() -> None:
    different = [
        letter
        for letter in map(chr, range(sys.maxunicode))
        if letter != letter.lower() or letter != letter.upper()
        for other in (letter.lower(), letter.upper(), unicodedata.normalize("NFD", letter))
        if fold(other) != fold(letter) or fold(fold(letter)) != fold(letter)
    ]
    assert different == []


@pytest.mark.postgresql
@pytest.mark.django_db
@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_of_a_user_name_are_one_account(name: str) -> None:
    person = make_user(name, Role.ANNOTATOR)
    for spelling in SPELLINGS[name]:
        with pytest.raises(IntegrityError), transaction.atomic():
            User(username=spelling).save()
        with pytest.raises(InvalidInput, match=r"^This user name is taken\.$"):
            add_person(username=spelling, password=PASSWORD, name="", email="")
        form = {"login": spelling, "password": PASSWORD}
        assert Client().post("/accounts/login/", form).status_code == 302
        assert find_entries(person=spelling).filter(act="person_created").count() == 1
    assert list(User.objects.values_list("username", flat=True)) == [name]
    person.username = "Zoé"
    person.save(update_fields=["username"])
    assert User.objects.get(username_folded="zoé") == person


@pytest.mark.django_db
def test_single_sign_on_makes_a_name_that_no_spelling_has() -> None:
    make_user("straße")
    name = InvitedOnlyAdapter().generate_unique_username(["Strasse"])
    assert name.removeprefix("strasse").isdigit()


@pytest.mark.django_db
def test_a_search_finds_people_by_all_spellings_of_their_names() -> None:
    person = make_user("émile")
    User.objects.filter(pk=person.pk).update(first_name="Łukasz", last_name="O\u0308zil")
    make_user("emil")
    for text in ("ÉMI", "łuk", "ŁUKASZ özIL", "ÖZİL"):
        assert [found.username for found in search_people(User.objects.all(), text)] == ["émile"]
    assert search_people(User.objects.all(), " ").count() == 2


def stored_names() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT username FROM accounts_user ORDER BY id")
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_migration_names_collisions_and_changes_nothing() -> None:
    for name in ("Émile", "x", "anna"):
        make_user(name)
    try:
        MigrationExecutor(connection).migrate([("accounts", "0001_first_release")])
        with connection.cursor() as cursor:
            cursor.execute("UPDATE accounts_user SET username = 'e\u0301mile' WHERE username = 'x'")
        first, second = stored_ids("Émile"), stored_ids("e\u0301mile")
        with pytest.raises(CommandError) as refused:
            migrate_to_latest()
        expected = f"  'Émile' (id {first}) and 'e\u0301mile' (id {second})"
        assert expected in str(refused.value).splitlines()
        assert stored_names() == ["Émile", "e\u0301mile", "anna"]
        assert "username_folded" not in columns()
        # The way that the message shows.
        User.objects.filter(pk=second).update(username="Émile-2")
    finally:
        migrate_to_latest()
    rows = User.objects.order_by("pk").values_list("username", "username_folded")
    assert list(rows) == [("Émile", "émile"), ("Émile-2", "émile-2"), ("anna", "anna")]


def stored_ids(name: str) -> int:
    pk: int = User.objects.filter(username=name).values_list("pk", flat=True).get()
    return pk


def columns() -> list[str]:
    with connection.cursor() as cursor:
        description = connection.introspection.get_table_description(cursor, "accounts_user")
    return [column.name for column in description]


def migrate_to_latest() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
