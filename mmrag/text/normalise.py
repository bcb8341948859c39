"""One normal form of text for all judging, and the recognition of replies that give no answer.

Everything here is a pure function of strings, bounded in its input and linear in time, because a
reply is untrusted: it may be empty, enormous, full of markup, or written to mislead.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

from mmrag.text.markup import unwrapped
from mmrag.text.refusal_patterns import ENGLISH, FOREIGN, FOREIGN_BUT, MORE
from mmrag.text.transliteration import unmask

MAX_CHARS = 4_000
"""Longer replies are judged on their beginning: CRAG-MM cuts at 75 tokens, about 400 characters."""

_MOST_QUOTED = 60
"""Most characters of a refusal that a reason repeats."""


def official_missing(reply: str, protocol: str = "kddcup25") -> bool:
    """Whether a public CRAG-MM kit calls this reply missing: its substring rule, literally.

    A reply that goes on to answer is missing all the same. The 2025 kit knows neither the curly
    apostrophe nor "I do not know"; the 2026 kit (`crag-mm`) knows both, for it drops everything but
    a-z, digits and spaces first. `is_missing` is the strict reading.

    >>> official_missing("I don’t know."), official_missing("I don’t know.", "crag-mm")
    (False, True)
    """
    lowered = reply.lower()
    if protocol == "kddcup25":
        return "i don't know" in lowered
    bare = "".join(c for c in lowered if c.isspace() or (c.isascii() and c.isalnum()))
    return "i dont know" in bare or "i do not know" in bare


def official_exact(reply: str, reference: str) -> bool:
    """Whether both public CRAG-MM kits call this reply an exact match."""
    return reply.strip().lower() == reference.strip().lower()


def is_missing(reply: str) -> bool:
    """Whether a reply gives no answer under `strict`: see `missing_reason`."""
    return missing_reason(reply) is not None


def missing_reason(reply: str) -> str | None:
    """Why a reply counts as missing, or None if it answers: `empty`, or `refusal` or
    `clarification` with the words that say so.

    A reply that declines *and then* answers is an answer: "I don't know, but it is 4".

    >>> missing_reason("Sorry, no idea."), missing_reason("I don’t know, but it is 4")
    ('refusal: "no idea"', None)
    """
    return missing_in(plain(reply))


def missing_in(text: str) -> str | None:
    """`missing_reason` of text that `plain` has cleaned."""
    if not re.search(r"[^\W_]", text):
        # A lone symbol may be an answer ("π" is a letter, "+" is not): only blanks are missing.
        return "empty" if not re.search(r"[^\s\W]|[+=<>%$€£]", text) else None
    bare = text.strip(" .!?,;:-\"'()[]")
    if len(bare) < 80 and (match := _BARE.fullmatch(bare)):
        return _quoting("refusal", match)
    if (
        len(text) < 200
        and not ENGLISH.search(text)
        and (match := FOREIGN.search(text))
        and not FOREIGN_BUT.search(text)
    ):
        return _quoting("refusal", match)
    lowered = text.lower()
    if not any(cue in lowered for cue in _CUES):
        return None
    text = _untitled(text)
    if not (_refuses(text) or _CLARIFY.search(text)):
        return None
    found: str | None = None
    for clause in _clauses(text):
        if match := _refuses(clause):
            found = _quoting("refusal", match)
        elif match := _CLARIFY.search(clause):
            found = found or _quoting("clarification", match)
        elif found is None and _PREAMBLE.fullmatch(clause):
            continue
        elif not _IDLE.search(clause):
            return None
    return found


def declines(text: str) -> bool:
    """Whether a cleaned reply that is known to be wrong declines rather than asserts.

    It ends on not knowing, or it declines somewhere and offers nothing of its own: no name, no
    number, no guess. Reasons for not knowing are no answer.

    >>> declines("It was not Walmart. I don't recall who it was.")
    True
    >>> declines("I couldn't count them, but say 20."), declines("I'm not sure. Blue.")
    (False, False)
    """
    parts = _clauses(text[:MAX_CHARS])
    if not parts:
        return False
    refused = [bool(_refuses(part) or _CLARIFY.search(part)) for part in parts]
    if refused[-1] and _FIRST_PERSON.search(parts[-1]) and len(text) < 250:
        return True
    return any(refused) and not any(
        _OFFER.search(part) or _NAMED.search(part) or _SHORT_OFFER.fullmatch(part)
        for part, said in zip(parts, refused, strict=True)
        if not said
    )


def _refuses(text: str) -> re.Match[str] | None:
    return _REFUSE.search(text) or MORE.search(text)


def _quoting(why: str, match: re.Match[str]) -> str:
    return f'{why}: "{" ".join(match[0][:_MOST_QUOTED].split())}"'


def is_exact(prediction: str, references: Sequence[str]) -> bool:
    """Equal to a reference after normalisation; two texts without any word never are."""
    said = normalise(prediction)
    return bool(said) and any(
        said == normalise(reference) and same_signs(prediction, reference)
        for reference in references
    )


def same_signs(first: str, second: str) -> bool:
    """False when both carry a sign of money or percent, not the same, or one a minus: 5, −5."""
    one, two = set(first) & _SIGNS, set(second) & _SIGNS
    if bool(_BELOW_ZERO.match(first)) != bool(_BELOW_ZERO.match(second)):
        return False
    return not (one and two) or bool(one & two)


def normalise(text: str) -> str:
    """Lower case without accents, punctuation, articles or extra space (SQuAD's form, widened).

    >>> normalise("The  “Café”, at Zürich!")
    'cafe at zurich'
    """
    return " ".join(words(text))


def words(text: str, *, is_plain: bool = False) -> list[str]:
    """The words of the normal form, articles left out unless nothing else is there."""
    found = tokens(text if is_plain else plain(text))
    return [word for word in found if word not in _ARTICLES] or found


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers of text that `plain` has cleaned. `1,000` and `3.5` stay one."""
    flat = fold(text)
    flat = THOUSANDS.sub("", flat)
    flat = _POSSESSIVE.sub("", flat)
    flat = _INITIALS.sub(lambda match: match.group().replace(".", ""), flat)
    return _TOKEN.findall(flat)


def fold(text: str) -> str:
    """Lower case, accents removed, letters that only look special made plain."""
    return fold_case(text).lower()


def fold_case(text: str) -> str:
    """The same with capitals kept."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", text)
    marks = {ord(c): None for c in set(split) if unicodedata.combining(c)}
    return split.translate(marks).translate(_LETTERS)


def plain(text: str) -> str:
    """Text as a reader sees it: no markup, citations, invisible characters or typographic quotes.
    Cut at `MAX_CHARS`, so that an enormous reply costs no more than a long one."""
    text = unwrapped(text[: 2 * MAX_CHARS])
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        # Twice: compatibility forms turn into quotes, and an acute accent must not become a space.
        text = unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY)
        seen = set(text) - {"\n", "\t"}
        text = text.translate({ord(c): None for c in seen if unicodedata.category(c)[0] == "C"})
        text = unmask(text)
    if "<" in text:
        text = _SCRIPT.sub(" ", text)
        text = _TAG.sub(" ", text)
    if "[" in text:
        text = _CITATION.sub(" ", text)
        text = _LINK.sub(r"\1", text)
    if _MARKED.search(text):
        text = _EMPHASIS.sub("", text)
    return _SPACE.sub(" ", text)[:MAX_CHARS].strip()


def sentences(text: str) -> list[str]:
    """Sentences of plain text. Abbreviations and initials do not end one."""
    body = text.rstrip(" .!?")
    if not any(sign in body for sign in ".!?;\n。"):  # one sentence, most often
        return [text.strip()] if text and not text.isspace() else []
    return [part for part in (s.strip() for s in _SENTENCE_END.split(text)) if part]


_OFFER = re.compile(
    r"(?i)\d|\b(?:it|he|she|that|this|they)(?:'s|'re|\s+(?:is|was|are|were))\b|\b(?:guess|say|perhaps"
    r"|maybe|probably|possibly|might|could\s+be|looks?\s+like|i'd|i\s+would|i\s+think|seems?"
    r"|answer|one|two|three|four|five|six|seven|eight|nine|ten|true|yes|no)\b"
)
_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z]\w+")
_SHORT_OFFER = re.compile(
    r"(?i)\W*(?!\W*(?:sorry|unfortunately|alas|apolog\w+|thanks?|please|hmm*|well|oops|oh|no|yes|ok(?:ay)?"
    r"|nothing|unclear|unknown|unsure|none|n/?a|try|ask|check|again|it|this|that|there|why|what)\b)"
    r"[^\W\d_]+(?:\s+[^\W\d_]+){0,1}\W*"
)
"""One or two words by themselves: an answer, unless they are courtesies."""
_FIRST_PERSON = re.compile(r"(?i)\b(?:i|me|you)\b|\bi'")
_SIGNS = frozenset("$€£¥₹%")
_BELOW_ZERO = re.compile(r"\s*[-−–]\s?[$€£]?\d")
_ARTICLES = frozenset({"a", "an", "the"})
_PLAIN_LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss",
}  # fmt: skip
_LETTERS = str.maketrans(
    _PLAIN_LETTERS | {k.upper(): v.capitalize() for k, v in _PLAIN_LETTERS.items() if k not in "ıß"}
)
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼʹ`´＇ʻꞌ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        "…": "...",
        "\u00a0": " ",
    }
)
_TOKEN = re.compile(r"\d+\.\d+|[^\W_]+")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""The commas of 12,345; the reader of numbers drops them too."""
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|'(?=\w{1,2}\b)|(?<=\bo)'|'")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_SCRIPT = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|$)")
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")
_CITATION = re.compile(r"\[\^?(?:cite_)?\d{1,3}\^?\](?:\[\d{1,3}\])?")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_MARKED = re.compile(r"[*_`#>]")
_EMPHASIS = re.compile(
    r"\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|`{1,3}|^#{1,6} |^> ?", re.M
)
_SPACE = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|St|Jr|Sr|Ms|vs|No)\.)(?<!\b(?:Mrs|etc|Gen|Rev|Inc|Ltd|Col)\.)"
    r"[\"')\]]*\s+(?=[\"'(\[]*\w)|\n+"
    # Chinese ends without a blank, its signs as they are or made plain
    r"|(?<=。)(?![”’」』\"'）)])|(?<=[\u3400-\u9fff][!?])(?![\"')])|(?<=[。!?][”’」』\"])(?=[\u3400-\u9fff])"
)

