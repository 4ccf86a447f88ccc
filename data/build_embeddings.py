"""Builds data/samples/embeddings/: the vectors of the sample chunks under both presets, ready for a first start.

Run it after any change to the samples, the loaders, the chunkers or the presets: ``python data/build_embeddings.py``.
``--check`` writes nothing and exits with 1 where a chunk has no shipped vector.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rag import chunkers, embedders, loaders
from rag.embedders.base import Embedder
from rag.embedders.cache import KEY_BYTES, read_shipped, text_key, write_shipped
from rag.environment import SAMPLES_FOLDER, Environment
from rag.library import source_of
from rag.settings import BASELINE, FUNNEL


def sample_texts(embedder: Embedder) -> list[str]:
    """The text of every chunk of the samples under FUNNEL and BASELINE, each once."""
    documents = [
        loaders.load(path, path.relative_to(SAMPLES_FOLDER).as_posix(), source_of(path))
        for path in loaders.find_files(SAMPLES_FOLDER)
    ]
    texts = [
        text
        for preset in (FUNNEL, BASELINE)
        for document in documents
        for text in chunkers.indexed_texts(document, chunkers.chunk(document, preset, embedder), preset)
    ]
    return list(dict.fromkeys(texts))


def main(arguments: list[str]) -> int:
    """Writes the file, or with --check says whether it is complete."""
    embedder = embedders.build("minilm", Environment())
    path = embedders.shipped_files(embedder)[0]
    texts = sample_texts(embedder)
    if "--check" in arguments:
        shipped = read_shipped(path, embedder)
        missing = sum(1 for text in texts if text_key(embedder, text)[:KEY_BYTES] not in shipped)
        print(f"{len(texts) - missing} of {len(texts)} chunk texts have a shipped vector.")
        return 1 if missing else 0
    write_shipped(path, embedder, texts, embedder.embed_documents(texts))
    print(f"{path.name}: {len(texts)} vectors, {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
