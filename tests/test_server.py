"""One real server a data folder: shared, private, stopped with the last that needs it, and always able to start."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from rag.environment import PROJECT_FOLDER, Environment
from rag.errors import ServerError
from rag.weaviate import connection, instance, launch, locks, obtain, ports, server, watchdog

PATIENCE_SECONDS = 60.0
HOLDER = """
import json, sys
from pathlib import Path
from rag.environment import Environment
from rag.weaviate import server
address = server.ensure(Environment(data_folder=Path(sys.argv[1])))
print(json.dumps([address.pid, address.http_port, address.grpc_port]), flush=True)
sys.stdin.read()
"""


class Holder:
    """Another process that asks for the server and needs it until it is killed."""

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder)],
            cwd=PROJECT_FOLDER,
            text=True,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def address(self) -> list[int]:
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def end(self, number: int = signal.SIGKILL) -> str:
        os.killpg(self.process.pid, number)
        return "".join(self.process.communicate())


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Environment]:
    """A data folder of the test's own, with blanks, accents and length in its name."""
    environment = Environment(data_folder=tmp_path / "Möbel & Pläne 100%" / ("long name " * 20))
    yield environment
    server.stop(environment)
    assert not processes_of(environment)


@pytest.fixture
def holders(own: Environment) -> Iterator[Callable[[], Holder]]:
    made: list[Holder] = []

    def make() -> Holder:
        made.append(Holder(own.data_folder))
        return made[-1]

    yield make
    for holder in made:
        if holder.process.poll() is None:
            holder.end()


def processes_of(environment: Environment) -> list[psutil.Process]:
    """The server and the watchdog of a data folder, as long as they live."""
    folder = str(environment.data_folder)

    def is_one(command: list[str]) -> bool:
        return command[0].startswith(f"weaviate {folder}") or (
            "rag.weaviate.watchdog" in str(command) and command[-1] == folder
        )

    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] and is_one(p.info["cmdline"])]


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "did not come true"
        time.sleep(0.05)


def test_two_processes_at_once_share_one_server_which_ends_with_the_last(own, holders):
    """B20: a second start while the first goes on; none is left after the last."""
    first, second = holders(), holders()
    address = first.address()
    assert second.address() == address
    assert len(processes_of(own)) == 2  # one server, one watchdog
    first.end()
    assert server.status(own).in_use
    assert second.end() == ""  # nothing was written to the terminal
    eventually(lambda: not processes_of(own))
    third = holders()
    assert third.address()[0] != address[0]  # the kill left nothing that blocks the next start


def test_an_app_killed_hard_and_started_again_at_once_attaches(own, holders):
    """B20: after a kill the next start, with no pause between, finds the server or starts one, and never two."""
    first = holders()
    first.address()
    for _ in range(3):
        first.end()
        first = holders()
        first.address()
        assert len(processes_of(own)) == 2  # one server, one watchdog


def test_two_sessions_of_one_app_asking_at_once_share_one_server(own):
    """B20: two browser sessions at once."""
    with ThreadPoolExecutor(4) as sessions:
        assert len(set(sessions.map(lambda _: server.ensure(own), range(4)))) == 1


def test_a_server_killed_hard_starts_again_where_it_was_with_what_it_had(own):
    """B20: the server is killed hard and started again."""
    before = server.ensure(own)
    with connection.connected(own) as client:
        client.collections.create("Kept")
        os.kill(before.pid, signal.SIGKILL)
        eventually(lambda: not locks.is_held(own.data_folder / locks.SERVER))
        after = server.ensure(own)
        assert after.pid != before.pid
        assert (after.http_port, after.grpc_port) == (before.http_port, before.grpc_port)
        assert client.collections.exists("Kept")  # the client from before the kill goes on


def test_a_watchdog_killed_hard_is_replaced_by_the_next_that_asks(own, holders):
    holder = holders()
    pid = holder.address()[0]
    next(process for process in processes_of(own) if process.pid != pid).kill()
    eventually(lambda: not locks.is_held(own.data_folder / locks.WATCHDOG))
    other = holders()
    assert other.address()[0] == pid
    holder.end()
    other.end()
    eventually(lambda: not processes_of(own))


def test_start_outlives_its_starter_and_stop_leaves_nothing(own):
    assert server.status(own) == server.ServerStatus(own.data_folder, None, ready=False, in_use=False)
    code = HOLDER.replace("server.ensure", "server.start").replace("sys.stdin.read()", "")
    command = [sys.executable, "-c", code, str(own.data_folder)]
    subprocess.run(command, cwd=PROJECT_FOLDER, check=True, capture_output=True)
    eventually(lambda: not server.status(own).in_use)
    time.sleep(watchdog.GRACE_SECONDS + 2)  # the time in which a server that nobody needs is stopped
    found = server.status(own)
    assert found.ready and found.address.kept
    assert server.ensure(own).pid == found.address.pid
    assert server.stop(own) is True
    assert not processes_of(own)
    assert server.stop(own) is False


