"""How a chat model asks back: a last line of its own, `ASK: look`; anything else is an answer."""

from __future__ import annotations

import re

from mmrag.records import ASKS, Query, Reply

_LINE = re.compile(rf"ASK: ({'|'.join(ASKS)})")


def parse_ask_line(reply: Reply, query: Query) -> Reply:
    """A model's reply with its request taken out of the words, where the wearer hears requests.

    Only the last line counts, and only as the prompt has it; lines like it that stand right above
    are asked too late. All others are the model's words.
    """
    from msgspec.structs import replace

    lines = reply.text.rstrip().split("\n")
    match = _LINE.fullmatch(lines[-1].strip())
    if match is None or not query.may_ask:
        return reply
    while lines and _LINE.fullmatch(lines[-1].strip()):
        lines.pop()
    return replace(reply, text="\n".join(lines).strip(), ask=match[1])
