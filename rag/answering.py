"""From a trace with a prompt to one with an answer: decline, generate or quote, cite, check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag import citations, extraction, llms
from rag.analysis import analyse
from rag.catalogue import IndexRecord, Statistics
from rag.errors import ProviderError
from rag.evidence import AGREEMENT_DEPTH, weigh
from rag.generation import REFUSAL, build_prompt, generate
from rag.schema import Answer, Chunk, Query, Stage, Trace, Turn
from rag.settings import Settings
from rag.workspace import Workspace

EXTRACTIVE = "extractive"
EXTRACTIVE_NOTE = "No language model is configured: these are sentences quoted from the documents."
# Where the best passage holds this share of the question's idf, its words alone say that the subject is the right one.
COVERED = 0.5
LOCAL_EMBEDDER = "minilm"

RunStage = Callable[[str, Sequence[object], Callable[[], tuple[Stage, Answer]]], tuple[Stage, Answer]]


def choices(environment) -> list[str]:
    """The names ``answerer`` can take here, the default first."""
    return ["auto", EXTRACTIVE, *llms.available(environment)]


def answer(
    trace: Trace,
    settings: Settings,
    workspace: Workspace,
    index: IndexRecord,
    run_stage: RunStage,
    on_text: Callable[[str], object],
) -> Trace:
    """The trace with its generate and check stages and its answer. A model that fails gives an answer whose state is
    failed."""
    sources = trace.prompt_chunks()
    statistics = workspace.catalogue.statistics(index)
    declined = _declined(trace, sources, settings, statistics)
    name = _answerer(settings, workspace)
    if declined:
        stage = Stage("generate", name, note=declined)
        return _with(trace, Answer(REFUSAL, "refused"), stage)
    # A quoted answer also depends on how the two lists agree; a model sees the sources alone, and each call is paid.
    lists = [
        [hit.chunk_id for hit in stage.hits[:AGREEMENT_DEPTH]]
        for stage in trace.stages
        if name == EXTRACTIVE and stage.name in ("dense", "sparse")
    ]
    inputs = (
        name,
        settings.language,
        lists,
        trace.question,
        [chunk.id for chunk in sources],
        [(turn.role, turn.text) for turn in trace.history],
    )
    try:
        if name == EXTRACTIVE:
            stage, found = run_stage(
                "generate", inputs, lambda: _quote(trace, sources, settings, workspace, statistics)
            )
        else:
            stage, found = run_stage("generate", inputs, lambda: _generate(name, trace, sources, workspace, on_text))
    except ProviderError as error:
        return _with(
            trace, Answer(f"No answer could be written: {error}", "failed"), Stage("generate", name, note=str(error))
        )
    if name == EXTRACTIVE or found.state != "grounded":
        return _with(trace, found, stage)
    checked, check_stage = _check(found, sources, settings, statistics)
    return _with(trace, checked, stage, check_stage)


def no_documents(question: str, history: Sequence[Turn], settings: Settings) -> Trace:
    """The trace of a question to an empty workspace: declined, with a hint to add documents."""
    note = "There are no documents yet. Add some on the Documents page, or run `python -m rag index PATH`."
    return Trace(
        question=question,
        history=tuple(history),
        settings=settings.to_json(),
        index={},
        queries=(Query(question),),
        stages=(Stage("generate", settings.answerer, note=note),),
        answer=Answer(REFUSAL, "refused"),
    )


def costs_nothing(settings: Settings, workspace: Workspace) -> bool:
    """Whether an answer under these settings calls no paid service."""
    return _answerer(settings, workspace) == EXTRACTIVE


def _answerer(settings: Settings, workspace: Workspace) -> str:
    """The component that ``auto`` stands for: a language model where there is a key, else quoting."""
    if settings.answerer != "auto":
        return settings.answerer
    return next(iter(llms.available(workspace.environment)), EXTRACTIVE)


def _with(trace: Trace, found: Answer, *stages: Stage) -> Trace:
    return replace(trace, answer=found, stages=(*trace.stages, *stages))


def _declined(trace: Trace, sources: Sequence[Chunk], settings: Settings, statistics: Statistics) -> str:
    """Why the question is declined before anything is written, or "": nothing found, or another subject altogether."""
    if not sources:
        if not statistics.chunks:
            return "The index is empty: add documents on the Documents page."
        return trace.stage("fused").note or "Nothing was found."
    dense = trace.stage("dense")
    if not dense or not dense.hits or settings.embedder != LOCAL_EMBEDDER:
        return ""
    best = dense.hits[0].score
    if best >= settings.refusal_floor:
        return ""
    asked = set(analyse(trace.question, settings.language))
    total = sum(statistics.idf(term) for term in asked)
    covered = 0.0
    for chunk in sources:
        held = asked & set(analyse(" ".join((*chunk.section, chunk.reading)), settings.language))
        covered = max(covered, sum(statistics.idf(term) for term in held) / total if total else 0.0)
    if covered >= COVERED:
        return ""
    return (
        f"Declined: the nearest passage has a similarity of {best:.2f} to the question, below the floor of "
        f"{settings.refusal_floor:g}, and holds {covered:.0%} of the question's words by weight."
    )


def _quote(
    trace: Trace, sources: Sequence[Chunk], settings: Settings, workspace: Workspace, statistics: Statistics
) -> tuple[Stage, Answer]:
    embedder = workspace.embedder(LOCAL_EMBEDDER)
    scored = extraction.score_sentences(trace.question, sources, embedder, settings.language, statistics)
    nearness = max((item.nearness for item in scored), default=0.0)
    dense, sparse = (stage.hits if (stage := trace.stage(name)) else None for name in ("dense", "sparse"))
    evidence = weigh(trace.question, sources, nearness, dense, sparse, statistics, settings.language)
    if not scored or not evidence.suffices:
        return Stage("generate", EXTRACTIVE, note=evidence.reason()), Answer(REFUSAL, "refused")
    return Stage("generate", EXTRACTIVE, note=EXTRACTIVE_NOTE), extraction.quote(extraction.choose(scored), sources)


def _generate(
    name: str, trace: Trace, sources: Sequence[Chunk], workspace: Workspace, on_text: Callable[[str], object]
) -> tuple[Stage, Answer]:
    llm = llms.build(name, workspace.environment)
    completion = generate(llm, build_prompt(trace.question, sources, trace.history), on_text)
    text, cited, unknown = citations.bind(completion.text, sources)
    notes = [completion.cut] if completion.cut else []
    if unknown:
        numbers = ", ".join(str(number) for number in unknown)
        notes.append(f"The model cited sources it was not given ({numbers}); those marks were taken out.")
    refused = REFUSAL.rstrip(".").lower() in text.replace("’", "'").lower() and not cited
    tokens = {"input": completion.input_tokens, "output": completion.output_tokens}
    stage = Stage(
        "generate", llm.name, note=" ".join(notes), tokens={k: v for k, v in tokens.items() if v is not None} or None
    )
    return stage, Answer(REFUSAL, "refused") if refused else Answer(text, "grounded", cited)


def _check(found: Answer, sources: Sequence[Chunk], settings: Settings, statistics: Statistics) -> tuple[Answer, Stage]:
    """The answer with each citation checked; nothing that rests on no source stands as an answer from the documents."""
    checked = citations.check(found.citations, sources, settings.language, statistics.idf)
    supported = sum(1 for citation in checked if citation.supported)
    note = (
        f"{supported} of {len(checked)} citations are supported by their source."
        if checked
        else "The answer cites no source."
    )
    if not supported:
        note += " The model's text was withheld: nothing in it is supported by the documents."
        return Answer(REFUSAL, "refused"), Stage("check", "lexical", note=note)
    state = "grounded" if supported == len(checked) else "partly"
    return Answer(found.text, state, checked), Stage("check", "lexical", note=note)
