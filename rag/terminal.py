"""Traces, syncs, documents, indexes and servers as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rag.citations import label, pages
from rag.reports import SyncReport
from rag.schema import Chunk, Hit, Stage, Trace
from rag.text import safe
from rag.weaviate.server import ServerStatus

UNITS = {
    "dense": "cosine similarity, -1 to 1",
    "sparse": "BM25, 0 and up, comparable within one question only",
    "fused": "sum of weight / (k + rank) over the lists",
}
PREVIEW_CHARACTERS = 60


def answer_text(trace: Trace) -> str:
    """The answer, then its legend: cited sources first, those given but not cited under a line of their own."""
    answer = trace.answer
    cited = {citation.number for citation in answer.citations}
    sources = list(enumerate(trace.prompt_chunks(), 1))
    lines = [answer.text]
    notes = [stage.note for stage in trace.stages if stage.note and stage.name in ("generate", "check")]
    lines += ["", *(f"({note})" for note in notes)] if notes else []
    for title, wanted in (("Sources:", True), ("Also given, not cited:", False)):
        shown = [f"  {label(number, chunk)}" for number, chunk in sources if (number in cited) is wanted]
        if shown and answer.state not in ("refused", "failed"):
            lines += ["", title, *shown]
    return safe("\n".join(lines))


def funnel_text(trace: Trace) -> str:
    """Every ranked list with its scores, then milliseconds per stage."""
    lines = []
    for stage in trace.stages:
        if stage.name in UNITS:
            unit = UNITS[stage.name] if stage.variant == "rrf" or stage.name != "fused" else UNITS[stage.variant]
            lines += [f"{stage.name} ({stage.variant}; {unit}): {len(stage.hits)} chunks"]
            lines += [f"  {stage.note}"] if stage.note else []
            lines += [_row(hit, trace.chunks[hit.chunk_id], stage) for hit in stage.hits]
    prompt = trace.stage("prompt")
    lines += [f"prompt: {prompt.note}"] if prompt and prompt.note else []
    timed = [f"{stage.name} {_time(stage, trace)}" for stage in trace.stages]
    return safe("\n".join([*lines, "prompt: " + _prompt(trace), "time: " + ", ".join(timed)]))


def _time(stage: Stage, trace: Trace) -> str:
    if stage.reused:
        return "re-used"
    return "failed" if trace.has_failed(stage) else f"{stage.seconds * 1000:.1f} ms"


def _prompt(trace: Trace) -> str:
    return "; ".join(label(number, chunk) for number, chunk in enumerate(trace.prompt_chunks(), 1)) or "nothing"


def _row(hit: Hit, chunk: Chunk, stage: Stage) -> str:
    score = "-" if hit.score is None else f"{hit.score:.4f}"
    place = ", ".join(part for part in (chunk.document, " > ".join(chunk.section[-2:]), pages(chunk)) if part)
    preview = " ".join(chunk.text.split())[:PREVIEW_CHARACTERS]
    shares = ""
    if stage.name == "fused" and stage.variant == "rrf":
        shares = "".join(f" {leg} {_rank(hit, leg)}" for leg in ("dense", "sparse"))
        shares = f" [{shares.strip()}]"
    return f"  {hit.rank:3d}  {score:>8}{shares}  {place}: {preview}"


def _rank(hit: Hit, leg: str) -> str:
    return f"#{hit.why[leg]['rank']}" if leg in hit.why else "absent"


def sync_text(documents: SyncReport, index: SyncReport) -> str:
    """What became of the documents and of the index, with everything that a person should know of it."""
    lines = [f"Documents: {documents.sentence(chunks=False)}", f"Index: {index.sentence()}"]
    lines += [f"  renamed: {name}" for name in documents.renamed]
    lines += [f"  a new index, unlike the nearest: {name}" for name in index.differences]
    lines += [f"  failed: {failure.name}: {failure.reason}" for failure in (*documents.failed, *index.failed)]
    lines += [f"  note: {notice}" for notice in (*documents.notices, *index.notices)]
    return safe("\n".join(lines))


def line(report: SyncReport) -> str:
    """A sync in one line: its counts, then what failed and why."""
    failed = "; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed)
    return safe(" ".join(f"{report.sentence()}{f'; failed: {failed}' if failed else ''}".split()))


def removal_text(report: SyncReport) -> str:
    """Which documents are gone."""
    return safe("\n".join([f"Removed: {', '.join(report.removed)}.", *report.notices]))


def documents_text(record: Mapping[str, Any]) -> str:
    """Documents with their state, then files that failed, then watched folders."""
    rows = [("name", "format", "pages", "characters", "chunks", "state", "chunker", "source")]
    for row in record["documents"]:
        pages = str(row["pages"] or "-")
        numbers = (pages, f"{row['characters']:,}", f"{row['chunks']:,}")
        rows.append((row["name"], row["format"] or "-", *numbers, row["state"], row["chunker"], row["source"]))
    lines = [table(rows)] if len(rows) > 1 else ["There are no documents. `python -m rag index PATH` adds some."]
    lines += [f"failed: {row['name']}: {row['reason']} ({row['source']})" for row in record["failures"]]
    lines += [
        f"watched: {row['path']}, every {row['seconds']} s{'' if row['on'] else ', off'}: {row['outcome'] or 'not yet'}"
        for row in record["folders"]
    ]
    return safe("\n".join(lines))


def indexes_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each index with its size, and in what the settings differ from it."""
    if not rows:
        return "There is no index yet. `python -m rag index` builds one."
    shown = [("fingerprint", "chunker", "embedder", "documents", "chunks", "MB, about", "these settings")]
    for row in rows:
        plan, differ = row["plan"], ", ".join(row["differences"])
        counts = (str(row["documents"]), f"{row['chunks']:,}", f"{row['megabytes']:.1f}")
        shown.append((row["fingerprint"], plan["chunker"], plan["embedder"], *counts, differ or "use it"))
    return safe(table(shown))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def server_record(status: ServerStatus) -> dict[str, Any]:
    """The status as JSON types, without the key."""
    address = asdict(status.address) if status.address else None
    if address:
        del address["api_key"]
    return {"data_folder": str(status.data_folder), "address": address, "ready": status.ready, "in_use": status.in_use}


def server_text(status: ServerStatus) -> str:
    """The status in a few words."""
    if status.address is None:
        return f"No server runs on {status.data_folder}."
    address = status.address
    use = "kept until stopped" if address.kept else ("in use" if status.in_use else "about to end: nobody needs it")
    state = "ready" if status.ready else "not ready"
    return (
        f"Weaviate {address.version} runs on {status.data_folder}: {state}, {use}, process {address.pid}, "
        f"http://{address.host}:{address.http_port}, gRPC port {address.grpc_port}."
    )
