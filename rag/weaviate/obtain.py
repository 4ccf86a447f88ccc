"""The Weaviate binary: found in the client's cache, or downloaded into it, or built into it with Go."""

from __future__ import annotations

import gzip
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import filelock

from rag import environment
from rag.errors import ServerError

VERSION = "1.35.2"
GO_VERSION = "1.26"
MODULE = f"github.com/weaviate/weaviate/cmd/weaviate-server@v{VERSION}"
MODULE_PACKAGES = 1700  # `go list -deps`; only for the progress bar
CONNECT_SECONDS = 5.0
STALL_SECONDS = 30.0
OBTAIN_SECONDS = 1800.0
CHUNK_BYTES = 1 << 20

Progress = Callable[[str, float | None], None]


class _Failed(Exception):
    """This way did not lead to a binary; the message is a clause that says why."""


def cached_path(cache: Path | None = None) -> Path:
    """Where the Weaviate client keeps, or would keep, the binary of this version."""
    from weaviate.embedded import EmbeddedOptions

    tag = f"v{VERSION}"
    return Path(cache or EmbeddedOptions().binary_path) / f"weaviate-{tag}-{hashlib.sha256(tag.encode()).hexdigest()}"


def release_url() -> str:
    """The archive of the official release for this machine, at the address and by the name that the client uses."""
    from weaviate.embedded import GITHUB_RELEASE_DOWNLOAD_URL

    system, machine, kind = platform.system(), platform.machine(), "tar.gz"
    if system == "Darwin":
        machine, kind = "all", "zip"
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    return f"{GITHUB_RELEASE_DOWNLOAD_URL}v{VERSION}/weaviate-v{VERSION}-{system}-{machine}.{kind}"


def binary(progress: Progress | None = None, cache: Path | None = None, url: str | None = None) -> Path:
    """The path of an executable Weaviate of this version; takes seconds to minutes where it has to be obtained first.

    Raises ServerError, with the ways on, where it cannot be had.
    """
    refuse_windows()
    path = cached_path(cache)
    if _is_usable(path):
        return path
    report = progress or (lambda message, fraction: None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path, report):
            if not _is_usable(path):
                _obtain(path, url or release_url(), report)
    except OSError as error:
        raise ServerError(
            f"Weaviate cannot be stored in {path.parent} ({error.strerror or error}). Make the folder writable and "
            "give it 1 GB of space, or set WEAVIATE_URL to a server elsewhere."
        ) from error
    return path


def refuse_windows() -> None:
    """Raise ServerError on Windows, for which Weaviate is not built."""
    if platform.system() == "Windows":
        raise ServerError(
            "There is no embedded Weaviate for Windows. Run `docker compose up -d weaviate` and set WEAVIATE_URL and "
            "WEAVIATE_API_KEY as compose.yaml says, or set them to a server elsewhere."
        )


def _is_usable(path: Path) -> bool:
    if not path.is_file():
        return False
    if not os.access(path, os.X_OK):
        path.chmod(path.stat().st_mode | stat.S_IXUSR)  # the client sets this last, and may have been stopped before
    return True


@contextmanager
def _alone(path: Path, report: Progress) -> Iterator[None]:
    lock = filelock.FileLock(path.with_name(f"{path.name}.lock"))
    waited = 0.0
    while True:
        try:
            lock.acquire(timeout=1)
            break
        except filelock.Timeout:
            waited += 1
            report("Another process is obtaining Weaviate", None)
            if waited > OBTAIN_SECONDS:
                raise ServerError(
                    "Another process has been obtaining Weaviate for half an hour. End it and try again."
                ) from None
    try:
        yield
    finally:
        lock.release()


