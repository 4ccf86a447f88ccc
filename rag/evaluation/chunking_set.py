"""Questions with the exact spans that answer them, in the folder layout of Chroma's chunking evaluation.

``questions_df.csv`` has the columns ``question``, ``references`` (a JSON list of ``content``, ``start_index`` and
``end_index``) and ``corpus_id``; ``corpora/<corpus_id>.md`` is the text whose characters the indices count.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.evaluation.sets import EvaluationError
from rag.schema import Span

QUESTIONS_FILE, CORPORA_FOLDER, ENDING = "questions_df.csv", "corpora", ".md"
COLUMNS = ("question", "references", "corpus_id")
LONGEST_CELL = 10_000_000


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """One question, the corpus that answers it, and the spans of its text that do."""

    question: str
    corpus: str
    references: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ChunkingSet:
    """The corpora's texts by name, just as their files hold them, and the questions in the file's order."""

    folder: Path
    texts: dict[str, str]
    questions: tuple[SpanQuestion, ...]

    def path(self, corpus: str) -> Path:
        """The file of one corpus."""
        return self.folder / CORPORA_FOLDER / f"{corpus}{ENDING}"


def read_chunking_set(folder: Path) -> ChunkingSet:
    """The set in a folder, every reference checked against its text. Raises EvaluationError, naming file and row."""
    folder = Path(folder)
    layout = f"{QUESTIONS_FILE} and {CORPORA_FOLDER}/*{ENDING}"
    if not folder.is_dir():
        raise EvaluationError(f"{folder} is no folder; name one with {layout}.")
    paths = sorted((folder / CORPORA_FOLDER).glob(f"*{ENDING}"))
    if not paths:
        raise EvaluationError(f"{folder} has no {CORPORA_FOLDER}/*{ENDING}; name a folder with {layout}.")
    texts = {path.stem: _read(path) for path in paths}
    questions = tuple(_questions(_read(folder / QUESTIONS_FILE), texts))
    if not questions:
        raise EvaluationError(f"{QUESTIONS_FILE} holds no questions.")
    return ChunkingSet(folder, texts, questions)


def _read(path: Path) -> str:
    """The file's text with its line ends untouched: the indices count every character."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read ({error.strerror}); check the path.") from None
    except UnicodeDecodeError:
        raise EvaluationError(f"{path.name} is not UTF-8; restore the file.") from None


def _questions(text: str, texts: dict[str, str]) -> list[SpanQuestion]:
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise EvaluationError(f"{QUESTIONS_FILE} has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}.")
        return [_question(f"{QUESTIONS_FILE}, row {number}", row, texts) for number, row in enumerate(rows, start=1)]
    except csv.Error as error:
        raise EvaluationError(f"{QUESTIONS_FILE} is no sound CSV file ({error}); restore the file.") from None
    finally:
        csv.field_size_limit(limit)


def _question(place: str, row: dict[str, str | None], texts: dict[str, str]) -> SpanQuestion:
    question, references, corpus = (row[name] or "" for name in COLUMNS)
    if not question.strip():
        raise EvaluationError(f"{place}: the question is blank.")
    if corpus not in texts:
        raise EvaluationError(f"{place}: there is no {CORPORA_FOLDER}/{corpus}{ENDING}.")
    try:
        entries = json.loads(references)
    except json.JSONDecodeError as error:
        raise EvaluationError(f"{place}: its references are not valid JSON ({error.msg}).") from None
    if not isinstance(entries, list) or not entries:
        raise EvaluationError(f"{place}: its references must be a list that is not empty.")
    spans = tuple(_reference(place, entry, texts[corpus]) for entry in entries)
    return SpanQuestion(question.strip(), corpus, spans)


def _reference(place: str, entry: Any, text: str) -> Span:
    try:
        start, end, content = entry["start_index"], entry["end_index"], entry["content"]
        sound = 0 <= start < end and text[start:end] == content
    except (TypeError, KeyError):
        raise EvaluationError(f"{place}: a reference needs content, start_index and end_index.") from None
    if not sound:
        raise EvaluationError(f"{place}: the text from {start} to {end} is not {content!r:.60}; restore the files.")
    return start, end
