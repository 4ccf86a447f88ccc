"""The Weaviate binary: the client's place for it, the download that may go wrong in every way, and Go when it does."""

from __future__ import annotations

import hashlib
import http.server
import io
import platform
import re
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import weaviate.embedded
import yaml

from rag.environment import PROJECT_FOLDER
from rag.errors import ServerError
from rag.weaviate import launch, obtain, ports

PROGRAM = b"#!/bin/sh\nexit 0\n# padding " + b"x" * 200_000
THREE_WAYS = "connect to the network and try again; install Go 1.26 or newer, .*; or start a server with `docker"


def tar(**files: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=0) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


class Site:
    """A web server of files; ``cut`` names those of which only half arrives, ``stalled`` those that stop half-way."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.stalled: set[str] = set()
        self.asked: list[str] = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path[1:]
                site.asked.append(name)
                if name not in site.files:
                    self.send_error(404)
                    return
                content = site.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                half = name in site.cut | site.stalled
                self.wfile.write(content[: len(content) // 2] if half else content)
                if name in site.stalled:
                    time.sleep(3)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    threading.Thread(target=site.server.serve_forever, args=[0.02], daemon=True).start()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def no_go(tmp_path, monkeypatch) -> Path:
    """A PATH on which there is nothing; its one folder, for a program to be put there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def left_in(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir() if not path.name.endswith(".lock")}


def test_place_and_address_are_those_of_the_client(tmp_path, monkeypatch):
    assert re.fullmatch(r"weaviate-v1\.35\.2-[0-9a-f]{64}", obtain.cached_path(tmp_path).name)
    for system, machine in [("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64")]:
        monkeypatch.setattr(platform, "system", lambda: system)
        monkeypatch.setattr(platform, "machine", lambda: machine)
        options = weaviate.embedded.EmbeddedOptions(
            version=obtain.VERSION, binary_path=str(tmp_path), persistence_data_path=str(tmp_path)
        )
        client = weaviate.embedded.EmbeddedV4(options)
        obtain.cached_path(tmp_path).touch()
        client.ensure_weaviate_binary_exists()  # finds it: downloads nothing
        assert client._weaviate_binary_path == obtain.cached_path(tmp_path)
        assert client._download_url == obtain.release_url()
    assert obtain.cached_path().parent == Path(weaviate.embedded.EmbeddedOptions().binary_path)


def test_a_binary_that_is_there_is_used_and_made_executable(tmp_path):
    path = obtain.cached_path(tmp_path)
    path.write_bytes(PROGRAM)
    assert obtain.binary(cache=tmp_path, url="http://127.0.0.1:9/never-asked.tar.gz") == path
    assert path.stat().st_mode & 0o100


@pytest.mark.parametrize(
    "name, archive",
    [
        ("w.tar.gz", tar(LICENSE=b"text", weaviate=PROGRAM)),
        ("w.zip", zipped(weaviate=PROGRAM)),
    ],
)
@pytest.mark.parametrize("published", [True, False])
def test_download_reports_progress_and_leaves_only_the_binary(site, tmp_path, no_go, name, archive, published):
    site.files[name] = archive
    if published:
        site.files[f"{name}.sha256"] = f"{hashlib.sha256(archive).hexdigest()}  {name}\n".encode()
    told = []
    path = obtain.binary(lambda *reported: told.append(reported), tmp_path / "cache", site.url + name)
    assert path.read_bytes() == PROGRAM and path.stat().st_mode & 0o111 == 0o111
    assert left_in(tmp_path / "cache") == {path.name}
    assert told[0] == ("Downloading Weaviate", 0.0) and ("Downloading Weaviate: 0 of 0 MB", 1.0) in told


