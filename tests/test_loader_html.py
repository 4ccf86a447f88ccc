"""HTML: what a reader sees, blocks apart and sentences whole, tables as tables, headings as sections."""

from __future__ import annotations

import pytest

from rag.schema import Document
from tests.loader_support import assert_is_whole, kinds, paths, write  # noqa: F401


def section_texts(document: Document) -> list[str]:
    return [document.text[section.start : section.end].strip() for section in document.sections]


def test_blocks_stand_on_lines_of_their_own_and_inline_markup_stays_in_its_sentence(write) -> None:
    document = write(
        "a.html",
        "<script>var x=1</script><h2>Fees</h2><p>Entry is <b>free</b>, parking <i>5</i> euro.</p>"
        "<ul><li>Mon</li><li>Tue</li></ul>12 Mill Lane<br>Oakford",
    )
    assert document.text == "Fees\n\nEntry is free, parking 5 euro.\n\n- Mon\n- Tue\n\n12 Mill Lane\nOakford"
    assert kinds(document) == ["heading", "paragraph", "list", "paragraph"]


def test_two_chapters_with_a_section_of_the_same_name_can_be_told_apart(write) -> None:
    document = write(
        "a.html",
        "<h1>Boiler</h1><h2>Overview</h2><p>Heats water.</p><h1>Chiller</h1><h2>Overview</h2><p>Cools water.</p>",
    )
    assert paths(document) == [("Boiler",), ("Boiler", "Overview"), ("Chiller",), ("Chiller", "Overview")]
    assert section_texts(document)[1::2] == ["Overview\n\nHeats water.", "Overview\n\nCools water."]


@pytest.mark.parametrize(
    "hidden",
    [
        "<nav>Menu</nav>", "<footer>Menu</footer>", "<template>Menu</template>", "<style>Menu</style>",
        "<p hidden>Menu</p>", "<div style='display: none'><p>Menu</p></div>", "<!-- Menu -->",
        "<noscript>Menu</noscript>", "<p style='visibility:hidden'>Menu</p>",
        "<p style='color:red;OPACITY : 0'>Menu</p>",
        "<p style='font-size:0px'>Menu</p>", "<p style='font-size:0.0em !important;'>Menu</p>",
        "<p style='display:/* */none'>Menu</p>", "<div hidden=''><section><h2>Menu</h2></section></div>",
        "<div role='navigation'>Menu</div>", "<div class='left navheader'>Menu</div>",
        "<table class='nav'><tr><td>Prev<td>Next</table>",
        "<a href='#after'>¶</a>",
    ],
)  # fmt: skip
def test_what_a_reader_does_not_see_is_left_out(write, hidden: str) -> None:
    assert write("a.html", f"<p>Before.</p>{hidden}<p>After.</p>").text == "Before.\n\nAfter."


@pytest.mark.parametrize(
    "shown",
    [
        "font-size:0.9em",
        "opacity:0.5",
        "opacity:.5",
        "display:block",
        "x-display:none-such",
        "font-size:10px",
        "opacity:1",
    ],
)
def test_a_style_that_hides_nothing_hides_nothing(write, shown: str) -> None:
    assert write("a.html", f"<p style='{shown}'>Text.</p><p hidden=until-found>More.</p>").text == "Text.\n\nMore."


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "<h1>A</h1><h2>B</h2><article><h1>C</h1><h2>D</h2>one</article>two",
            [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("A", "B")],
        ),
        ("<h3>A</h3><section><h1>B</h1>one</section>two", [("A",), ("B",), ("A",)]),
        ("<section>one<h2>A</h2>two</section>three", [(), ("A",), ()]),
        ("<section><h2>A</h2>one</section><section><h2>B</h2>two</section>", [("A",), ("B",)]),
        ("<h1>A</h1><section><div><section><h3>B</h3>x</section></div>y<h2>C</h2>z",
         [("A",), ("A", "B"), ("A",), ("A", "C")]),
        ("<h2>A <section>one</section> <pre>x</pre> end</h2>two<section><h3>B</h3>y</section>z",
         [("A one x end",), ("A one x end", "B"), ("A one x end",)]),
    ],
)  # fmt: skip
def test_after_a_section_ends_the_headings_around_it_count_again(write, page: str, expected: list) -> None:
    document = write("a.html", page)
    assert paths(document) == expected
    assert_is_whole(document)


def test_sections_within_sections_have_paths_of_bounded_depth(write) -> None:
    document = write("a.html", "".join(f"<section><h1>{n}</h1>" for n in range(900)) + "deep" + "</section>" * 900)
    assert max(len(path) for path in paths(document)) == 10
    assert paths(document)[899] == (*map(str, range(9)), "899")


def test_what_lies_too_deep_for_anyone_keeps_its_words_apart_and_its_scripts_out(write) -> None:
    page = "<div>" * 3000 + "<h2>one</h2><script>var x</script>two<b>three</b>" + "</div>" * 3000 + "<h2>after</h2>end"
    document = write("a.html", page)
    assert document.text.split() == ["one", "two", "three", "after", "end"]
    assert paths(document)[-1] == ("after",)


def test_a_heading_that_was_never_closed_is_no_title(write) -> None:
    assert paths(write("a.html", "<h2>" + "<span>many words </span>" * 100)) == []


