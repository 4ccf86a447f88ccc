"""DOCX files that are damaged, locked, huge or no Word documents: each refused with its reason, none a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag.errors import LoadError
from rag.loaders import docx_package, parse
from tests.docx_support import W, cell, numbered, numbering, paragraph, relations, rows, style, word, zipped
from tests.loader_support import assert_is_whole, write  # noqa: F401

SOUND = word(paragraph("Text."))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le") + bytes(40), "needs a password"),
        (OLE + "WordDocument".encode("utf-16-le"), "an old Word document; open it in Word and save it as DOCX"),
        (b"<html><p>Saved under a wrong name</p>", "not a Word document"),
        (b"%PDF-1.4", "not a Word document"),
        (zipped({"a.txt": "x"}), "not a Word document"),
        (zipped({"_rels/.rels": relations(("officeDocument", "xl/workbook.xml")), "xl/workbook.xml": "<workbook/>"}),
         "not a Word document"),
        (SOUND[:300], "a damaged Word document"),
        (SOUND.replace(b"PK\x01\x02", b"PK\x01\x09", 1), "a damaged Word document"),
        (zipped({"word/document.xml": "<w:document>"}), "a damaged Word document"),
        (word(""), "no text found"),
        (word("<w:p><w:r><w:drawing/></w:r></w:p>"), "no text found"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(write, content: bytes, reason: str) -> None:
    with pytest.raises(LoadError) as error:
        write("a.docx", content)
    assert error.value.reason == reason


def test_what_unpacks_to_more_than_the_limit_is_refused_before_it_is_unpacked(write, monkeypatch) -> None:
    monkeypatch.setattr(docx_package, "MAX_UNPACKED_MEGABYTES", 1)
    bomb = word(paragraph("x" * 3_000_000))
    assert len(bomb) < 20_000
    with pytest.raises(LoadError, match=r"^a.docx: too large when unpacked \(3 MB of text; the limit is 1 MB\)$"):
        write("a.docx", bomb)


def test_entities_that_multiply_are_not_expanded(write) -> None:
    declared = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi")
    )
    document = f'{declared}]><w:document xmlns:w="{W}"><w:body>{paragraph("Text &i;")}</w:body></w:document>'
    with pytest.raises(LoadError, match="a damaged Word document"):
        write("a.docx", word("", {"word/document.xml": document}))


@pytest.mark.parametrize("depth", [50, 10_000])
def test_tables_nested_deeply_are_read_or_refused(write, depth: int) -> None:
    body = "<w:tbl><w:tr><w:tc>" * depth + paragraph("deep") + "</w:tc></w:tr></w:tbl>" * depth
    if depth == 50:
        assert write("a.docx", word(body)).text == "deep"
    else:
        with pytest.raises(LoadError, match="a damaged Word document"):
            write("a.docx", word(body))


def test_what_is_kept_as_a_file_inside_the_document_is_told(write) -> None:
    document = write("a.docx", word(paragraph("Text.") + "<w:altChunk r:id='r1'/>"))
    assert document.notices == ("text that is kept as a file inside the document was left out",)


FRAGMENTS = [
    paragraph("Head", "Heading1"), paragraph("Own", "H"), paragraph("Title", "Title"), paragraph(" "),
    paragraph("item", properties=numbered(1)), paragraph("item", properties=numbered(2, 1)), paragraph("x", "LB"),
    paragraph("joined", properties="<w:rPr><w:del/></w:rPr>"), paragraph("code ", "Code"), paragraph("c", "caption"),
    rows(["a", "b"], [cell("", "<w:vMerge/>"), cell("c", '<w:gridSpan w:val="2"/>')]), paragraph("Text."),
    rows([cell(rows(["in", "side"]))]),
    rows(["a", cell(paragraph("Head", "Heading2"))]), "<w:tbl/>", "<w:tbl><w:tr/></w:tbl>", "<w:p/>", "<w:altChunk/>",
    "<w:p><w:r><w:t>n</w:t><w:footnoteReference w:id='1'/></w:r></w:p>", "<w:sdt/>", "<w:t>stray</w:t>",
    "<w:p><w:r><w:sym w:char='D800'/><w:t>&#x85;&#xFEFF;</w:t><w:br/><w:tab/></w:r></w:p>", "<mc:AlternateContent/>",
    f"<w:p><w:r><w:txbxContent>{paragraph('box', 'Heading1')}</w:txbxContent></w:r></w:p>", "<w:del><w:p/></w:del>",
]  # fmt: skip
SEPARATOR = "<!-- next part -->"
ODD = st.sampled_from(["", "-1", "0", "1", "2", "9", "99999999999999999999", "x", "bullet", "%9", "H", "heading 3"])


@hypothesis_settings(max_examples=600, deadline=None)
@given(
    body=st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    spoilt=st.lists(st.tuples(st.integers(0, 60), ODD), max_size=4),
    cut=st.none() | st.tuples(st.integers(0, 3000), st.binary(max_size=3)),
)
def test_any_word_file_becomes_a_whole_document_or_a_load_error(
    body: str, spoilt: list[tuple[int, str]], cut: tuple[int, bytes] | None
) -> None:
    parts = {
        "styles": style("H", "heading 1") + style("LB", "List Bullet", f"<w:pPr>{numbered(2)}</w:pPr>", based_on="H"),
        "numbering": numbering([("decimal", "%1."), ("upperLetter", "%1.%2")], starts={2: (1, 7)}),
        "footnotes": f"<w:footnote w:id='1'>{paragraph('note')}</w:footnote>",
    }
    xml = SEPARATOR.join([body, *parts.values()])
    for number, odd in spoilt:
        places = list(re.finditer(r'="([^"]*)"', xml))
        start, end = places[number % len(places)].span(1)
        xml = xml[:start] + odd + xml[end:]
    body, *insides = xml.split(SEPARATOR)
    data = word(body, **dict(zip(parts, insides)))
    if cut:
        data = data[: cut[0]] + cut[1] + data[cut[0] + 1 :]
    try:
        document = parse(data, Path("a.docx"), "a.docx", "a.docx")
    except LoadError as error:
        assert error.reason in ("no text found", "a damaged Word document", "not a Word document", "needs a password")
        return
    assert document.text.strip() and document.format == "docx"
    assert_is_whole(document)
