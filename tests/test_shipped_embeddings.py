"""The vectors shipped with the samples: complete for both presets, and what the model gives."""

import importlib.util
from pathlib import Path

import numpy as np

from rag import embedders
from rag.embedders.cache import KEY_BYTES, read_shipped, text_key
from rag.environment import Environment

SCRIPT = Path(__file__).parent.parent / "data" / "build_embeddings.py"
RECOMPUTED = 12


def script():
    specification = importlib.util.spec_from_file_location("build_embeddings", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_sample_chunk_of_both_presets_has_a_shipped_vector_that_a_new_run_gives_again():
    embedder = embedders.build("minilm", Environment())
    texts = script().sample_texts(embedder)
    shipped = read_shipped(embedders.shipped_files(embedder)[0], embedder)
    keys = [text_key(embedder, text)[:KEY_BYTES] for text in texts]
    assert [key for key in keys if key not in shipped] == []
    assert len(shipped) == len(set(keys)), (
        "there are vectors of chunks that no longer exist: run data/build_embeddings.py"
    )
    step = max(1, len(texts) // RECOMPUTED)
    fresh = embedder.embed_documents(texts[::step])
    kept = np.stack([shipped[key] for key in keys[::step]])
    assert (fresh * kept).sum(axis=1).min() > 0.9999
