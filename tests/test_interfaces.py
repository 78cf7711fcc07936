"""Every interface of an action has the options that the action declares."""

from __future__ import annotations

from config.interfaces import CLIENT, COMMANDS, client_source, commands_document


def test_the_calls_of_the_client_are_up_to_date() -> None:
    assert CLIENT.read_text(encoding="utf-8") == client_source(), "run `make interfaces`"


def test_the_page_about_commands_is_up_to_date() -> None:
    assert COMMANDS.read_text(encoding="utf-8") == commands_document(), "run `make interfaces`"
