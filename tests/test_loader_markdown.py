"""Markdown: the source is the text, and only what CommonMark calls a heading makes a section."""

from __future__ import annotations

import pytest

from rag.loaders.markdown import load_markdown
from tests.loader_support import assert_is_whole, blocks, kinds, paths, sections, write  # noqa: F401


def test_markdown_keeps_its_source_as_its_text(write) -> None:
    source = "# Title\n\nSome *text*.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n    code\n"
    document = write("a.md", source)
    assert document.text == source
    assert list(zip(kinds(document), blocks(document))) == [
        ("heading", "# Title"),
        ("paragraph", "Some *text*."),
        ("list", "- one\n- two"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", "> quoted"),
        ("code", "    code"),
    ]


@pytest.mark.parametrize(
    "fenced",
    [
        "````text\n```\n# drain\n```\n# still code\n````",
        "~~~\n# drain\n```\n# still code\n~~~",
        "```\n# drain\n~~~\n# still code\n```",
        "    # drain\n    # still code",
    ],
)
def test_a_comment_in_code_is_no_heading(write, fenced: str) -> None:
    document = write("a.md", f"# Pump manual\n\n{fenced}\n\nTail text.\n")
    assert paths(document) == [("Pump manual",)]
    assert fenced in document.text
    assert kinds(document) == ["heading", "code", "paragraph"]


@pytest.mark.parametrize(
    "source",
    [
        "---\ntitle: Not a heading\n---\n\n# A\n\nText.\n",
        "> # Quoted\n\n# A\n\n- # In a list\n\nText.\n",
        "<!--\n# Hidden\n-->\n\n# A\n\nText.\n",
        "#hashtag\n\n\\# escaped\n\n# A\n\nText.\n",
        "+++\ntitle = 'Not a heading'\n+++\n\n# A\n\nText.\n",
        "---\n# a comment\ntitle: x\n\nmore: y\n...\n\n# A\n\nText.\n",
        "<pre>\n# code\n<h2>code</h2>\n</pre>\n\n# A\n\nText.\n",
        "- item\n\n  ```\n  # code\n  ```\n\n# A\n\n> ```\n> # code\n> ```\n\nText.\n",
        "# A\n\nText with <h2>markup</h2> in its line.\n",
        "# A\n\n```sh\n# code that nobody closed\n",
    ],
)
def test_what_only_looks_like_a_heading_makes_no_section(write, source: str) -> None:
    assert [path for path in paths(write("a.md", source)) if path] == [("A",)]


def test_headings_of_both_styles_make_sections_with_their_whole_path(write) -> None:
    document = write("a.md", "Intro.\n\nGuide\n=====\n\n## *Fast* `start` [here](x) ##\n\nText.\n\nUse\n---\n\nMore.\n")
    assert paths(document) == [(), ("Guide",), ("Guide", "Fast start here"), ("Guide", "Use")]
    assert list(sections(document).values())[2] == "## *Fast* `start` [here](x) ##\n\nText."
    assert_is_whole(document)


def test_a_rule_at_the_top_is_no_beginning_of_settings(write) -> None:
    assert paths(write("a.md", "---\n\nIntro.\n\n# A\n\nText.\n\n---\n\n# B\n\nMore.\n")) == [(), ("A",), ("B",)]


def test_headings_written_as_html_are_headings(write) -> None:
    source = (
        '<h1 align="center">My <b>Project</b> &amp; more</h1>\n\nText.\n\n<!-- <h2>no</h2> -->\n\n'
        "<div>\n<h2>Use</h2>\nlike this\n</div>\n\n### Options\n\nMore.\n"
    )
    document = write("a.md", source)
    assert document.text == source
    assert paths(document) == [
        ("My Project & more",),
        ("My Project & more", "Use"),
        ("My Project & more", "Use", "Options"),
    ]
    assert kinds(document)[0] == "heading"
    assert_is_whole(document)


def test_a_rule_under_a_long_paragraph_makes_no_heading_of_it() -> None:
    paragraph = "Every word of this paragraph is prose. " * 10
    content = load_markdown(f"# Kilns\n\n{paragraph}\n---\n\nShort\n---\n\nText.".encode(), "a.md")
    assert [section.path for section in content.sections] == [("Kilns",), ("Kilns", "Short")]
    assert [block.kind for block in content.blocks] == ["heading", "paragraph", "heading", "paragraph"]
