"""A model that says what it was told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Usage
from mmrag.tools import CallRequest

Said = str | tuple[CallRequest, ...]
"""A text, or the tools that the model wants called."""

Answerer = Callable[[Sequence[Message]], Said]


class ScriptedModel:
    """Replies with a fixed text, the next of a list, or a function of the messages.

    Where the script has calls instead of a text, it asks for these tools.
    """

    def __init__(self, text: str | Sequence[Said] | Answerer = "I don't know") -> None:
        self._text = text
        self.calls: list[tuple[Message, ...]] = []
        """Every request, in order."""
        self.options: list[GenerateOptions] = []
        """How each of them was to be answered."""

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """The next reply of the script; the last one again when the list is used up."""
        self.calls.append(tuple(messages))
        self.options.append(options)
        said = self._next(messages)
        text, calls = (said, ()) if isinstance(said, str) else ("", said)
        return Completion(
            text=text,
            calls=calls,
            finish="tool_calls" if calls else "stop",
            model="scripted",
            usage=Usage(
                input_tokens=sum(len(m.text.split()) for m in messages),
                output_tokens=len(text.split()),
                calls=1,
            ),
        )

    def _next(self, messages: Sequence[Message]) -> Said:
        if isinstance(self._text, str):
            return self._text
        if callable(self._text):
            return self._text(messages)
        return self._text[min(len(self.calls), len(self._text)) - 1]
