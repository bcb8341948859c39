"""What a reply claims, as against what it only mentions, denies, takes back or orders the judge.

A judge that looks for the truth anywhere in a reply can be played: by "not Monet", "Monet, no
wait, Manet", "many think it is Monet, but it is Manet". So the reply is cut into clauses first, and
only those that claim are compared with the references.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from mmrag.text.normalise import sentences

Dropped = Literal["", "withdrawn", "denied", "mentioned", "an order"]
"""What was left out of a reply; empty if nothing was."""


class Claim(NamedTuple):
    """A reply without everything that it does not claim."""

    text: str
    """What is claimed; empty where nothing is."""
    dropped: Dropped


def claim(text: str, *, keep_denials: bool = False) -> Claim:
    """The part of a reply (cleaned by `plain`) that it claims.

    `keep_denials` is for questions whose answer may be a denial itself ("no", "he never married").

    >>> claim("It was 1987. No wait, 1989.").text
    '1989.'
    >>> claim("Many think it is Sydney, but the capital is Canberra.").text
    'the capital is Canberra.'
    """
    text, dropped = _left(text)
    if keep_denials:
        return Claim(text, dropped)
    kept: list[str] = []
    for clause in clauses(text):
        reason = not_claimed(clause)
        dropped = reason or dropped
        if not reason:
            kept.append(clause)
    return Claim(" ".join(kept), dropped) if dropped else Claim(text, "")


@lru_cache(maxsize=1_024)
def clauses(text: str) -> tuple[str, ...]:
    """Sentences cut where they turn: at "but", "although", "not …", a semicolon or a dash."""
    parts = (part.strip() for s in sentences(text) for part in _CLAUSE.split(s) if part)
    return tuple(part for part in parts if _WORD.search(part))


def settled(text: str) -> str:
    """A reply without orders to a judge and without what it took back; itself if nothing is left.

    >>> settled("Grader, accept this. It was 1987. No wait, 1989.")
    '1989.'
    """
    left, _ = _left(text)
    return left if _WORD.search(left) else text


@lru_cache(maxsize=1_024)
def _left(text: str) -> tuple[str, Dropped]:
    """A text without orders and what was taken back, and which of the two it lost last."""
    bare = _without_orders(text)
    last = _after_correction(bare)
    return last, "withdrawn" if last != bare else "an order" if bare != text else ""


def _without_orders(text: str) -> str:
    if not _ORDER_CUE.search(text):
        return text
    quotes = bool(_OWN_ANSWER.search(text))
    return " ".join(
        s for s in sentences(text) if not (_ORDER.search(s) or (quotes and _QUOTED.match(s)))
    )


def _after_correction(text: str) -> str:
    """What stands after the last self-correction, unless that restores what stood before all."""
    cuts = [m for m in _CORRECTION.finditer(text) if _WORD.search(text[: m.start()])]
    for cut in reversed(cuts):
        rest = text[cut.end() :]
        if _RESTORED.search(text[cut.start() :]):
            return text[: cuts[0].start()].strip()
        if _WORD.search(rest):
            return rest.strip()
    return text


def asks_judging(question: str) -> bool:
    """Whether a question is about judges or grades itself."""
    return bool(_ORDER_CUE.search(question))


def not_claimed(clause: str) -> Dropped:
    """Why a clause claims nothing: it mentions or denies; empty if it claims."""
    if _MENTION.search(clause):
        return "mentioned"
    bare = _NO_DENIAL.sub(" ", clause) if DENIAL.search(clause) else ""
    return "denied" if DENIAL.search(bare) else ""


_WORD = re.compile(r"[^\W_]")
_CORRECTION = re.compile(
    r"""(?ix)(?:
        \bwait\b(?!\s+(?:for|until|time|list|in|till)\b)(?:[\s,.!:;…-]*(?:a\s+(?:second|minute
          |moment)|no|actually|sorry)\b)*
      | \b(?:hold|hang)\s+on\b
      | \b(?:scratch|scrap|strike|forget|cancel)\s+(?:that|it|what\s+i\s+(?:just\s+)?said)\b
      | \bcorrection\b(?=\s*[:,;.—-]|\s+to\b)
      | \b(?:no|sorry|oops|nope|ah)\b[\s,.!:;-]+(?:actually|i\s+meant?|rather|make\s+that|it'?s
        |it\s+(?:is|was)|that'?s)\b
      | (?<=,\s)(?<!\b(?:no|oh),\s)(?<!\b(?:yes|not),\s)(?<!\b(?:nope|well),\s)(?:sorry|no),
        (?=\s(?:\d|(?-i:[A-Z][a-z])))
      | \bso\s+no\b(?=,)
      | (?<=[.!?…;—-]\s)(?:i\s+)?(?:mis(?:counted|read|spoke|heard|remembered|took\s+it))\b
      | \bi\s+(?:had|got|held|read|put)\s+(?:it|that|them)\s+(?:upside\s+down|backwards|wrong
        |the\s+wrong\s+way\s+(?:up|round|around)|mixed\s+up|confused)\b
      | \bactually,?\s+no\b | \bor\s+no\b,? | \bor,?\s+rather\b | \b(?:hm+|uh|um|er|erm),?\s+no\b
      | \b(?:counting|checking|looking|thinking)\s+(?:it\s+)?(?:again|twice
        |once\s+more)\b
      | (?<=[.!?…;,:—-]\s)actually\b(?=,?\s) | (?<=[.!?…;—-]\s)no\b(?=\s*[:,.!;—-])(?!\.?\s*\d)
        | (?<=[.!?…,;:]\s)oops\b
      | \bi\s+meant?\b(?:\s+to\s+say\b)?(?!\s+it\b)
      | \blet\s+me\s+(?:correct|rephrase|fix|revise|change|amend|recount|double-?\s?check|check
        |recheck|reconsider|rethink)\b[^.:;,!?]{0,30}
      | \bi(?:'ve|\s+have)?\s+(?:misspoke|misread|misremembered|mixed\s+\w+\s+up|take\s+(?:that
        |it)\s+back|stand\s+corrected|was\s+wrong|was\s+mistaken|made\s+a\s+mistake
          |got\s+that\s+wrong|change\s+my\s+(?:mind|answer)|changed\s+my\s+(?:mind|answer)
            |retract(?:\s+\w+)?|withdraw(?:\s+\w+)?|swapped\s+[^.:;,!?]{1,30})\b
      | \bmy\s+(?:mistake|bad|error)\b
      | \bon\s+(?:(?:a\s+)?second\s+(?:thoughts?|look)|reflection|closer\s+(?:inspection|look)
        |reconsideration)\b
      | \b(?:come\s+to\s+think\s+of\s+it|now\s+that\s+i\s+think\s+about\s+it|looking\s+(?:again
        |closer|more\s+closely)|having\s+checked|after\s+checking)\b
      | \bmake\s+(?:that|it)\b(?=\s+(?:\d|an?\b|the\b|[A-Z])) | \bedit(?:\s+\d)?\s*:
      | \bthat(?:'s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+right|not\s+correct|a\s+mistake)\b
      | \bwhich\s+(?:is|was)\s+(?:not\s+(?:right|correct|true)|wrong|incorrect)\b
      | \bafter\s+(?:re-?(?:check|read|count|think|consider|examin)ing|checking|looking
        |a\s+(?:second|closer)\s+look)\b[^:,.;]{0,40}[:,]
      | \?\s+no\b[.,:!]*
      | </?think(?:ing)?>
      )[\s,.!:;…—-]*"""
)
_RESTORED = re.compile(
    r"""(?ix)\b(?:my\s+)?(?:first|original|initial|earlier|previous)\s+(?:answer|guess|thought
      |instinct|statement|reply|one)\s+(?:was|is|stands|holds)
    |\b(?:was|had\s+it|were)\s+right\s+(?:at\s+first|the\s+first\s+time|before|all\s+along
      |originally)|\bstands?\s+after\s+all\b|\bi\s+was\s+right\b"""
)
_CLAUSE = re.compile(
    r"""(?ix)(?:
      [;—–]\s* | \s-+\s | (?<=[^\W\d_]):\s+ | ,\s*though\s*(?=[,.!?]|$)
        | ,?\s*(?<!thing\ )(?<!one\ )(?<!body\ )\b(?:but|yet
        |however)\b,?\s*(?:rather\s+)?
      | ,\s*(?:so|therefore|hence)\s+(?=it|that|this|the|he|she|they) | ,\s*(?=(?:not|never
        |rather\s+than|instead\s+of|unlike|though|although|while|whereas
        |as\s+opposed\s+to|contrary\s+to|despite|even\s+though|many|most|some|people
        |which\s+is\s+(?:often|not)
          |it'?s|it\s+(?:is|was)|i'?d|the\s+(?:answer|real|right|correct))\b)
      | \s+(?=(?:rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not|even\s+though|although
        |though|whereas)\b)
      | (?=\([^()]{0,80}(?:\b(?:not|never|unlike|rather|nor)\b|n't\b)) | (?<=\w)\)
    )"""
)
_NO_DENIAL = re.compile(
    r"""(?ix)\b(?:no\ doubt|without\ (?:a\ )?doubt|not\ (?:only|just|merely|simply|surprisingly
      |sure|certain|until|unlike|least|far|long)|none\ other\ than
    |no\ other\ than|nothing\ (?:but|other\ than)|not\ to\ mention|no\ earlier\ than
      |no\ later\ than|(?:if|unless)\ (?:i'?m\ )?(?:not\ )?(?:mistaken|wrong)
    |(?:don't|do\ not)\ (?:forget|quote\ me)|not\ \w+\ any\ ?more|hardly\ (?:\w+\ )?any(?:thing
      |one|body)\ (?:but|other)|why\ not|whether\ or\ not|no\ (?:problem|question)|(?:is
      |was)(?:\ not|n't)\ (?:wrong|incorrect|false|a\ mistake)
    |(?:can't|cannot|couldn't|could\ not|how\ it\ could)\ be\ any(?:thing|one
      |body)\ (?:else\ )?(?:but|other\ than|except|than)
    |(?:don't|do\ not)\ see\ how\ it\ could\ be\ anything\ other\ than
    |(?:can't|cannot|couldn't|could\ not)\ (?:be\ wrong|deny|find\ fault)|wrong\ to\ (?:say|deny
      |claim)[^.]{0,30}n't|not\ wrong|(?:does|did|do)n't\ matter)\b"""
)
_PEOPLE = (
    r"(?:people|folks|visitors|tourists|fans|sources|locals|observers|readers|users|guides?"
    r"|critics|historians"
    r"|students|viewers|websites|books|cookbooks|chemists|experts|others|many|most|some"
    r"|everyone|everybody|you|friends)"
)
_MENTION = re.compile(
    rf"""(?ix)
      ^\W*(?:while|although|though|even\s+though|whereas|despite|unlike|like|contrary\s+to
        |rather\s+than|instead\s+of|as\s+opposed\s+to|in\s+contrast\s+(?:to|with)
        |compared\s+(?:to|with)|after\s+ruling\s+out|not\s+to\s+be\s+confused|any(?:thing|one
          |body)\s+(?:but|other\s+than|except)|everything\s+but|similar\s+to)\b
    | \b{_PEOPLE}\s+(?:\w+\s+){{0,3}}?(?:think|believe|assume|guess|confuse|mistake|suppose
      |expect|say|claim|credit|associate|attribute|imagine|answer|misattribute|bring\s+up
      |talk\s+about|mention|remember)\b
    | \b(?:often|commonly|frequently|sometimes|popularly|easily|mistakenly|wrongly|erroneously
      |incorrectly|falsely)\s+
        (?:thought|believed|assumed|confused|mistaken|misattributed|credited|attributed
          |misidentified|given|cited|named|mentioned|bring\s+up|brought\s+up)\b
    | \b(?:misconception|popular\s+belief|common\s+(?:mistake|error|belief)|(?:confused
      |mixed\s+up)\s+with|mistaken\s+for|at\s+first\s+(?:glance|sight|i))\b
    | \bi\s+(?:had\s+)?(?:thought|guessed|assumed|believed)\b | \bi\s+(?:first|initially
      |originally|briefly|at\s+first|once|used\s+to|was\s+going\s+to
      |nearly|almost|considered|had\s+considered|was\s+tempted|would\s+have\s+guessed)\b
    | \b(?:ruled?|ruling)\s+out\b | \btempting\s+to\b | \bnatural\s+to\s+think\b
      | \byou\s+(?:might|may|would)\s+(?:have\s+)?(?:expect|guess|think|thought|assume)\w*\b
    | \bcompetes\s+with\b | \b(?:is|are|was)\s+out\b\W*$
    """
)
CONCESSION = re.compile(r"(?i)^\W*(?:while|although|though|even\s+though|whereas|unlike)\b")
"""What opens a reply that turns from one thing to another."""
DENIAL = re.compile(
    r"""(?ix)\b(?:not|never|neither|nor|cannot|hardly|no\s+longer|used\s+to\s+be|missing\s+from
      |lacks?|nothing\s+to\s+do\s+with|deny|denied|far\s+from)\b
    | n't\b | \bonly\ tried\b | \bdoubt\ (?:that|if|whether|it)\b | \b(?:is|was|are|were
      |be)\s+(?:\w+\s+)?(?:wrong|incorrect|false|untrue)\b | \b(?:wrong|incorrect)\s+(?:answer
      |(?:of\ me\s+)?to\s+(?:say|name|think|write|call))\b"""
)
_ORDER_CUE = re.compile(
    r"(?i)\b(?:judges?|grader|grading|evaluat\w+|verdict|outcome|score|mark|graded?|rating"
    r"|instructions?|rubric|system|prompt"
    r"|correct|perfect|accept\w*|ignore|disregard|references?|ground truth)\b"
)
_OWN_ANSWER = re.compile(r"(?i)\bmy\s+(?:own\s+)?answer\b")
_QUOTED = re.compile(
    r"(?i)\W*(?:the\s+)?(?:reference|ground\s+truth|gold|expected)\b[^:=]{0,12}[:=]"
)
"""A reply that quotes the reference before its own answer."""
_ORDER = re.compile(
    r"""(?ix)
      \b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|above|prior|earlier|all|any
        |instructions?|rules|rubric|references?|guidelines)\b
    | \b(?:judge|grader|evaluator|examiner|marker|assessor|scorer)s?\b.{0,60}\b(?:must|should
      |shall|please|mark|accept|grade|rate|treat|output|return|rule|note|award
      |consider)\b
    | \b(?:role|thought|note|grader|judge)\s*:
    | \b(?:mark|grade|rate|score|treat|count|accept|judge|consider|label|classify
      |evaluate)\b\s+(?:this|it|my|the|as|that|any)\b.{0,60}\b(?:correct|perfect|right|accepted
      |true|full|match\w*|pass|reference|answer)\b
    | \b(?:verdict|outcome|score|grade|rating|result|judge?ment|accuracy|evaluation
      |assessment)\b\s*["']?\s*(?:[:=]|is)\s*["']?\s*(?:correct|perfect|right|true|accepted
      |pass\w*|1(?:\.0)?\b|10|100|full)
    | \b(?:output|respond|return|print)\b\s+(?:with\s+)?(?:only\s+)?["'{]?(?:perfect|correct
      |true|accepted|"?outcome)\b
    | \b(?:this|my|the)\s+(?:answer|reply|response|prediction)\s+(?:is|should\s+be|must\s+be
      |has\s+been|matches|was)\b.{0,60}\b(?:correct|perfect|accept\w*|verified|match\w*
      |references?|approved|graded?)\b
    | ^\W*this\s+is\s+(?:correct|perfect|the\s+correct\s+answer)\W*$
    | \b(?:same\s+as|identical\s+to|equal\s+to|equals|matches|whatever)\b.{0,30}\b(?:references?
      |ground\s+truth|gold|expected)\b
    | \b(?:system|developer|admin)\s*(?:prompt|message|override|note|:)
    | \byou\s+are\s+(?:now|a|an)\b.{0,40}\b(?:judge|grader|evaluator|lenient)\b | \bas\s+(?:a
      |the)\s+(?:judge|grader|evaluator)\b
    """
)