def test_ctrl_c_in_the_terminal_reaches_neither_server_nor_watchdog(own, holders):
    holder = holders()
    holder.address()
    assert {os.getsid(process.pid) == process.pid for process in processes_of(own)} == {True}
    holder.end(signal.SIGINT)
    assert len(processes_of(own)) == 2
    eventually(lambda: not processes_of(own))


@pytest.mark.parametrize("setting", ["WEAVIATE_PORT", "WEAVIATE_GRPC_PORT"])
def test_a_foreign_program_on_a_port_the_user_fixed_is_named_with_the_setting(own, setting):
    """B20: another program is on the port already."""
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        port = foreign.getsockname()[1]
        environment = Environment(data_folder=own.data_folder, **{setting.lower(): port})
        with pytest.raises(ServerError, match=f"^Port {port} is taken by another program. Set {setting} to a free"):
            server.ensure(environment)


def test_a_port_taken_between_its_choice_and_its_use_is_chosen_again(own, monkeypatch):
    with socket.create_server(("", 0)) as foreign:
        taken = ports.Ports(http=ports.choose(own).http, grpc=foreign.getsockname()[1], gossip=0, raft=0)
        choose, chosen = ports.choose, []

        def unlucky_at_first(*given):
            free = choose(*given)
            chosen.append(ports.Ports(free.http, taken.grpc if not chosen else free.grpc, free.gossip, free.raft))
            return chosen[-1]

        monkeypatch.setattr(ports, "choose", unlucky_at_first)
        assert server.ensure(own).grpc_port == chosen[1].grpc
        assert len(chosen) == 2


@pytest.mark.parametrize(
    "left",
    [
        b"",
        b'{"pid": 1',
        b"\xff\x00",
        b"[]",
        json.dumps({"pid": os.getpid(), "http_port": 1, "grpc_port": 2, "version": "1", "kept": True}).encode(),
    ],
)
def test_what_was_written_about_a_server_that_is_gone_counts_for_nothing(tmp_path, left):
    (tmp_path / instance.STATE).write_bytes(left)
    (tmp_path / locks.SERVER).touch()
    assert instance.running(tmp_path) is None
    assert server.stop(Environment(data_folder=tmp_path)) is False


def test_a_server_nobody_knows_where_to_find_makes_way_for_another(own):
    lost = server.ensure(own)
    (own.data_folder / instance.STATE).write_text("{half")
    assert server.ensure(own).pid != lost.pid
    assert len(processes_of(own)) == 2


def test_a_data_folder_held_by_somebody_else_is_left_alone(own):
    own.data_folder.mkdir(parents=True)
    locks.spawn(["/bin/sleep", "60"], own.data_folder / locks.SERVER, cwd="/", name="sleeper")
    with pytest.raises(ServerError, match="is in use by a server that is not yours to stop"):
        server.ensure(own)
    sleeper = next(child for child in psutil.Process().children() if child.cmdline()[0] == "sleeper")
    sleeper.kill()
    sleeper.wait(10)  # it holds the folder until it is gone


def test_a_binary_that_ends_at_once_is_reported_with_its_reason(own, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    record = {"level": "fatal", "msg": "cannot open", "error": "no space left on device"}
    last_words = json.dumps(record, separators=(",", ":"))
    broken.write_text(f"#!/bin/sh\necho '{last_words}'\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(obtain, "binary", lambda progress: broken)
    with pytest.raises(ServerError, match=r"ended while it started: the disk is full\. Free space.* Its log is "):
        server.ensure(own)


def test_a_folder_that_cannot_be_made_or_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=r"The data folder .* cannot be used \(Not a directory\)"):
        server.ensure(Environment(data_folder=tmp_path / "file" / "data"))
    full = subprocess.run(
        [sys.executable, "-c", HOLDER, str(tmp_path / "full")],
        cwd=PROJECT_FOLDER,
        text=True,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),  # every write fails, as on a full disk
    )
    assert "ServerError: The data folder" in full.stderr and "cannot be used" in full.stderr


def test_a_long_log_is_put_aside_at_the_next_start(own):
    own.data_folder.mkdir(parents=True)
    (own.data_folder / launch.LOG).write_bytes(b"x" * (launch.LOG_BYTES + 1))
    server.ensure(own)
    assert launch.log_size(own.data_folder) < launch.LOG_BYTES
    assert (own.data_folder / f"{launch.LOG}.1").stat().st_size > launch.LOG_BYTES


def test_only_the_owner_can_read_the_key_and_it_is_never_shown(environment):
    address = server.ensure(environment)
    key_file = environment.data_folder / instance.KEY
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert key_file.read_text() == address.api_key and address.api_key not in repr(address)
    assert address.api_key not in (environment.data_folder / instance.STATE).read_text()


def test_only_grpc_listens_beyond_this_machine(environment):
    address = server.ensure(environment)
    process = psutil.Process(address.pid)
    listening = [c.laddr for c in process.net_connections("inet") if c.status in ("LISTEN", "NONE")]
    assert {place.port for place in listening if place.ip not in ("127.0.0.1", "::1")} == {address.grpc_port}
    assert process.environ().keys() == launch.settings(Path(), "", ports.Ports(0, 0, 0, 0)).keys()
