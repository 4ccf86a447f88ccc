"""A connected client: to the address the user gave, or to the local server of the data folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag.environment import Environment
from rag.errors import ServerError
from rag.weaviate import server
from rag.weaviate.obtain import Progress

if TYPE_CHECKING:
    from weaviate import WeaviateClient


def connect(environment: Environment, progress: Progress | None = None) -> WeaviateClient:
    """A client that is connected; close it when done."""
    import weaviate
    from weaviate.classes.init import AdditionalConfig, Auth, Timeout

    address = server.ensure(environment, progress)
    return weaviate.connect_to_custom(
        address.host, address.http_port, False, address.host, address.grpc_port, False,
        auth_credentials=Auth.api_key(address.api_key), skip_init_checks=True,
        additional_config=AdditionalConfig(timeout=Timeout(init=10, query=30, insert=120)),
    )


@contextmanager
def connected(environment: Environment, progress: Progress | None = None) -> Iterator[WeaviateClient]:
    """A client for the length of a ``with`` block."""
    client = connect(environment, progress)
    try:
        yield client
    finally:
        client.close()
