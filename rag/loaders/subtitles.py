"""Subtitles (SRT and WebVTT): what is said, joined to turns, with a section for every two minutes or so."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag.loaders.base import Assembly, Content, clean, decode, sections_from
from rag.loaders.text import load_text
from rag.loaders.transcripts import SENTENCE_END, TURN_KIND

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,3}))?"
TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-{{1,2}}>[ \t]*{_TIME}(?:[ \t].*)?")
NOTE = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")
VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>\n]{1,80})>")
# Styling in angle or curly brackets; a sign smaller than something is no tag.
TAG = re.compile(r"</?(?:[a-zA-Z][^<>\n]*|\d[\d:.]*)>|\{\\[^{}\n]*\}")
SPOKEN_BY = re.compile(r"(?:>>[ \t]*)?([A-ZÀ-ÞА-Я][^\s:<>\[\]][^:<>\[\]\n]{0,28}|[A-Z]):[ \t]+(?=\S)")
DASH = re.compile(r"(?:-|–|—|>>)[ \t]*(?=\S)")
SECTION_SECONDS = 120.0
PAUSE_SECONDS = 4.0
LONG_PAUSE_SECONDS = 15.0
TURN_CHARACTERS = 500
MIN_ROLLING = 1 / 3

# When lines are shown, in seconds from and to, and the lines.
Shown = tuple[float, float, list[str]]


@dataclass(frozen=True)
class _Cue:
    """What is shown from ``start`` to ``end`` (seconds), and who says it where that is told."""

    start: float
    end: float
    speaker: str
    text: str
    is_new_turn: bool = False


def load_subtitles(data: bytes, name: str) -> Content:
    """What is said, cue joined to cue, ``Name: ...`` where the speaker is told; sections bear the time they cover.

    A turn ends where another speaks, or at a sentence's end before a pause or after some 500 characters.
    """
    text = decode(data, name)
    shown = list(_cues(text))
    if not shown:
        return load_text(data, name)
    cues = list(_with_speakers(list(_parts(shown))))
    assembly = Assembly()
    sections: list[tuple[int, float, float]] = []
    for turn in _turns(cues):
        said = " ".join(cue.text for cue in turn)
        block = assembly.add(TURN_KIND, f"{turn[0].speaker}: {said}" if turn[0].speaker else said)
        if sections and turn[-1].end - sections[-1][1] <= SECTION_SECONDS:
            sections[-1] = (*sections[-1][:2], max(turn[-1].end, sections[-1][2]))
        else:
            sections.append((block.start, turn[0].start, turn[-1].end))
    marks = [(start, (f"{_clock(first)}-{_clock(last)}",)) for start, first, last in sections]
    text = assembly.text
    return Content(text, sections_from(text, marks), blocks=tuple(assembly.blocks), format="transcript")


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = parts
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{thousandths or 0}")


def _cues(text: str) -> Iterator[Shown]:
    """(start, end, lines) of each cue: the lines from its times to those of the next, without numbers and notes."""
    lines = text.split("\n")
    places = [(number, match) for number, line in enumerate(lines) if (match := TIMES.fullmatch(line))]
    for (number, match), (following, _) in zip(places, [*places[1:], (len(lines), None)]):
        inside = _without_notes(lines[number + 1 : following])
        # The number or name of the next cue stands right above its times, below a blank line.
        last = inside[-1].strip() if inside else ""
        is_name = last.isdecimal() or (len(inside) > 1 and not inside[-2].strip())
        if following < len(lines) and last and is_name:
            inside.pop()
        yield _seconds(match.groups()[:4]), _seconds(match.groups()[4:8]), inside


def _without_notes(lines: list[str]) -> list[str]:
    """The lines without the blocks, from blank line to blank line, that are notes or styles."""
    kept: list[str] = []
    in_note = False
    for number, line in enumerate(lines):
        if not line.strip():
            in_note = False
        elif number and not lines[number - 1].strip() and NOTE.fullmatch(line):
            in_note = True
        if not in_note:
            kept.append(line)
    return kept


def _parts(cues: Sequence[Shown]) -> Iterator[_Cue]:
    """A cue for each part of a cue that one speaker says."""
    for start, end, lines in _rolled_out(cues):
        parts: list[_Cue] = []
        for line in lines:
            voice = VOICE.search(line)
            speaker = _words(voice.group(1)) if voice else ""
            text = _words(line)
            dash = DASH.match(text)
            text = text[dash.end() :] if dash else text
            if dash or voice or not parts:
                parts.append(_Cue(start, end, speaker, text, bool(dash)))
            elif text:
                parts[-1] = replace(parts[-1], text=f"{parts[-1].text} {text}".strip())
        yield from (part for part in parts if part.text)


def _words(line: str) -> str:
    """A line without its tags, on single blanks."""
    return " ".join(clean(html.unescape(TAG.sub("", VOICE.sub("", line)))).split())


def _rolled_out(cues: Sequence[Shown]) -> Sequence[Shown]:
    """The cues without the lines they show again, where captions roll: many begin with what the last one ended with."""
    shown = [[line for line in lines if _words(line)] for _, _, lines in cues]
    plain = [[_words(line) for line in lines] for lines in shown]
    again = [0, *(_overlap(before, lines) for before, lines in zip(plain, plain[1:]))]
    if sum(map(bool, again)) < len(cues) * MIN_ROLLING:
        return [(start, end, lines) for (start, end, _), lines in zip(cues, shown)]
    return [(start, end, lines[count:]) for (start, end, _), lines, count in zip(cues, shown, again)]


def _overlap(before: list[str], lines: list[str]) -> int:
    """With how many of the last lines the next ones begin."""
    sizes = range(min(len(before), len(lines)), 0, -1)
    return next((size for size in sizes if before[-size:] == lines[:size]), 0)


def _with_speakers(cues: Sequence[_Cue]) -> Iterator[_Cue]:
    """The cues with the names that stand before what is said, where they come back and so are names."""
    named = [(cue, None if cue.speaker else SPOKEN_BY.match(cue.text)) for cue in cues]
    names = Counter(match.group(1) for _, match in named if match)
    for cue, match in named:
        if match and names[match.group(1)] > 1:
            yield replace(cue, speaker=match.group(1), text=cue.text[match.end() :])
        else:
            yield cue


def _turns(cues: Sequence[_Cue]) -> Iterator[list[_Cue]]:
    """The cues turn by turn, the first of each with its speaker; a name counts until another speaks."""
    turn: list[_Cue] = []
    speaker = ""
    for cue in cues:
        if turn and (_is_another(cue, speaker) or _is_over(turn, cue.start)):
            yield [replace(turn[0], speaker=speaker), *turn[1:]]
            turn = []
            if _is_another(cue, speaker):
                speaker = cue.speaker
        turn.append(cue)
        speaker = speaker or cue.speaker
    if turn:
        yield [replace(turn[0], speaker=speaker), *turn[1:]]


def _is_another(cue: _Cue, speaker: str) -> bool:
    return cue.speaker != speaker if cue.speaker else cue.is_new_turn


def _is_over(turn: Sequence[_Cue], next_start: float) -> bool:
    """Whether a turn ends before what is said at ``next_start`` although the same person may go on."""
    pause = next_start - turn[-1].end
    length = sum(len(cue.text) + 1 for cue in turn)
    if SENTENCE_END.search(turn[-1].text):
        return pause >= PAUSE_SECONDS or length >= TURN_CHARACTERS
    # Captions without full stops have no ends but these.
    return pause >= LONG_PAUSE_SECONDS or length >= 2 * TURN_CHARACTERS
