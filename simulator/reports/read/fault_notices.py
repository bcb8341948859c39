"""Whether a reply says that something is wrong with what it was given."""

from __future__ import annotations

import re

_SAYS = re.compile(
    r"\b(?:(?:can ?not|can't|could(?: not|n't)|unable to|do(?: not|n't))"
    r" (?:see|find|make out|tell)\b"
    r"|no (?:picture|image|photo)\b|(?:picture|image|photo|question) (?:is|seems|was|appears|looks)"
    r" (?:missing|cut|incomplete|unrelated|wrong|old|different|blank)"
    r"|(?:wrong|different|another) (?:picture|image|photo)\b|did(?: not|n't) (?:get|receive)\b"
    r"|(?:say|ask|send|take) (?:that|it|the question|the picture|a picture)? ?again\b"
    r"|two questions\b|which (?:question|one) do you\b|what do you mean\b)",
    re.IGNORECASE,
)
"""Words of English replies; an assistant of another language says it by asking or abstaining."""


def notices(text: str, ask: str | None) -> bool:
    """Whether it asks back, or says that it cannot see, or that a picture or question is wrong.

    >>> notices("I can't see a mug in this picture.", None), notices("It costs 3 euros.", None)
    (True, False)
    """
    return ask is not None or _SAYS.search(text.replace("\u2019", "'")) is not None
