"""JSON Lines and JSON: pairs under the names that people give them, every bad line named, other records readable."""

from __future__ import annotations

import json

import pytest

from rag.errors import LoadError
from tests.loader_support import assert_is_whole, blocks, kinds, paths, write  # noqa: F401


def test_each_pair_is_a_block_and_a_section_named_after_its_question(write) -> None:
    document = write(
        "faq.jsonl", '{"question": "How to pay?", "answer": "Card\\n\\nor cash"}\n{"Question":"Open?","Answer":"No"}'
    )
    assert document.text == "How to pay?\nCard\nor cash\n\nOpen?\nNo"
    assert kinds(document) == ["question-answer"] * 2
    assert paths(document) == [("How to pay?",), ("Open?",)]
    assert document.notices == ()
    assert_is_whole(document)


@pytest.mark.parametrize(
    "record",
    [
        {"q": "Why?", "a": "So"},
        {"prompt": "Why?", "completion": " So"},
        {"instruction": "Why?", "input": "", "output": "So"},
        {"query": "Why?", "response": "So"},
        {"title": "Why?", "body": "So"},
        {"Frage": "Why?", "Antwort": "So"},
        {"question": "Why?", "answers": ["So"]},
        {"question": "Why?", "answers": {"text": ["So"], "answer_start": [3]}},
        {"messages": [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Why?"},
                      {"role": "assistant", "content": "So"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]},
                      {"role": "assistant", "content": [{"type": "text", "text": "So"}]}]},
        {"conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So"}]},
        [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So"}],
    ],
)  # fmt: skip
def test_a_pair_is_known_by_many_names(write, record: object) -> None:
    document = write("a.jsonl", json.dumps(record) + "\n")
    assert (blocks(document), kinds(document)) == (["Why?\nSo"], ["question-answer"])


def test_what_a_task_is_done_to_belongs_to_the_question(write) -> None:
    record = {"instruction": "Add up.", "input": "1 2", "output": "3"}
    assert blocks(write("a.jsonl", json.dumps(record))) == ["Add up.\n1 2\n3"]


@pytest.mark.parametrize("asked", ["title", "subject"])
@pytest.mark.parametrize("told", ["answer", "reply", "response", "resolution", "solution"])
@pytest.mark.parametrize("details", ["body", "description"])
def test_a_ticket_is_answered_by_its_reply_and_asks_with_its_text(write, asked: str, told: str, details: str) -> None:
    document = write("a.jsonl", json.dumps({asked: "Pump", details: "It leaks.", told: "New seal."}))
    assert blocks(document) == ["Pump\nIt leaks.\nNew seal."]
    assert document.notices == ()


def test_what_is_asked_next_lies_under_what_was_asked_first(write) -> None:
    said = [("user", "Why?"), ("assistant", "So."), ("user", "How?"), ("assistant", "Thus."), ("user", "When?")]
    record = {"messages": [{"role": role, "content": content} for role, content in said]}
    document = write("a.jsonl", json.dumps(record))
    assert blocks(document) == ["Why?\nSo.", "How?\nThus."]
    assert paths(document) == [("Why?",), ("Why?", "How?")]


def test_lines_read_and_lines_left_out_add_up_to_the_lines_of_the_file(write) -> None:
    lines = [
        '{"question": "One?", "answer": "1"}',
        "",
        '{"question": "Two?", "answer": "2"',
        '{"question": "Three?"}',
        '{"answer": "4"}',
        '{"question": " ", "answer": "5"}',
        "not JSON at all",
        '{"question": "Eight?", "answer": 8.50}',
        "[" * 5000,
    ]
    document = write("a.jsonl", "\r\n".join(lines))
    assert blocks(document) == ["One?\n1", "Eight?\n8.50"]
    assert document.notices == (
        "6 of 8 lines left out: line 3 (not JSON), line 4 (no answer), line 5 (no question), line 6 (no question), "
        "line 7 (not JSON), line 9 (nested too deeply)",
    )


def test_a_file_without_a_single_good_line_is_refused_with_the_lines(write) -> None:
    with pytest.raises(LoadError, match=r"^a.jsonl: 1 of 1 lines left out: line 1 \(not JSON\)$"):
        write("a.jsonl", "plain words\n")
    with pytest.raises(LoadError, match="^a.json: no text found$"):
        write("a.json", "[]")


def test_fields_beside_a_pair_are_named(write) -> None:
    document = write("a.jsonl", '{"id": 3, "question": "Why?", "answer": "So", "tags": ["x"]}\n')
    assert document.notices == ("read as questions and answers, without the fields id, tags",)


@pytest.mark.parametrize(
    "content",
    [
        '[{"q": "Why?", "a": "So"}]',
        '{"version": 2, "items": [{"q": "Why?",\n "a": "So"}]}',
        '{"first": {"q": "Why?", "a": "So"}}',
        '{"q": "Why?", "a": "So"}',
        '\ufeff{"q": "Why?", "a": "So"}\n\n',
    ],
)
def test_a_json_file_is_read_for_the_records_in_it(write, content: str) -> None:
    assert blocks(write("a.json", content), "question-answer") == ["Why?\nSo"]


def test_json_under_the_ending_of_json_lines_and_the_other_way_round(write) -> None:
    lines = '{"q": "Why?", "a": "So"}\n{"q": "How?", "a": "Thus"}\n'
    written_out = '[\n {"q": "Why?",\n "a": "So"},\n {"q": "How?",\n "a": "Thus"}\n]'
    assert blocks(write("a.json", lines)) == blocks(write("b.jsonl", written_out)) == ["Why?\nSo", "How?\nThus"]


def test_other_records_are_told_name_by_name(write) -> None:
    record = {
        "name": "Kiln",
        "size": {"width": 3, "height": 1.50, "depth": None},
        "tags": ["hot", "big"],
        "note": "one\n\ntwo",
        "parts": [{"id": 1, "ok": True}, {"id": 2}],
        "empty": {},
    }
    document = write("a.jsonl", json.dumps(record).replace("1.5", "1.50") + '\n"just text"\n[1, [2, 3]]\n')
    assert blocks(document, "paragraph") == [
        "name: Kiln\nsize:\n  width: 3\n  height: 1.50\ntags: hot, big\nnote: one\n  two\n"
        "parts:\n  - id: 1\n    ok: true\n  - id: 2",
        "just text",
        "- 1\n- - 2\n  - 3",
    ]
    assert paths(document) == []


def test_line_ends_that_json_allows_inside_text_part_no_line(write) -> None:
    document = write("a.jsonl", '{"q": "One\u2028two?", "a": "x\u0085y"}\n{"q": "B?", "a": "z\\ud800"}\n'.encode())
    assert blocks(document) == ["One\ntwo?\nx\ny", "B?\nz"]
    assert document.notices == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_records_are_read_in_their_encoding(write, encoding: str) -> None:
    assert blocks(write("a.jsonl", '{"q": "Größe?", "a": "Über 5 m"}\n'.encode(encoding))) == ["Größe?\nÜber 5 m"]
