"""How well the places where a value stands fit what is asked, by their surroundings and their kind.

No list of attributes: a question's words, a line, the words about a span and the span itself are
compared in the sentence encoder's space, bent a little by training (`data/CARD.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmrag.agents.grounded.learned.cues import nearness
from mmrag.agents.grounded.learned.heads import Weights, read_weights
from mmrag.agents.grounded.learned.lines import Line
from mmrag.agents.grounded.learned.spans import KINDS, Span, joined
from mmrag.agents.grounded.learned.states import Contextual, States, spans_of
from mmrag.agents.grounded.recent_results import RecentResults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmrag.encoders.text import InContext

_LAYER = 6
_ABOUT = 4
"""Words on either side of a span that are its surroundings."""

_STRENGTH = 4.0
"""By how much the trained comparisons are multiplied before they are added up, as in training."""

_WHOLE = 10.0
"""What the likeness of the whole question and a line counts beside the trained fit."""

_KEPT = 8192


class Place(NamedTuple):
    """A span in its line, and how well it fits: the larger the better, 0 is as good as nothing."""

    line: Line
    span: Span
    fit: float


class Fitting:
    """Fits spans to questions."""

    def __init__(self, encoder: Contextual, weights: Weights | None = None) -> None:
        self._encoder = encoder
        self._states = States(encoder)
        self._weights = weights
        self._asked: RecentResults[str, NDArray[np.float32]] = RecentResults(_KEPT)

    @property
    def _arrays(self) -> dict[str, NDArray[np.float32]]:
        return (self._weights or read_weights()).arrays

    def kinds(self, asked: str) -> dict[str, float]:
        """How probable a kind of value is for a question, before anything is read."""
        w = self._arrays
        logits = _STRENGTH * self.vector(asked) @ w["kind.w"] + w["kind.b"]
        raised = np.exp(logits - logits.max())
        return dict(zip(KINDS, (raised / raised.sum()).tolist(), strict=True))

    def best_noun(self, asked: str, nouns: Sequence[str]) -> str:
        """Which noun is meant."""
        w = self._arrays
        q, rows = self.vector(asked), np.stack([self.vector(n) for n in nouns])
        fits = _STRENGTH * (rows @ w["line.b"]) @ (q @ w["line.a"]) + w["plain"] * (rows @ q)
        return nouns[int(fits.argmax())]

    def places(
        self, asked: str, lines: Sequence[Line], kinds: frozenset[str], question: str = ""
    ) -> list[Place]:
        """Every span of some kinds in the lines with its fit, the best first.

        The whole question, where it is given, says which line it is about beyond what is asked for.
        """
        lines = [line for line in lines if not kinds or kinds & _kinds_of(line)]
        seen = self._states.of([line.text for line in lines], (_LAYER,))
        places: list[tuple[Line, Span]] = []
        rows: list[tuple[NDArray[np.float32], ...]] = []
        for line, state in zip(lines, seen, strict=True):
            words, at = _by_word(state, line.text)
            for span in self._with_phrases(line, words, at):
                if kinds and span.kind not in kinds:
                    continue
                inside = [i for i, (a, b) in enumerate(at) if a < span.end and b > span.start]
                if not inside or inside[0] >= len(words):
                    continue
                low, high = inside[0], inside[-1] + 1
                about = [*words[max(0, low - _ABOUT) : low], *words[high : high + _ABOUT]]
                places.append((line, span))
                rows.append(
                    (
                        state.whole,
                        _unit(np.mean(about or words[low:high], axis=0)),
                        _unit(words[low:high].mean(0)),
                    )
                )
        if not places:
            return []
        fits = self._fits(asked, [s.kind for _, s in places], rows)
        if question:
            near = np.stack([r[0] for r in rows]) @ self.vector(question)
            beside = [nearness(question, line.text, [span])[0] for line, span in places]
            fits = (np.array(fits) + _WHOLE * (near - near.mean()) + beside).round(5).tolist()
        found = [Place(line, span, fit) for (line, span), fit in zip(places, fits, strict=True)]
        return sorted(found, key=lambda p: (-p.fit, p.line.evidence, p.span.start, p.line.text))

    def _fits(
        self, asked: str, kinds: Sequence[str], rows: Sequence[tuple[NDArray[np.float32], ...]]
    ) -> list[float]:
        w, q = self._arrays, self.vector(asked)
        whole, about, inside = (np.stack(part) for part in zip(*rows, strict=True))
        fits = w["plain"] * (whole @ q)
        for name, part in (("line", whole), ("about", about), ("inside", inside)):
            fits = fits + _STRENGTH * (part @ w[f"{name}.b"]) @ (q @ w[f"{name}.a"])
        by_kind = _STRENGTH * q @ w["kind.w"] + w["kind.b"]
        nothing = _STRENGTH * q @ w["nothing.w"] + w["nothing.b"]
        fits = fits + by_kind[[KINDS.index(k) for k in kinds]] - nothing
        return [round(float(f), 5) for f in fits]

    def _with_phrases(
        self, line: Line, words: NDArray[np.float32], at: Sequence[tuple[int, int]]
    ) -> list[Span]:
        """The line's spans; phrases are cut to the words that look like a value there."""
        if len(line.spans) == 1 and line.spans[0].end == len(line.text):
            return list(line.spans)
        w = self._arrays
        near = np.pad(words, ((1, 1), (0, 0)))
        seen = np.concatenate([near[:-2], near[1:-1], near[2:]], 1)
        logits = (
            np.maximum(seen @ w["value.in"] + w["value.in.b"], 0) @ w["value.out"]
            + w["value.out.b"]
        )
        likely = (logits[:, 0] > 0).tolist()
        found, phrases = list[Span](), list[Span]()
        for span in line.spans:
            inside = [
                i
                for i, (a, b) in enumerate(at)
                if span.start <= a and b <= span.end and i < len(likely)
            ]
            chosen = [i for i in inside if likely[i]]
            if span.kind == "text" and chosen:
                low, high = at[chosen[0]][0], at[chosen[-1]][1]
                span = Span(low, high, "text", line.text[low:high])
                phrases.append(span)
            found.append(span)
        found += _lists(phrases, line.text)
        known = {(s.start, s.end) for s in found}
        return [*found, *(s for s in joined(found, line.text) if (s.start, s.end) not in known)]

    def vector(self, text: str) -> NDArray[np.float32]:
        """A question's unit vector."""
        known = self._asked.get(text)
        if known is None:
            known = self._states.of([text], (_LAYER,), rows=1)[0].whole
            self._asked.put(text, known)
        return known