_CUES = (
    "n't", "dont ", "doesnt ", "didnt ", "couldnt ", "cant ", "wasnt ", "isnt ", "havent ",
    "wouldnt ", "not ", "not\n", "can t", "sorry", "unable", "unclear", "unknown",
    "unsure", "uncertain", "unaware", "cannot", " no ", "idea", "insufficient", "rather",
    "decline", "you ", "need", "please", "more ", "additional", "further", "require",
    "unavailable", "impossible", "n t ", "n' t", "n 't", "available", "refuse", "to pass",
    "ll pass", "mystery", "guess", "leave", "too ", "look", "view", "nobody", "hard to",
    "before i can", "only know",
)  # fmt: skip
"""One of these stands in every reply that `_REFUSE` or `_CLARIFY` matches."""

_NOT = (
    r"(?:(?:do|does|did|could|can|was|were|am|are|is|have|has|would|will)(?:\s*n\s*'?\s*t|\s+not)"
    r"|can\s*not|can\s*'?\s*t|could\s*nt|unable\s+to|not\s+able\s+to)"
)
_REFUSE = re.compile(
    rf"""(?ix)\b(?:
      i\s*,?\s*(?:really\s+|honestly\s+|simply\s+|just\s+|truly\s+)*(?:do\s*n\s*'?\s*t|do\s+not)
        \s+(?:really\s+|actually\s+|currently\s+|yet\s+)*(?:know|recall|remember|understand|have)\b
    | i\s*(?:'m|\s+am|m)\s+(?:\w+\s+){{0,2}}?(?:not\s+(?:\w+\s+)?
        (?:sure|certain|aware|familiar|able)|unsure|uncertain|unable|unaware)
    | i\s+(?:\w+\s+){{0,2}}?{_NOT}\s+(?:\w+\s+){{0,2}}?(?:find|tell|determine|answer|identify|say
        |provide|help|assist|see|locate|confirm|verify|access|give|recognize|recognise|make\s+out
        |read|figure|comply|discuss|share|be\s+sure|predict|recall)
    | (?:we|it)\s+(?:is\s+|are\s+|was\s+)?(?:{_NOT}\s+(?:know|known|possible|clear|stated|specified
        |mentioned|provided|be\s+determined)|unclear|unknown|impossible\s+to)
    | i\s+have\s+no\s+(?:\w+\s+)?(?:idea|clue|information|knowledge|data|record|way)
    | (?:there\s+is|there's|there\s+was|there\s+are)\s+no\s+(?:\w+\s+){{0,3}}?(?:information|answer
        |data|evidence|record|mention|way\s+to)
    | i\s+(?:could|can)\s+find\s+no\b | i\s+found\s+no\b | no\s+idea\b
    | (?:this|that|the\s+(?:answer|question|information|image|picture|context|text|page))\s+
        (?:\w+\s+){{0,3}}?(?:is|are|was|does|do|cannot|can't|can)\s*(?:n't\s+)?(?:not\s+)?
        (?:currently\s+|publicly\s+|readily\s+)?(?:unknown|unclear|unavailable|not\s+available|available|visible|legible|readable
        |not\s+provided|provided|specified|specify|mention|mentioned|say|contain|be\s+determined
        |be\s+answered|enough)\b
    | (?:insufficient|not\s+enough)\s+(?:information|context|data|evidence)
    | i\s*(?:'d|\s+would)\s+rather\s+not | i\s+(?:must|have\s+to)\s+decline | i\s+decline
    | {_NOT}\s+be\s+(?:determined|answered|identified)
    )"""
)
_CLARIFY = re.compile(
    r"""(?ix)(?:
      \b(?:could|can|would|will)\s+you\s+(?:please\s+)?(?:be\s+more\s+specific|clarify|specify
        |provide|tell\s+me|give\s+me|share|rephrase|repeat|let\s+me\s+know|explain|describe|point
        |show|elaborate|confirm|take|upload|retake|move|hold|zoom)
    | \bplease\s+(?:\w+\s+)?(?:clarify|specify|provide|rephrase|give\s+me|let\s+me\s+know|be\s+more
        |share|tell\s+me|repeat|elaborate|upload|retake|move|hold|zoom|take\s+another|show\s+me)
    | \b(?:which|what)\s+(?:\w+\s+){0,4}(?:do|did|are)\s+you\s+(?:mean|refer|referring|talking
        |asking|looking|interested)
    | \bdo\s+you\s+mean\b | \bdid\s+you\s+mean\b | \bare\s+you\s+(?:asking|referring|talking)\b
    | \bwhat\s+do\s+you\s+mean\b
    | \byou\s+(?:would|will|'d|'ll)?\s*(?:need|have)\s+to\s+(?:specify|provide|clarify|check
        |consult)
    | \bi\s*(?:'d|'ll|\s+would|\s+will)?\s*(?:need|require)\s+(?:\w+\s+){0,2}?(?:information|context
        |details|detail|clarification|specifics)
    | \b(?:more|additional|further)\s+(?:context|information|details|specifics)\s+
        (?:is|are|would\s+be|will\s+be)\s+(?:needed|required|necessary|helpful)
    )"""
)
_BARE = re.compile(
    r"""(?ix)(?:idk|dunno|i\s+dunno|don'?t\s+know|do\s+not\s+know|dont\s+know|unknown|unsure|not\s+sure
    |no\s+(?:answer|idea|information|response|comment|clue|data)(?:\s+(?:available|found|provided))?
    |n/?a|none\s+found|cannot\s+answer|can'?t\s+(?:say|tell|answer)|not\s+(?:known|available|specified
    |mentioned|provided|applicable)|unanswerable|pass|null|nan|no\s+comment|who\s+knows|beats\s+me
    |sorry|i'?m\s+sorry|i\s+am\s+sorry|my\s+apologies|apologies)"""
)
_PREAMBLE = re.compile(
    r"(?is)[\W_]*(?:(?:(?:(?:i'?)?m|i\s+am|we\s+are|we're)\s+)?(?:so\s+|very\s+|really\s+)*(?:sorry|afraid"
    r"|apologi[sz]e)(?:\s+(?:that|for\s+.{0,60}))?|my\s+apologies|apologies|unfortunately|as\s+an?\s+"
    r"(?:large\s+)?(?:ai|artificial|language|assistant).{0,60}|hmm+|well|hi|hello|oh|sure|okay|ok"
    r"|regrettably|good\s+question|that'?s\s+an?\s+\w+\s+question)[\W_]*"
)
_IDLE = re.compile(
    r"""(?ix)(?:
      ^\W*(?:you\s+(?:can|could|may|might|should|will|would|'ll|'d)|try\b|check\b|consult\b|contact\b
        |feel\s+free|let\s+me\s+know|if\s+you\b|perhaps\s+you|maybe\s+you|i\s+(?:recommend|suggest|would(?!\s+(?:say|guess|go|bet))
        |'d|hope|can\s+(?:try|help)|apologi[sz]e|would\s+recommend|'d\s+recommend)|i'd\b(?!\s+(?:say|guess|go|bet))|i'm\s+(?:sorry|afraid
        |happy)|it\s+(?:is|would\s+be|may\s+be|might\s+be)\s+(?:best|recommended|advisable|better)
        |i'll\b|thank|sorry|is\s+there\s+any|can\s+i\s+help|how\s+can\s+i|anything\s+else|which\s+one
        |please\b|as\s+an?\s+(?:ai|large|language)|my\s+(?:knowledge|training)|would\s+you\s+like)
    | \b(?:there\s+are|there're)\s+(?:many|several|multiple|various|different|a\s+few)\b.*
    | \b(?:has|have)\s+multiple\s+(?:meanings|versions)\b
    | ^\W*(?:that|which|this)\s+(?:question|one|answer|information)\W*$
    | ^\W*(?:answer|result|final\s+answer|response|note|verdict|judgement|judgment|score|correct
        |true|incorrect)\W*(?:correct|is\s+correct|perfect|accepted|true|right|incorrect)?\W*$
    )"""
)
_QUOTED = re.compile(r'"[^"\n]{1,120}"')
_TITLE = re.compile(
    r"\bI (?:Don't|Do Not|Can't) (?:[A-Z][\w']*(?: to| the| of| a)? )+(?=(?:is|was|by|from)\b)"
)
_TURN = re.compile(
    r"(?i)(?:[,;:]|\.\.\.|\s-+\s|\s)\s*\b(?:but|however|although|though|yet|still|nevertheless|anyway"
    r"|that\s+said|so\s+my\s+(?:best\s+)?guess)\b[,:]?\s+|\s-+\s|\.\.\.\s*|(?<=\w):\s+"
)


def _untitled(text: str) -> str:
    """Text in which a title such as "I Don't Know How to Love Him" cannot look like a refusal."""
    bare = _QUOTED.sub('""', text)
    if re.search(r"\w{2}", bare):
        text = bare
    return _TITLE.sub('""', text)


def _clauses(text: str) -> list[str]:
    """Sentences cut where a refusal may turn into an answer ("…, but …")."""
    parts = (c.strip(" ,;:-.") for s in sentences(text) for c in _TURN.split(s))
    return [part for part in parts if re.search(r"\w", part)]
