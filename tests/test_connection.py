"""Where WEAVIATE_URL points, what a person reads when nothing useful is there, and who is kept out without the key."""

from __future__ import annotations

import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import httpx
import pytest
import weaviate.connect.helpers
from weaviate.exceptions import WeaviateBaseError

from rag.environment import PROJECT_FOLDER, Environment
from rag.errors import ServerError
from rag.weaviate import connection, server
from rag.weaviate.connection import Endpoint, endpoint


@pytest.mark.parametrize(
    "url, more, expected",
    [
        ("http://localhost:8080", {}, Endpoint("localhost", 8080, False, "localhost", 50051, direct=True)),
        ("http://weaviate:8080/", {}, Endpoint("weaviate", 8080, False, "weaviate", 50051)),
        ("localhost:9090", {}, Endpoint("localhost", 9090, False, "localhost", 50051, direct=True)),
        ("weaviate.lan", {}, Endpoint("weaviate.lan", 8080, False, "weaviate.lan", 50051)),
        ("weaviate.lan", {"weaviate_port": 81}, Endpoint("weaviate.lan", 81, False, "weaviate.lan", 50051)),
        ("http://weaviate.lan", {}, Endpoint("weaviate.lan", 80, False, "weaviate.lan", 50051)),
        ("https://weaviate.lan", {}, Endpoint("weaviate.lan", 443, True, "weaviate.lan", 50051)),
        (
            "https://weaviate.lan",
            {"weaviate_grpc_host": "grpc.lan"},
            Endpoint("weaviate.lan", 443, True, "grpc.lan", 443),
        ),
        ("http://h:1", {"weaviate_grpc_host": "g", "weaviate_grpc_port": 2}, Endpoint("h", 1, False, "g", 2)),
        ("http://[::1]:8080", {}, Endpoint("::1", 8080, False, "::1", 50051, direct=True)),
        (
            "abc.c0.europe-west3.gcp.weaviate.cloud",
            {},
            Endpoint(
                "abc.c0.europe-west3.gcp.weaviate.cloud", 443, True, "grpc-abc.c0.europe-west3.gcp.weaviate.cloud", 443
            ),
        ),
        (
            "https://abc.weaviate.network",
            {},
            Endpoint("abc.weaviate.network", 443, True, "abc.grpc.weaviate.network", 443),
        ),
    ],
)
def test_an_address_is_completed(url, more, expected):
    assert endpoint(Environment(weaviate_url=url, **more)) == expected


@pytest.mark.parametrize("host", ["abc.c0.europe-west3.gcp.weaviate.cloud", "abc.weaviate.network"])
def test_cloud_addresses_are_the_clients(host):
    parse = vars(weaviate.connect.helpers)["__parse_weaviate_cloud_cluster_url"]
    found = endpoint(Environment(weaviate_url=host))
    assert (found.http_host, found.grpc_host) == parse(host)


@pytest.mark.parametrize(
    "url", ["ftp://host", "http://", "http://host:99999", "http://host/path", "http://me@host", "http://[::1"]
)
def test_what_is_no_address_is_said_with_an_example(url):
    with pytest.raises(ServerError, match="WEAVIATE_URL is .*, which cannot be used: .* Write it like http://"):
        connection.connect(Environment(weaviate_url=url))


def remote(environment: Environment, **changed: object) -> Environment:
    """The address of the test server, as somebody else would be given it."""
    address = server.ensure(environment)
    return Environment(
        **{
            "data_folder": environment.data_folder / "unused",
            "weaviate_url": f"{address.host}:{address.http_port}",
            "weaviate_grpc_port": address.grpc_port,
            "weaviate_api_key": address.api_key,
            **changed,
        }
    )


def test_without_an_address_the_local_server_answers_in_the_pinned_version(environment):
    with connection.connected(environment) as client:
        assert client.get_meta()["version"] == server.VERSION
        client.collections.create("Found")
        assert client.collections.use("Found").query.fetch_objects(limit=1).objects == []  # over gRPC
        client.collections.delete("Found")


def test_an_address_is_used_and_starts_nothing(environment):
    somewhere = remote(environment)
    with connection.connected(somewhere) as client:
        assert client.is_ready()
    assert not somewhere.data_folder.exists()


