"""An answer as HTML: its state in plain words, its text as text, and the legend of its sources."""

from __future__ import annotations

import re
from html import escape

from pages.shared.text import passage_html
from rag.answering import EXTRACTIVE
from rag.citations import label
from rag.schema import Answer, Chunk, Trace

STATES = {
    "grounded": ("Grounded", "Every statement cites a passage of the documents."),
    "partly": ("Partly grounded", "Some statements are not supported by the passage they cite."),
    "refused": ("Not in the documents", "The passages found do not answer this, so nothing is claimed."),
    "stopped": ("Stopped", "The answer was stopped before its end."),
    "failed": ("No answer", "The answer could not be written; the passages found are below."),
}
QUOTED = ("Quoted", "Every sentence stands in a passage of the documents; whether it answers is for you to judge.")
_BLANK_LINES = re.compile(r"\n\s*\n")
_SOURCE = re.compile(r"\[Source (\d+)\]")


def answer_html(trace: Trace) -> str:
    """The answer with its badge and notes; nothing of it is read as Markdown or HTML."""
    answer = trace.answer
    generated = trace.stage("generate")
    quoted = answer.state == "grounded" and generated is not None and generated.variant == EXTRACTIVE
    name, meaning = QUOTED if quoted else STATES[answer.state]
    notes = "".join(f'<span class="rf-note" dir="auto">{escape(note)}</span>' for note in _notes(trace))
    return (
        f'<div class="rf-answer" data-state="{escape(answer.state)}">'
        f'<div class="rf-state">'
        f'<span class="rf-badge rf-{escape(answer.state)}" title="{escape(meaning)}">{name}</span>'
        f"{notes}</div>"
        f"{text_html(answer.text, trace)}{_unsupported_html(answer)}</div>"
    )


def text_html(text: str, trace: Trace | None = None) -> str:
    """An answer's text, whole or so far, with the citations that ``trace`` binds marked."""
    cited = {citation.number for citation in trace.answer.citations} if trace else set()
    sources = trace.prompt_chunks() if trace else ()

    def mark(match: re.Match) -> str:
        number = int(match.group(1))
        if number not in cited:
            return match.group()
        place = escape(label(number, sources[number - 1]))
        return f'<span class="rf-cite" title="{place}">{match.group()}</span>'

    paragraphs = (part.strip("\n") for part in _BLANK_LINES.split(text))
    shown = (f'<p dir="auto">{_SOURCE.sub(mark, escape(part))}</p>' for part in paragraphs)
    return f'<div class="rf-text">{"".join(shown)}</div>'


def legend_html(trace: Trace) -> str:
    """One source a line, which opens to its passage: the cited ones first, then those that were given but not cited."""
    cited = {citation.number for citation in trace.answer.citations}
    sources = list(enumerate(trace.prompt_chunks(), 1))
    rest = "Given to the answer, not cited" if cited else "Nearest passages, none cited"
    groups = (("Sources", "rf-cited", [item for item in sources if item[0] in cited]),
              (rest, "rf-uncited", [item for item in sources if item[0] not in cited]))  # fmt: skip
    parts = []
    for title, kind, items in groups:
        if not items:
            continue
        parts.append(f'<p class="rf-group">{title}</p>')
        for number, chunk in items:
            parts.append(
                f'<details class="rf-source {kind}" data-source="{number}">'
                f"<summary>{_label_html(label(number, chunk))}</summary>"
                f'<div class="rf-passage">{_header_html(chunk)}{passage_html(chunk.text)}</div></details>'
            )
    return f'<div class="rf-legend">{"".join(parts)}</div>' if parts else ""


def question_html(question: str) -> str:
    """The question as it was typed."""
    return f'<div class="rf-text rf-question"><p dir="auto">{escape(question)}</p></div>'


def _header_html(chunk: Chunk) -> str:
    """What the passage needs from earlier in its document, marked as not being part of it."""
    title = "Repeated from earlier in the document"
    return f'<div class="rf-header" title="{title}">{passage_html(chunk.header)}</div>' if chunk.header else ""


def _label_html(text: str) -> str:
    mark, _, place = text.partition("] ")
    return f'<span class="rf-cite">{escape(mark)}]</span> <span class="rf-place" dir="auto">{escape(place)}</span>'


def _notes(trace: Trace) -> list[str]:
    if trace.answer.state == "failed":
        return []  # its text is the reason
    return [stage.note for stage in trace.stages if stage.note and stage.name in ("generate", "check")]


def _unsupported_html(answer: Answer) -> str:
    lines = [
        f"<li><q>{escape(citation.sentence)}</q> [Source {citation.number}]: {escape(citation.why)}</li>"
        for citation in answer.citations
        if citation.supported is False
    ]
    return (
        f'<div class="rf-unsupported"><p>Not supported by the source it cites:</p><ul>{"".join(lines)}</ul></div>'
        if lines
        else ""
    )
