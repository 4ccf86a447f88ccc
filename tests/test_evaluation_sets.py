"""Question sets and public collections: what is read, and what each mistake in a file is answered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag.errors import RagError
from rag.evaluation.collections import Passage, read_collection
from rag.evaluation.sets import EvaluationError, GoldPassage, read_set
from rag.schema import Turn

QUOTE = "The guard records to a USB drive."
FEATURE = {
    "id": "q01",
    "question": "Where does the guard record?",
    "kind": "feature",
    "gold": [{"document": "manual.pdf", "quote": QUOTE}],
    "answer": "On a USB drive.",
}


def written(tmp_path: Path, *records: dict[str, Any] | str) -> Path:
    path = tmp_path / "set.jsonl"
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_question_carries_its_gold_with_alternatives(tmp_path: Path) -> None:
    other = {"document": "faq.csv", "quote": "It writes to the USB drive."}
    gold = [{**FEATURE["gold"][0], "alternatives": [other]}]
    (question,) = read_set(written(tmp_path, {**FEATURE, "gold": gold, "note": "exact name"}))
    assert question.gold == (GoldPassage("manual.pdf", QUOTE, (GoldPassage("faq.csv", other["quote"]),)),)
    assert (question.id, question.kind, question.note) == ("q01", "feature", "exact name")
    assert question.history == ()


def test_a_conversation_carries_the_turns_before_it(tmp_path: Path) -> None:
    history = [{"role": "user", "text": "What is the guard?"}, {"role": "assistant", "text": "A recorder."}]
    (question,) = read_set(written(tmp_path, {**FEATURE, "kind": "conversation", "history": history}))
    assert question.history == (Turn("user", "What is the guard?"), Turn("assistant", "A recorder."))


@pytest.mark.parametrize("kind", ["unanswerable", "near-miss"])
def test_a_question_without_an_answer_has_no_gold(tmp_path: Path, kind: str) -> None:
    (question,) = read_set(written(tmp_path, {**FEATURE, "kind": kind, "gold": []}))
    assert question.gold == ()


def test_byte_order_mark_crlf_blank_lines_and_line_separators_are_let_pass(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    first = json.dumps({**FEATURE, "answer": "one\u2028two"}, ensure_ascii=False)
    second = json.dumps({**FEATURE, "id": "q02"})
    path.write_bytes(b"\xef\xbb\xbf" + f"{first}\r\n\r\n{second}\r\n".encode())
    questions = read_set(path)
    assert [question.id for question in questions] == ["q01", "q02"]
    assert questions[0].answer == "one\u2028two"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in FEATURE.items() if key != name}


MISTAKES = {
    "cut JSON": ('{"id": "q02", ', "not valid JSON"),
    "a list": ("[1]", "not a JSON object"),
    "no id": (without("id"), 'the question has no "id"; add it.'),
    "no gold": (without("gold"), 'the question has no "gold"; add it.'),
    "blank question": ({**FEATURE, "question": " \t"}, '"question" must be a text that is not blank.'),
    "number for a text": ({**FEATURE, "answer": 7}, '"answer" must be a text that is not blank.'),
    "misspelt key": ({**FEATURE, "histroy": []}, 'the question has an unknown key "histroy"; it may have: id,'),
    "unknown kind": ({**FEATURE, "kind": "fact"}, "\"kind\" is 'fact'; choose one of: feature, paraphrase"),
    "kind is a list": ({**FEATURE, "kind": []}, '"kind" is []; choose one of'),
    "gold is no list": ({**FEATURE, "gold": {}}, '"gold" must be a list.'),
    "gold of text": ({**FEATURE, "gold": ["quote"]}, 'a passage of gold must be an object, not "quote".'),
    "no quote": ({**FEATURE, "gold": [{"document": "a"}]}, 'a passage of gold has no "quote"; add it.'),
    "short quote": (
        {**FEATURE, "gold": [{"document": "a", "quote": "15 A - 2"}]},
        'the quote "15 A - 2" is too short to be found again; give at least 8 letters.',
    ),
    "nested alternatives": (
        {**FEATURE, "gold": [{**FEATURE["gold"][0], "alternatives": [{**FEATURE["gold"][0], "alternatives": []}]}]},
        'a passage of alternatives has an unknown key "alternatives"',
    ),
    "no gold passage": ({**FEATURE, "gold": []}, 'kind "feature" needs at least one passage in "gold".'),
    "one passage of two": ({**FEATURE, "kind": "two-passage"}, 'kind "two-passage" needs at least two passages'),
    "gold without an answer": ({**FEATURE, "kind": "near-miss"}, 'kind "near-miss" has no answer in the corpus'),
    "no history": ({**FEATURE, "kind": "conversation"}, '"history" must hold the turns before a question'),
    "history elsewhere": ({**FEATURE, "history": [{"role": "user", "text": "a"}]}, '"history" must hold the turns'),
    "unknown role": (
        {**FEATURE, "kind": "conversation", "history": [{"role": "bot", "text": "a"}]},
        "\"role\" is 'bot'; choose one of: user, assistant.",
    ),
    "the id again": (FEATURE, 'the id "q01" is already taken by line 1.'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_its_line(tmp_path: Path, mistake: str) -> None:
    record, message = MISTAKES[mistake]
    with pytest.raises(EvaluationError) as caught:
        read_set(written(tmp_path, FEATURE, record))
    assert str(caught.value).startswith("set.jsonl, line 2: ")
    assert message in str(caught.value)
    assert isinstance(caught.value, RagError)


def test_a_file_that_is_absent_empty_or_not_utf_8_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="absent.jsonl cannot be read .*; check the path"):
        read_set(tmp_path / "absent.jsonl")
    with pytest.raises(EvaluationError, match="set.jsonl holds no questions"):
        read_set(written(tmp_path, ""))
    (tmp_path / "latin.jsonl").write_bytes(b'{}\n{"id": "caf\xe9"}\n')
    with pytest.raises(EvaluationError, match="latin.jsonl, line 1: the question has no"):
        read_set(tmp_path / "latin.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'\n{"id": "caf\xe9"}\n')
    with pytest.raises(EvaluationError, match="latin.jsonl, line 2: not UTF-8; save the file as UTF-8"):
        read_set(tmp_path / "latin.jsonl")


CORPUS = ['{"_id": "d1", "title": "One", "text": "First."}', '{"_id": "d2", "text": "Second."}']
QUERIES = ['{"_id": "1", "text": "first?"}', '{"_id": "2", "text": "second?"}']
QRELS = ["query-id\tcorpus-id\tscore", "1\td1\t2", "2\td2\t1"]


def collection(
    tmp_path: Path, corpus: list[str] = CORPUS, queries: list[str] = QUERIES, qrels: list[str] = QRELS
) -> Path:
    folder = tmp_path / "little"
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n", encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return folder


def test_a_collection_is_passages_queries_and_grades(tmp_path: Path) -> None:
    little = read_collection(collection(tmp_path))
    assert little.name == "little"
    assert little.passages == (Passage("d1", "One", "First."), Passage("d2", "", "Second."))
    assert little.queries == {"1": "first?", "2": "second?"}
    assert little.qrels == {"1": {"d1": 2}, "2": {"d2": 1}}
    assert little.notices == ()


def test_what_is_blank_missing_or_unjudged_is_counted_and_only_judged_queries_are_asked(tmp_path: Path) -> None:
    folder = collection(
        tmp_path,
        corpus=[*CORPUS, '{"_id": "d3", "title": "", "text": "  "}'],
        queries=[*QUERIES, '{"_id": "3", "text": "third?"}', '{"_id": "4", "text": " "}', '{"_id": "5", "text": "?"}'],
        qrels=[*QRELS, "1\tgone\t1", "2\td3\t1", "4\td1\t1", "5\td1\t0", "9\td1\t1"],
    )
    little = read_collection(folder)
    assert list(little.queries) == ["1", "2"]
    assert little.qrels["1"] == {"d1": 2, "gone": 1}
    assert little.notices == (
        "1 blank passages were dropped from the corpus.",
        "2 passages judged relevant are not in the corpus and count as never found.",
        "2 judged queries are blank or not in queries.jsonl and were not asked.",
        "2 queries have nothing judged relevant and were not asked.",
    )


@pytest.mark.parametrize(
    ("part", "lines", "message"),
    [
        ("corpus", [*CORPUS, CORPUS[0]], 'corpus.jsonl, line 3: the _id "d1" is already taken by line 1.'),
        ("corpus", ['{"_id": "d1"}'], 'corpus.jsonl, line 1: "text" must be a text.'),
        ("corpus", ['{"_id": 4, "text": "a"}'], 'corpus.jsonl, line 1: "_id" must be a text.'),
        ("corpus", ['{"_id": "d1", "text": " "}'], "holds no passage with text"),
        ("queries", [QUERIES[0], "{"], "queries.jsonl, line 2: not valid JSON"),
        ("queries", ['{"_id": " ", "text": "a"}'], 'queries.jsonl, line 1: "_id" is blank.'),
        ("qrels", QRELS[1:], "qrels/test.tsv, line 1: the header must be query-id corpus-id score, with tabs between."),
        ("qrels", [], "qrels/test.tsv, line 1: the header must be"),
        ("qrels", [*QRELS, "1 0 d1 1"], "test.tsv, line 4: three cells with tabs between are needed, none blank."),
        ("qrels", [*QRELS, "1\td2\thigh"], "qrels/test.tsv, line 4: the score is 'high'; it must be a whole number."),
        ("qrels", [*QRELS, "1\td1\t1"], "qrels/test.tsv, line 4: 1 and d1 were judged with another score before."),
        ("qrels", [QRELS[0], "7\td1\t1"], "no query of queries.jsonl has a relevant passage in qrels/test.tsv."),
    ],
)
def test_a_mistake_in_a_collection_is_answered_with_file_and_line(
    tmp_path: Path, part: str, lines: list[str], message: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        read_collection(collection(tmp_path, **{part: lines}))
    assert message in str(caught.value)


def test_a_folder_that_is_no_collection_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="is no folder; name one with corpus.jsonl, queries.jsonl and qrels"):
        read_collection(tmp_path / "absent")
    with pytest.raises(EvaluationError, match="corpus.jsonl cannot be read"):
        read_collection(tmp_path)
