"""Source files: the text as it stands, with a section for each function and class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.loaders.base import Content, decode, paragraphs, sections_from
from rag.loaders.code_outline import Definition, outline
from rag.schema import Block

# By the file's ending; languages without a grammar, and configuration, are read as lines of text.
LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
    "jsx": "javascript", "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "java": "java",
    "go": "go", "rs": "rust", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp",
    "hxx": "cpp", "cs": "csharp", "rb": "ruby", "php": "php", "sh": "bash", "bash": "bash", "sql": "sql",
    "kt": "kotlin", "kts": "kotlin", "swift": "swift", "scala": "scala", "lua": "lua", "r": "r", "pl": "perl",
    "pm": "perl", "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "conf": "ini",
    "css": "css",
}  # fmt: skip
SUFFIXES = tuple(f".{ending}" for ending in LANGUAGES)
CPP_IN_HEADER = re.compile(r"^\s*(?:namespace\b|template\s*<|class\s+\w+[^;]*$|(?:public|private|protected):)", re.M)
# What may stand after the last definition of a class and says nothing: brackets, and words that close.
CLOSERS = re.compile(r"(?:\W|\b(?:end|fi|done|esac|endif)\b)*")


def load_code(data: bytes, name: str) -> Content:
    """The text, with a section for each function and class, ``("Parser", "parse")``, and one for what is between."""
    text = decode(data, name)
    language = _language(text, name)
    definitions = outline(text, language)
    marks = list(_marks(text, definitions, (), 0, len(text)))
    sections = sections_from(text, marks)
    spans = [(section.start, section.end) for section in sections] or list(paragraphs(text))
    blocks = tuple(_block(text, start, end) for start, end in spans if text[start:end].strip())
    return Content(text, sections, blocks=blocks, format=f"code:{language}")


def says_nothing(text: str) -> bool:
    """Whether code holds nothing but blanks, brackets and words that close what stands before."""
    return CLOSERS.fullmatch(text) is not None


def _language(text: str, name: str) -> str:
    ending = name.rpartition(".")[2].casefold()
    if ending == "h" and CPP_IN_HEADER.search(text):
        return "cpp"
    return LANGUAGES.get(ending, "text")


def _marks(
    text: str, definitions: Sequence[Definition], path: tuple[str, ...], low: int, high: int
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where sections begin between ``low``, where the one of ``path`` is open, and ``high``."""
    inside = True
    for one in definitions:
        if not inside and not says_nothing(text[low : one.start]):
            yield _first(text, low, one.start), path
        yield one.start, one.path
        yield from _marks(text, one.parts, one.path, one.signature[1], one.end)
        low, inside = one.end, False
    if not inside and not says_nothing(text[low:high]):
        yield _first(text, low, high), path


def _first(text: str, low: int, high: int) -> int:
    return low + len(text[low:high]) - len(text[low:high].lstrip())


def _block(text: str, start: int, end: int) -> Block:
    return Block("code", _first(text, start, end), start + len(text[start:end].rstrip()))
