"""What every client of a model behind an API needs: text that can be sent, patience, errors in plain words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, TypeVar

from rag import text
from rag.environment import Environment
from rag.errors import ProviderError

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors

T = TypeVar("T")
LONGEST_WAIT_SECONDS = 30.0
FIRST_WAIT_SECONDS = 1.0
MOST_CHARACTERS = 200
# What a server answers that is not the service at all: not found, not allowed, not implemented.
NOT_THE_SERVICE = (404, 405, 501)
_PAGE = re.compile(r"<!doctype html|<html[\s>]|<head[\s>]", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


class BusyError(ProviderError):
    """The service may answer a little later; ``wait_seconds`` is the delay it asked for, None where it named none."""

    def __init__(self, message: str, wait_seconds: float | None = None):
        super().__init__(message)
        self.wait_seconds = wait_seconds


def patiently(call: Callable[[], T], attempts: int = 3) -> T:
    """What ``call`` gives; after BusyError it is tried again, after the service's own delay, else 1, 2, 4 ... seconds.

    Raises the last BusyError, at once where the delay asked for is over 30 seconds: a person is waiting.
    """
    for attempt in range(attempts):
        try:
            return call()
        except BusyError as busy:
            pause = FIRST_WAIT_SECONDS * 2**attempt if busy.wait_seconds is None else busy.wait_seconds
            if attempt == attempts - 1 or pause > LONGEST_WAIT_SECONDS:
                raise
        time.sleep(pause)
    raise AssertionError("unreachable")


def shortened(message: object) -> str:
    """A service's own words on one line, at most 200 characters; of a web page among them only its title."""
    before, page = _parted(str(message))
    title = _TITLE.search(page)
    return text.shortened(before + (unescape(title.group(1)) if title else ""), MOST_CHARACTERS)


def is_page(message: object) -> bool:
    """Whether a service's answer holds a web page: it came from a proxy, or from something that is no such service."""
    return bool(_parted(str(message))[1])


def _parted(message: str) -> tuple[str, str]:
    page = _PAGE.search(message)
    return (message[: page.start()], message[page.start() :]) if page else (message, "")


def waiting(seconds: float | None) -> str:
    """The end of a sentence about a limit: how long the service asks to wait."""
    return "Try again in a minute." if seconds is None else f"The service asks to wait {seconds:g} seconds."


def wrong_address(name: str, variable: str, address: str, answer: object) -> ProviderError:
    """The error of an address, set in ``variable``, at which something else than the service answers."""
    return ProviderError(f"{name}: {address} answered {answer}: is {variable} right?")


def require_gemini_key(environment: Environment) -> None:
    """Raises ProviderError where there is no key."""
    if not environment.gemini_api_key:
        raise ProviderError(
            "GEMINI_API_KEY is not set. Get a key at https://aistudio.google.com/apikey and set it, "
            "or choose another model."
        )


@lru_cache(maxsize=8)
def gemini_client(environment: Environment, timeout_seconds: int) -> genai.Client:
    """One client per key and address, shared by all threads; makes no call and, by itself, no second attempt."""
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=environment.gemini_base_url or None, timeout=timeout_seconds * 1000)
    return genai.Client(vertexai=False, api_key=environment.gemini_api_key, http_options=options)


@contextmanager
def gemini_errors(name: str, environment: Environment) -> Iterator[None]:
    """Everything the Gemini client raises, as ProviderError (BusyError where waiting helps) in one or two sentences."""
    import httpx
    import httpx2
    from google.genai import errors

    try:
        yield
    except errors.APIError as error:
        raise _gemini_problem(name, environment, error) from error
    except (httpx.TimeoutException, httpx2.TimeoutException) as error:
        raise BusyError(f"{name} did not answer in time. Try again.") from error
    except (httpx.HTTPError, httpx2.HTTPError) as error:
        place = environment.gemini_base_url or "generativelanguage.googleapis.com"
        raise ProviderError(
            f"{name}: the connection to {place} failed ({shortened(error)}). Check the network."
        ) from error
    except ValueError as error:  # the client's own for no JSON, pydantic's for JSON of another shape
        if environment.gemini_base_url and is_page(error):
            raise wrong_address(name, "GEMINI_BASE_URL", environment.gemini_base_url, "a web page") from error
        raise ProviderError(f"{name} sent an answer that cannot be read ({shortened(error)}). Try again.") from error


def _gemini_problem(name: str, environment: Environment, error: errors.APIError) -> ProviderError:
    details = error.details if isinstance(error.details, dict) else {}
    message = shortened(error.message or details.get("detail") or details.get("status") or "")
    coded = f"{error.code}: {message}" if message else f"{error.code}"
    message = message or coded
    if environment.gemini_base_url and error.code in NOT_THE_SERVICE and "error" not in details:
        return wrong_address(name, "GEMINI_BASE_URL", environment.gemini_base_url, error.code)
    if error.code in (401, 403) or "api key" in message.lower():
        return ProviderError(
            f"GEMINI_API_KEY was refused ({message}). Check the key at https://aistudio.google.com/apikey."
        )
    if error.code == 404:
        return ProviderError(f"Gemini does not know the model in {name!r} ({message}). Choose another.")
    if error.code == 429:
        wait = _retry_delay(error)
        return BusyError(f"{name} is over its rate limit or quota ({message}). {waiting(wait)}", wait)
    if error.code >= 500 and error.code not in NOT_THE_SERVICE:
        wait = _retry_delay(error)
        return BusyError(f"{name} is unavailable at the moment ({coded}). {waiting(wait)}", wait)
    return ProviderError(f"{name} refused the request ({coded}).")


def _retry_delay(error: errors.APIError) -> float | None:
    """Seconds from the RetryInfo in the body, such as "34.5s", else from the Retry-After header."""
    found = re.search(r"'retryDelay': '([\d.]+)s'", str(error.details))
    if found:
        return float(found.group(1))
    header = getattr(error.response, "headers", {}).get("retry-after", "")
    return float(header) if header.isdigit() else None
