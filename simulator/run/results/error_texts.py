"""Replies that are no answers but an agent's own words for a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from mmrag.partial_records import ResultText
from mmrag.records import Record
from simulator.store.run_reader import RunReader

_ERROR = re.compile(
    r"\[(?:API error after \d+ attempts:|Error processing query:|Timeout or error:"
    r"|Gemini API (?:blocked response|returned no valid text))"
)


def is_error_text(text: str) -> bool:
    """Whether a reply is what the 2026 kit's agents return instead of an answer when they fail."""
    return _ERROR.match(text.lstrip()) is not None


class ErrorTexts(Record, frozen=True, kw_only=True):
    """Replies that are an agent's own words for a failure: scored as answers, and no answers."""

    turns: int
    of: int
    """Replies looked at."""
    first: str

    def __str__(self) -> str:
        return (
            f"{self.turns:,} of {self.of:,} replies are error texts that the agent itself returned "
            f'("{self.first}"). They are scored as answers and coverage counts them: see to the '
            "cause and run it again."
        )


def error_texts_in(replies: Iterable[str]) -> ErrorTexts | None:
    """Replies such as `[API error after 3 attempts: …`, which agents of the 2026 kit return."""
    looking = ErrorTextCount()
    looking.look_at_all(replies)
    return looking.found()


class ErrorTextCount:
    """Looks at replies one by one."""

    def __init__(self) -> None:
        self._of = self._turns = 0
        self._first = ""

    def look_at(self, text: str) -> None:
        """Count one reply."""
        self._of += 1
        if is_error_text(text):
            self._turns += 1
            self._first = self._first or " ".join(text.split())[:100]

    def look_at_all(self, replies: Iterable[str]) -> None:
        """Count several."""
        for text in replies:
            self.look_at(text)

    def found(self) -> ErrorTexts | None:
        """What there was; None where all are answers."""
        if not self._turns:
            return None
        return ErrorTexts(turns=self._turns, of=self._of, first=self._first)


def replies_of(run: RunReader, degradation: str | None) -> Iterator[str]:
    """The words of a run's replies, in one condition or in all."""
    for _, turns in run.raw():
        for record, _, _ in turns:
            said = run.decoded(SAID, record)
            if said.reply is not None and degradation in (None, said.degradation):
                yield said.reply.text


SAID = msgspec.json.Decoder(ResultText)
