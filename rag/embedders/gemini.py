"""Google's embedding models, with GEMINI_API_KEY."""

from __future__ import annotations

from collections.abc import Sequence

from rag.embedders.remote import Limits, RemoteEmbedder
from rag.environment import Environment
from rag.providers import gemini_client, gemini_errors, require_gemini_key

DEFAULT_MODEL = "gemini-embedding-2"
# ai.google.dev/gemini-api/docs/embeddings and .../models, read in November 2026: tokens in a text (less the task's own
# words), 100 texts in a request, the default dimension. No limit of a request's tokens is given.
MODELS = {
    "gemini-embedding-2": Limits(8_192 - 32, 100_000, 100, 3072),
    "gemini-embedding-001": Limits(2_048, 100_000, 100, 3072),
}
OTHER_MODEL = Limits(2_048 - 32, 100_000, 100, None)
TASK_TYPE_MODELS = ("gemini-embedding-001", "gemini-embedding-exp", "text-embedding-")
# Later models take the task as words before the text and ignore task types (the same page, "Task types").
QUERY_PREFIX = "task: search result | query: "
DOCUMENT_PREFIX = "title: none | text: "
TIMEOUT_SECONDS = 60


class GeminiEmbedder(RemoteEmbedder):
    """``gemini:<model>``; texts are embedded for retrieval as documents, questions as queries."""

    def __init__(self, model: str, environment: Environment) -> None:
        require_gemini_key(environment)
        self._model = model or DEFAULT_MODEL
        self.name = f"gemini:{self._model}"
        self.limits = MODELS.get(self._model, OTHER_MODEL)
        self.dimensions = self.limits.dimensions
        self._environment = environment

    def _request(self, texts: list[str], question: bool) -> Sequence[Sequence[float]]:
        from google.genai import types

        config = None
        if self._model.startswith(TASK_TYPE_MODELS):
            config = types.EmbedContentConfig(task_type="RETRIEVAL_QUERY" if question else "RETRIEVAL_DOCUMENT")
        else:
            prefix = QUERY_PREFIX if question else DOCUMENT_PREFIX
            texts = [prefix + text for text in texts]
        # One Content each: the client joins plain strings into one, which these models answer with a single vector.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        with gemini_errors(self.name, self._environment):
            client = gemini_client(self._environment, TIMEOUT_SECONDS)
            answer = client.models.embed_content(model=self._model, contents=contents, config=config)
        return [embedding.values or [] for embedding in answer.embeddings or []]
