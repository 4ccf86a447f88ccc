"""PDF."""

from rag.loaders.base import Content


def load_pdf(data: bytes, name: str) -> Content:
    """Stub."""
    import io, pypdf
    text = "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
    return Content(text)
