"""``bench chunking`` end to end over a tiny set, with a stub embedder, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import chunkers, embedders
from rag.__main__ import main
from rag.environment import Environment
from rag.errors import ProviderError, RagError
from rag.evaluation import chunking, published
from rag.evaluation.benchmarks import temporary_workspace
from rag.evaluation.chunking_set import read_chunking_set
from rag.library import quiet
from rag.settings import FUNNEL, Settings
from tests.support import StubEmbedder, client, m1

__all__ = ["client"]
KILN = "The kiln heats the clay to 1,280 degrees Celsius."
LID = "The lid closes with a latch of steel."
CORPORA = {
    "pots": f"{KILN} It takes nine hours until all the pots are red.\n\n"
    f"{LID} The latch is oiled each month.\n\nGlaze is mixed with rain water.",
    "boats": "The keel of the boat is oak.\n\nSails are mended in winter by two women from the village.",
}
QUESTIONS = (
    ("How hot does the kiln get?", "pots", (KILN,)),
    ("What closes the lid, and how is the kiln?", "pots", (LID, KILN)),
    ("What is the keel made of?", "boats", ("The keel of the boat is oak.",)),
)
SETTINGS = chunking.BASE.changed({"embedder": "m1", "chunker": "paragraph", "prompt_chunks": 1})


def write_set(folder: Path, corpora: dict[str, str] = CORPORA) -> Path:
    (folder / "corpora").mkdir(parents=True)
    for name, text in corpora.items():
        (folder / "corpora" / f"{name}.md").write_bytes(text.encode("utf-8"))
    rows = ["question,references,corpus_id"]
    for question, corpus, quotes in QUESTIONS:
        starts = [(corpora[corpus].index(quote), quote) for quote in quotes]
        references = [{"content": q, "start_index": start, "end_index": start + len(q)} for start, q in starts]
        rows.append(f'"{question}","{json.dumps(references).replace(chr(34), chr(34) * 2)}",{corpus}')
    (folder / "questions_df.csv").write_text("\n".join(rows), encoding="utf-8")
    return folder


@pytest.fixture
def stubbed(monkeypatch: pytest.MonkeyPatch) -> StubEmbedder:
    """The embedder m1 wherever a workspace is opened, without a cache on disk; MiniLM keeps counting tokens."""
    stub, real = m1(), embedders.cached
    monkeypatch.setattr(embedders, "cached", lambda name, where: stub if name == "m1" else real(name, where))
    return stub


def measure(
    environment: Environment,
    client: WeaviateClient,
    folder: Path,
    settings: Settings = SETTINGS,
    limit: int | None = None,
) -> dict:
    record, text, failed = chunking.chunking(environment, client, settings, folder, limit, quiet)
    assert failed == any(question["error"] for row in record["rows"] for question in row["questions"])
    assert all(row["name"] in text for row in record["rows"])
    return json.loads(json.dumps(record, allow_nan=False))


def test_a_setting_is_measured_with_both_lists(
    environment: Environment, client: WeaviateClient, tmp_path: Path, stubbed: StubEmbedder
) -> None:
    record = measure(environment, client, write_set(tmp_path))
    assert record["about"]["questions"] == 3 and record["published"] == []
    assert [(row["name"], row["list"]) for row in record["rows"]] == [
        ("paragraph embedder=m1 prompt_chunks=1", "dense"),
        ("paragraph embedder=m1 prompt_chunks=1", "fused"),
    ]
    dense, fused = record["rows"]
    assert dense["settings"]["fusion"] == "dense" and fused["settings"]["fusion"] == "rrf"
    assert dense["chunks"] == fused["chunks"] == 5
    # The paragraph of the kiln has 49 + 1 + 47 characters, and one paragraph is handed over.
    first = fused["questions"][0]
    assert first["recall"] == 1.0 and first["precision"] == first["iou"] == pytest.approx(49 / 97)
    assert first["tokens"] == 26
    # References of 49 and 37 characters in two paragraphs, of 97 and 68: one is found.
    second = fused["questions"][1]
    assert second["recall"] in (37 / 86, 49 / 86)
    assert second["omega"] == pytest.approx((49 + 37) / (97 + 68))
    assert fused["questions"][2]["iou"] == 1.0
    assert fused["means"]["recall"] == pytest.approx((2 + second["recall"]) / 3)


def test_what_is_handed_over_is_scored_not_what_was_found(
    environment: Environment, client: WeaviateClient, tmp_path: Path, stubbed: StubEmbedder
) -> None:
    small = SETTINGS.changed({"chunker": "sentence-window", "return_parent": "none"})
    folder = write_set(tmp_path)
    alone = measure(environment, client, folder, small)["rows"][1]["questions"][0]
    large = small.changed({"return_parent": "paragraph"})
    whole = measure(environment, client, folder, large)["rows"][1]["questions"][0]
    assert (alone["recall"], alone["precision"]) == (1.0, 1.0)
    assert (whole["recall"], whole["precision"]) == (1.0, pytest.approx(49 / 97))
    assert whole["tokens"] > alone["tokens"]


def test_a_limit_asks_the_first_questions_and_says_so(
    environment: Environment, client: WeaviateClient, tmp_path: Path, stubbed: StubEmbedder
) -> None:
    _, text, _ = chunking.chunking(environment, client, SETTINGS, write_set(tmp_path), 1, quiet)
    assert "2 questions were left out; the published figures are of all of them." in text


def test_a_list_that_is_switched_off_has_no_row(
    environment: Environment, client: WeaviateClient, tmp_path: Path, stubbed: StubEmbedder
) -> None:
    folder = write_set(tmp_path)
    for knobs, lists in (({"fusion": "dense"}, ["dense"]), ({"dense_candidates": 0}, ["fused"])):
        record = measure(environment, client, folder, SETTINGS.changed(knobs))
        assert [row["list"] for row in record["rows"]] == lists


def test_a_question_that_fails_counts_worst_and_is_named(
    environment: Environment,
    client: WeaviateClient,
    tmp_path: Path,
    stubbed: StubEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = stubbed._query

    def failing(text: str):
        if "keel" in text:
            raise ProviderError("m1 timed out. Try again.")
        return answered(text)

    monkeypatch.setattr(stubbed, "_query", failing)
    folder = write_set(tmp_path)
    dense, fused = measure(environment, client, folder)["rows"]
    assert dense["questions"][2] == {
        **dict.fromkeys(("recall", "precision", "iou"), 0.0),
        "omega": 1.0,
        "tokens": None,
        "error": "m1 timed out. Try again.",
    }
    # The keyword list carries the fused one.
    assert fused["questions"][2]["recall"] == 1.0
    record, text, failed = chunking.chunking(environment, client, SETTINGS, folder, None, quiet)
    assert failed and "question 3: m1 timed out. Try again." in text


def test_references_move_with_what_the_loader_cleans(
    environment: Environment, client: WeaviateClient, tmp_path: Path, stubbed: StubEmbedder
) -> None:
    plain = measure(environment, client, write_set(tmp_path / "plain"))
    windows = {name: "\ufeff" + text.replace("\n", "\r\n") for name, text in CORPORA.items()}
    moved = measure(environment, client, write_set(tmp_path / "windows", windows))
    assert [row["questions"] for row in moved["rows"]] == [row["questions"] for row in plain["rows"]]


def test_the_grid_has_every_chunker(environment: Environment) -> None:
    grid = chunking.grid()
    assert {settings.chunker for settings in grid} == set(chunkers.CHUNKERS)
    assert FUNNEL.changed({"prompt_chunks": published.RETRIEVED}) in grid
    assert len({chunking.label(settings) for settings in grid}) == len(grid)
    assert all(settings.prompt_chunks == published.RETRIEVED for settings in grid)


def test_the_published_settings_are_repeated_first_where_nothing_is_set(
    environment: Environment,
    client: WeaviateClient,
    tmp_path: Path,
    stubbed: StubEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunking, "grid", lambda: [SETTINGS])
    record, text, _ = chunking.chunking(environment, client, None, write_set(tmp_path), None, quiet)
    rows = {one["name"]: one for one in record["published"]}
    assert list(rows) == ["recursive 250/125", "token 250/125", "cluster-semantic 200/0"]
    # Each corpus is one chunk, so all is found; of each chunk the last full stop is left off.
    length = sum(map(len, CORPORA.values())) - 2
    assert rows["token 250/125"]["chunks"] == 2
    assert rows["token 250/125"]["here"]["recall"] == pytest.approx(100.0)
    assert rows["token 250/125"]["here"]["precision"] == pytest.approx(100 * (49 + 86 + 28) / 3 / length)
    assert text.startswith("published settings repeated")


def test_a_corpus_of_another_text_is_not_compared(
    environment: Environment,
    client: WeaviateClient,
    tmp_path: Path,
    stubbed: StubEmbedder,
) -> None:
    folder = write_set(tmp_path)
    collection = read_chunking_set(folder)
    (folder / "corpora" / "pots.md").write_text("Something else.", encoding="utf-8")
    with temporary_workspace(environment, client) as workspace:
        with pytest.raises(RagError, match="pots.md is indexed with another text than its file has"):
            chunking.measured(workspace, SETTINGS, collection, collection.questions, quiet)


# ---- the command line


@pytest.fixture
def rag(environment: Environment, client: WeaviateClient, monkeypatch: pytest.MonkeyPatch, capsys):
    """Runs a command in this process against the test server."""
    variables = {"RAG_DATA_FOLDER": str(environment.data_folder)}
    from rag import environment as module

    read = module.read
    monkeypatch.setattr(module, "read", lambda: read(variables, Path("no secrets")))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return (code, *capsys.readouterr())

    return run


def test_the_command_prints_tables_or_one_json_document(rag, tmp_path: Path, stubbed: StubEmbedder) -> None:
    folder = str(write_set(tmp_path))
    knobs = ("--set", "chunker=paragraph", "--set", "embedder=m1")
    code, out, err = rag("bench", "chunking", folder, *knobs, "--limit", "2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["setting", "list", "recall", "precision", "precision-omega", "IoU", "tokens", "chunks",
                                "mean", "size"]  # fmt: skip
    code, out, err = rag("bench", "chunking", "--json", *knobs, folder)
    assert code == 0 and out.count("\n") == 1
    assert json.loads(out)["rows"][0]["settings"]["prompt_chunks"] == 5


def test_what_is_wrong_is_one_sentence(rag, tmp_path: Path) -> None:
    assert rag("bench", "chunking") == (
        2,
        "",
        "rag: bench chunking needs a folder with questions_df.csv and corpora/. Name it after chunking.\n",
    )
    code, out, err = rag("bench", "chunking", str(tmp_path / "absent"))
    assert (code, out) == (1, "") and err.startswith("rag: ") and "is no folder; name one with questions_df.csv" in err
    folder = write_set(tmp_path / "set")
    (folder / "questions_df.csv").write_text('question,references,corpus_id\nWhat?,"[{",pots\n')
    assert rag("bench", "chunking", str(folder))[2] == (
        "rag: questions_df.csv, row 1: its references are not valid JSON "
        "(Expecting property name enclosed in double quotes).\n"
    )
    code, out, err = rag("bench", "chunking", str(folder), "--set", "chunker=odd")
    assert code == 2 and "There is no chunker called 'odd'." in err
    code, out, err = rag("bench", "ingest", str(tmp_path / "absent"))
    assert code == 1 and "absent: no such file or folder" in err
