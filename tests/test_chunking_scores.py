"""The scores of the chunking bench, each with its arithmetic beside it, and what of a set on disk is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rag.evaluation.chunking_rows import Asked, Row, against_best, as_text, unbeaten
from rag.evaluation.chunking_scores import (
    WORST,
    SpanScores,
    characters,
    merged,
    precision_omega,
    score_retrieved,
    shared_characters,
)
from rag.evaluation.chunking_set import QUESTIONS_FILE, read_chunking_set
from rag.evaluation.published import PUBLISHED, clusters, first_tokens, located
from rag.evaluation.sets import EvaluationError


def test_a_reference_that_lies_in_one_chunk() -> None:
    # Found 20 of 20; handed over 100; nothing missed: 20 / 100.
    assert score_retrieved([(10, 30)], [(0, 100)]) == SpanScores(1.0, 0.2, 0.2)


def test_a_reference_across_two_chunks_of_which_one_is_retrieved() -> None:
    # Of 40 characters 10 lie in (0, 100): recall 10 / 40, precision 10 / 100, IoU 10 / (100 + 30 missed).
    assert score_retrieved([(90, 130)], [(0, 100)]) == SpanScores(0.25, 0.1, 10 / 130)
    # With the second chunk all 40 are found, and 200 are handed over.
    assert score_retrieved([(90, 130)], [(0, 100), (100, 200)]) == SpanScores(1.0, 0.2, 0.2)


def test_overlapping_chunks_are_handed_over_twice_and_find_once() -> None:
    # (0, 100) and (50, 150) share the reference: found 20, handed over 100 + 100.
    assert score_retrieved([(60, 80)], [(0, 100), (50, 150)]) == SpanScores(1.0, 0.1, 0.1)


def test_characters_of_other_documents_count_as_handed_over() -> None:
    # 20 found; 100 + 300 handed over.
    assert score_retrieved([(10, 30)], [(0, 100)], elsewhere=300) == SpanScores(1.0, 0.05, 0.05)
    # From the right document nothing: recall 0, and IoU 0 / (300 + 20).
    assert score_retrieved([(10, 30)], [], elsewhere=300) == WORST


def test_nothing_retrieved_is_the_worst_and_the_whole_document_finds_all() -> None:
    assert score_retrieved([(10, 30)], []) == WORST == SpanScores(0.0, 0.0, 0.0)
    # 20 + 30 of 1000 characters.
    assert score_retrieved([(10, 30), (500, 530)], [(0, 1000)]) == SpanScores(1.0, 0.05, 0.05)


def test_several_references_are_weighed_by_their_characters() -> None:
    # Of 10 + 30 characters the 30 are found: recall 0.75, precision 30 / 100, IoU 30 / (100 + 10).
    assert score_retrieved([(0, 10), (200, 230)], [(150, 250)]) == SpanScores(0.75, 0.3, 30 / 110)


def test_a_chunk_that_only_meets_a_reference_finds_nothing_of_it() -> None:
    assert score_retrieved([(100, 120)], [(0, 100)]) == WORST
    assert precision_omega([(100, 120)], [(0, 100), (100, 200)]) == 20 / 100


def test_precision_omega_takes_every_chunk_that_holds_a_reference_and_no_other() -> None:
    chunks = [(0, 100), (100, 200), (200, 300)]
    # The reference lies in the first two: 40 / 200.
    assert precision_omega([(90, 130)], chunks) == 0.2
    # Overlapping chunks are taken as one place: (0, 100) and (50, 150) cover 150 characters.
    assert precision_omega([(60, 90)], [(0, 100), (50, 150)]) == 30 / 150


def test_precision_omega_counts_references_that_no_chunk_holds() -> None:
    # 10 of 20 found in the one chunk of 100, 10 missed: 10 / (100 + 10).
    assert precision_omega([(90, 110)], [(0, 100)]) == 10 / 110
    assert precision_omega([(500, 510)], [(0, 100)]) == 0.0
    assert precision_omega([(0, 10)], []) == 0.0


def test_spans_are_merged_counted_and_intersected() -> None:
    assert merged([(5, 9), (0, 5), (20, 20), (8, 12)]) == [(0, 12)]
    assert merged([]) == []
    assert characters([(0, 5), (3, 8)]) == 10
    assert shared_characters([(0, 10), (5, 20)], [(8, 12), (30, 40)]) == 4


def row(name: str, *scores: tuple[float, float], omega: float = 0.5, which: str = "fused") -> Row:
    asked = tuple(Asked(SpanScores(recall, iou, iou), 100) for recall, iou in scores)
    return Row(name, which, 10, 400.0, (omega,) * len(asked), asked)


def test_a_failed_question_counts_worst_and_stands_under_the_table() -> None:
    failed = Row("a", "dense", 3, 90.0, (0.4, 0.6), (Asked(SpanScores(1.0, 0.2, 0.2), 50), Asked(error="Timed out.")))
    assert (failed.mean("recall"), failed.mean("iou"), failed.mean("omega")) == (0.5, 0.1, 0.5)
    assert failed.tokens == 50.0
    assert failed.failed == {2: "Timed out."}
    text = as_text([], against_best([failed]), [])
    assert "1 of 2 failed with a, dense, and count 0:\n  question 2: Timed out." in text


def test_where_all_questions_fail_there_are_no_tokens() -> None:
    failed = Row("a", "dense", 3, 90.0, (0.4,), (Asked(error="Timed out."),))
    assert failed.tokens is None
    assert failed.to_json()["tokens"] is None
    assert " - " in as_text([], against_best([failed]), [])


def test_differences_are_paired_with_the_best_of_each_metric() -> None:
    rows = against_best([row("wide", (1.0, 0.1), (0.8, 0.1)), row("narrow", (0.6, 0.3), (0.4, 0.3))])
    # narrow is 0.4 below in both questions, so the interval is a point.
    narrow = rows[1].against_best["recall"]
    assert (narrow.mean, narrow.low, narrow.high) == pytest.approx((-0.4, -0.4, -0.4))
    assert rows[1].against_best["iou"].mean == 0.0
    assert rows[0].against_best["iou"].mean == pytest.approx(-0.2)
    assert "-40.0 (-40.0 to -40.0)" in as_text([], rows, [])


def test_rows_that_another_beats_in_both_are_not_marked() -> None:
    rows = [row("wide", (1.0, 0.1)), row("poor", (0.5, 0.1)), row("narrow", (0.6, 0.3))]
    assert [one.name for one in unbeaten(rows)] == ["wide", "narrow"]
    lines = as_text([], against_best(rows), []).splitlines()
    assert lines[1].startswith("* wide") and lines[2].startswith("poor") and lines[3].startswith("* narrow")


def test_the_record_holds_every_question_and_is_json() -> None:
    record = json.loads(json.dumps(against_best([row("a", (1.0, 0.25), (0.5, 0.25))])[0].to_json(), allow_nan=False))
    assert record["means"] == {"recall": 0.75, "precision": 0.25, "omega": 0.5, "iou": 0.25}
    # The deviation of 1.0 and 0.5 from 0.75.
    assert record["deviations"]["recall"] == 0.25
    assert record["questions"][1]["recall"] == 0.5


def test_a_published_chunk_is_located_as_their_program_does() -> None:
    text = "One. Two two.\n\nOne. Three."
    assert located(text, "One.") == (0, 3)  # at its first occurrence, without the full stop
    assert located(text, "two. One") == (9, 18)  # the blank line is any blank space
    assert located(text, "absent") == (0, 0)


def test_the_model_reads_254_tokens_and_no_more() -> None:
    letters = "a" * 300

    def each_letter(text: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place in range(len(text))]

    assert len(first_tokens(letters, each_letter)) == 254
    assert first_tokens("short", each_letter) == "short"


def test_clusters_are_the_runs_of_like_neighbours() -> None:
    groups = np.array([0, 0, 0, 1, 1, 2])
    similarities = (groups[:, None] == groups[None, :]).astype(float)
    assert clusters(similarities, 8) == [(0, 3), (3, 5), (5, 6)]
    # Of at most two: one of the first three stands alone.
    assert [end - start for start, end in clusters(similarities, 2)].count(2) == 2
    assert clusters(np.ones((1, 1)), 8) == [(0, 1)]


def test_the_published_rows() -> None:
    assert [(one.name, one.recall, one.iou) for one in PUBLISHED] == [
        ("recursive 250/125", 78.7, 4.9),
        ("token 250/125", 82.4, 3.5),
        ("cluster-semantic 200/0", 75.2, 7.2),
    ]


TEXT = "The kiln heats clay.\r\nThe lid closes. \u00e9t\u00e9"
GOOD = [{"content": "The lid closes.", "start_index": 22, "end_index": 37}]


def write_set(folder: Path, references: object = GOOD, question: str = "What closes?", corpus: str = "kilns") -> Path:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "kilns.md").write_bytes(TEXT.encode("utf-8"))
    cell = (references if isinstance(references, str) else json.dumps(references)).replace('"', '""')
    (folder / QUESTIONS_FILE).write_bytes(f'question,references,corpus_id\r\n{question},"{cell}",{corpus}\r\n'.encode())
    return folder


def test_a_set_is_read_with_its_line_ends_as_they_are(tmp_path: Path) -> None:
    collection = read_chunking_set(write_set(tmp_path))
    assert collection.texts == {"kilns": TEXT}
    (question,) = collection.questions
    assert (question.question, question.corpus, question.references) == ("What closes?", "kilns", ((22, 37),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"references": [{**GOOD[0], "start_index": 21}]}, "row 1: the text from 21 to 37 is not 'The lid closes.'"),
        ({"references": [{"content": "x"}]}, "row 1: a reference needs content, start_index and end_index."),
        ({"references": [7]}, "row 1: a reference needs content, start_index and end_index."),
        ({"references": [{**GOOD[0], "start_index": "22"}]}, "row 1: a reference needs content"),
        ({"references": []}, "row 1: its references must be a list that is not empty."),
        ({"references": {"a": 1}}, "row 1: its references must be a list that is not empty."),
        ({"references": "[{"}, "row 1: its references are not valid JSON"),
        ({"question": " "}, "row 1: the question is blank."),
        ({"corpus": "lids"}, "row 1: there is no corpora/lids.md."),
    ],
)
def test_a_question_that_cannot_be_used_is_named_by_its_row(tmp_path: Path, change: dict, message: str) -> None:
    with pytest.raises(EvaluationError, match="^" + QUESTIONS_FILE.replace(".", r"\.")) as caught:
        read_chunking_set(write_set(tmp_path, **change))
    assert message in str(caught.value)


def test_a_folder_that_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="is no folder; name one with questions_df.csv and corpora/"):
        read_chunking_set(tmp_path / "absent")
    with pytest.raises(EvaluationError, match="has no corpora/"):
        read_chunking_set(tmp_path)
    folder = write_set(tmp_path / "set")
    for data, message in (
        (b"question,corpus_id\r\n", "has no column 'references'"),
        (b"question,references,corpus_id\r\n", "holds no questions"),
        (b'question,references,corpus_id\r\n"What', "is no sound CSV file"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"", "has no column 'question'"),
    ):
        (folder / QUESTIONS_FILE).write_bytes(data)
        with pytest.raises(EvaluationError, match=message):
            read_chunking_set(folder)
    (folder / QUESTIONS_FILE).unlink()
    with pytest.raises(EvaluationError, match="cannot be read"):
        read_chunking_set(folder)
