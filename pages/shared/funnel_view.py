"""The funnel as HTML: the ranked lists side by side, each drawn as one element, and the milliseconds of each stage."""

from __future__ import annotations

from html import escape

from rag.citations import pages
from rag.parents import KINDS
from rag.schema import Chunk, Hit, Stage, Trace
from rag.settings import OWN, SIZES
from rag.text import shortened

LEGS = {"dense": "dense_candidates", "sparse": "sparse_candidates"}
TITLES = {"dense": "Dense", "sparse": "Sparse", "fused": "Fused"}
SUBTITLES = {"dense": "by meaning", "sparse": "by shared words", "fused": "both joined"}
UNITS = {
    "dense": "Cosine similarity, −1 to 1",
    "sparse": "BM25 sum over shared words, 0 and up, unbounded",
}
STAGE_WORDS = {"generate": "answer"}
PREVIEW_CHARACTERS = 110
HOVER_CHARACTERS = 600
KEPT = 'class="rf-kept"'


def funnel_html(trace: Trace) -> str:
    """All lists of the trace, in columns that fold under each other where there is little room."""
    sources = trace.source_numbers()
    columns = "".join(_column_html(name, trace, sources) for name in TITLES)
    return f'<div class="rf-wide"><div class="rf-funnel">{columns}</div></div>'


def times_html(trace: Trace) -> str:
    """How long each stage took, as one bar and one line; stages that were re-used or failed are named so."""
    ran = [stage for stage in trace.stages if not (stage.reused or trace.has_failed(stage))]
    total = sum(stage.seconds for stage in ran)
    bar = "".join(
        f'<i class="rf-at-{escape(stage.name)}" style="flex-grow:{max(stage.seconds / total, 0.004):.4f}"></i>'
        for stage in ran
        if total > 0
    )
    words = []
    for stage in trace.stages:
        time = "re-used" if stage.reused else "failed" if trace.has_failed(stage) else milliseconds(stage.seconds)
        name = STAGE_WORDS.get(stage.name, stage.name)
        kind = " rf-reused" if stage.reused else ""
        words.append(
            f'<span class="rf-time{kind}" data-stage="{escape(stage.name)}">'
            f'<i class="rf-dot rf-at-{escape(stage.name)}"></i>'
            f"{escape(name)} {escape(time)}</span>"
        )
    return f'<div class="rf-times"><div class="rf-bar">{bar}</div><div class="rf-words">{"".join(words)}</div></div>'


def settings_line(trace: Trace) -> str:
    """The knobs a trace was made with, in one line."""
    knobs = trace.settings
    heeded = SIZES.get(knobs["chunker"], ())
    unit = knobs.get("chunker.unit", "characters")
    size = f" of {knobs['chunk_size']} {unit}" if "chunk_size" in heeded else ""
    cut = [f"overlap {knobs['chunk_overlap']}"] if "chunk_overlap" in heeded else []
    cut += [f"{name.removeprefix(OWN)} {value}" for name, value in knobs.items() if name.startswith(OWN)]
    cut = [words for words in cut if words != f"unit {unit}"]
    parts = [", ".join([f"{knobs['chunker']} chunks{size}", *cut]), knobs["embedder"]]
    parts.append(f"{knobs['dense_candidates']} dense + {knobs['sparse_candidates']} sparse")
    if knobs["fusion"] == "rrf":
        weights = (knobs["dense_weight"], knobs["sparse_weight"])
        weighted = f", weights {weights[0]:g} : {weights[1]:g}" if weights[0] != weights[1] else ""
        parts.append(f"RRF k {knobs['rrf_k']}{weighted}")
    else:
        parts.append(f"{knobs['fusion']} only")
    kind = knobs["return_parent"]
    return " · ".join([*parts, f"{knobs['prompt_chunks']} to the prompt" + (f" as {kind}s" if kind in KINDS else "")])


def milliseconds(seconds: float) -> str:
    """A time as people read it: 0.1 ms, 9 ms, 1,240 ms."""
    value = seconds * 1000
    if value < 0.05:
        return "< 0.1 ms"
    return f"{value:.1f} ms" if value < 1 else f"{value:,.0f} ms"


def _column_html(name: str, trace: Trace, sources: dict[str, int]) -> str:
    stage = trace.stage(name)
    hits = stage.hits if stage else ()
    note = _note(name, stage, trace)
    rows = "".join(_row_html(hit, trace.chunks[hit.chunk_id], name, trace, sources) for hit in hits)
    absent = f'<p class="rf-absent">{escape(note)}</p>' if note else ""
    table = (
        f'<table aria-label="{TITLES[name]} list"><tbody>{rows}</tbody></table>'
        if rows
        else '<p class="rf-empty">No passages.</p>'
    )
    return (
        f'<section class="rf-column" data-stage="{name}"><h4><i class="rf-dot rf-at-{name}"></i>{TITLES[name]} '
        f"<small>{_subtitle(name, trace)}</small><b>{len(hits)}</b></h4>"
        f'<p class="rf-unit">{escape(_unit(name, trace))}</p>'
        f'{absent}<div class="rf-list" tabindex="0">{table}</div></section>'
    )


