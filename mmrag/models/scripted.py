"""A model that says what it was told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Usage

Answerer = Callable[[Sequence[Message]], str]


class ScriptedModel:
    """Replies with a fixed text, the next of a list, or a function of the messages."""

    def __init__(self, text: str | Sequence[str] | Answerer = "I don't know") -> None:
        self._text = text
        self.calls: list[tuple[Message, ...]] = []
        """Every request, in order."""

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """The next reply of the script; the last one again when the list is used up."""
        del options
        self.calls.append(tuple(messages))
        text = self._next(messages)
        return Completion(
            text=text,
            model="scripted",
            usage=Usage(
                input_tokens=sum(len(m.text.split()) for m in messages),
                output_tokens=len(text.split()),
                calls=1,
            ),
        )

    def _next(self, messages: Sequence[Message]) -> str:
        if isinstance(self._text, str):
            return self._text
        if callable(self._text):
            return self._text(messages)
        return self._text[min(len(self.calls), len(self._text)) - 1]
