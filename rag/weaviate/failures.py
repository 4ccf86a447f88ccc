"""The client's errors in ours: what was being done, what the server said, and what to do where that is known."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import httpx
from weaviate.exceptions import (
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateConnectionError,
    WeaviateRetryError,
    WeaviateTimeoutError,
)

from rag.errors import StoreError
from rag.weaviate.remedies import known, plain

_UNREACHED = (WeaviateConnectionError, WeaviateRetryError, WeaviateTimeoutError, httpx.TransportError)
_UNREACHED_CODES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Turns the client's and the network's errors into StoreError, saying what was being done."""
    try:
        yield
    except (WeaviateBaseError, grpc.RpcError, httpx.HTTPError) as error:
        if any(_is_unreached(link) for link in _chain(error)):
            raise StoreError(
                f"Weaviate does not answer, so it could not {action}: it has stopped or cannot be reached. "
                "Try again; if that does not help, `python -m rag server status` shows the local server."
            ) from error
        raise failure(action, _words(error)) from error


def failure(action: str, message: str) -> StoreError:
    """The error that says what could not be done, the server's reason for it, and what to do."""
    words = plain(message)
    stop = "" if words.endswith("…") else "."
    advice = known(message) or f"{words}{stop} `python -m rag server status` shows the server."
    return StoreError(f"Weaviate could not {action}: {advice}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_unreached(error: BaseException) -> bool:
    """Whether the error means that the server was not there or did not answer in time."""
    return isinstance(error, _UNREACHED) or (isinstance(error, grpc.Call) and error.code() in _UNREACHED_CODES)


def _words(error: BaseException) -> str:
    """The message of the gRPC call or of the HTTP answer that failed, else the client's own."""
    found = str(error) or type(error).__name__
    for link in _chain(error):
        if isinstance(link, grpc.Call):
            found = link.details() or found
        elif isinstance(link, UnexpectedStatusCodeError):
            found = _message(link.error) or f"it answered with status {link.status_code}"
    return found


def _message(body: object) -> str:
    """The text in ``{"error": [{"message": ...}]}``, Weaviate's form of an error; "" for any other."""
    try:
        return "; ".join(str(part["message"]) for part in body["error"])
    except (TypeError, KeyError):
        return ""


def _is_no_batch_report(record: logging.LogRecord) -> bool:
    return not (isinstance(record.msg, dict) and "errors" in record.msg)


# The client logs every object of a batch that was refused, with its text and vector. We report each error ourselves.
logging.getLogger("weaviate-client").addFilter(_is_no_batch_report)
