"""A connected client: to the address the user gave, or else to the local server of the data folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from rag.environment import Environment
from rag.errors import ServerError
from rag.weaviate import server
from rag.weaviate.obtain import Progress

if TYPE_CHECKING:
    from weaviate import WeaviateClient

CONNECT_SECONDS = 5.0
CHECK_SECONDS = 10.0
QUERY_SECONDS = 10  # nobody waits longer for a search that takes milliseconds
WRITE_SECONDS = 120
REST_RETRIES = 1  # where a host does not take the call, each try of the client's takes 5 seconds
GRPC_RETRIES = 0  # as the client counts: one retry after a second, and two seconds later the end
DEFAULT_PORT = 8080
DEFAULT_GRPC_PORT = 50051
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CLOUD = (".weaviate.cloud", ".weaviate.network")


@dataclass(frozen=True)
class Endpoint:
    """Hosts and ports of one Weaviate; ``direct`` says that no proxy of the machine's is to be asked for it."""

    http_host: str
    http_port: int
    secure: bool
    grpc_host: str
    grpc_port: int
    direct: bool = False

    @property
    def url(self) -> str:
        """The address of its REST interface."""
        return f"{'https' if self.secure else 'http'}://{_bracketed(self.http_host)}:{self.http_port}"


def endpoint(environment: Environment) -> Endpoint:
    """Where WEAVIATE_URL points, the scheme and the gRPC address filled in where they are missing.

    Raises ServerError where it is no address.
    """
    text = environment.weaviate_url
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, port, scheme = parts.hostname or "", parts.port, parts.scheme
    except ValueError as error:
        raise _no_address(text, str(error)) from error
    if not host or scheme not in ("", "http", "https") or parts.path.strip("/") or parts.query or parts.username:
        raise _no_address(text, "only a scheme, a host and a port are used")
    is_cloud = host.endswith(CLOUD)
    secure = scheme == "https" or (not scheme and (is_cloud or port == 443))
    if not port:
        port = 443 if secure else environment.weaviate_port or (80 if scheme else DEFAULT_PORT)
    grpc_host, grpc_port = environment.weaviate_grpc_host or host, environment.weaviate_grpc_port
    if is_cloud:
        grpc_host, grpc_port = environment.weaviate_grpc_host or _cloud_grpc_host(host), grpc_port or 443
    elif not grpc_port:
        # Behind a proxy that ends TLS, a host of its own for gRPC is the usual way, and then on the usual port.
        grpc_port = 443 if secure and grpc_host != host else DEFAULT_GRPC_PORT
    return Endpoint(host, port, secure, grpc_host, grpc_port, direct=host in LOOPBACK or bool(proxy_bypass(host)))


def connect(environment: Environment, progress: Progress | None = None) -> WeaviateClient:
    """A connected client, to be closed by the caller; starts the local server where no WEAVIATE_URL is set.

    Raises ServerError within seconds where the address does not answer, refuses the key, or is no Weaviate.
    """
    if environment.weaviate_url:
        remote = endpoint(environment)
        _check_rest(remote, environment.weaviate_api_key)
        _check_grpc(remote)
        return _client(remote, environment.weaviate_api_key)
    address = server.ensure(environment, progress)
    local = Endpoint(address.host, address.http_port, False, address.host, address.grpc_port, direct=True)
    return _client(local, address.api_key)


@contextmanager
def connected(environment: Environment, progress: Progress | None = None) -> Iterator[WeaviateClient]:
    """A connected client for the length of a ``with`` block."""
    client = connect(environment, progress)
    try:
        yield client
    finally:
        client.close()


