"""The folded user name, which is unique instead of the user name in lower case."""

from collections import defaultdict
from typing import Any

from django.core.management.base import CommandError
from django.db import migrations, models

from hearth.shared.folding import fold


def refuse_collisions(apps: Any, schema_editor: Any) -> None:
    """Refuse a database in which two user names are equal after folding, before any change."""
    same = defaultdict(list)
    people = apps.get_model("accounts", "User").objects.order_by("pk")
    for pk, name in people.values_list("pk", "username"):
        same[fold(name)].append(f"{name!r} (id {pk})")
    taken = [names for names in same.values() if len(names) > 1]
    if taken:
        listed = "\n".join(f"  {' and '.join(names)}" for names in taken)
        raise CommandError(
            "Nothing is changed, because these accounts have user names that differ only in case "
            f"or in the encoding of accents, and must differ in more from now on:\n{listed}\n"
            "Rename all but one of each, and migrate again. For example, for the account with id 7:"
            '\n  manage.py shell -c "from hearth.accounts.models import User; '
            "User.objects.filter(pk=7).update(username='another-name')\""
        )


def store_folded(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("accounts", "User").objects
    for pk, name in list(people.values_list("pk", "username")):
        people.filter(pk=pk).update(username_folded=fold(name))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.RunPython(refuse_collisions, migrations.RunPython.noop, elidable=True),
        migrations.AddField(
            model_name="user",
            name="username_folded",
            field=models.CharField(default="", editable=False, max_length=450),
            preserve_default=False,
        ),
        migrations.RunPython(store_folded, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="user", name="user_name_in_any_case"),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(fields=("username_folded",), name="user_name_in_any_case"),
        ),
    ]
