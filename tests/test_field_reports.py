"""Reported faults whose right behaviour spans several modules; tests that bear the number of a report: grep B09."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from pages.shared.answer_view import legend_html
from rag import chunkers, commands, llms
from rag.__main__ import _parser
from rag.environment import Environment
from rag.funnel import run_funnel
from rag.library import quiet
from rag.schema import Trace
from rag.terminal import answer_text
from tests.loader_support import placed
from tests.support import StubEmbedder, StubLLM, client, fresh_name, m1, open_test_workspace, settings_for, sync

__all__ = ["client"]
SETTINGS = settings_for(answerer="stub:model", prompt_chunks=1)


@pytest.mark.parametrize(("word", "page"), [("albedo", "p. 1"), ("bellows", "p. 2"), ("calliper", "p. 3")])
def test_the_page_is_the_same_in_prompt_answer_source_card_and_export(
    client: WeaviateClient,
    environment: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    page: str,
) -> None:
    """B09: a PDF of three pages with one odd word a page, asked for each."""
    model = StubLLM(f"It is the {word} [Source 1].")
    monkeypatch.setitem(llms.LLMS, "stub", lambda name, environment: model)
    path = tmp_path / "words.pdf"
    path.write_bytes(placed(*[[(50, 400, f"The {one}.")] for one in ("albedo", "bellows", "calliper")]))
    workspace = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64))
    sync(workspace, path, settings=SETTINGS)
    trace = run_funnel(f"Where is the {word}?", (), SETTINGS, workspace)
    assert trace.answer.state == "grounded" and [one.number for one in trace.answer.citations] == [1]
    assert f"<source 1>\nwords.pdf, {page}\n" in model.prompts[0]
    assert f"[Source 1] words.pdf, {page}" in answer_text(trace)
    assert f"words.pdf, {page}</span>" in legend_html(trace)
    exported = Trace.from_json(trace.to_json()).prompt_chunks()[0]
    assert (f"p. {exported.page_start}", exported.page_end) == (page, exported.page_start)


def test_a_command_whose_chunks_were_refused_says_so_and_is_not_a_success(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B16: of 50 chunks 3 are refused, then all; the run says how many are stored, names the file, and fails."""
    (tmp_path / "parts.md").write_text("\n\n".join(f"# Part {number}\n\nAbout part {number}." for number in range(50)))
    real, bad = chunkers.chunk, {4, 9, 30}

    def spoilt(*arguments: object) -> tuple:
        return tuple(replace(one, page_start="n/a") if one.position in bad else one for one in real(*arguments))

    monkeypatch.setattr(chunkers, "chunk", spoilt)
    options = _parser().parse_args(["index", str(tmp_path), "--workspace", fresh_name()])
    result, sound = commands.index(options, environment, quiet)
    assert not sound
    assert "1 failed; 47 chunks stored, 3 failed" in result.text
    assert "failed: parts.md: 3 of 50 chunks were refused (chunk 5: its page_start is 'n/a'" in result.text
    bad |= set(range(50))
    result, sound = commands.index(options, environment, quiet)
    assert not sound and "50 of 50 chunks were refused" in result.text and result.json["index"]["stored"] == 0
    monkeypatch.undo()
    result, sound = commands.index(options, environment, quiet)
    assert sound and result.json["index"]["stored"] == 50
