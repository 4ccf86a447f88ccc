"""What tests share: one real Weaviate server on a data folder of its own, stopped when the run ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag.environment import Environment
from rag.weaviate import server


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """No keys, no address, and a data folder that only this run uses; its server starts with the first that asks."""
    environment = Environment(data_folder=tmp_path_factory.mktemp("weaviate"))
    yield environment
    server.stop(environment)