def test_a_section_element_ends_the_headings_inside_it(write) -> None:
    document = write(
        "a.html",
        "<h1>Guide</h1><section><h2>Setup</h2><p>One.</p><section><h2>Cables</h2><p>Two.</p></section><p>Three.</p>"
        "</section><p>Four.</p><article><h2>Use</h2>Five.</article>",
    )
    assert paths(document) == [
        ("Guide",),
        ("Guide", "Setup"),
        ("Guide", "Setup", "Cables"),
        ("Guide", "Setup"),
        ("Guide",),
        ("Guide", "Use"),
    ]
    assert section_texts(document)[3:] == ["Three.", "Four.", "Use\n\nFive."]
    assert_is_whole(document)


def test_the_title_stands_in_where_there_is_no_heading(write) -> None:
    assert paths(write("a.html", "<title>Opening\nhours</title><p>Daily.</p>")) == [("Opening hours",)]
    assert paths(write("b.html", "<title>Site</title><h1>Hours</h1><p>Daily.</p>")) == [("Hours",)]
    assert paths(write("c.html", "<p>Daily.</p>")) == []
    assert paths(write("d.html", "<svg><title>Logo</title></svg><p>Daily.</p>")) == []
    assert write("e.html", "<body><head><title>Hours</title></head><p>Daily.</p>").text == "Daily."


def test_a_table_becomes_a_markdown_table_and_one_block(write) -> None:
    document = write(
        "a.html",
        "<table><caption>Sizes</caption><tr><th>Model<th>Width<tr><td rowspan=2>K<td>3 | 4<tr><td>5<br>cm</table>",
    )
    assert document.text == "Sizes\n| Model | Width |\n|---|---|\n| K | 3 \\| 4 |\n| K | 5 cm |"
    assert kinds(document) == ["paragraph", "table"]


def test_a_table_in_a_list_and_a_list_in_a_table_are_both_whole(write) -> None:
    document = write("a.html", "<ul><li>one<table><tr><th>a<th>b<tr><td>1<td>2</table>after<li>two</ul>")
    assert kinds(document) == ["list", "table", "list"]
    assert document.text == "- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n  after\n- two"
    listed = write("b.html", "<table><tr><td>a<td><ul><li>x<li>y</ul><tr><td>b<td>line<br>next<p>last</table>")
    assert listed.text == "| a | x y |\n|---|---|\n| b | line next last |"


def test_a_small_table_that_asks_for_a_huge_one_stays_within_bounds(write) -> None:
    document = write("a.html", "<table>" + ("<tr>" + "<td rowspan=500 colspan=50>x" * 20) * 200 + "</table>")
    assert document.text.count("x") < 100_000 and len(document.text) < 2_000_000
    wide = write("b.html", "<table><tr>" + "<td>x" * 3000 + "<tr><td>y" * 3000 + "</table>")
    assert len(wide.text) < 2_000_000


def test_two_header_rows_become_one(write) -> None:
    document = write(
        "a.html",
        "<table><thead><tr><th rowspan=2>Load<th colspan=2>Pressure<tr><th>Front<th>Rear</thead>"
        "<tr><td>Empty<td>240<td>250<tr><td colspan=2>Full</table>",
    )
    assert document.text.split("\n") == [
        "| Load | Pressure Front | Pressure Rear |",
        "|---|---|---|",
        "| Empty | 240 | 250 |",
        "| Full |  |  |",
    ]


def test_a_table_that_lays_out_the_page_is_read_as_blocks(write) -> None:
    page = "<table><tr><td><h1>A</h1><p>One.</p></td><td><table><tr><td>x<td>y</table></td></tr></table>"
    assert write("a.html", page).text == "A\n\nOne.\n\n| x | y |\n|---|---|"


def test_lists_nest_and_count(write) -> None:
    page = "<ol start=3><li>Open<ul><li>left</ul><li><p>Close</p><p>gently</p></ol>"
    assert write("a.html", page).text == "3. Open\n  - left\n4. Close\n   gently"


def test_preformatted_text_keeps_its_lines(write) -> None:
    document = write("a.html", "<p>Run:</p><pre>\n  one\n    two\n</pre>")
    assert document.text == "Run:\n\n  one\n    two"
    assert kinds(document) == ["paragraph", "code"]


def test_entities_are_read_and_soft_hyphens_go(write) -> None:
    assert write("a.html", "<p>Caf&eacute;&nbsp;&amp; main&shy;tenance &lt;5&gt;</p>").text == "Café & maintenance <5>"


@pytest.mark.parametrize(
    "head", ['<meta charset="iso-8859-2">', '<meta http-equiv="content-type" content="text/html; charset=iso-8859-2">']
)
def test_the_encoding_a_page_declares_is_used(write, head: str) -> None:
    assert write("a.html", f"<head>{head}</head><p>Žluťoučký kůň</p>".encode("iso-8859-2")).text == "Žluťoučký kůň"


@pytest.mark.parametrize("tag", ["div", "ul><li", "blockquote", "section", "b", "table><tr><td"])
def test_deep_nesting_does_not_stop_the_load(write, tag: str) -> None:
    document = write("a.html", f"<{tag}>" * 10_000 + "deep" + "<p>after")
    assert document.text.split() == ["-"] * document.text.count("-") + ["deep", "after"]
