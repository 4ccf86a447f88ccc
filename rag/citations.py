"""``[Source N]`` in an answer: found, bound to the chunk that stood as number N, and checked against its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rag.analysis import analyse
from rag.schema import Chunk, Citation
from rag.sentences import units

# [Source 1], [Sources 1, 2 and 4-6], [Source 2, p. 4; Source 3], 【Source 1】, (Source 1): what models write.
_WORD = r"sources?[\s:#№]*"
_CITATION = re.compile(
    rf"\\?[\[【［]\s*(?:see\s+)?{_WORD}\d[^\[\]【】［］]{{0,300}}[\]】］]"
    rf"|[(（]\s*(?:see\s+)?{_WORD}\d[^()（）\[\]]{{0,300}}[)）]",
    re.IGNORECASE,
)
# Numbers right after the word; pages, titles and whatever else follows them name no source.
_BETWEEN = rf"(?:\s*(?:[,;&/+–—-]|\band\b|\bor\b|\bto\b))+\s*(?:{_WORD})?"
_NUMBER = r"\d+(?!\d|\w|[.:]\d)"
_LIST = re.compile(rf"{_WORD}({_NUMBER}(?:{_BETWEEN}{_NUMBER})*)", re.IGNORECASE)
_RANGE = re.compile(rf"(\d+)\s*(?:[-–—]|to\b)\s*(?:{_WORD})?(\d+)|(\d+)", re.IGNORECASE)
_LEADING = re.compile(r"(?:\[Source \d+\]\s*)+")
MOST_IN_A_RANGE = 20
SUPPORTED_SHARE = 0.5


def label(number: int, chunk: Chunk) -> str:
    """``[Source 2] manual.pdf, "Tyre pressures", pp. 41-42``: how a source is named everywhere."""
    return f"[Source {number}] {place(chunk)}"


def place(chunk: Chunk) -> str:
    """``manual.pdf, "Tyre pressures", pp. 41-42``: document, section, pages or lines, where there are any."""
    parts = [chunk.document]
    if chunk.section:
        parts.append(f'"{" > ".join(chunk.section)}"')
    if chunk.page_start is not None:
        parts.append(pages(chunk))
    if chunk.line_start is not None:
        parts.append(
            f"line {chunk.line_start}"
            if chunk.line_start == chunk.line_end
            else f"lines {chunk.line_start}-{chunk.line_end}"
        )
    return ", ".join(parts)


def pages(chunk: Chunk) -> str:
    """``p. 3`` or ``pp. 41-42`` by the printed numbers, with the sheet where it differs; "" without pages."""
    if chunk.page_start is None:
        return ""
    sheets = _span(str(chunk.page_start), str(chunk.page_end))
    labels = _span(chunk.page_labels[0], chunk.page_labels[-1]) if chunk.page_labels else sheets
    many = chunk.page_end != chunk.page_start
    word = "pp." if many else "p."
    if labels == sheets:
        return f"{word} {sheets}"
    return f"{word} {labels} ({'sheets' if many else 'sheet'} {sheets})"


def numbers(bracket: str) -> list[int]:
    """The source numbers named in one bracket: ``[Sources 1, 3]``, ``[Source 2-3]``; 2 in ``[Source 2, p. 4]``."""
    found: list[int] = []
    for first, last, single in (part for listed in _LIST.findall(bracket) for part in _RANGE.findall(listed)):
        if single:
            found.append(int(single))
        elif int(first) <= int(last) < int(first) + MOST_IN_A_RANGE:
            found += range(int(first), int(last) + 1)
    return list(dict.fromkeys(found))


def bind(text: str, sources: Sequence[Chunk]) -> tuple[str, tuple[Citation, ...], tuple[int, ...]]:
    """The answer with every citation as ``[Source N]``, the citations bound to chunks, and numbers that lead nowhere.

    A number beyond the list is taken out of the text. Numbers count from 1 in the order of ``sources``.
    """
    unknown: list[int] = []

    def rewrite(match: re.Match) -> str:
        named = numbers(match.group())
        unknown.extend(number for number in named if not 1 <= number <= len(sources))
        return " ".join(f"[Source {number}]" for number in named if 1 <= number <= len(sources))

    cleaned = re.sub(r"[ \t]+([.,;:!?])", r"\1", re.sub(r"[ \t]{2,}", " ", _CITATION.sub(rewrite, text))).strip()
    citations = []
    for sentence, cited in cited_sentences(cleaned):
        citations += [Citation(number, sources[number - 1].id, sentence) for number in cited]
    return cleaned, tuple(citations), tuple(dict.fromkeys(unknown))


def cited_sentences(text: str) -> list[tuple[str, list[int]]]:
    """Each sentence that is followed by or holds citations, without its marks, and the numbers it names."""
    found: list[tuple[str, list[int]]] = []
    before, end = "", 0
    for unit in units(text):
        body = unit.text
        marks = _LEADING.match(body)
        follows = before and not (found and found[-1][0] == before) and "\n" not in text[end : unit.start]
        if marks and follows and not body[marks.end() : marks.end() + 1].islower():
            # "Blue. [Source 1] Red.": the mark after a full stop belongs to the sentence it follows.
            found.append((before, _named(marks.group())))
            body = body[marks.end() :]
        words = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(_CITATION.sub("", body).split()))
        if any(character.isalnum() for character in words):
            before = words
        named = _named(body)
        if named and before:
            found.append((before, named))
        end = unit.end
    return found


def _named(text: str) -> list[int]:
    return list(dict.fromkeys(number for match in _CITATION.finditer(text) for number in numbers(match.group())))


def check(
    citations: Sequence[Citation], sources: Sequence[Chunk], language: str, idf: Callable[[str], float]
) -> tuple[Citation, ...]:
    """Each citation with ``supported``: whether the source holds at least half of what the sentence says.

    What it says is the sum of its search terms' idf; every number in it must stand in the source.
    """
    by_number = dict(enumerate(sources, 1))
    checked = []
    for citation in citations:
        source = by_number[citation.number]
        terms = set(analyse(citation.sentence, language))
        held = set(analyse(" ".join((*source.section, source.reading)), language))
        total = sum(idf(term) for term in terms)
        share = sum(idf(term) for term in terms & held) / total if total else 0.0
        lost = sorted(_figures(terms) - _figures(held))
        why = f"the source does not say {', '.join(lost)}" if lost else f"{share:.0%} of its words stand in the source"
        supported = share >= SUPPORTED_SHARE and not lost
        checked.append(Citation(citation.number, citation.chunk_id, citation.sentence, supported, why))
    return tuple(checked)


def _figures(terms: Iterable[str]) -> set[str]:
    """The numbers in search terms, so that 12 V and 12V say the same."""
    return {figure for term in terms for figure in re.findall(r"\d+(?:\.\d+)*", term)}


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first}-{last}"
