"""The real app in a real browser: a copy of the project on a free port and a data folder of its own, and a Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright

from rag.environment import NAMES, PROJECT_FOLDER, Environment
from rag.weaviate import server

CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)
NO_BROWSER = (
    "The browser tests need a browser: install Chromium or Chrome (Debian: `apt install chromium`), name one in "
    "CHROMIUM_PATH, or run `python -m playwright install chromium` where the network allows."
)
# A browser in a container has neither a sandbox of its own nor much shared memory.
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
UP_SECONDS = 60
FIRST_START_MS = 400_000
STEP_MS = 60_000
INSTALL_SECONDS = 600


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A Chromium: the one in CHROMIUM_PATH, one that is installed, or Playwright's own, fetched where it is missing."""
    with sync_playwright() as playwright:
        browser = _launch(playwright)
        yield browser
        browser.close()


def _launch(playwright: Playwright) -> Browser:
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    for attempt in range(1 if path else 2):
        with suppress(Error, OSError, subprocess.SubprocessError):
            if attempt:
                subprocess.run(install, check=True, timeout=INSTALL_SECONDS, capture_output=True)
            return playwright.chromium.launch(executable_path=path, args=FLAGS)
    pytest.fail(f"{path} does not start. {NO_BROWSER}" if path else NO_BROWSER, pytrace=False)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app listens, run as the README says; a copy of the project, so that no key of this machine is used."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("rag", "pages", "data/samples"):
        shutil.copytree(PROJECT_FOLDER / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".streamlit").mkdir()
    for name in ("app.py", ".streamlit/config.toml"):
        shutil.copy(PROJECT_FOLDER / name, folder / name)
    data_folder = tmp_path_factory.mktemp("app-data")
    variables = {
        name: value for name, value in os.environ.items() if name not in NAMES and not name.startswith("STREAMLIT_")
    }
    port = _free_port()
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    log = folder / "app.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**variables, "RAG_DATA_FOLDER": str(data_folder)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_up(process, f"http://localhost:{port}/_stcore/health", log)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
        server.stop(Environment(data_folder=data_folder))
        print(log.read_text(encoding="utf-8", errors="replace"))


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser session of its own: no cookies, and nothing of another test's."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(STEP_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, address: str) -> Page:
    """The Chat page, ready to be asked; the first one waits for the server and the index."""
    return open_chat(context, address)


def open_chat(context: BrowserContext, address: str) -> Page:
    """A new tab on the Chat page, once the examples are offered."""
    page = context.new_page()
    page.goto(address)
    page.locator(".st-key-example_1 button").wait_for(timeout=FIRST_START_MS)
    return page


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait_until_up(process: subprocess.Popen, url: str, log: Path) -> None:
    deadline = time.monotonic() + UP_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=5) as response:
                if response.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"The app did not come up:\n{log.read_text(encoding='utf-8', errors='replace')}", pytrace=False)
