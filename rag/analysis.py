"""Text to search terms, the same way for passages and for questions: folded, stop words out, stemmed, codes kept whole.

Weaviate's BM25 does not stem, so passages are indexed under these terms and the server is told to split at blanks only.
Change anything here and ``ANALYZER_VERSION`` in rag/settings.py must go up, so that old indexes are rebuilt.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import snowballstemmer

from rag.errors import SettingsError

# Function words only: a manual's "stop", "open", "keys" and "light" are content.
_STOP_WORDS = {
    "english": """
        a about after again all also am an and any are as at be because been before being both but by can cannot
        could did do does doing during each few for from further had has have having he her here hers herself
        him himself his how i if in into is it its itself just may me might more most must my myself no nor not
        of on once only or other our ours ourselves out over own same shall she should so some such than that
        the their theirs them themselves then there these they this those through to too under until up us very
        was we were what when where which while who whom whose why will with would you your yours yourself
        yourselves
    """,
    "german": """
        aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich
        die dies diese dieser dieses dir doch dort du durch ein eine einem einen einer eines er es euch fur hat
        haben hatte ich ihm ihn ihr ihre im in ist ja kann kein keine man mein mich mir mit muss nach nicht noch
        nur ob oder ohne sein seine sich sie sind so soll uber um und uns unser unter vom von vor wann war warum
        was weil welche welcher wenn wer werden wie wir wird wo zu zum zur
    """,
    "french": """
        a ai as au aux avec avez avons c ce ces cet cette comment d dans de des du elle elles en est et eu il
        ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne nos notre nous on ont ou par pas
        peut pour quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te tes toi
        ton tu un une vos votre vous y
    """,
    "spanish": """
        a al como con cual cuando de del donde el ella ellas ellos en era eres es esta estan estas este esto
        estos fue ha hay he la las le les lo los mas me mi mis muy no nos nosotros o para pero por porque puede
        que quien se ser si sin sobre son su sus te tu tus un una uno y ya yo
    """,
    "italian": """
        a ad agli ai al alla alle anche c che chi ci come con cosa d da dal dalla dei del della delle di dove e
        ed era gli ha hai ho i il in io l la le lei lo loro lui ma mi mio ne nei nel nella noi non o per perche
        piu puo quale quando quello questa questo se si sono su sua suo sul sulla ti tra tu un una uno voi
    """,
    "dutch": """
        aan al als ben bij dan dat de der die dit door een en er had heb hebben heeft het hij hoe hun ik in is
        ja je kan maar me meer men met mij mijn moet naar niet nog nu of om ons ook op over te tot u uit uw van
        voor waar waarom wanneer was wat we wel welke wie wij worden wordt ze zich zij zijn zo zou
    """,
    "portuguese": """
        a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu
        foi ha isso isto ja lhe mais mas me meu minha muito na nao nas nem no nos num o onde os ou para pela
        pelo pode por porque qual quando que quem se sem ser seu seus sua suas tem um uma voce
    """,
}
LANGUAGES = tuple(sorted(snowballstemmer.algorithms()))
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})
# A word, or a code whose parts are joined by - . / _ (E-31, 235/45, 3.3); apostrophes stay inside words.
_TOKEN = re.compile(r"[^\W_]+(?:['][^\W_]+)*(?:[-./_][^\W_]+(?:['][^\W_]+)*)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNSPACED = re.compile(r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")
_LOCAL = threading.local()


def analyse(text: str, language: str = "english") -> tuple[str, ...]:
    """The search terms of ``text`` in order, repeats kept; empty where it holds nothing but stop words and marks.

    Codes are one term however they are punctuated (E-31 and E31; 12 V and 12V). Scripts written without spaces give
    overlapping pairs of characters. Raises SettingsError for a language without a stemmer.
    """
    if language not in LANGUAGES:
        raise SettingsError(f"There is no stemmer for {language!r}. Choose one of: {', '.join(LANGUAGES)}.")
    words = list(_words(_THOUSANDS.sub("", fold(text))))
    stop_words = _stop_words(language)
    terms: list[str] = []
    for position, word in enumerate(words):
        if _UNSPACED.fullmatch(word):
            terms += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif any(character.isdigit() for character in word):
            terms.append(word)
        elif word not in stop_words:
            terms.append(_stem(language, word))
        joined = _joined_code(word, words[position + 1]) if position + 1 < len(words) else None
        if joined:
            terms.append(joined)
    return tuple(terms)


def fold(text: str) -> str:
    """``text`` in lower case, compatibility forms unified, and accents taken off Latin letters only."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES)).casefold()
    kept = []
    base_is_latin = False
    for character in decomposed:
        if unicodedata.combining(character):
            if base_is_latin:
                continue
        else:
            base_is_latin = character < "\u0250"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def _words(folded: str):
    """Words without marks; a hyphenated word in its parts, a code (it has a digit) as one, unspaced script apart."""
    for token in (part for match in _TOKEN.finditer(folded) for part in _UNSPACED.split(match.group())):
        if any(character.isdigit() for character in token):
            whole = re.sub(r"['\-/_]", "", token)
            yield whole
            parts = [part for part in re.split(r"[-/_]", token) if part]
            if len(parts) > 1:
                yield from (part for part in parts if len(part) > 1)
            continue
        for word in re.split(r"[-./_]", token):
            word = word[:-2] if word.endswith("'s") else word.replace("'", "")
            if word:
                yield word


def _joined_code(left: str, right: str) -> str | None:
    """ "12 V" also as 12v, "E 31" also as e31: people leave out the blank."""
    if left.replace(".", "").isdigit() and right.isalpha() and len(right) <= 3 and right.isascii():
        return left + right
    if len(left) == 1 and left.isalpha() and left.isascii() and right.isdigit():
        return left + right
    return None


@lru_cache(maxsize=200_000)
def _stem(language: str, word: str) -> str:
    stemmers = _LOCAL.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = snowballstemmer.stemmer(language)
    return stemmers[language].stemWord(word)


@lru_cache
def _stop_words(language: str) -> frozenset[str]:
    words = _STOP_WORDS.get("english" if language == "porter" else language, "").split()
    # "don't" is read as "dont"; so are the other contractions of function words.
    contractions = """
        dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent hadnt im ive youre
        youve youll hes shes theyre theyve weve thats theres whats
    """
    return frozenset(words + (contractions.split() if language in ("english", "porter") else []))
