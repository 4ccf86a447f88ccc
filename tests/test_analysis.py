"""Search terms: the same for passages and questions, codes whole, every language, any script."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rag.analysis import LANGUAGES, analyse, fold
from rag.errors import SettingsError


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("recording", "records"),
        ("Recorded", "RECORDS"),
        ("charging", "charge"),
        ("batteries", "battery"),
        ("tyre's pressure", "tyre pressures"),
        ("the driver’s seat", "the driver's seat"),
        ("naïve café", "naive cafe"),
        ("re-charging", "re charging"),
        ("ﬁtting", "fitting"),
        ("E-31", "E31"),
        ("e-31", "E 31"),
        ("12V", "12 V"),
        ("1,000", "1000"),
        ("1,000,000 km", "1000000 km"),
        ("235/45 R18", "23545 235 45 r18"),
    ],
)
def test_what_a_question_says_meets_what_the_passage_says(asked: str, written: str) -> None:
    assert set(analyse(asked)) & set(analyse(written)), (analyse(asked), analyse(written))
    assert set(analyse(asked)) <= set(analyse(written)) or set(analyse(written)) <= set(analyse(asked))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dog records.", ("dog", "record")),
        ("DRV8825", ("drv8825",)),
        ("E-31", ("e31", "31")),
        ("E 31", ("e", "e31", "31")),
        ("12 V", ("12", "12v", "v")),
        ("12V", ("12v",)),
        ("3.3 V", ("3.3", "3.3v", "v")),
        ("235/45", ("23545", "235", "45")),
        ("1,000 km", ("1000", "1000km", "km")),
        ("1,50", ("1", "50")),
        ("USB-C", ("usb", "c")),
        ("records records", ("record", "record")),
        ("don't stop", ("stop",)),
        ("keys, lights and doors open", ("key", "light", "door", "open")),
        ("file_name.txt", ("file", "name", "txt")),
    ],
)
def test_terms_in_order_with_repeats(text: str, terms: tuple[str, ...]) -> None:
    assert analyse(text) == terms


@pytest.mark.parametrize(
    "text", ["", " \n", "to be or not to be", "who is it?", "???", "\N{AUTOMOBILE}", "What's the", "…", "\u0301"]
)
def test_stop_words_and_marks_alone_give_nothing(text: str) -> None:
    assert analyse(text) == ()


def test_an_emoji_parts_words_and_is_no_term() -> None:
    assert analyse("car\N{AUTOMOBILE}wash") == ("car", "wash")


def test_accents_come_off_latin_letters_only() -> None:
    assert fold("Ünïcödé ÉCOLE ﬁ Ⅳ") == "unicode ecole fi iv"
    assert fold("йод ё") == "йод ё"  # Cyrillic й is a letter, not an accented и
    assert fold("ばガ") == "ばガ"  # the voicing mark makes another sound
    assert analyse("чайник", "russian") != analyse("чаиник", "russian")
    assert analyse("чайники", "russian") == analyse("чайник", "russian")


def test_scripts_without_spaces_give_overlapping_pairs() -> None:
    assert analyse("窯の温度") == ("窯の", "の温", "温度")
    assert analyse("窯") == ("窯",)
    assert analyse("E31の窯") == ("e31", "の窯")
    assert analyse("温度1000度") == ("温度", "1000", "度")
    assert set(analyse("温度")) <= set(analyse("窯の温度を1000度まで上げます"))


def test_stop_words_go_by_language() -> None:
    assert analyse("der Hund und die Katzen", "german") == ("hund", "katz")
    assert analyse("der Hund", "english") == ("der", "hund")
    assert analyse("l'eau et les fleurs", "french")[-1] == analyse("fleur", "french")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_analyses(language: str) -> None:
    terms = analyse("Records 12 V E-31 данные 温度 naïve", language)
    assert {"12v", "e31", "温度"} <= set(terms)
    assert analyse("", language) == ()


def test_an_unknown_language_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(SettingsError, match=r"There is no stemmer for 'klingon'\. Choose one of: arabic, .*english.*"):
        analyse("text", "klingon")


def test_many_threads_and_languages_get_what_one_thread_gets() -> None:
    stems = ("record", "charg", "kil", "glaz", "batteri")
    words = [f"{stem}{ending}" for stem in stems for ending in ("ing", "ed", "es", "s")]
    work = [
        (f"{word} {number}", language)
        for number in range(40)
        for word in words
        for language in ("english", "german", "french")
    ]
    alone = [analyse(*item) for item in work]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda item: analyse(*item), work)) == alone
