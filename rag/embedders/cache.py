"""Embeddings kept on disk by model and text, and the ready-made ones that are shipped with the samples."""

from __future__ import annotations

import io
import sqlite3
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from filelock import FileLock

from rag.embedders.base import Embedder, Spans
from rag.errors import ProviderError
from rag.schema import digest
from rag.text import clean

KEY_BYTES = 16
KEYS_PER_QUERY = 500
QUERIES_KEPT = 256
LOCKED_SECONDS = 30
TABLE = "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class CachedEmbedder(Embedder):
    """The same vectors as ``inner`` gives, of which only those are computed that no cache holds.

    Stored as float32, so that a kept vector is the computed one to the last bit and no rank depends on what was cached.
    Every batch is stored as it ends. ``trouble`` is "" or a sentence on why a file cannot be used; embedding goes on.
    """

    def __init__(self, inner: Embedder, folder: Path, shipped: Sequence[Path] = ()) -> None:
        self.inner = inner
        self.name = inner.name
        self.revision = inner.revision
        self.path = folder / "cache" / "embeddings" / f"{inner.name.replace(':', '-').replace('/', '-')}.sqlite"
        self.trouble = ""
        self._shipped_paths = tuple(shipped)
        self._shipped: Mapping[bytes, np.ndarray] | None = None
        self._queries: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int | None:
        """As ``inner``'s."""
        return self.inner.dimensions

    @dimensions.setter
    def dimensions(self, value: int | None) -> None:
        """Sets ``inner``'s."""
        self.inner.dimensions = value

    def notices(self, texts: Sequence[str]) -> dict[int, str]:
        """As ``inner``'s."""
        return self.inner.notices(texts)

    def token_spans(self, text: str) -> Spans:
        """As ``inner``'s."""
        return self.inner.token_spans(text)

    def _query(self, text: str) -> np.ndarray:
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text][None]
        vector = self.inner.embed_query(text)
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return vector[None]

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        places: dict[bytes, list[int]] = {}
        for position, text in enumerate(texts):
            places.setdefault(text_key(self, text), []).append(position)
        known = self._known(list(places))
        if known:
            positions = [position for key in known for position in places[key]]
            yield positions, np.stack([known[key] for key in known for _ in places[key]])
        missing = [key for key in places if key not in known]
        for batch, vectors in self.inner.embed_batches([texts[places[key][0]] for key in missing]):
            keys = [missing[index] for index in batch]
            self._store(keys, vectors)
            repeats = [len(places[key]) for key in keys]
            yield [position for key in keys for position in places[key]], np.repeat(vectors, repeats, axis=0)

    def _known(self, keys: list[bytes]) -> dict[bytes, np.ndarray]:
        with self._lock:
            if self._shipped is None:
                self._shipped = self._read_shipped()
        shipped = {key: self._shipped[key[:KEY_BYTES]] for key in keys if key[:KEY_BYTES] in self._shipped}
        stored = self._read([key for key in keys if key not in shipped])
        # One odd vector means a file written by something else: what does not fit is computed again.
        size = self.dimensions or max((len(vector) for vector in stored.values()), default=0)
        fitting = {k: v for k, v in stored.items() if len(v) == size and abs(float(v @ v) - 1) < 1e-3}
        return {**shipped, **fitting}

    def _read_shipped(self) -> dict[bytes, np.ndarray]:
        found: dict[bytes, np.ndarray] = {}
        for path in self._shipped_paths:
            try:
                found.update(read_shipped(path, self))
            except ProviderError as error:
                self.trouble = str(error)
        return found

    def _read(self, keys: list[bytes]) -> dict[bytes, np.ndarray]:
        found: dict[bytes, np.ndarray] = {}
        try:
            with closing(self._connect()) as connection:
                for first in range(0, len(keys), KEYS_PER_QUERY):
                    part = keys[first : first + KEYS_PER_QUERY]
                    marks = ",".join("?" * len(part))
                    rows = connection.execute(f"SELECT key, vector FROM embeddings WHERE key IN ({marks})", part)
                    found.update(
                        (key, np.frombuffer(vector, dtype="<f4").astype(np.float32))
                        for key, vector in rows
                        if isinstance(vector, bytes) and len(vector) % 4 == 0
                    )
        except (sqlite3.Error, OSError) as error:
            self._cannot_use(error)
        return found

    def _store(self, keys: list[bytes], vectors: np.ndarray) -> None:
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with closing(self._connect()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            self._cannot_use(error)

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # One connection per use: they are cheap, and may not be shared by threads.
        connection = sqlite3.connect(self.path, timeout=LOCKED_SECONDS)
        try:
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                # This switch fails at once where another connection makes it, whatever the time-out: one at a time.
                with FileLock(self.path.with_suffix(".lock"), timeout=LOCKED_SECONDS):
                    connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _cannot_use(self, error: sqlite3.Error | OSError) -> None:
        """Sets a damaged file aside; leaves one alone that is merely full, locked or not writable."""
        self.trouble = f"Embeddings are not kept between runs: {self.path} cannot be used ({error})."
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.OperationalError):
            return
        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCKED_SECONDS):
                if not _is_sound(self.path):  # else another process has replaced it by now
                    for suffix in ("", "-wal", "-shm"):
                        part = self.path.with_name(self.path.name + suffix)
                        if part.exists():
                            part.replace(self.path.with_name(self.path.name + ".damaged" + suffix))
            self.trouble = ""
        except OSError:
            return  # the sentence in ``trouble`` stands


def _is_sound(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=LOCKED_SECONDS)) as connection:
            return connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False


def text_key(embedder: Embedder, text: str) -> bytes:
    """32 bytes that name one text under one model at one revision."""
    return bytes.fromhex(digest("embedding", embedder.name, embedder.revision, clean(text)))


def write_shipped(path: Path, embedder: Embedder, texts: Sequence[str], vectors: np.ndarray) -> None:
    """Writes a ready-made cache of ``texts`` and their unit ``vectors`` [n, d]: 16 bytes of key and d float16 each.

    Texts are sorted by key and the file carries no date, so the same content always gives the same bytes.
    """
    rows = {text_key(embedder, text)[:KEY_BYTES]: vector for text, vector in zip(texts, vectors, strict=True)}
    keys = sorted(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        path,
        keys=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES),
        vectors=np.stack([rows[key] for key in keys]).astype(np.float16),
    )


def read_shipped(path: Path, embedder: Embedder) -> dict[bytes, np.ndarray]:
    """Unit float32 vectors by the first 16 bytes of their key; none where there is no file. Raises ProviderError."""
    if not path.is_file():
        return {}
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as content:
            keys, vectors = content["keys"], content["vectors"].astype(np.float32)
        if vectors.shape != (len(keys), embedder.dimensions):
            raise ValueError(f"its vectors are {vectors.shape}, not those of {embedder.name}")
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ProviderError(
            f"The shipped embeddings {path} cannot be read and are computed instead ({error}). Restore the file."
        ) from error
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip((key.tobytes() for key in keys), vectors, strict=True))
