"""Further texts of captions from a chat endpoint in the form of OpenAI's API.

The operator configures the endpoint (PHRASING_ENDPOINT). Nothing is sent without it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from hearth.shared.errors import InvalidInput
from hearth.webhooks.addresses import AddressRefused
from hearth.webhooks.sending import Network, send
from pooling.core.keys import text_fault
from pooling.core.readers.benchmarks.captions import MAX_TEXT

MISSING = (
    "No language model is configured. Set PHRASING_ENDPOINT and PHRASING_MODEL, or import the "
    "phrasings from a file."
)
INSTRUCTIONS = (
    "You write captions of videos. Imagine the scene that the given caption describes, and write "
    "{count} other captions of the same scene. Vary the structure of the sentence and the choice "
    "of words. Add no facts: no person, object, colour, number, place or action that the caption "
    "does not state, and leave none out. Write one caption per line, and nothing else."
)
ANSWER_BYTES = 1 << 20
# Numbers, bullets and quotation marks around a line, which models add in spite of the instructions.
_MARKS = re.compile(r"^\s*(?:[-*•]|\(?[0-9]{1,2}[.):])\s+")
_QUOTES = "\"'“”„«»"


@dataclass(frozen=True, slots=True)
class Asked:
    """The texts for a caption, or why there are none. tokens: as the endpoint counts them."""

    texts: list[str]
    error: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A chat endpoint. url: up to `/v1`. key: never logged or stored."""

    url: str
    model: str
    key: str
    seconds: float = 120

    @classmethod
    def configured(cls) -> Endpoint:
        """Return the endpoint of the settings. Raises `InvalidInput` if there is none."""
        if not configured_model():
            raise InvalidInput(MISSING)
        return cls(
            settings.PHRASING_ENDPOINT,
            settings.PHRASING_MODEL,
            settings.PHRASING_KEY,
            settings.PHRASING_SECONDS,
        )

    def ask(self, caption: str, count: int) -> Asked:
        """Ask for further texts of a caption."""
        messages = [
            {"role": "system", "content": instructions(count)},
            {"role": "user", "content": caption},
        ]
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        network = Network(
            total_seconds=self.seconds,
            answer_bytes=ANSWER_BYTES,
            private_hosts=[urlsplit(self.url).hostname or ""],
        )
        try:
            answer = send(
                f"{self.url.rstrip('/')}/chat/completions",
                json.dumps({"model": self.model, "messages": messages}),
                headers,
                network,
            )
        except AddressRefused as refused:
            return Asked([], str(refused))
        if not answer.is_success:
            reason = answer.text if answer.status is None else f"HTTP {answer.status}"
            return Asked([], reason)
        return _read(answer.text, caption, count)


def configured_model() -> str:
    """Return the name of the model, or an empty text if no endpoint is configured."""
    return settings.PHRASING_MODEL if settings.PHRASING_ENDPOINT else ""


def instructions(count: int) -> str:
    return INSTRUCTIONS.format(count=count)


def hash_of_prompt(count: int) -> str:
    return hashlib.sha256(instructions(count).encode()).hexdigest()


def _read(text: str, caption: str, count: int) -> Asked:
    try:
        answer = json.loads(text)
        content = answer["choices"][0]["message"]["content"]
        tokens = int((answer.get("usage") or {}).get("total_tokens") or 0)
        lines = content.splitlines()
    except (ValueError, TypeError, LookupError, AttributeError):
        return Asked([], "The answer is no chat completion.")
    found = texts_of_lines(lines, caption)[:count]
    return Asked(found, "" if found else "The answer has no other text.", tokens)


def texts_of_lines(lines: Sequence[str], caption: str) -> list[str]:
    """Return the different texts of an answer, without their marks and without the caption."""
    texts = (_MARKS.sub("", line).strip().strip(_QUOTES).strip() for line in lines)
    valid = (t for t in texts if t != caption and not text_fault(t, "text", longest=MAX_TEXT))
    return list(dict.fromkeys(valid))
