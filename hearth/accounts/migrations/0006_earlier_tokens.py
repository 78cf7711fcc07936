"""Move the API tokens of earlier versions, which were stored as plain text."""

from __future__ import annotations

import datetime
import hashlib

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

EARLIER = "authtoken_token"


def keep_earlier_tokens(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Keep the tokens of earlier versions valid, with all rights. Only their hashes remain."""
    with schema_editor.connection.cursor() as cursor:
        if EARLIER not in schema_editor.connection.introspection.table_names(cursor):
            return
        cursor.execute(f"SELECT key, user_id, created FROM {EARLIER}")  # noqa: S608
        earlier = cursor.fetchall()
    parse = models.DateTimeField().to_python
    apps.get_model("accounts", "ApiToken").objects.bulk_create(
        apps.get_model("accounts", "ApiToken")(
            user_id=user_id,
            name="Token of an earlier version",
            key_sha256=hashlib.sha256(key.encode()).hexdigest(),
            may_read=True,
            may_judge=True,
            may_write=True,
            created_at=_aware(parse(created)),
        )
        for key, user_id, created in earlier
    )
    schema_editor.execute(f"DROP TABLE {EARLIER}")


def _aware(at: datetime.datetime) -> datetime.datetime:
    """SQLite returns times without a time zone; they are in UTC."""
    return at if at.tzinfo else at.replace(tzinfo=datetime.UTC)

class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_shared_cache_and_tokens")]
    operations = [migrations.RunPython(keep_earlier_tokens, migrations.RunPython.noop)]
