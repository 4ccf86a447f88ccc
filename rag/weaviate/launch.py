"""Starting the Weaviate binary: its settings, its log, and what it said when it did not start."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from rag.errors import ServerError
from rag.weaviate import instance, locks
from rag.weaviate.instance import HOST, ServerAddress
from rag.weaviate.ports import Ports

USER = "rag"
LOG = "server.log"
LOG_BYTES = 5_000_000
PORT_TAKEN = "address already in use"


def launch(folder: Path, binary: Path, ports: Ports) -> ServerAddress:
    """Start the binary on the folder, call it under the folder's lock; it is not ready yet.

    Raises ServerError where the folder already has a server.
    """
    if log_size(folder) > LOG_BYTES:
        (folder / LOG).replace(folder / f"{LOG}.1")
    key = instance.key(folder)
    command = [
        str(binary),
        "--scheme",
        "http",
        "--host",
        HOST,
        "--port",
        str(ports.http),
        "--read-timeout=600s",
        "--write-timeout=600s",
    ]
    pid = locks.spawn(
        command,
        folder / locks.SERVER,
        name=instance.name(folder),
        log=folder / LOG,
        env=settings(folder / instance.DATABASE, key, ports),
        cwd=folder,
    )
    if pid is None:
        raise ServerError(f"The data folder {folder} is in use. Name another folder in RAG_DATA_FOLDER.")
    address = ServerAddress(pid, ports.http, ports.grpc, api_key=key)
    instance.remember(folder, address)
    return address


def settings(database: Path, key: str, ports: Ports) -> dict[str, str]:
    """The whole environment of the server: no variable of the user's reaches it."""
    return {
        "PERSISTENCE_DATA_PATH": str(database),
        "LOG_LEVEL": "warning",
        # Private: gRPC listens on every interface, whatever is set, so it asks for the key.
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
        "AUTHENTICATION_APIKEY_ENABLED": "true",
        "AUTHENTICATION_APIKEY_ALLOWED_KEYS": key,
        "AUTHENTICATION_APIKEY_USERS": USER,
        "CLUSTER_BASIC_AUTH_USERNAME": USER,
        "CLUSTER_BASIC_AUTH_PASSWORD": key,
        "GO_PROFILING_DISABLE": "true",
        "DISABLE_TELEMETRY": "true",
        # Ours: vectors, types and analysis are brought by us.
        "ENABLE_MODULES": "",
        "API_BASED_MODULES_DISABLED": "true",
        "DEFAULT_VECTORIZER_MODULE": "none",
        "AUTOSCHEMA_ENABLED": "false",
        # With BlockMax WAND, BM25 misses the best objects for up to a minute after every write.
        "USE_BLOCKMAX_WAND": "false",
        "QUERY_DEFAULTS_LIMIT": "100",
        "QUERY_MAXIMUM_RESULTS": "100000",
        # A share of the disk, which on a large one leaves much space at the default of 90.
        "DISK_USE_WARNING_PERCENTAGE": "95",
        "DISK_USE_READONLY_PERCENTAGE": "98",
        # A cluster of one, on the loopback.
        "CLUSTER_HOSTNAME": "local",
        "CLUSTER_IN_LOCALHOST": "true",
        "CLUSTER_ADVERTISE_ADDR": HOST,  # it dies without one where no private IPv4 address is found
        "CLUSTER_BIND_ADDR": HOST,
        "CLUSTER_GOSSIP_BIND_PORT": str(ports.gossip),
        # The port between cluster nodes would be open to everyone too, and hand out files without a key (its check
        # names another service than the one it serves). A node alone does without it, and goes on where it is taken.
        "CLUSTER_DATA_BIND_PORT": str(ports.gossip),
        "GRPC_PORT": str(ports.grpc),
        "RAFT_BOOTSTRAP_EXPECT": "1",
        "RAFT_JOIN": f"local:{ports.raft}",
        "RAFT_PORT": str(ports.raft),
        "RAFT_INTERNAL_RPC_PORT": str(ports.raft + 1),
        # The default, 5, is five seconds of waiting for a leader that a node alone always becomes itself.
        "RAFT_TIMEOUTS_MULTIPLIER": "1",
    }


def log_size(folder: Path) -> int:
    """Bytes in the server's log, 0 where there is none."""
    try:
        return (folder / LOG).stat().st_size
    except FileNotFoundError:
        return 0


def last_words(folder: Path, start: int) -> str:
    """The reason a server gave for ending, from its log behind byte ``start``; PORT_TAKEN where that was it."""
    with (folder / LOG).open("rb") as file:
        file.seek(start)
        text = file.read().decode("utf-8", "replace")
    if PORT_TAKEN in text:
        return PORT_TAKEN
    lines = text.splitlines()
    words = [line for line in lines if '"level":"fatal"' in line or '"level":"error"' in line] or lines
    if not words:
        return "it left no message"
    with suppress(ValueError, TypeError):
        record = json.loads(words[-1])
        return ": ".join(str(record[part]) for part in ("msg", "error") if record.get(part))
    return words[-1].strip()
