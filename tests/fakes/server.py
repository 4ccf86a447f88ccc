"""What the fake services share: a local HTTP server that remembers its requests and plays scripted replies first."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

# A web page, as a proxy or another server answers.
PAGE = """<!DOCTYPE HTML>
<html lang="en"><head><meta charset="utf-8">
<title>{}</title></head><body><p>Message: Unsupported method.</p></body></html>
"""


@dataclass
class Reply:
    """One answer: JSON (or raw text), or a connection closed without one."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    drop: bool = False


class FakeService:
    """``with FakeService() as service``; ``script`` holds replies played before the service answers by itself again."""

    key = "right-key"

    def __init__(self) -> None:
        self.script: deque[Reply] = deque()
        self.requests: list[dict[str, Any]] = []
        self.times: list[float] = []
        self._lock = threading.Lock()

    def __enter__(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                service.handle(self, json.loads(self.rfile.read(length)))

            def do_GET(self) -> None:
                service.handle(self, {})

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Remembers the request, then plays the next scripted reply or asks ``answer``."""
        with self._lock:
            self.requests.append({"path": handler.path, "headers": dict(handler.headers), "body": body})
            self.times.append(time.monotonic())
            reply = self.script.popleft() if self.script else None
        try:
            self.send(handler, reply or self.answer(handler.path, dict(handler.headers), body))
        except ConnectionError:
            handler.close_connection = True  # the client has given up, as some tests want it to

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        """The service's own answer; each service gives its own."""
        raise AssertionError(f"this server has no answer of its own to {path}")

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        """Puts a reply on the wire."""
        time.sleep(reply.delay_seconds)
        if reply.drop:
            handler.close_connection = True
            return
        content = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        handler.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


def vector_of(text: str, dimensions: int) -> np.ndarray:
    """A float32 vector [dimensions] that depends on the text alone; its length is not one."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