@pytest.mark.parametrize(
    "key, message",
    [
        ("wrong", "refuses the API key. Correct WEAVIATE_API_KEY."),
        ("", "asks for an API key. Set WEAVIATE_API_KEY."),
    ],
)
def test_a_wrong_or_missing_key_is_named(environment, key, message):
    with pytest.raises(ServerError, match=message):
        connection.connect(remote(environment, weaviate_api_key=key))


def test_a_grpc_address_that_does_not_answer_is_named(environment, monkeypatch):
    monkeypatch.setattr(connection, "CHECK_SECONDS", 1)
    with pytest.raises(ServerError, match="its gRPC interface does not at 127.0.0.1:9. Set WEAVIATE_GRPC_PORT"):
        connection.connect(remote(environment, weaviate_grpc_port=9))


def test_nothing_at_the_address():
    with pytest.raises(ServerError, match="No Weaviate answers at http://127.0.0.1:9 .*refused.*Start it or correct"):
        connection.connect(Environment(weaviate_url="http://127.0.0.1:9"))
    with pytest.raises(ServerError, match="No Weaviate answers at"):
        connection.connect(Environment(weaviate_url="x" * 100))


def test_something_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(connection, "CHECK_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(ServerError, match="timed out"):
            connection.connect(Environment(weaviate_url=f"http://127.0.0.1:{silent.getsockname()[1]}"))


@contextmanager
def foreign(status: int, body: bytes) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, args=[0.02], daemon=True).start()
        yield f"http://127.0.0.1:{site.server_address[1]}"
        site.shutdown()


@pytest.mark.parametrize(
    "status, body", [(200, b"<html>"), (200, b"[]"), (200, b'{"version": ""}'), (404, b"{}"), (301, b"")]
)
def test_another_program_at_the_address(status, body):
    with foreign(status, body) as url, pytest.raises(ServerError, match=f"is no Weaviate .status {status}"):
        connection.connect(Environment(weaviate_url=url))


def test_a_weaviate_too_old_for_the_client_is_told():
    with foreign(200, b'{"version": "1.20.0"}') as url:
        target = Endpoint("127.0.0.1", int(url.rsplit(":", 1)[1]), False, "127.0.0.1", 9, direct=True)
        with pytest.raises(ServerError, match="cannot be used: .*1.20.0 is not supported"):
            connection._client(target, "")


def test_without_the_key_nothing_is_to_be_had_from_any_port(environment):
    address = server.ensure(environment)
    rest = f"http://{address.host}:{address.http_port}/v1"
    for path in ("schema", "objects", "meta", "nodes"):
        assert httpx.get(f"{rest}/{path}").status_code == 401
    assert httpx.post(f"{rest}/graphql", json={"query": "{ Get { X { a } } }"}).status_code == 401
    with grpc.insecure_channel(f"127.0.0.1:{address.grpc_port}") as channel, pytest.raises(grpc.RpcError) as refused:
        channel.unary_unary("/weaviate.v1.Weaviate/Search")(b"", timeout=10)
    assert "unauthorized" in refused.value.details()


def test_a_proxy_in_the_environment_is_not_asked_for_the_local_server(environment, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with connection.connected(environment) as client:
        client.collections.create("Near")
        assert client.collections.use("Near").query.fetch_objects(limit=1).objects == []
        client.collections.delete("Near")


def test_a_closed_client_and_a_dead_server_raise_the_clients_own_errors(environment):
    with connection.connected(environment) as client:
        pass
    with pytest.raises(WeaviateBaseError):
        client.collections.exists("X")


def test_importing_the_client_prints_nothing_and_silences_nothing_else():
    code = """
import sys, warnings
sys.modules["httpx2"] = None  # as on a machine where only the pinned packages are
{first}
import weaviate
from authlib.deprecate import deprecate
deprecate("another matter")
"""

    def printed(first: str) -> str:
        command = [sys.executable, "-c", code.format(first=first)]
        done = subprocess.run(command, cwd=PROJECT_FOLDER, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == "", done.stderr
        return done.stderr

    assert "httpx module is deprecated" in printed("")
    assert "httpx module is deprecated" not in printed("import rag.weaviate")
    assert "another matter" in printed("import rag.weaviate")
