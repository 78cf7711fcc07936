"""Texts with numbers and hashes, for sentences that code composes."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 pair" or "3,000 pairs"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def tasks_to_judge(tasks: int, pairs: int) -> str:
    """Return a number of tasks with the pairs that share their labels.

    Such as "112 tasks to judge (171 pairs)". Equal captions share tasks, so the numbers can differ.
    """
    return f"{counted(tasks, 'task')} to judge ({counted(pairs, 'pair')})"


def lower_first(text: str) -> str:
    """Return a title as it is written inside a sentence, with a small first letter."""
    return text[:1].lower() + text[1:]


def short_sha(sha256: str) -> SafeString:
    """Return HTML with the first digits of a hash, and the whole hash as its title."""
    return format_html('<code class="sha" title="{}">{}</code>', sha256, sha256[:12])
