"""Keys and addresses: variables first, then the secrets file, and never in print."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.environment import Environment, handed_on, read
from rag.errors import SettingsError


def test_nothing_set_is_a_local_server_without_keys(tmp_path: Path) -> None:
    environment = read({}, tmp_path / "none.toml")
    assert environment == Environment()
    assert environment.data_folder.parts[-2:] == ("data", "weaviate")
    assert (environment.weaviate_url, environment.weaviate_port, environment.gemini_api_key) == ("", None, "")


def test_variables_go_before_the_secrets_file_and_other_names_are_not_read(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        'GEMINI_API_KEY = "from file"\nVOYAGE_API_KEY = " v "\nWEAVIATE_PORT = 8090\nOTHER = "x"\n[table]\na = 1\n'
    )
    environment = read(
        {"GEMINI_API_KEY": " from variable ", "VOYAGE_API_KEY": "  ", "RAG_DATA_FOLDER": str(tmp_path / "a/../b")},
        secrets,
    )
    assert environment.gemini_api_key == "from variable"
    assert environment.voyage_api_key == "v"  # a blank variable is one that is not set
    assert environment.weaviate_port == 8090
    assert environment.data_folder == tmp_path / "b"


def test_a_program_that_is_started_gets_all_variables_and_some_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TEST_VARIABLE", "here")
    variables = handed_on(GOBIN="/there")
    assert (variables["RAG_TEST_VARIABLE"], variables["GOBIN"]) == ("here", "/there")
    assert "GOBIN" not in handed_on()


@pytest.mark.parametrize("value", ["eighty", "0", "65536", "-1", "80.5", "²"])
@pytest.mark.parametrize("name", ["WEAVIATE_PORT", "WEAVIATE_GRPC_PORT"])
def test_a_port_that_is_none_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read({name: value}, tmp_path / "none.toml")
    assert (
        str(caught.value) == f"{name} is {value!r}, which is no port. Give a number from 1 to 65535, or leave it out."
    )


@pytest.mark.parametrize("value", ["schlüssel-value", "key\u200bvalue", "value\x7f", "two\nvalues"])
@pytest.mark.parametrize("name", ["WEAVIATE_API_KEY", "VOYAGE_API_KEY", "GEMINI_API_KEY"])
def test_a_key_that_can_be_none_is_named_and_not_shown(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read({name: value}, tmp_path / "none.toml")
    assert str(caught.value) == (
        f"{name} holds a character that no key has. Copy the key again: only letters, digits and signs of ASCII."
    )


@pytest.mark.parametrize(
    "value", ["nonsense", "localhost:8000", "ftp://here", "http://", "http://here:port", "http://[here", "http://a b"]
)
@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
        ("VOYAGE_BASE_URL", "https://api.voyageai.com/v1"),
    ],
)
def test_an_address_of_a_service_that_is_none_is_named(tmp_path: Path, name: str, value: str, example: str) -> None:
    for sound in (example, "http://127.0.0.1:8000/v1", "http://[::1]:8000"):
        assert getattr(read({name: sound}, tmp_path / "none.toml"), name.lower()) == sound
    with pytest.raises(SettingsError) as caught:
        read({name: value}, tmp_path / "none.toml")
    assert str(caught.value) == f"{name} is no address of a service. Write it like {example}, or leave it out."


@pytest.mark.parametrize("content", [b"not = = toml", b"\xff\xfe", b"key = "])
def test_a_secrets_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_bytes(content)
    with pytest.raises(
        SettingsError,
        match=r"secrets\.toml cannot be read \(.*\)\. Correct it, or delete it and set variables instead\.",
    ):
        read({}, secrets)


def test_secrets_are_never_printed() -> None:
    environment = Environment(
        weaviate_api_key="wwww", voyage_api_key="vvvv", gemini_api_key="gggg", weaviate_url="http://here"
    )
    for text in (repr(environment), str(environment), f"{environment}"):
        assert "http://here" in text and not any(secret in text for secret in ("wwww", "vvvv", "gggg"))
