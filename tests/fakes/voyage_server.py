"""Voyage's embeddings endpoint as its reference describes it: keys, limits, base64 vectors, error texts."""

from __future__ import annotations

import base64
from typing import Any

from tests.fakes.server import FakeService, Reply, vector_of


class VoyageServer(FakeService):
    """Counts a word as a token; refuses requests over its limits with the service's own words."""

    def __init__(self, dimensions: int = 1024, request_tokens: int = 120_000, request_texts: int = 1000) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.request_tokens = request_tokens
        self.request_texts = request_texts

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        if headers.get("Authorization") != f"Bearer {self.key}":
            return Reply(401, {"detail": "Provided API key is invalid."})
        texts = body["input"]
        if any(not text.strip() for text in texts):
            return Reply(400, {"detail": "Input cannot contain empty strings or empty lists."})
        if len(texts) > self.request_texts:
            return Reply(
                400, {"detail": f"The batch size limit is {self.request_texts}. Your batch size is {len(texts)}."}
            )
        tokens = sum(len(text.split()) for text in texts)
        if tokens > self.request_tokens:
            return Reply(
                400,
                {
                    "detail": f"Request to model '{body['model']}' failed. The max allowed tokens per submitted "
                    f"batch is {self.request_tokens}. Your batch has {tokens} tokens after truncation. "
                    "Please lower the number of tokens in the batch."
                },
            )
        data = [
            {"object": "embedding", "embedding": self.encoded(text), "index": index} for index, text in enumerate(texts)
        ]
        return Reply(200, {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": tokens}})

    def encoded(self, text: str) -> str:
        """The vector as the client asks for it."""
        return base64.b64encode(vector_of(text, self.dimensions).astype("<f4").tobytes()).decode()
