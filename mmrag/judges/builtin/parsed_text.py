"""A text taken apart once: words in canonical form, sentences, capitals, numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache, reduce
from itertools import compress
from operator import itemgetter, or_

from mmrag.text.lexicon import NEGATIONS, STOPWORDS, phrases, stem, word_set
from mmrag.text.normalise import THOUSANDS, fold_case, plain, sentences
from mmrag.text.numbers import CANONICAL, COUNTS, MONTHS, Date, Quantity, dates, quantities

MAX_TOKENS = 700
"""Tokens of a text that are looked at."""


class Parsed:
    """A text as the judge sees it. `words` holds canonical forms; articles and symbols are out."""

    def __init__(self, text: str, *, is_plain: bool = False) -> None:
        self.raw = text if is_plain else plain(text)
        """The text before spelling is mended; it still has its apostrophes and accents."""
        self.text = _mend(fold_case(self.raw))
        forms: list[_Form] = []
        kept: list[_Form] = []
        self.sentence: list[int] = []
        """The sentence of each word."""
        for number, sentence in enumerate(sentences(self.text)):
            if ". " in sentence or sentence.count(".") > 1:
                sentence = _INITIALS.sub(lambda m: re.sub(r"[. ]", "", m[0]) + " ", sentence)
            forms += (found := [_FORMS[raw] for raw in _TOKEN.findall(sentence)])
            kept += (words := [*filter(_WORD_OF, found)])
            self.sentence += [number] * len(words)
            if len(forms) > MAX_TOKENS:
                break
        self.tokens = [*map(_TOKEN_OF, forms)]
        self.cues = reduce(or_, set(map(_CUES_OF, forms)), 0)
        """The kinds of telling words that stand there: see `Cue`."""
        self.quantities: list[Quantity] = []
        """Numbers and measures."""
        if self.cues & Cue.NUMBER:
            self.quantities = quantities(self.tokens)
        self.words = [*map(_WORD_OF, kept)]
        self.roots = [*map(_ROOT_OF, kept)]
        """The stem of each word."""
        self.capital = [*map(_CAPITAL_OF, kept)]
        self.compact = "".join(self.words)
        """The words run together, so that spacing and hyphens do not matter."""
        self.vocabulary = frozenset(self.words)
        """All words."""
        self.places = [*compress(range(len(kept)), map(_TOLD_OF, kept))]
        """Where the words stand that are not function words."""

    @cached_property
    def stems(self) -> dict[str, int]:
        """Stem → first position."""
        last = len(self.roots) - 1
        return {root: last - back for back, root in enumerate(reversed(self.roots))}

    @cached_property
    def marks(self) -> int:
        """How many signs and words may set apart the members of a list."""
        found = sum(map(self.raw.count, ",;|\n/:•*?&")) + self.raw.count(" - ")
        found += self.words.count("and") + self.words.count("or")
        return found + len(self.quantities)

    def share_of(self, runs: Collection[str]) -> float:
        """The share of the runs of letters that stand near the beginning."""
        head = self.compact[:600]
        return sum([run in head for run in runs]) / len(runs)

    @cached_property
    def long_words(self) -> dict[str, int]:
        """Words of four letters and more near the beginning → where they first stand."""
        return {w: i for i, w in reversed([*enumerate(self.words[:150])]) if len(w) > 3}

    @cached_property
    def offsets(self) -> dict[int, int]:
        """Offset in `compact` → index of the word that begins there (the end included)."""
        found: dict[int, int] = {}
        total = 0
        for index, word in enumerate(self.words):
            found[total] = index
            total += len(word)
        found[total] = len(self.words)
        return found

    @cached_property
    def dates(self) -> list[Date]:
        """Dates and years."""
        return dates(self.tokens) if self.cues & (Cue.NUMBER | Cue.MONTH) else []

    @cached_property
    def content(self) -> list[str]:
        """The words that are not function words; all of them where there are no others."""
        return [self.words[i] for i in self.places] or self.words

    def holds(self, compact: str) -> bool:
        """Whether the words stand there; long ones may be part of another ("gannets")."""
        return compact in self.compact and (
            len(compact) >= 7 or next(self.occurrences(compact), None) is not None
        )

    def occurrences(self, compact: str) -> Iterator[tuple[int, int]]:
        """Word spans whose letters are exactly `compact`."""
        at = self.compact.find(compact) if compact else -1
        while at >= 0:
            start, end = self.offsets.get(at), self.offsets.get(at + len(compact))
            if start is not None and end is not None:
                yield start, end
            at = self.compact.find(compact, at + 1)


@lru_cache(maxsize=500)
def parse_short(text: str) -> Parsed:
    """A question or reference, remembered: many predictions are judged against the same ones."""
    return Parsed(text)


class Cue:
    """Kinds of telling words, as bits: what a text lacks need not be searched for."""

    CONTRAST = 1
    """Denies, mentions or compares: "not", "many", "unlike"."""
    CORRECTION = 2
    """May take something back: "actually", "no", "sorry"."""
    ORDER = 4
    """Speaks of judging: "score", "reference"."""
    OR = 8
    HEDGE = 16
    NEGATION = 32
    NUMBER = 64
    MONTH = 128
    REFUSAL = 256
    """May decline to answer: "not", "unable", "please"."""


_Form = tuple[str, str, str, bool, bool, int]


class _Forms(dict[str, _Form]):
    """Token as written → in lower case, as a word (none for articles and signs), its stem, whether
    it has a capital, whether it is more than a function word, its cues."""

    def __missing__(self, raw: str) -> _Form:
        token = raw.lower()
        word = "" if token in _SKIPPED else CANONICAL.get(token, token)
        cues = _CUE_OF.get(token, 0)
        if word[:1].isdecimal() or word in COUNTS:
            cues |= Cue.NUMBER
        if token.startswith(("mis", "hmm")):
            cues |= Cue.CORRECTION
        if token.startswith(("evaluat", "accept")):
            cues |= Cue.ORDER
        form = (token, word, stem(word), raw[0].isupper(), word not in STOPWORDS, cues)
        if len(self) < _MAX_FORMS:
            self[raw] = form
        return form


_FORMS = _Forms()
_TOKEN_OF, _WORD_OF, _ROOT_OF, _CAPITAL_OF, _TOLD_OF, _CUES_OF = map(itemgetter, range(6))
_MAX_FORMS = 200_000
_CUE_WORDS = (
    (Cue.CONTRAST, word_set("""
        i you thought guessed assumed believed believe think assume confuse mistake missing lack
        lacks not never neither nor no nope cannot hardly wrong incorrect false untrue rather
        instead unlike like while although though whereas often commonly frequently sometimes
        popularly easily mistakenly wrongly belief misconception confused mistaken ruled ruling deny
        denied tempting contrary despite anything anyone anybody everything rumour rumor mixed
        nothing longer compared natural competes doubt far except similar tried used out isnt wasnt
        dont doesnt didnt wont cant couldnt wouldnt shouldnt havent hasnt hadnt arent werent aint
    """)),
    (Cue.CORRECTION, word_set("""
        hm uh um er erm counting checking looking thinking no nope wrong incorrect wait scratch
        strike scrap cancel correction mean meant sorry oops actually rather edit hold hang forget
        reflection inspection reconsideration thought thoughts check checked recount mind retract
        withdraw think ah make upside backwards mixed confused change changed mistake mistaken
        swapped let
    """)),
    (Cue.ORDER, word_set("""
        judge judges grader grading verdict outcome score mark grade graded rating instruction
        instructions rubric system prompt correct perfect ignore disregard reference references
        truth
    """)),
    (Cue.REFUSAL, word_set("""
        not no none nobody cannot n t nt dont doesnt didnt couldnt cant wasnt isnt havent hasnt
        wouldnt wont arent unable unclear unknown unsure uncertain unaware sorry afraid idea
        insufficient rather decline you please need needed more additional further require
        unavailable impossible refuse pass mystery guess leave too look view hard difficult know
        knows idk dunno null nan unanswerable apologies beats n/a only available
    """)),
    (Cue.OR, word_set("or xor versus")),
    (Cue.NEGATION, NEGATIONS),
    (Cue.MONTH, frozenset(MONTHS)),
    (Cue.HEDGE, word_set("""
        perhaps maybe might may could possibly possible probably alternatively again conceivably
        equally either likely rule depending candidate candidates
    """)),
)  # fmt: skip
_CUE_OF: dict[str, int] = {}
for _bit, _words in _CUE_WORDS:
    for _word in _words:
        _CUE_OF[_word] = _CUE_OF.get(_word, 0) | _bit
_SKIPPED = frozenset({"a", "an", "the", "$", "€", "£", "¥", "₹", "%", "°"})
_GLUED = re.compile(r"(?<=[a-z]{2})([A-Z])(?=[a-z])")
_LONG_NUMBER = re.compile(r"\d[\d,]\d{3}")
_YEAR_CITED = re.compile(r"(?<![\d.,])((?:1[5-9]|20)\d\d)\d{1,2}(?=[.,;)]?(?:\s|$))")
_THOUSANDS_CITED = re.compile(r"((?<!\d)\d{1,3}(?:,\d{3})+)\d{1,2}(?!\d)")
_POINT_APART = re.compile(r"(?<=[^\n][ ($£€¥₹/-])(\d{1,3}(?:,\d{3})*)\. (?=\d)")
_AND_A_HALF = phrases(
    r"\b(?:an? )?(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[-\s])?(\w+) and a half"
    r"\b"
)
_POINT_ZERO = re.compile(r"(?<=\d)\.0+(?![\d.])")
_APOSTROPHE = re.compile(r"'s\b|(?<=\w)'(?=\w)")
_INITIALS = re.compile(r"\b(?:[A-Za-z]\. ?){2,}(?=\W|$|[A-Za-z])")
_TOKEN = re.compile(r"\d+\.\d+|\d+|[^\W\d_]+|[$€£¥₹%°]")


def _mend(text: str) -> str:
    """Undo what search assistants glue and cut: "byNorah Jones1", "in 20121", "4. 22 seconds"."""
    if "'" in text:
        text = _APOSTROPHE.sub("", text)
    text = _GLUED.sub(r" \1", text)
    if " and a half" in text:
        text = _AND_A_HALF.sub(_halved, text)
    if ". " in text:
        text = _POINT_APART.sub(r"\1.", text)
    if _LONG_NUMBER.search(text):
        text = _YEAR_CITED.sub(r"\1", text)
        text = _THOUSANDS_CITED.sub(r"\1", text)
        text = THOUSANDS.sub("", text)
    return _POINT_ZERO.sub("", text) if ".0" in text else text


def _halved(match: re.Match[str]) -> str:
    tens, ones = (CANONICAL.get(word.lower(), word) for word in (match[1] or "0", match[2]))
    if not (tens.isdigit() and ones.isdigit()):
        return match.group()
    return "18" if ones == "12" else f"{int(tens) + int(ones)}.5"
