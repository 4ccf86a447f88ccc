"""DOCX: what a reader of the document sees, in its order; headings by any program's styles."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest

from tests.docx_support import cell, numbered, numbering, paragraph, rows, style, word, zipped
from tests.loader_support import assert_is_whole, blocks, kinds, paths, sections, write  # noqa: F401


def saved(document: docx.document.Document) -> bytes:
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def test_a_document_made_with_styles_is_read_in_its_order(write) -> None:
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "Running head"
    made.sections[0].footer.paragraphs[0].text = "Page 1"
    made.add_heading("Kiln guide", level=0)
    made.add_paragraph("Read this ").add_run("first").bold = True
    made.add_heading("Firing", level=1)
    made.add_heading("Cones", level=2)
    made.add_table(2, 2).cell(1, 1).text = "1060"
    made.add_paragraph("Let it cool.")
    made.add_page_break()
    made.add_heading("Glazes", level=1)
    made.add_paragraph("Stir.")
    document = write("a.docx", saved(made))
    assert document.format == "docx"
    assert document.text == (
        "Kiln guide\n\nRead this first\n\nFiring\n\nCones\n\n|  |  |\n|---|---|\n|  | 1060 |\n\nLet it cool.\n\n"
        "Glazes\n\nStir."
    )
    assert kinds(document) == ["heading", "paragraph", "heading", "heading", "table"] + [
        "paragraph",
        "heading",
        "paragraph",
    ]
    assert paths(document) == [
        ("Kiln guide",),
        ("Kiln guide", "Firing"),
        ("Kiln guide", "Firing", "Cones"),
        ("Kiln guide", "Glazes"),
    ]
    assert_is_whole(document)


@pytest.mark.parametrize(
    ("styles", "heading"),
    [
        (style("berschrift2", "heading 2"), paragraph("Title", "berschrift2")),
        (style("X1", "Clause head", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'), paragraph("Title", "X1")),
        (style("H", "heading 2") + style("Own", "My heads", based_on="H"), paragraph("Title", "Own")),
        ("", paragraph("Title", "Heading2")),
        ("", paragraph("Title", properties='<w:outlineLvl w:val="1"/>')),
        (style("a", "Überschrift 2"), paragraph("Title", "a")),
        (style("a", "Titre 2"), paragraph("Title", "a")),
        (style("a", "標題 2"), paragraph("Title", "a")),
    ],
)
def test_a_heading_is_known_by_level_name_or_outline_in_any_language(write, styles: str, heading: str) -> None:
    top = paragraph("Top", properties='<w:outlineLvl w:val="0"/>')
    assert paths(write("a.docx", word(top + heading + paragraph("Text."), styles=styles))) == [
        ("Top",),
        ("Top", "Title"),
    ]


def test_what_is_set_back_to_body_text_is_no_heading(write) -> None:
    body = paragraph("Text.", "Heading1", '<w:outlineLvl w:val="9"/>') + paragraph("Head " * 100, "Heading1")
    document = write("a.docx", word(body))
    assert kinds(document) == ["paragraph", "paragraph"]


def test_styles_based_on_one_another_in_a_circle_do_no_harm(write) -> None:
    styles = style("A", "One", based_on="B") + style("B", "Two", based_on="A")
    assert write("a.docx", word(paragraph("Text.", "A"), styles=styles)).text == "Text."


def test_the_title_property_stands_in_where_there_is_no_heading(write) -> None:
    made = docx.Document()
    made.core_properties.title = "Opening hours"
    made.add_paragraph("Daily.")
    assert paths(write("a.docx", saved(made))) == [("Opening hours",)]
    made.add_heading("Hours", level=1)
    assert paths(write("b.docx", saved(made))) == [(), ("Hours",)]


def test_lists_nest_count_and_start_anew(write) -> None:
    lists = numbering(
        [("bullet", "\u2022"), ("bullet", "o")],
        [("decimal", "%1."), ("lowerLetter", "%2)"), ("upperRoman", "%3.")],
        starts={3: (2, 1)},
    )
    items = [("one", 1, 0), ("inner", 1, 1), ("two", 1, 0), ("first", 2, 0), ("a", 2, 1), ("b", 2, 1), ("deep", 2, 2),
             ("second", 2, 0), ("again", 3, 0)]  # fmt: skip
    body = "".join(paragraph(text, properties=numbered(number, level)) for text, number, level in items)
    document = write("a.docx", word(paragraph("Before:") + body + paragraph("After."), numbering=lists))
    assert blocks(document, "list") == [
        "- one\n  - inner\n- two\n1. first\n  a) a\n  b) b\n    I. deep\n2. second\n1. again"
    ]
    assert kinds(document) == ["paragraph", "list", "paragraph"]


def test_list_styles_without_numbering_are_lists_and_their_number_is_how_deep_they_lie(write) -> None:
    made = docx.Document()
    for text, name in (
        ("one", "List Bullet"),
        ("inner", "List Bullet 2"),
        ("first", "List Number"),
        ("next", "List Number"),
    ):
        made.add_paragraph(text, style=name)
    assert write("a.docx", saved(made)).text == "- one\n  - inner\n1. first\n2. next"
    styles = style("LB", "List Bullet")
    assert write("b.docx", word(paragraph("one", "LB") + paragraph("two", "LB"), styles=styles)).text == "- one\n- two"


def test_a_list_is_counted_by_the_level_it_has_and_lies_as_deep_as_its_style_says(write) -> None:
    lists = numbering([("decimal", "%1."), ("none", "")])
    styles = style("L2", "List Number 2", f"<w:pPr>{numbered(1)}</w:pPr>")
    body = paragraph("a", "L2") + paragraph("b", "L2") + paragraph("plain", properties=numbered(1, 1))
    document = write("a.docx", word(body, numbering=lists, styles=styles))
    assert blocks(document) == ["  1. a\n  2. b", "plain"]


def test_numbers_that_word_puts_before_headings_and_clauses_are_kept(write) -> None:
    lists = numbering([("decimal", "%1"), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")])
    body = (
        paragraph("Rent", "Heading1", numbered(1))
        + paragraph("Repairs", "Heading1", numbered(1))
        + paragraph("The tenant pays.", properties=numbered(1, 1))
        + paragraph("at once", properties=numbered(1, 2))
    )
    document = write("a.docx", word(body, numbering=lists))
    assert paths(document) == [("1 Rent",), ("2 Repairs",)]
    assert blocks(document, "list") == ["  2.1 The tenant pays.\n    (a) at once"]


def test_a_table_is_one_block_where_it_stands_and_merged_cells_are_told_in_each_row(write) -> None:
    table = rows(
        [cell("Load", '<w:gridSpan w:val="2"/>'), "Note"],
        [cell("Full", '<w:vMerge w:val="restart"/>'), "250 | 260", cell(paragraph("one") + paragraph("two"))],
        [cell("", "<w:vMerge/>"), "<w:tc><w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r></w:p></w:tc>", ""],
    )
    body = paragraph("Before.") + table + paragraph("After.")
    document = write("a.docx", word(body))
    assert blocks(document, "table") == [
        "| Load | Load | Note |\n|---|---|---|\n| Full | 250 \\| 260 | one two |\n| Full | a b |  |"
    ]
    assert kinds(document) == ["paragraph", "table", "paragraph"]


def test_a_table_in_a_cell_is_told_in_that_cell_once(write) -> None:
    inner = rows(["x", "y"])
    document = write("a.docx", word(rows(["A", "B"], [cell(paragraph("see") + inner + paragraph("there")), "2"])))
    assert document.text == "| A | B |\n|---|---|\n| see x y there | 2 |"


def test_several_rows_marked_as_header_become_one(write) -> None:
    marked = "<w:tr><w:trPr><w:tblHeader/></w:trPr>{}</w:tr>"
    table = rows(
        marked.format(cell("Tyre", '<w:vMerge w:val="restart"/>') + cell("Pressure", '<w:gridSpan w:val="2"/>')),
        marked.format(cell("", "<w:vMerge/>") + cell("Front") + cell("Rear")),
        ["R17", "240", "250"],
    )
    assert (
        write("a.docx", word(table)).text
        == "| Tyre | Pressure Front | Pressure Rear |\n|---|---|---|\n| R17 | 240 | 250 |"
    )


@pytest.mark.parametrize(
    "table",
    [
        rows([cell(paragraph("Left", "Heading1") + paragraph("Text.")), cell(paragraph("Right", "Heading1"))]),
        rows([cell(paragraph("Left", "Heading1") + paragraph("Text.") + paragraph("Right", "Heading1"))]),
    ],
)
def test_a_table_that_lays_out_the_page_and_a_frame_of_one_cell_are_read_as_blocks(write, table: str) -> None:
    document = write("a.docx", word(table))
    assert sections(document) == {("Left",): "Left\n\nText.", ("Right",): "Right"}


def test_a_caption_stays_with_the_table_under_it(write) -> None:
    styles = style("Beschriftung", "caption")
    document = write("a.docx", word(paragraph("Table 1", "Beschriftung") + rows(["a", "b"], ["1", "2"]), styles=styles))
    assert document.text == "Table 1\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert kinds(document) == ["paragraph", "table"]


def test_inserted_text_is_kept_and_deleted_text_is_not(write) -> None:
    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    runs = (
        run.format("Pay ")
        + f"<w:del>{run.format('now').replace('w:t', 'w:delText')}</w:del><w:ins>{run.format('later')}</w:ins>"
        + f"<w:moveFrom>{run.format(' gone')}</w:moveFrom><w:moveTo>{run.format(' here')}</w:moveTo>"
    )
    gone = "<w:tr><w:trPr><w:del/></w:trPr>" + cell("old") + cell("row") + "</w:tr>"
    body = paragraph(runs) + paragraph("Open", properties="<w:rPr><w:del/></w:rPr>") + paragraph(" daily.")
    document = write("a.docx", word(body + rows(["a", "b"], gone, ["1", "2"])))
    assert document.text == "Pay later here\n\nOpen daily.\n\n| a | b |\n|---|---|\n| 1 | 2 |"


def test_hidden_text_is_left_out_however_it_is_hidden(write) -> None:
    styles = (
        style("Secret", "Secret", "<w:rPr><w:vanish/></w:rPr>")
        + style("Char", "Char", "<w:rPr><w:vanish/></w:rPr>", kind="character")
        + style("Shown", "Shown", "<w:rPr><w:vanish w:val='0'/></w:rPr>", based_on="Secret")
    )
    body = (
        paragraph("Seen.")
        + paragraph("One", run="<w:vanish/>")
        + paragraph("Two", "Secret")
        + paragraph("Three", run='<w:rStyle w:val="Char"/>')
        + paragraph("Also seen.", "Shown")
        + paragraph("Seen too.", run='<w:vanish w:val="false"/>')
    )
    assert write("a.docx", word(body, styles=styles)).text == "Seen.\n\nAlso seen.\n\nSeen too."


def test_links_fields_controls_and_symbols_give_the_text_that_shows(write) -> None:
    runs = (
        "<w:hyperlink r:id='r1'><w:r><w:t>our page</w:t></w:r></w:hyperlink>"
        "<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> DATE </w:instrText></w:r>"
        "<w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>, 3 May</w:t></w:r>"
        "<w:sdt><w:sdtContent><w:r><w:t>, Oak</w:t><w:noBreakHyphen/><w:t>ford</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:r><w:t>Fill in</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:sym w:char='2192'/><w:sym w:char='F0FE'/><w:br/><w:t>next line</w:t></w:r>"
    )
    block = f"<w:sdt><w:sdtContent>{paragraph('In a control.')}</w:sdtContent></w:sdt>"
    document = write("a.docx", word(paragraph(runs) + block))
    assert document.text == "our page, 3 May, Oak-ford→\nnext line\n\nIn a control."


def test_a_table_of_contents_is_left_out(write) -> None:
    gallery = "<w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
    body = (
        f"<w:sdt>{gallery}<w:sdtContent>{paragraph('Contents')}{paragraph('Firing 3')}</w:sdtContent></w:sdt>"
        + paragraph("Firing 3", "TOC1")
        + paragraph("Firing", "Heading1")
    )
    assert write("a.docx", word(body, styles=style("TOC1", "toc 1"))).text == "Firing"


def test_a_text_box_is_read_once_after_its_paragraph(write) -> None:
    box = f"<w:txbxContent>{paragraph('In the box.')}{rows(['a', 'b'])}</w:txbxContent>"
    runs = (
        "<w:r><w:t>Around.</w:t><mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx>"
        + box
        + "</wps:txbx></mc:Choice><mc:Fallback><v:textbox>"
        + box
        + "</v:textbox></mc:Fallback></mc:AlternateContent></w:r>"
    )
    document = write("a.docx", word(paragraph(runs) + paragraph("After.")))
    assert document.text == "Around.\n\nIn the box.\n\n| a | b |\n|---|---|\n\nAfter."


def test_notes_stand_after_the_paragraph_that_refers_to_them(write) -> None:
    def refer(kind: str, note_id: int) -> str:
        return f"<w:r><w:t>Word</w:t><w:{kind}Reference w:id='{note_id}'/><w:t>.</w:t></w:r>"

    line = f"<w:footnote w:id='0' w:type='separator'>{paragraph('----')}</w:footnote>"
    notes = line + "".join(f"<w:footnote w:id='{n}'>{paragraph(text)}</w:footnote>" for n, text in ((7, "B"), (2, "A")))
    body = paragraph(refer("footnote", 2)) + paragraph(refer("footnote", 7) + refer("endnote", 1))
    body += paragraph("<w:r><w:t>Head</w:t><w:footnoteReference w:id='2'/></w:r>", "Heading1") + paragraph("End.")
    ends = f"<w:endnote w:id='1'>{paragraph('C')}</w:endnote>"
    document = write("a.docx", word(body, footnotes=notes, endnotes=ends))
    assert blocks(document) == ["Word[1].", "[1] A", "Word[2].Word[i].", "[2] B", "[i] C", "Head[1]", "End."]


def test_code_keeps_its_lines_and_formulas_their_signs(write) -> None:
    styles = style("Code", "Source Code")
    formula = (
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
    )
    body = paragraph("if x:", "Code") + paragraph("    y()", "Code") + paragraph(formula)
    document = write("a.docx", word(body, styles=styles))
    assert list(zip(kinds(document), blocks(document))) == [("code", "if x:\n    y()"), ("paragraph", "a/b")]


def test_a_document_in_the_strict_form_is_read_as_well(write) -> None:
    with zipfile.ZipFile(io.BytesIO(word(paragraph("Title", "Heading1") + paragraph("Text.")))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for old, new in (
        (
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        ),
        (b"http://schemas.openxmlformats.org/officeDocument/2006/", b"http://purl.oclc.org/ooxml/officeDocument/"),
    ):
        members = {name: content.replace(old, new) for name, content in members.items()}
    assert paths(write("a.docx", zipped(members))) == [("Title",)]
