"""The operation of squashed migrations, which build the tables of an app in an empty database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory


class CreateTables(Operation):
    """Create several models at once.

    Django builds the classes of all related models again after each `CreateModel`. This operation
    builds them once, after the last model. It cannot be reversed. Otherwise, Django would delete
    all tables of the app when an app on which they depend is migrated back.
    """

    category = OperationCategory.ADDITION
    reversible = False

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.describe()}>"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [], {"models": self.models}

    def state_forwards(self, app_label: str, state: Any) -> None:
        # If the state has no classes (`apps`), adding a model only adds an entry to the state. The
        # next access to `apps` builds the classes.
        state.__dict__.pop("apps", None)
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.models)} models"
