"""Other scripts: letters that only look Latin, and names written in Cyrillic, Greek or kana."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache


def unmask(text: str) -> str:
    """Words in which letters of another script pose as Latin ones, in Latin letters.

    A word all of look-alikes is masked too where the text holds no other letter of its script.

    >>> unmask("Рaris"), unmask("Москва")
    ('Paris', 'Москва')
    """
    if text.isascii() or not _POSERS.search(text):
        return text
    posing = all(c in _LOOKS for c in text if _FOREIGN.match(c))

    def mend(match: re.Match[str]) -> str:
        word = match.group()
        mixed = bool(re.search(r"[A-Za-z]", word))
        rest = [c for c in word if _FOREIGN.match(c) and c not in _LOOKS]
        return word.translate(_TABLE) if (mixed or posing) and not rest else word

    return _WORDS.sub(mend, text)


def romanised(text: str) -> str:
    """Letters of other scripts as Latin ones that sound alike; what cannot be read, as it is."""
    return "".join(map(_sound, unicodedata.normalize("NFC", text.lower())))


def foreign(text: str) -> bool:
    """Whether most letters of a text are in a script that `romanised` reads."""
    letters = [c for c in unicodedata.normalize("NFC", text.lower()) if c.isalpha()]
    return bool(letters) and sum(_sound(c) != c for c in letters) > 0.6 * len(letters)


@lru_cache(maxsize=4_000)
def _sound(letter: str) -> str:
    if letter.isascii():
        return letter
    if letter in _LATIN:
        return _LATIN[letter]
    bare = unicodedata.normalize("NFD", letter)[0]
    if bare in _LATIN:
        return _LATIN[bare]
    name = unicodedata.name(letter, "")
    if name.startswith("HANGUL SYLLABLE"):
        return name.split()[-1].lower()
    if not (found := _NAMED.match(name)):
        return letter
    if found[1] is None:
        return ""  # a sign that only mutes or doubles
    # A letter is called by its sound: BAN, BEH, BET and BA all begin with it.
    return (_FIRST.match(found[1].lower()) or _ANY.match(found[1].lower()) or found)[0]


def sounds_like(reference: str, text: str) -> bool:
    """Whether each longer word of a Latin name has one in the text that sounds like it.

    >>> sounds_like("Igor Stravinsky", "Игорь Стравинский")
    True
    """
    if len(text) == 1:
        text = unicodedata.name(text, "").split(" LETTER ")[-1].lower()
    bare = bool(_ABJAD.search(text))
    said = [_skeleton(w, bare=bare) for w in _WORDS.findall(_plain(romanised(text)))]
    wanted = [
        _skeleton(w, bare=bare) for w in _WORDS.findall(_plain(reference.lower())) if len(w) > 2
    ]
    return bool(wanted) and all(
        max((SequenceMatcher(None, want, s).ratio() for s in said), default=0.0) >= 0.78
        for want in wanted
    )


def _plain(text: str) -> str:
    split = unicodedata.normalize("NFKD", text)
    return "".join(c for c in split if not unicodedata.combining(c))


def _skeleton(word: str, *, bare: bool = False) -> str:
    """Consonants that sound alike are one, vowels are rough; `bare` leaves them out."""
    for old, new in _SOUNDS:
        word = word.replace(old, new)
    if bare:
        word = re.sub("[aeiou]", "", word)
    return re.sub(r"(.)\1+", r"\1", word)


_LOOKS = dict(
    zip(
        "АВЕЅІЈКМНОРСТХУаеѕіјорсхуԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυ",
        "ABESIJKMHOPCTXYaesijopcxydqwhABEZHIKMNOPTYXavopu",
        strict=True,
    )
)  # fmt: skip
_TABLE = str.maketrans(_LOOKS)
_POSERS = re.compile("[" + "".join(_LOOKS) + "]")
_FOREIGN = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_WORDS = re.compile(r"[^\W\d_]+")
_ABJAD = re.compile(r"[\u0590-\u06ff]")
_NAMED = re.compile(
    r"(?:ARABIC|HEBREW|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|TAMIL|TELUGU|KANNADA|MALAYALAM|GEORGIAN"
    r"|ARMENIAN)(?: CAPITAL| SMALL)? (?:(?:LETTER|VOWEL SIGN|LIGATURE)(?: FINAL)? (\w+)|SIGN \w+)"
)
_FIRST = re.compile("[bcdfghjklmnpqrstvwxyz]+")
_ANY = re.compile("[aeiou]")
_CYRILLIC = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "yo", "ж": "zh",
    "з": "z", "и": "i",
    "й": "y", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s",
    "т": "t",
    "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "",
    "ы": "y", "ь": "",
    "э": "e", "ю": "yu", "я": "ya", "і": "i", "ї": "yi", "є": "ye", "ґ": "g", "ђ": "dj",
    "ј": "j", "љ": "lj",
    "њ": "nj", "ћ": "c", "џ": "dz",
}  # fmt: skip
_GREEK = {
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i",
    "κ": "k",
    "λ": "l", "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s",
    "τ": "t",
    "υ": "y", "φ": "ph", "χ": "ch", "ψ": "ps", "ω": "o", "ά": "a", "έ": "e", "ή": "i",
    "ί": "i", "ό": "o",
    "ύ": "y", "ώ": "o", "ϊ": "i", "ϋ": "y", "ΐ": "i", "ΰ": "y",
}  # fmt: skip
_KANA = {
    kana: sound
    for row, sounds in (
        ("アイウエオ", "a i u e o"), ("カキクケコ", "ka ki ku ke ko"), ("サシスセソ",
        "sa shi su se so"),
        ("タチツテト", "ta chi tsu te to"), ("ナニヌネノ", "na ni nu ne no"), ("ハヒフヘホ",
        "ha hi fu he ho"),
        ("マミムメモ", "ma mi mu me mo"), ("ヤユヨ", "ya yu yo"), ("ラリルレロ",
        "ra ri ru re ro"),
        ("ワヲン", "wa o n"),
        ("ガギグゲゴ", "ga gi gu ge go"), ("ザジズゼゾ", "za ji zu ze zo"), ("ダヂヅデド",
        "da ji zu de do"),
        ("バビブベボ", "ba bi bu be bo"), ("パピプペポ", "pa pi pu pe po"), ("ャュョ",
        "ya yu yo"),
        ("ァィゥェォ", "a i u e o"), ("ッー", "  "), ("ヴ", "v"),
    )
    for kana, sound in zip(row, sounds.split() or ["", ""], strict=True)
}  # fmt: skip
_LATIN = (
    _CYRILLIC
    | _GREEK
    | _KANA
    | {chr(ord(k) - 0x60): v for k, v in _KANA.items() if "ァ" <= k <= "ン"}
)
_SOUNDS = (
    ("shch", "s"), ("tch", "s"), ("sch", "s"), ("sh", "s"), ("ch", "k"), ("zh", "s"),
    ("kh", "k"), ("th", "t"),
    ("ph", "f"), ("gh", "g"), ("ck", "k"), ("ts", "s"), ("tz", "s"), ("cz", "s"), ("x", "ks"),
    ("c", "k"), ("q", "k"),
    ("z", "s"), ("w", "v"), ("b", "v"), ("l", "r"), ("y", "i"), ("j", "i"), ("e", "i"),
    ("ou", "u"), ("o", "u"),
)  # fmt: skip