def _subtitle(name: str, trace: Trace) -> str:
    if name == "fused" and trace.settings["fusion"] != "rrf":
        return f"{escape(trace.settings['fusion'])} list alone"
    return SUBTITLES[name]


def _unit(name: str, trace: Trace) -> str:
    fusion = trace.settings["fusion"]
    if name != "fused":
        return UNITS[name]
    if fusion != "rrf":
        return UNITS[fusion]
    return f"RRF, the sum of weight / ({trace.settings['rrf_k']} + rank)"


def _note(name: str, stage: Stage | None, trace: Trace) -> str:
    """What a person should know of a list before reading it: why it is empty, and which sources it does not hold."""
    embed = trace.stage("embed")
    if name == "dense" and embed and embed.note:
        return embed.note
    if name in LEGS and trace.settings[LEGS[name]] == 0:
        return "Switched off: 0 candidates."
    if stage is None:
        return ""
    notes = [stage.note] if stage.note else []
    if name == "fused" and (prompt := trace.stage("prompt")) and prompt.note:
        notes.append(prompt.note)
    if name in LEGS and stage.hits:
        numbers = trace.source_numbers()
        held = {numbers.get(hit.chunk_id) for hit in stage.hits}
        missing = [str(number) for number in range(1, len(trace.prompt_chunks()) + 1) if number not in held]
        if missing:
            many = len(missing) > 1
            words = f"Sources {', '.join(missing)}" if many else f"Source {missing[0]}"
            notes.append(f"{words} {_beyond(name, stage, trace, many)}.")
    return " ".join(notes)


def _beyond(leg: str, stage: Stage, trace: Trace, many: bool = False) -> str:
    """Why passages are not in a list: it ended before them, or holds all that share a word with the question."""
    limit = trace.settings[LEGS[leg]]
    if leg == "sparse" and len(stage.hits) < limit:
        return f"share{'' if many else 's'} no word with the question"
    return f"{'are' if many else 'is'} not in the first {limit}"


def _row_html(hit: Hit, chunk: Chunk, name: str, trace: Trace, sources: dict[str, int]) -> str:
    number = sources.get(hit.chunk_id)
    score = "–" if hit.score is None else f"{hit.score:.{_decimals(name, trace)}f}"
    place = chunk.section[-1] if chunk.section else chunk.document
    marks = [f"<span>{escape(pages(chunk).partition(' (')[0] or chunk.document)}</span>"]
    marks += _leg_marks(hit, trace) if name == "fused" else []
    badge = f'<b class="rf-cite">Source {number}</b>' if number else ""
    whole = " > ".join((chunk.document, *chunk.section))
    words = shortened(_without_heading(chunk), PREVIEW_CHARACTERS)
    more = shortened(chunk.text, HOVER_CHARACTERS)
    return (
        f'<tr data-chunk="{escape(hit.chunk_id)}"{" " + KEPT if number else ""}><td class="rf-rank">{hit.rank}</td><td>'
        f'<div class="rf-head"><b dir="auto" title="{escape(whole)}">{escape(place)}</b>'
        f'<span class="rf-score">{score}</span></div>'
        f'<div class="rf-preview" dir="auto" title="{escape(more)}">{escape(words)}</div>'
        f'<div class="rf-marks">{"".join(marks)}{badge}</div></td></tr>'
    )


def _decimals(name: str, trace: Trace) -> int:
    """Sums of 1 / (k + rank) differ from the fourth place on."""
    return 4 if name == "fused" and trace.settings["fusion"] == "rrf" else 3


def _without_heading(chunk: Chunk) -> str:
    """The passage without the headings it begins with, which the row names already."""
    lines = chunk.text.split("\n")
    while lines and (not lines[0].strip("# ") or lines[0].strip("# ") in chunk.section):
        lines.pop(0)
    return "\n".join(lines) or chunk.text


def _leg_marks(hit: Hit, trace: Trace) -> list[str]:
    """Where each list has the passage; that a list does not have it is a state of its own, never a 0."""
    marks = []
    for leg in LEGS:
        stage = trace.stage(leg)
        if stage is None:
            continue
        rank = next((other.rank for other in stage.hits if other.chunk_id == hit.chunk_id), None)
        absent = f'<span class="rf-none" title="{_beyond(leg, stage, trace)}">{leg} —</span>'
        marks.append(absent if rank is None else f"<span>{leg} #{rank}</span>")
    return marks
