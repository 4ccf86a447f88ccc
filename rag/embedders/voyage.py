"""Voyage AI's embedding models, with VOYAGE_API_KEY."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rag.embedders.remote import Limits, RemoteEmbedder, TooLargeError
from rag.environment import Environment
from rag.errors import ProviderError, SettingsError
from rag.providers import NOT_THE_SERVICE, BusyError, is_page, shortened, waiting, wrong_address

if TYPE_CHECKING:
    import voyageai

DEFAULT_MODEL = "voyage-4"
# docs.voyageai.com/docs/embeddings and /reference/embeddings-api, read in November 2026: the context length, the tokens
# in a request, the default output dimension. A request may hold 1,000 texts; 128 lose less when one fails.
MODELS = {
    "voyage-4": Limits(32_000, 320_000, 128, 1024),
    "voyage-4-large": Limits(32_000, 120_000, 128, 1024),
    "voyage-4-lite": Limits(32_000, 1_000_000, 128, 1024),
    "voyage-3.5": Limits(32_000, 320_000, 128, 1024),
    "voyage-3.5-lite": Limits(32_000, 1_000_000, 128, 1024),
    "voyage-3-large": Limits(32_000, 120_000, 128, 1024),
    "voyage-code-3": Limits(32_000, 120_000, 128, 1024),
    "voyage-finance-2": Limits(32_000, 120_000, 128, 1024),
    "voyage-law-2": Limits(16_000, 120_000, 128, 1024),
}
OTHER_MODEL = Limits(16_000, 120_000, 128, None)
CONNECT_SECONDS = 10
READ_SECONDS = 60


class Voyage(RemoteEmbedder):
    """``voyage:<model>``; texts are embedded as documents and questions as queries, as these models were trained."""

    def __init__(self, model: str, environment: Environment) -> None:
        model = model or DEFAULT_MODEL
        if model.endswith("-nano"):
            raise SettingsError(
                f"{model} is no model of Voyage's service but one to download. Choose voyage:{DEFAULT_MODEL}."
            )
        if not environment.voyage_api_key:
            raise ProviderError(
                "VOYAGE_API_KEY is not set. Get a key at https://dashboard.voyageai.com and set it, or choose minilm."
            )
        self.name = f"voyage:{model}"
        self.limits = MODELS.get(model, OTHER_MODEL)
        self.dimensions = self.limits.dimensions
        self._model = model
        self._environment = environment

    def _request(self, texts: list[str], question: bool) -> Sequence[Sequence[float]]:
        from voyageai import error as errors

        client = _client(self._environment.voyage_api_key, self._environment.voyage_base_url.rstrip("/"))
        input_type = "query" if question else "document"
        try:
            return client.embed(texts, model=self._model, input_type=input_type, truncation=True).embeddings
        except errors.VoyageError as error:
            raise self._problem(error, len(texts)) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # what the client makes of an odd answer
            raise ProviderError(
                f"{self.name} sent an answer that cannot be read ({shortened(error)}). Try again."
            ) from error

    def _problem(self, error: voyageai.error.VoyageError, count: int) -> Exception:
        from voyageai import error as errors

        message = _message(error)
        base_url = self._environment.voyage_base_url
        if base_url and (
            error.http_status in NOT_THE_SERVICE or (error.http_status == 200 and is_page(error.http_body))
        ):
            answer = "a web page" if error.http_status == 200 else error.http_status
            return wrong_address(self.name, "VOYAGE_BASE_URL", base_url, answer)
        if isinstance(error, errors.AuthenticationError) or error.http_status in (401, 403):
            return ProviderError("VOYAGE_API_KEY was refused. Check the key at https://dashboard.voyageai.com.")
        if error.http_status == 429:
            header = error.headers.get("retry-after", "")
            wait = float(header) if header.isdigit() else None
            return BusyError(f"{self.name} is over its rate limit ({message}). {waiting(wait)}", wait)
        if isinstance(error, errors.Timeout):
            return BusyError(f"{self.name} did not answer within {READ_SECONDS} seconds. Try again.")
        if isinstance(error, errors.APIConnectionError):
            place = base_url or "api.voyageai.com"
            return ProviderError(f"{self.name}: the connection to {place} failed. Check the network.")
        if isinstance(error, errors.ServiceUnavailableError | errors.ServerError):
            return BusyError(f"{self.name} is unavailable at the moment ({error.http_status}). Try again in a minute.")
        if error.http_status == 400 and "token" in message.lower() and count > 1:
            return TooLargeError(message)
        return ProviderError(f"{self.name} refused the request ({message}).")


def _message(error: voyageai.error.VoyageError) -> str:
    """The service's own words, without the body and the headers that the client adds to some."""
    detail = error.json_body.get("detail") if isinstance(error.json_body, dict) else None
    if is_page(error.http_body):
        return f"{error.http_status}: {shortened(error.http_body)}".rstrip(": ")
    return shortened(detail if isinstance(detail, str) else error.user_message)


@lru_cache(maxsize=8)
def _client(api_key: str, base_url: str) -> voyageai.Client:
    import voyageai

    # Its own retries would ignore the delay that the service asks for, so it makes one attempt and we ask again.
    timeout = (CONNECT_SECONDS, READ_SECONDS)
    return voyageai.Client(api_key=api_key, max_retries=0, timeout=timeout, base_url=base_url or None)
