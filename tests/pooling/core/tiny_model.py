"""A sentence model of two layers and eight dimensions, made from sines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WIDTH, INNER, LAYERS = 8, 12, 2
WORDS = "[UNK] [CLS] [SEP] a the dog cat runs sits plays guitar fast".split()


def make_tiny_model(folder: Path) -> Path:
    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 1), ("[SEP]", 2)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, special)
    tokenizer.enable_padding(length=9)  # of another program; Hearth takes it off
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 6,
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file(_weights(), folder / "model.safetensors")
    return folder


def _weights() -> dict[str, np.ndarray]:
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (6, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        for name, rows, columns in [
            *((f"attention.self.{part}", WIDTH, WIDTH) for part in ("query", "key", "value")),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ]:
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (rows, columns)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (rows,)
        for name in ("attention.output", "output"):
            shapes[f"encoder.layer.{layer}.{name}.LayerNorm.weight"] = (WIDTH,)
            shapes[f"encoder.layer.{layer}.{name}.LayerNorm.bias"] = (WIDTH,)
    made = {}
    for number, (name, shape) in enumerate(shapes.items()):
        size = int(np.prod(shape))
        values = 0.4 * np.sin(1.7 * np.arange(size) + number) + name.endswith("LayerNorm.weight")
        made[name] = values.reshape(shape).astype(np.float32)
    return made