def _kinds_of(line: Line) -> set[str]:
    """Every kind of span that a line can come to have: names and phrases may join."""
    kinds = [span.kind for span in line.spans]
    joins = sum(kind in ("name", "text") for kind in kinds) > 1
    return {*kinds, "text", "list"} if joins else set(kinds)


def _lists(phrases: Sequence[Span], text: str) -> list[Span]:
    """The lists that neighbouring phrases make: "oak, ash and elm"."""
    found, run = list[Span](), list[Span]()
    for span in phrases:
        if not (run and text[run[-1].end : span.start].strip() in (",", "and", ", and")):
            run = []
        run.append(span)
        if len(run) > 1:
            whole = Span(run[0].start, span.end, "list", text[run[0].start : span.end])
            found = [*(f for f in found if f.start != whole.start), whole]
    return found


def _by_word(state: InContext, text: str) -> tuple[NDArray[np.float32], list[tuple[int, int]]]:
    """A vector per word, the mean of its pieces, and where the words are."""
    at = spans_of(text)
    count = int(state.word.max()) + 1 if len(state.word) else 0
    sums = np.zeros((count, state.rows.shape[1]), np.float32)
    np.add.at(sums, state.word, state.rows)
    pieces = np.bincount(state.word, minlength=count).astype(np.float32)
    return (sums / pieces[:, None]).astype(np.float32), at[:count]


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return (row / (np.linalg.norm(row) + 1e-9)).astype(np.float32)
