"""The records every stage passes on: plain, frozen, and able to go to JSON and back."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

TRACE_VERSION = 1


def digest(*parts: object) -> str:
    """64 hexadecimal digits that depend on every part and on their order."""
    sha = hashlib.sha256()
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)
    return sha.hexdigest()


def source_id(source: str) -> str:
    """32 hexadecimal digits for a source: the id of its document, and the key of whatever else is known of it."""
    return digest("document", source)[:32]


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and the text under it up to the next heading of any level: ``document.text[start:end]``.

    ``path`` is every heading from the top down to this one; text before the first heading has an empty path.
    Sections are in order, do not overlap, and together cover the whole text. Pages are sheet numbers from 1, or None.
    """

    path: tuple[str, ...]
    start: int
    end: int
    page_start: int | None = None
    page_end: int | None = None

    @property
    def level(self) -> int:
        """How deep the heading lies: 1 for a chapter, 0 for text without a heading."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet of a paged document: its number from 1, the label printed on it, and its span of the text."""

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A typed span of the text: heading, paragraph, table, code, list, question-answer or speaker-turn."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One loaded file: a single text, with sections, pages and blocks as exact character spans of it.

    ``name`` is what people see and cite; ``source`` is where it came from (a path, ``samples/...`` or ``uploads/...``)
    and is unique in a workspace. ``notices`` are sentences a person should see, such as how headings were found.
    ``format`` is what it was read as: markdown, html, pdf, docx, text, transcript, table or ``code:<language>``.
    """

    name: str
    source: str
    text: str
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    notices: tuple[str, ...] = ()
    format: str = ""

    @property
    def id(self) -> str:
        """32 hexadecimal digits made from ``source`` alone, so that an edited file keeps its id."""
        return source_id(self.source)

    @property
    def content_hash(self) -> str:
        """Changes whenever text, structure or name change: what delta sync compares."""
        return digest("content", self.name, self.format, self.text, self.sections, self.pages, self.blocks)

    def section_at(self, position: int) -> Section | None:
        """The section that holds the character at ``position``, or None where there are no sections."""
        return next((s for s in self.sections if s.start <= position < s.end), None)

    def pages_of(self, start: int, end: int) -> tuple[Page, ...]:
        """The pages that the span touches with at least one character that is not blank."""
        touched = []
        for page in self.pages:
            left, right = max(start, page.start), min(end, page.end)
            if left < right and self.text[left:right].strip():
                touched.append(page)
        return tuple(touched)


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is indexed and cited; ``document.text[start:end] == text`` always holds.

    ``header`` is text from earlier in the document that the passage needs to make sense and does not hold itself: the
    column names of a table that was cut, with the sentence that leads into it. Lines are of source files, from 1.
    ``window``, ``paragraph`` and ``whole_section`` are larger spans of the document around it, any of which may be
    handed over in its place; None where there is none.
    """

    document_id: str
    document: str
    position: int
    start: int
    end: int
    text: str
    section: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    page_labels: tuple[str, ...] = ()
    header: str = ""
    line_start: int | None = None
    line_end: int | None = None
    window: Span | None = None
    paragraph: Span | None = None
    whole_section: Span | None = None

    @property
    def id(self) -> str:
        """A UUID made from all that is kept of the chunk: the same passage has the same id in every index."""
        place = (self.document, self.section, self.page_start, self.page_end, self.page_labels)
        around = (self.header, self.line_start, self.line_end, self.window, self.paragraph, self.whole_section)
        return str(uuid.UUID(digest("chunk", self.document_id, self.start, self.end, self.text, *place, *around)[:32]))

    @property
    def reading(self) -> str:
        """The passage as a reader or a model is given it: below its header, where it has one."""
        return f"{self.header}\n{self.text}" if self.header else self.text

    @property
    def content_hash(self) -> str:
        """Depends on the text alone, so that equal passages can be found."""
        return digest("text", self.text)[:32]

    def to_json(self) -> dict[str, Any]:
        """The form a Trace carries, JSON types only; keyed there by the chunk's id."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Chunk:
        """The inverse of ``to_json``."""
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})


@dataclass(frozen=True, slots=True)
class Query:
    """One text that is searched for; ``origin`` is asked, standalone, hyde, multi-query or decompose."""

    text: str
    origin: str = "asked"


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in a ranked list: rank from 1, the score in the stage's own unit, and why it stands there.

    ``score`` is None where the stage gives none; a missing score is never 0.
    """

    chunk_id: str
    rank: int
    score: float | None
    why: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """What one step of the funnel did: its variant, wall-clock seconds, ranked hits, and a note a person should see.

    ``name`` is rewrite, embed, dense, sparse, fused, reranked, prompt, generate or check; ``query`` is an index into
    the trace's queries where the stage belongs to one. ``reused`` says the result was kept from an earlier run.
    """

    name: str
    variant: str
    seconds: float = 0.0
    hits: tuple[Hit, ...] = ()
    query: int | None = None
    reused: bool = False
    note: str = ""
    tokens: dict[str, int] | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; ``role`` is user or assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """``[Source number]`` in the answer, bound to the chunk that stood there, with the sentence that cites it.

    ``supported`` is None where nothing checked it.
    """

    number: int
    chunk_id: str
    sentence: str = ""
    supported: bool | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer shown; ``state`` is grounded, partly, refused, stopped or failed."""

    text: str
    state: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one question did, as plain data: it can be drawn, saved, compared and replayed."""

    question: str
    settings: dict[str, Any]
    index: dict[str, Any]
    history: tuple[Turn, ...] = ()
    queries: tuple[Query, ...] = ()
    stages: tuple[Stage, ...] = ()
    chunks: dict[str, Chunk] = field(default_factory=dict)
    answer: Answer | None = None
    version: int = TRACE_VERSION

    def stage(self, name: str) -> Stage | None:
        """The first stage of that name, or None where the funnel did not run it."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def has_failed(self, stage: Stage) -> bool:
        """Whether a stage did not come to its end: it has a note and no time, and is no answer that was declined."""
        declined = stage.name == "generate" and self.answer is not None and self.answer.state != "failed"
        return bool(stage.note) and not (stage.seconds or stage.reused or declined)

    def prompt_chunks(self) -> tuple[Chunk, ...]:
        """The chunks that reached the prompt, in order: ``[Source N]`` is the Nth, counted from 1."""
        prompt = self.stage("prompt")
        return tuple(self.chunks[hit.chunk_id] for hit in prompt.hits) if prompt else ()

    def source_numbers(self) -> dict[str, int]:
        """By chunk id the number of the source that holds it: that source itself, and passages found inside it."""
        hits = prompt.hits if (prompt := self.stage("prompt")) else ()
        return {key: hit.rank for hit in reversed(hits) for key in (*hit.why.get("chunks", ()), hit.chunk_id)}

    def to_json(self) -> dict[str, Any]:
        """JSON types only; ``from_json`` gives an equal Trace back."""
        record = {name: getattr(self, name) for name in ("version", "question", "settings", "index")}
        record["history"] = [asdict(turn) for turn in self.history]
        record["queries"] = [asdict(query) for query in self.queries]
        record["stages"] = [{**asdict(stage), "hits": [asdict(hit) for hit in stage.hits]} for stage in self.stages]
        record["chunks"] = {chunk_id: chunk.to_json() for chunk_id, chunk in self.chunks.items()}
        record["answer"] = None
        if self.answer:
            record["answer"] = {**asdict(self.answer), "citations": [asdict(c) for c in self.answer.citations]}
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trace:
        """The inverse of ``to_json``."""
        answer = record["answer"]
        return cls(
            version=record["version"],
            question=record["question"],
            settings=record["settings"],
            index=record["index"],
            history=tuple(Turn(**turn) for turn in record["history"]),
            queries=tuple(Query(**query) for query in record["queries"]),
            stages=tuple(
                Stage(**{**stage, "hits": tuple(Hit(**hit) for hit in stage["hits"])}) for stage in record["stages"]
            ),
            chunks={chunk_id: Chunk.from_json(chunk) for chunk_id, chunk in record["chunks"].items()},
            answer=answer
            and Answer(answer["text"], answer["state"], tuple(Citation(**c) for c in answer["citations"])),
        )