@pytest.mark.parametrize(
    "fault, reason",
    [
        ("missing", "the answer was 404"),
        ("cut", "peer closed connection|incomplete"),
        ("stalled", "timed out"),
        ("page", "no whole archive"),
        ("half an archive", "no whole archive"),
        ("damaged", "no whole archive"),
        ("another member", "no whole archive"),
        ("another machine's", "does not run on this machine"),
        ("another digest", "SHA-256"),
    ],
)
def test_a_download_that_goes_wrong_says_why_and_leaves_nothing(site, tmp_path, no_go, monkeypatch, fault, reason):
    monkeypatch.setattr(obtain, "STALL_SECONDS", 0.5)
    good = tar(weaviate=PROGRAM)
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 255
    site.files = {
        "w.tar.gz": {
            "page": b"<html>sign in</html>",
            "half an archive": good[: len(good) // 2],
            "damaged": bytes(damaged),
            "another member": tar(readme=b""),
            "another machine's": tar(weaviate=b"\x7fELF\x02\x01\x01" + bytes(100)),
        }.get(fault, good)
    }
    if fault == "missing":
        site.files.clear()
    if fault == "another digest":
        site.files["w.tar.gz.sha256"] = b"0" * 64
    site.cut = {"w.tar.gz"} if fault == "cut" else set()
    site.stalled = {"w.tar.gz"} if fault == "stalled" else set()
    with pytest.raises(ServerError, match=f"could not be downloaded from http.*({reason}).*{THREE_WAYS}"):
        obtain.binary(cache=tmp_path / "cache", url=site.url + "w.tar.gz")
    assert left_in(tmp_path / "cache") == set()


def test_a_host_that_does_not_take_the_call_is_given_up_soon(tmp_path, no_go, monkeypatch):
    monkeypatch.setattr(obtain, "CONNECT_SECONDS", 0.5)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        with pytest.raises(ServerError, match="timed out"):
            obtain.binary(cache=tmp_path / "cache", url=f"http://127.0.0.1:{deaf.getsockname()[1]}/w.tar.gz")
        for caller in waiting:
            caller.close()


def test_go_builds_it_where_the_release_cannot_be_had(tmp_path, no_go):
    go = no_go / "go"
    go.write_text('#!/bin/sh\necho "first/package" >&2\necho "$@" >&2\necho "#!/bin/sh" > "$GOBIN/weaviate-server"\n')
    go.chmod(0o755)
    told = []
    path = obtain.binary(lambda message, _: told.append(message), tmp_path / "cache", "http://127.0.0.1:9/w.tar.gz")
    assert path.read_text() == "#!/bin/sh\n" and left_in(tmp_path / "cache") == {path.name}
    assert "Building Weaviate with Go: first/package" in told
    assert told[-1] == "Building Weaviate with Go: install -v github.com/weaviate/weaviate/cmd/weaviate-server@v1.35.2"


def test_where_go_fails_too_both_reasons_stand_in_the_message(tmp_path, no_go):
    go = no_go / "go"
    go.write_text('#!/bin/sh\necho "go: module needs go >= 1.26" >&2\nexit 1\n')
    go.chmod(0o755)
    with pytest.raises(ServerError, match=f"neither downloaded .* nor built with Go .go: module.*{THREE_WAYS}"):
        obtain.binary(cache=tmp_path / "cache", url="http://127.0.0.1:9/w.tar.gz")
    assert left_in(tmp_path / "cache") == set()


def test_two_processes_that_lack_it_download_it_once(site, tmp_path):
    site.files["w.tar.gz"] = tar(weaviate=PROGRAM)
    code = (
        "import sys; from pathlib import Path; from rag.weaviate import obtain; "
        "print(obtain.binary(cache=Path(sys.argv[1]), url=sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cache"), site.url + "w.tar.gz"]
    both = [subprocess.Popen(command, cwd=PROJECT_FOLDER, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert {process.communicate()[0].strip() for process in both} == {str(obtain.cached_path(tmp_path / "cache"))}
    assert site.asked.count("w.tar.gz") == 1


def test_windows_is_pointed_to_compose(monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    with pytest.raises(ServerError, match="no embedded Weaviate for Windows. Run `docker compose up .* WEAVIATE_URL"):
        obtain.binary()


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=r"cannot be stored in .* \((Not a directory|File exists)\)"):
        obtain.binary(cache=tmp_path / "file")


def test_compose_runs_the_same_version_with_the_same_settings():
    weaviate_service = yaml.safe_load((PROJECT_FOLDER / "compose.yaml").read_text())["services"]["weaviate"]
    assert weaviate_service["image"].rsplit(":", 1)[1] == obtain.VERSION
    chosen, key = ports.Ports(8080, 50051, 7946, 8300), "${WEAVIATE_API_KEY:-local-only}"
    ours = launch.settings(Path("/var/lib/weaviate"), key, chosen)
    assert weaviate_service["environment"] == ours
    assert all(port.startswith("127.0.0.1:") for port in weaviate_service["ports"])
