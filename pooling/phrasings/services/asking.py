"""Asking a language model for further texts of captions, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from hearth.shared.words import counted
from pooling.models import Benchmark
from pooling.phrasings.endpoint import Asked, Endpoint, hash_of_prompt
from pooling.phrasings.models import ModelAnswer
from pooling.phrasings.selectors import phrasings_of
from pooling.selectors.arrays import query_ids, query_keys

# Requests that are sent at once. Their answers are stored together.
BATCH = 8
# After this number of errors in a row, the endpoint is not asked further.
ERRORS_IN_A_ROW = 2 * BATCH
ERRORS_SHOWN = 20
ASKING = "asking the language model"


@dataclass(frozen=True, slots=True)
class Answers:
    """The texts of each caption by number, and what a person should know."""

    texts: list[list[str]]
    notes: tuple[str, ...]


def ask_model(
    benchmark: Benchmark,
    captions: Sequence[str],
    endpoint: Endpoint,
    count: int,
    budget: int,
    progress: Progress,
) -> Answers:
    """Return the answers about all captions, and ask about those that have none.

    budget: the maximum number of requests. Captions with phrasings of the same model and prompt are
    left out. Each batch of answers is stored, so that an expansion that is cancelled or whose
    worker dies continues where it ended. Captions with an error are asked about again. Raises
    `InvalidInput` if every request fails.
    """
    of_prompt = {"model": endpoint.model, "prompt_sha256": hash_of_prompt(count)}
    ids = query_ids(benchmark)
    stored = ModelAnswer.objects.filter(query__benchmark=benchmark, error="", **of_prompt)
    texts: dict[int, list[str]] = dict(stored.values_list("query__number", "texts"))
    done = phrasings_of(benchmark).filter(**of_prompt).values_list("query__number", flat=True)
    left = np.setdiff1d(np.arange(len(captions)), [*texts, *done]).tolist()
    wanted, errors, tokens, in_a_row = left[:budget], dict[int, str](), 0, 0
    with ThreadPoolExecutor(BATCH) as threads:
        for start in range(0, len(wanted), BATCH):
            progress(start, len(wanted), ASKING)
            batch = wanted[start : start + BATCH]
            asked = list(threads.map(lambda n: endpoint.ask(captions[n], count), batch))
            _store([int(ids[number]) for number in batch], asked, of_prompt)
            for number, answer in zip(batch, asked, strict=True):
                tokens += answer.tokens
                in_a_row = in_a_row + 1 if answer.error else 0
                if answer.error:
                    errors[number] = answer.error
                else:
                    texts[number] = answer.texts
            if in_a_row >= ERRORS_IN_A_ROW:
                break
    if errors and not texts:
        number, reason = next(iter(errors.items()))
        key = query_keys(benchmark)[number]
        raise InvalidInput(f"The language model wrote no text. Caption {key}: {reason}")
    n_asked = len([n for n in wanted if n in texts or n in errors])
    notes = _notes(benchmark, errors, n_asked, len(left), tokens)
    return Answers([texts.get(number, []) for number in range(len(captions))], notes)


def _store(queries: Sequence[int], asked: Sequence[Asked], of_prompt: dict[str, str]) -> None:
    ModelAnswer.objects.bulk_create(
        [
            ModelAnswer(query_id=query, texts=answer.texts, error=answer.error, **of_prompt)
            for query, answer in zip(queries, asked, strict=True)
        ],
        update_conflicts=True,
        unique_fields=["query", "model", "prompt_sha256"],
        update_fields=["texts", "error"],
    )


def _notes(
    benchmark: Benchmark, errors: dict[int, str], n_asked: int, n_left: int, tokens: int
) -> tuple[str, ...]:
    notes = [f"requests: {n_asked:,}" + (f", tokens: {tokens:,}" if tokens else "")]
    if n_asked < n_left:
        without = counted(n_left - n_asked, "caption")
        notes.append(f"{without} not asked about yet; expand again to continue")
    if errors:
        keys = query_keys(benchmark)
        shown = list(errors.items())[:ERRORS_SHOWN]
        notes.append(f"captions with an error, which the next expansion repeats: {len(errors):,}")
        notes += [f"caption {keys[number]}: {reason}" for number, reason in shown]
    return tuple(notes)


def forget_answers(benchmark: Benchmark, model: str, count: int) -> None:
    """Delete the answers whose phrasings are stored."""
    ModelAnswer.objects.filter(
        query__benchmark=benchmark, model=model, prompt_sha256=hash_of_prompt(count), error=""
    ).delete()
