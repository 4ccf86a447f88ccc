"""The Gemini API's batchEmbedContents, streamGenerateContent (server-sent events) and models list."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.server import FakeService, Reply, vector_of


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One event of a stream: a candidate with a part of text (none for None), and why it finished."""
    candidate: dict[str, Any] = {"index": 0}
    if text is not None:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def error(code: int, status: str, message: str, *details: dict[str, Any]) -> Reply:
    """An error in the form of google.rpc.Status."""
    return Reply(code, {"error": {"code": code, "message": message, "status": status, "details": list(details)}})


def retry_info(delay: str) -> dict[str, Any]:
    """The detail that says how long to wait, such as "0.2s"."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


class GeminiServer(FakeService):
    """``chunks`` is what a stream sends; with ``breaks`` the connection is then lost instead of ended."""

    def __init__(self, dimensions: int = 3072, request_texts: int = 100) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.request_texts = request_texts
        self.chunks: list[Any] = [chunk("Hello", "STOP")]
        self.breaks = False
        self.models: list[dict[str, Any]] = []

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        if headers.get("x-goog-api-key") != self.key:
            return error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
        if "/models?" in path or path.endswith("/models"):
            return Reply(200, {"models": self.models})
        if ":streamGenerateContent" in path:
            return Reply(200, self.chunks, {"Content-Type": "text/event-stream"})
        texts = [[part["text"] for part in request["content"]["parts"]] for request in body["requests"]]
        if len(texts) > self.request_texts:
            return error(400, "INVALID_ARGUMENT", f"at most {self.request_texts} requests can be in one batch")
        return Reply(200, {"embeddings": [{"values": vector_of("".join(t), self.dimensions).tolist()} for t in texts]})

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.headers.get("Content-Type") != "text/event-stream":
            return super().send(handler, reply)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for event in reply.body:
            line = f"data: {json.dumps(event)}\r\n\r\n".encode()
            handler.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            handler.wfile.flush()
        if self.breaks:
            handler.close_connection = True
        else:
            handler.wfile.write(b"0\r\n\r\n")
