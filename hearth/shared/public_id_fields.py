"""The field of the API for public ids, in a module that only the API loads."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from hearth.shared.public_ids import PUBLIC_ID_MAX, PublicIds


class PublicIdField(serializers.IntegerField):
    """A primary key, which requests and responses contain as its public id."""

    def __init__(self, table: str, **options: Any) -> None:
        super().__init__(min_value=1, max_value=PUBLIC_ID_MAX, **options)
        self._ids = PublicIds(table)

    def to_representation(self, value: int) -> int:
        return self._ids.of(value)

    def run_validation(self, data: object = serializers.empty) -> int:
        """Check the public id first, and then return the primary key."""
        return self._ids.key_of(super().run_validation(data))
