"""PDFs that are damaged, or made to do harm: a reason or a text, in good time, and no other error."""

from __future__ import annotations

import io
import re
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pypdf import PdfReader

from rag.errors import LoadError
from rag.loaders.pdf import load_pdf
from tests.loader_support import LONG, outlined, placed, story, table

TEXT = b"BT /F1 10 Tf 50 700 Td (Hello kiln) Tj ET\n"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
SMALL = outlined(story(LONG, table([["a", "b"], ["c", "d"]], [60, 60])), (1, "A", 0, 400), (2, "B", 0, None))
SECONDS = 30


def stream(data: bytes, entries: bytes = b"", packed: bool = False) -> bytes:
    data = zlib.compress(data, 9) if packed else data
    entries += b" /Filter /FlateDecode" if packed else b""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def pdf(
    content: bytes = TEXT, packed: bool = False, resources: bytes = b"", table_at: int | None = None, **more: bytes
) -> bytes:
    """A PDF of one page with the content; ``o7=`` sets object 7, ``table_at`` where it says that its table is."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> %s >> >>" % resources,
        4: stream(content, packed=packed),
        5: FONT,
        **{int(name[1:]): value for name, value in more.items()},
    }
    target = b"%PDF-1.5\n"
    places = {}
    for number, value in objects.items():
        places[number] = len(target)
        target += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    start = len(target)
    target += b"xref\n0 1\n0000000000 65535 f \n"
    target += b"".join(b"%d 1\n%010d 00000 n \n" % item for item in places.items())
    target += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (max(objects) + 1)
    return target + b"startxref\n%d\n%%%%EOF\n" % (start if table_at is None else table_at)


FORM = b"/Type /XObject /Subtype /Form /Resources << /XObject << /X 6 0 R >> /Font << /F1 5 0 R >> >>"
KIDS = b"<< /Type /Pages /Parent 2 0 R /Kids [%d 0 R] /Count 1 >>"
X = b"/XObject << /X 6 0 R >>"


@pytest.mark.parametrize(
    "data",
    [
        pdf(),
        pdf(table_at=99_999_999),
        pdf().replace(b"/Root 1 0 R", b"/Rood 1 0 R"),
        pdf().replace(b"/Root", b"/Prev %d /Root" % pdf().rfind(b"xref\n0")),
        pdf(TEXT + b"/X Do " * 3, resources=X, o6=stream(b"/X Do " * 9, FORM)),
        pdf(o1=b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Kids [6 0 R] >> >>", o6=b"<< /Kids [6 0 R] >>"),
        pdf(o1=b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /r /St 99999999999 >>] >> >>"),
        pdf(o1=b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", o6=b"<< /First 6 0 R /Next 6 0 R /Title 6 >>"),
        pdf(TEXT + b"9" * 30 + b" 0 0 1 0 0 cm BT /F1 " + b"9" * 40 + b" Tf 1 1 Td (x) Tj ET"),
        pdf(b"q " * 50_000 + TEXT),
        pdf(TEXT + b"".join(b"%d 0 9 9 re f " % number for number in range(20_000)), packed=True),
    ],
    ids=["sound", "no table", "no root", "previous tables in circles", "form in itself", "labels in circles",
         "huge label", "outline in circles", "huge numbers", "states", "boxes"],
)  # fmt: skip
def test_what_can_be_read_of_odd_files_is_read(data: bytes) -> None:
    start = time.perf_counter()
    assert "Hello kiln" in load_pdf(data, "a.pdf").text
    assert time.perf_counter() - start < SECONDS


UNREADABLE = "damaged PDF, 1 of 1 pages could not be read: sheet 1"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(o2=b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>"), "damaged PDF, cannot be opened (PdfReadError)"),
        (
            pdf(o2=KIDS % 6, **{f"o{number}": KIDS % (number + 1) for number in range(6, 3006)}),
            "too many or too deeply nested parts to be read safely; split the PDF",
        ),
        (pdf(b" " * 200_000_000, packed=True), UNREADABLE),
        (pdf(b"BT /F1 9 Tf " + b"(w) Tj " * 70_000, packed=True), UNREADABLE),
        (pdf(b"[" * 100_000), UNREADABLE),
        (pdf(b"/X Do " * 2000, resources=X, o6=stream(TEXT * 100, FORM, packed=True)), UNREADABLE),
        (pdf(o5=b"<< /Type /Font /Subtype /Type0 /DescendantFonts [ 3 ] >>"), UNREADABLE),
        (b"%PDF-1.4\n" + b"obj " * 100_000, "damaged PDF, cannot be opened (PdfStreamError)"),
    ],
    ids=["tree in circles", "deep tree", "bomb", "strings", "arrays", "forms", "font", "no objects"],
)  # fmt: skip
def test_what_cannot_be_read_is_a_reason_in_good_time(data: bytes, reason: str) -> None:
    start = time.perf_counter()
    with pytest.raises(LoadError) as error:
        load_pdf(data, "a.pdf")
    assert error.value.reason == reason
    assert time.perf_counter() - start < SECONDS


def test_a_page_that_paints_without_end_costs_only_its_own_text() -> None:
    kids = b"<< /Type /Pages /Kids [3 0 R 7 0 R] /Count 2 >>"
    sound = b"<< /Type /Page /Parent 2 0 R /Contents 8 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
    data = pdf(b"BT /F1 9 Tf " + b"(w) Tj " * 70_000, packed=True, o2=kids, o7=sound, o8=stream(TEXT))
    content = load_pdf(data, "a.pdf")
    assert content.text == "Hello kiln" and content.notices[0] == "1 of 2 pages could not be read: sheet 1"


def test_a_document_that_paints_without_end_is_read_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag.loaders import pdf_fragments

    monkeypatch.setattr(pdf_fragments, "MAX_OPERATORS", 40)
    content = load_pdf(placed(*[[(50, 400, f"Sheet {number}.")] for number in range(30)]), "a.pdf")
    unread = int(re.match(r"(\d+) of 30 pages could not be read", content.notices[0]).group(1))
    assert 0 < unread < 30 and content.text.count("Sheet") == 30 - unread


TOKENS = (
    b"/Kids /Contents /Dest /Encoding /ToUnicode /Widths << >> [ ] 9999999999 -1 1e40 null 1 2 0 R stream endobj Tj BT"
).split() + [b"", b"\x00", b"(\xff\xfe"]
PLAIN = pdf(TEXT * 3, o1=b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /D >>] >> >>")


@hypothesis_settings(max_examples=150, deadline=None)
@given(
    source=st.sampled_from([SMALL, PLAIN]),
    edits=st.lists(
        st.tuples(st.floats(0, 0.999), st.integers(0, 40), st.one_of(st.sampled_from(TOKENS), st.binary(max_size=6))),
        min_size=1,
        max_size=12,
    ),
)
def test_bytes_changed_anywhere_give_a_text_or_a_reason(source: bytes, edits: list[tuple[float, int, bytes]]) -> None:
    data = bytearray(source)
    for place, dropped, added in edits:
        start = int(place * len(data))
        data[start : start + dropped] = added
    try:
        content = load_pdf(bytes(data), "a.pdf")
    except LoadError as error:
        assert error.reason
        return
    spans = [(one.start, one.end) for one in (*content.sections, *content.pages, *content.blocks)]
    assert all(0 <= start <= end <= len(content.text) for start, end in spans)
    assert [page.number for page in content.pages] == list(range(1, len(content.pages) + 1))
    content.text.encode("utf-8")


def test_what_the_changes_start_from_is_sound() -> None:
    for data in (SMALL, PLAIN):
        assert len(PdfReader(io.BytesIO(data)).pages) == 1 and load_pdf(data, "a.pdf").text
