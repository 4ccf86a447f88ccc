"""What the machine tells the program: keys, addresses and the data folder, read once, never printed."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from rag.errors import SettingsError

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
SECRETS_FILE = PROJECT_FOLDER / ".streamlit" / "secrets.toml"
SAMPLES_FOLDER = PROJECT_FOLDER / "data" / "samples"
NAMES = (
    "WEAVIATE_URL",
    "WEAVIATE_API_KEY",
    "WEAVIATE_GRPC_HOST",
    "WEAVIATE_GRPC_PORT",
    "WEAVIATE_PORT",
    "VOYAGE_API_KEY",
    "VOYAGE_BASE_URL",
    "GEMINI_API_KEY",
    "GEMINI_BASE_URL",
    "RAG_DATA_FOLDER",
    "RAG_PDF_LOADER",
)


@dataclass(frozen=True)
class Environment:
    """Keys are hidden from ``repr``; "" means not set."""

    data_folder: Path = PROJECT_FOLDER / "data" / "weaviate"
    weaviate_url: str = ""
    weaviate_api_key: str = field(default="", repr=False)
    weaviate_grpc_host: str = ""
    weaviate_grpc_port: int | None = None
    weaviate_port: int | None = None
    voyage_api_key: str = field(default="", repr=False)
    voyage_base_url: str = ""
    gemini_api_key: str = field(default="", repr=False)
    gemini_base_url: str = ""
    pdf_loader: str = "pdf"


def read(variables: Mapping[str, str] | None = None, secrets_file: Path = SECRETS_FILE) -> Environment:
    """The environment from variables (default: the process's own) and, for what they lack, Streamlit's secrets file.

    Raises SettingsError where a port is no number, a key or an address is none, or the secrets file cannot be read.
    """
    found = {name: str(value).strip() for name, value in _secrets(secrets_file).items() if name in NAMES}
    for name in NAMES:
        value = (os.environ if variables is None else variables).get(name, "").strip()
        if value:
            found[name] = value
    folder = found.get("RAG_DATA_FOLDER")
    return Environment(
        data_folder=Path(folder).expanduser().resolve() if folder else Environment.data_folder,
        weaviate_url=found.get("WEAVIATE_URL", ""),
        weaviate_api_key=_key(found, "WEAVIATE_API_KEY"),
        weaviate_grpc_host=found.get("WEAVIATE_GRPC_HOST", ""),
        weaviate_grpc_port=_port(found, "WEAVIATE_GRPC_PORT"),
        weaviate_port=_port(found, "WEAVIATE_PORT"),
        voyage_api_key=_key(found, "VOYAGE_API_KEY"),
        voyage_base_url=_address(found, "VOYAGE_BASE_URL", "https://api.voyageai.com/v1"),
        gemini_api_key=_key(found, "GEMINI_API_KEY"),
        gemini_base_url=_address(found, "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
        pdf_loader=found.get("RAG_PDF_LOADER", Environment.pdf_loader),
    )


def handed_on(**more: str) -> dict[str, str]:
    """The variables of this process and those given, for another program that it starts."""
    return {**os.environ, **more}


def _secrets(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read ({error}). Correct it, or delete it and set variables instead."
        ) from error


def _key(found: Mapping[str, str], name: str) -> str:
    text = found.get(name, "")
    if not (text.isascii() and text.isprintable()):
        raise SettingsError(
            f"{name} holds a character that no key has. Copy the key again: only letters, digits and signs of ASCII."
        )
    return text


def _address(found: Mapping[str, str], name: str, example: str) -> str:
    text = found.get(name, "")
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if text and not (sound and text.isprintable() and " " not in text):
        raise SettingsError(f"{name} is no address of a service. Write it like {example}, or leave it out.")
    return text


def _port(found: Mapping[str, str], name: str) -> int | None:
    text = found.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise SettingsError(f"{name} is {text!r}, which is no port. Give a number from 1 to 65535, or leave it out.")
    return int(text)