def _client(target: Endpoint, api_key: str) -> WeaviateClient:
    import weaviate
    from weaviate.classes.init import AdditionalConfig, Auth, Timeout
    from weaviate.config import ConnectionConfig, GrpcConfig
    from weaviate.exceptions import WeaviateBaseError

    _bound_retries()
    options = GrpcConfig(channel_options=_channel_options(target))
    try:
        return weaviate.connect_to_custom(
            _bracketed(target.http_host),
            target.http_port,
            target.secure,
            _bracketed(target.grpc_host),
            target.grpc_port,
            target.secure,
            auth_credentials=Auth.api_key(api_key) if api_key else None,
            # The client's own checks ask the package index for its newest version; ours do not.
            skip_init_checks=True,
            additional_config=AdditionalConfig(
                timeout=Timeout(init=CHECK_SECONDS, query=QUERY_SECONDS, insert=WRITE_SECONDS),
                connection=ConnectionConfig(session_pool_max_retries=REST_RETRIES),
                trust_env=not target.direct,
                grpc_config=options,
            ),
        )
    except WeaviateBaseError as error:
        raise ServerError(f"Weaviate at {target.url} cannot be used: {' '.join(str(error).split())}") from error


def _bound_retries() -> None:
    """Let the client give up a server that is gone after 3 seconds; its own patience, 63, is no setting of it."""
    from weaviate.connect import v4
    from weaviate.retry import _Retry

    v4._Retry = lambda n=GRPC_RETRIES: _Retry(min(n, GRPC_RETRIES))


def _check_rest(target: Endpoint, api_key: str) -> None:
    import httpx

    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        answer = httpx.get(
            f"{target.url}/v1/meta",
            headers=headers,
            trust_env=not target.direct,
            timeout=httpx.Timeout(CHECK_SECONDS, connect=CONNECT_SECONDS),
        )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # ValueError: a host too long to look up
        raise ServerError(
            f"No Weaviate answers at {target.url} ({str(error) or type(error).__name__}). Start it or correct "
            "WEAVIATE_URL; without WEAVIATE_URL a local server is used."
        ) from error
    if answer.status_code in (401, 403):
        raise ServerError(
            f"Weaviate at {target.url} refuses the API key. Correct WEAVIATE_API_KEY."
            if api_key
            else f"Weaviate at {target.url} asks for an API key. Set WEAVIATE_API_KEY."
        )
    try:
        is_weaviate = answer.status_code == 200 and bool(answer.json()["version"])
    except (ValueError, KeyError, TypeError):
        is_weaviate = False
    if not is_weaviate:
        raise ServerError(
            f"What answers at {target.url} is no Weaviate (status {answer.status_code} for /v1/meta). "
            "Correct WEAVIATE_URL."
        )


def _check_grpc(target: Endpoint) -> None:
    import grpc

    place, options = f"{_bracketed(target.grpc_host)}:{target.grpc_port}", _channel_options(target)
    if target.secure:
        channel = grpc.secure_channel(place, grpc.ssl_channel_credentials(), options)
    else:
        channel = grpc.insecure_channel(place, options)
    with channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=CHECK_SECONDS)
        except grpc.FutureTimeoutError as error:
            raise ServerError(
                f"Weaviate answers at {target.url}, but its gRPC interface does not at {place}. "
                "Set WEAVIATE_GRPC_PORT, and WEAVIATE_GRPC_HOST where it differs."
            ) from error


def _channel_options(target: Endpoint) -> list[tuple[str, int]]:
    options = [
        # A server that is back is looked for every second; by itself gRPC would in the end do so every two minutes.
        ("grpc.initial_reconnect_backoff_ms", 1000),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.min_reconnect_backoff_ms", int(CONNECT_SECONDS * 1000)),  # how long one try to connect may take
        # A new client does not share the broken connection of an old one.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    # gRPC would send even calls to this machine through a proxy named in the environment.
    return [*options, ("grpc.enable_http_proxy", 0)] if target.direct else options


def _cloud_grpc_host(host: str) -> str:
    name, domain = host.split(".", 1)
    return f"{name}.grpc.{domain}" if domain == "weaviate.network" else f"grpc-{host}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _no_address(text: str, reason: str) -> ServerError:
    return ServerError(
        f"WEAVIATE_URL is {text!r}, which cannot be used: {reason}. Write it like http://localhost:8080."
    )
