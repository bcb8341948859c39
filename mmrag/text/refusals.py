"""The recognition of replies that give no answer: in English, and in other languages.

As in `normalise.py`, everything is a pure function of strings and linear in time.
"""

from __future__ import annotations

import re

from mmrag.text.normalise import MAX_CHARS, plain, sentences

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
    return _REFUSE.search(text) or RARER.search(text)


def _quoting(why: str, match: re.Match[str]) -> str:
    return f'{why}: "{" ".join(match[0][:_MOST_QUOTED].split())}"'


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


ENGLISH = re.compile(r"(?i)\b(?:the|and|of|by|to|with|that|this|it's|i'm)\b")
"""Words that a refusal in another language is taken not to hold; they spare a longer search."""

FOREIGN = re.compile(
    r"""(?ix)
      \bje\ (?:ne\ )?(?:le\ )?(?:sais|peux|puis|suis)\ pas\b | \bj'?ignore\b | \bdésolée?\b
        | \baucune\ (?:\w+\ )?idée\b | \bpas\ (?:la\ \w+\ )?(?:idée|sûre?|certaine?)\b
        | \bimpossible\ (?:de|à)\ (?:dire|savoir)\b | \bsaurais\ (?:pas\ )?(?:le\ )?dire\b
    | \blo\ siento\b | \bno\ (?:lo\ )?sé\b | \bno\ (?:te\ |lo\ |se\ )?(?:puedo|puede|sabría)\b
        | \bni\ (?:\w+\ ){0,2}idea\b | \bprefiero\ no\b | \bno\ (?:estoy\ segur[oa]|recuerdo)\b
    | \bwei(?:ß|ss)\ (?:\w+\ ){0,2}nicht\b | \b(?:nicht|nichts)\ (?:sagen|wissen|erkennen)\b
        | \bkein(?:e|en|erlei)\ (?:\w+\ )?(?:ahnung|blassen)\b | \bleider\ nicht\b
        | \b(?:kann|könnte)\b.{0,60}\b(?:nicht|nichts)\b | \bnicht\ sicher\b
        | \bbin\ (?:mir\ )?(?:un|über)\w+\b
    | \bnon\ (?:lo\ |ne\ )?(?:so|ho\ (?:\w+\ ){0,3}idea|saprei|posso|ricordo)\b
        | \bmi\ dispiace\b | \bpreferisco\ non\b | \bnon\ sono\ sicur[oa]\b
    | \bn[ãa]o\ (?:sei|posso|consigo|saberia|(?:faço|tenho)\ (?:\w+\ ){0,2}ideia)\b
        | \bdesculpe?\b | \bsem\ ideia\b
    | \bweet\ (?:\w+\ ){0,2}niet\b | \bgeen\ (?:\w+\ )?idee\b | \bniet\ zeker\b
        | \bkan\ (?:ik|dat)\b.{0,60}\bniet\b | \bzou\ het\ niet\ weten\b
    | \bnie\ (?:wiem|mogę|potrafię|jestem\ pew\w+|mam\ (?:\w+\ )?pojęcia)\b | \btrudno\ powiedzieć\b
    | \bne\ znam\b | \bžao\ mi\ je\b | \bne?(?:vím|tuším)\b | \bnemám\ \w+\b | \bneviem\b
    | \bnem\ tudom\b | \bfogalmam\ sincs\b | \bnu\ [șsş]tiu\b | \bhabar\ n-?am\b
    | \bv(?:et|ed)\ (?:\w+\ ){0,2}(?:inte|ikke|ikkje)\b | \baner\ (?:\w+\ )?(?:inte|ikke)\b
        | \bingen\ (?:aning|anelse)\b | \ben\ (?:tiedä|osaa\ sanoa)\b | \baavistustakaan\b
    | не\ (?:знаю|могу|уверена?|можу|в\ курсе) | понятия | затрудняюсь | к\ сожалению | гадки\ не
        | не\ (?:знам|мога)
    | 不\ ?知道 | 不\ ?清楚 | 不太\ ?清楚 | 不\ ?晓得 | 不好\ ?说 | 看不\ ?清
        | 抱歉 | 不\ ?[确確]定
        | (?:无法|没法|無法)\ ?(?:回答|推断|确定|判断|得知|知道|识别|確定|判斷|辨认)
        | (?:没有|未)\ ?提\ ?(?:到|及)
    | [分わ判解](?:か|)り(?:ません|かね)|わからない|分からない|知りません
        |存じ(?:ません|上げません)|申し訳|答えられ
    | 모르겠 | 모릅니다 | 몰라 | 알\ ?수\ ?없 | 확실하지\ 않
    | لا\ (?:أعرف|أعلم|ادري|أدري|اعرف|اعلم|أستطيع) | لست\ (?:متأكد|واثق) | نمی.?دانم | ليس\ لدي
    | \bbilmiyorum\b | \bfikrim\ yok\b | \bemin\ değilim\b | \bbilemiyorum\b
    | ไม่(?:รู้|ทราบ|แน่ใจ) | नहीं\ (?:पता|जानत|मालूम|बता) | (?:पता|मालूम)\ नहीं | जानकारी\ नहीं
    | δεν\ (?:ξέρω|γνωρίζω|είμαι\ σίγουρ) | ιδέα | không\ (?:biết|rõ|chắc) | לא\ יודע
      | אין\ לי\ מושג
    | \btidak\ (?:tahu|yakin)\b | \b(?:sijui|hindi\ ko\ alam)\b
    """
)
FOREIGN_BUT = re.compile(
    r"(?i)\b(?:mais|pero|aber|maar|ale|mas|ma|men|но|але|doch|però)\b|但|不过|\d"
)
"""What turns a foreign refusal into an answer."""
RARER = re.compile(
    r"""(?ix)\b(?:
      i\s*(?:'d|\s+would)\s+(?:rather|prefer|better)\s+(?:not\b|leave\b) | i\s*(?:'d
        |\s+had)\s+better\s+leave
    | i\s+(?:couldn't|could\s+not|can't|cannot|won't|will\s+not
      |wouldn't)\s+(?:\w+\s+){0,2}?(?:say|decide|judge|guess|name|tell|read|count|decipher
      |choose|commit|pick)\b
    | which\b.{0,40}\bi\s+(?:can't|cannot|couldn't)\s+(?:tell|say)
    | (?:is|are|it's|remains?)\s+(?:\w+\s+)?(?:unknown|a\s+mystery)\s+to\s+me | i\s+(?:don't
      |do\s+not|can't)\s+recall\b
    | nobody\s+can\s+(?:say|tell|know|predict)
    | (?:hard|impossible|too\s+early|difficult)\s+(?:for\s+me\s+)?to\s+(?:say|predict|tell|read
      |see|count)
    | (?:more|other)\b.{0,30}\bthan\s+i\s+(?:can|could)\b
    | i\s+could\s+only\s+guess | too\s+(?:\w+\s+){1,8}?for\s+me\s+to\s+(?:read|see|tell|count
      |say|make)
    | (?:is|are)\s+too\s+(?:blurred|blurry|dark|worn|small|faint|far)\b | (?:would
      |will)\s+be\s+needed\s+before\s+i\s+can
    | ^\W*(?:can't|cannot|couldn't|can\s+not)\s+(?:make|tell|see|read|say|help|identify|find)
    | (?:need|needs|needed|want)\s+a\s+(?:\w+er|better)\s+(?:look|picture|photo|image|view)
    | (?:picture|image|photo|text|page|sign|label|source)s?\s+(?:does|do)(?:n't|\s+not)\s+(?:show
      |tell|reveal|give|include)
    | i(?:'m|\s+am)\s+not\s+(?:allowed|permitted|supposed|in\s+a\s+position)\s+to
    | i\s+only\s+know\s+(?:the|about|that|of)\b | i\s+refuse\s+to | i\s+have\s+to\s+pass
      | i'll\s+pass\b
    | i\s+can't\s+view | (?:isn't|is\s+not|aren't)\s+available | i\s+(?:am|'m)\s+not\s+(?:going
      |willing)\s+to\s+(?:answer|say|guess)
    )"""
)
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
_UNSURE = re.compile(
    r"""(?ix)
      (?:\bi(?:'m|\s+am)\s+|\bam\s+|^\W*)(?:(?:really|honestly|still|just)\s+)?
        (?:not\s+(?:\S+\s+){0,2}?(?:sure|certain)|unsure|uncertain)\b
    | \bi\s+(?:can't|cannot|can\s+not|couldn't)\s+(?:be\s+(?:\w+\s+)?(?:sure|certain)|tell|say)\b
    | \bi\s+(?:don't|do\s+not)\s+(?:really\s+)?know\b | \b(?:it's\s+)?hard\s+to\s+(?:say|tell)\b
    """
)
_LEAD = re.compile(
    r"(?i)(?:[\W_]|\b(?:but|though|so|well|hmm+|if\s+i\s+had\s+to\s+guess|i(?:'d|\s+would)\s+(?:say|guess)|i"
    r"\s+(?:think|guess|believe|suppose)(?!\s+so\b)|probably|perhaps|maybe|possibly|it(?:'s|\s+is)\s+"
    r"(?:probably|possibly))\b)+"
)

_ECHO = re.compile(r"^[^.!?]*\?")
"""The question said again."""


def without_doubt(text: str) -> str | None:
    """What a cleaned reply says beside that it is not sure; None where it is not in doubt.

    >>> without_doubt("I'm not sure, but I think yes."), without_doubt("Not sure, maybe.")
    ('yes.', '')
    >>> without_doubt("It is not safe.")
    """
    if not _UNSURE.search(text):
        return None
    rest = _UNSURE.sub(" ", _ECHO.sub("", text))
    led = _LEAD.match(rest)
    return rest[led.end() :] if led else rest