def _obtain(path: Path, url: str, report: Progress) -> None:
    partial = path.with_name(f"{path.name}.partial")
    try:
        try:
            found = _downloaded(_emptied(partial), url, report)
        except _Failed as download:
            if not shutil.which("go"):
                raise _without(f"could not be downloaded from {url} ({download})") from download
            try:
                found = _built(_emptied(partial), report)
            except _Failed as build:
                raise _without(f"could be neither downloaded ({download}) nor built with Go ({build})") from build
        found.chmod(0o755)
        found.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _without(reason: str) -> ServerError:
    return ServerError(
        f"Weaviate {VERSION} is not on this machine and {reason}. There are three ways on: connect to the network and "
        f"try again; install Go {GO_VERSION} or newer, and it is built here; or start a server with "
        "`docker compose up -d weaviate` or elsewhere and set WEAVIATE_URL and WEAVIATE_API_KEY."
    )


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _downloaded(folder: Path, url: str, report: Progress) -> Path:
    archive = folder / url.rsplit("/", 1)[-1]
    report("Downloading Weaviate", 0.0)
    digest = _fetch(url, archive, report)
    expected = _published_digest(url)
    if expected and expected != digest:
        raise _Failed("its SHA-256 is not the one published with it")
    report("Unpacking Weaviate", None)
    target = folder / "weaviate"
    try:
        with _member(archive) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, CHUNK_BYTES)
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, KeyError) as error:
        raise _Failed(f"what came is no whole archive with a Weaviate in it: {error}") from error
    return _runnable(target)


def _fetch(url: str, archive: Path, report: Progress) -> str:
    import httpx

    sha = hashlib.sha256()
    try:
        with (
            httpx.stream(
                "GET", url, follow_redirects=True, timeout=httpx.Timeout(STALL_SECONDS, connect=CONNECT_SECONDS)
            ) as response,
            archive.open("wb") as file,
        ):
            response.raise_for_status()
            total, received = int(response.headers.get("content-length", 0)), 0
            for chunk in response.iter_raw(CHUNK_BYTES):
                file.write(chunk)
                sha.update(chunk)
                received += len(chunk)
                done = f"{received / 1e6:.0f} of {total / 1e6:.0f} MB" if total else f"{received / 1e6:.0f} MB"
                report(f"Downloading Weaviate: {done}", min(received / total, 1.0) if total else None)
    except httpx.HTTPStatusError as error:
        raise _Failed(f"the answer was {error.response.status_code} {error.response.reason_phrase}") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _Failed(str(error) or type(error).__name__) from error
    return sha.hexdigest()


def _published_digest(url: str) -> str:
    """The SHA-256 that the release publishes beside the archive, "" where it publishes none."""
    import httpx

    try:
        answer = httpx.get(f"{url}.sha256", follow_redirects=True, timeout=CONNECT_SECONDS)
    except httpx.HTTPError:
        return ""
    words = answer.text.split() if answer.status_code == 200 else []
    is_digest = bool(words) and len(words[0]) == 64 and all(c in "0123456789abcdef" for c in words[0])
    return words[0] if is_digest else ""


@contextmanager
def _member(archive: Path) -> Iterator[IO[bytes]]:
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as file, file.open("weaviate") as source:
            yield source
        return
    with gzip.open(archive) as stream, tarfile.open(fileobj=stream) as file:
        source = file.extractfile("weaviate")
        if source is None:
            raise KeyError("weaviate is no file in it")
        with source:
            yield source
        while stream.read(CHUNK_BYTES):
            pass  # the checksum stands at the end of the archive


def _built(folder: Path, report: Progress) -> Path:
    report("Building Weaviate with Go (about 3 minutes)", 0.0)
    process = subprocess.Popen(
        ["go", "install", "-v", MODULE],
        env=environment.handed_on(GOBIN=str(folder)),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    limit = threading.Timer(OBTAIN_SECONDS, process.kill)
    limit.start()
    last, lines = "no message", 0
    try:
        assert process.stderr is not None
        for line in process.stderr:
            last, lines = line.strip() or last, lines + 1
            report(f"Building Weaviate with Go: {last[:80]}", min(lines / MODULE_PACKAGES, 0.99))
        if process.wait() != 0:
            raise _Failed(last)
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        process.stderr.close()
    return _runnable(folder / "weaviate-server")


def _runnable(path: Path) -> Path:
    """The path, once the program there has shown that this machine can run it."""
    try:
        path.chmod(0o755)
        ran = subprocess.run([path, "--help"], capture_output=True, stdin=subprocess.DEVNULL, timeout=STALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Failed(f"what came does not run on this machine: {error}") from error
    if ran.returncode != 0:
        raise _Failed("what came does not run on this machine")
    return path
