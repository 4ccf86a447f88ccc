"""A sync that is killed in each of its phases, while somebody asks; the script beside it does so at random instants."""

from __future__ import annotations

import pytest
from weaviate import WeaviateClient

from rag.environment import Environment
from tests.kill_sync import Rounds
from tests.support import client, fresh_name

__all__ = ["client"]


@pytest.fixture(scope="module")
def rounds(client: WeaviateClient, environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Rounds:
    return Rounds(environment, client, fresh_name(), tmp_path_factory.mktemp("kills"), seed=7)


@pytest.mark.parametrize(
    "where",
    [
        "embedding:2",
        "writing:1",  # the documents are announced, none of their chunks is there
        "writing:2:half",
        "catalogue:30",
        "catalogue:35:half",
        "deleting:2",  # switched, the old chunks are still there
        "deleting:3:half",
    ],
)
def test_a_sync_killed_at_any_instant_loses_doubles_and_halves_nothing(rounds: Rounds, where: str) -> None:
    asked = rounds.answers
    assert rounds.run(where) == where.split(":")[0]
    assert rounds.answers > asked, "nobody asked meanwhile"
