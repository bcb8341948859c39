"""Replies to several prompts at once: each joins when it comes and leaves when it is done."""

from __future__ import annotations

import msgspec
import torch
from torch import Tensor

from mmrag.models.smollm2.network import Memory, Network

ROOM = 32_768
"""Places of all rows together, 1.5 GB in f32; a request for which there is none waits. While they
grow, what was held before is there beside them."""

KEPT = 4_096
"""Tokens of earlier prompts whose keys and values are kept, 190 MB in f32."""

_STEP = 256
"""Places by which a memory grows."""


class Decoding(msgspec.Struct, kw_only=True):
    """What is asked for, and what has been said so far."""

    prompt: list[int]
    most: int
    """Tokens at most."""
    temperature: float = 0.0
    seed: int = 0
    tokens: list[int] = msgspec.field(default_factory=list[int])
    logprobs: list[float] = msgspec.field(default_factory=list[float])
    finish: str = ""
    """stop or length; empty while it goes on."""

    @property
    def reach(self) -> int:
        """Places that it may come to need."""
        return len(self.prompt) + self.most


class Prefixes:
    """Prompts read lately: what a new one begins with need not be computed again."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._kept: list[tuple[list[int], Memory]] = []

    def read(self, prompt: list[int], memory: Memory, row: int = 0) -> Tensor:
        """Log-probabilities after a prompt, which stands in the memory's row afterwards."""
        known = 0
        for tokens, kept in self._kept:
            shared = min(_shared(tokens, prompt), len(prompt) - 1)  # the last one's scores we want
            if shared > known:
                known = shared
                memory.copy(row, kept, 0, known)
        scores = self._network.read(prompt, memory, row, known)
        self._keep(prompt, memory, row)
        return scores

    def _keep(self, prompt: list[int], memory: Memory, row: int) -> None:
        if len(prompt) > KEPT:
            return
        own = Memory(self._network, 1, len(prompt))
        own.copy(0, memory, row, len(prompt))
        self._kept.insert(0, (prompt, own))
        while sum(len(tokens) for tokens, _ in self._kept) > KEPT:
            self._kept.pop()


class Decoder:
    """A batch that changes while it is worked on.

    A prompt is read alone (on a CPU reading several at once saves nothing), later tokens are
    computed together. What company changes is rounding: about 1e-5 of a log-probability in f32.
    """

    def __init__(self, network: Network, ends: tuple[int, ...], *, rows: int = 16) -> None:
        self.prefixes = Prefixes(network)
        self._network = network
        self._ends = frozenset(ends)
        self._most = rows
        self._rows: list[Decoding] = []
        self._memory: Memory | None = None
        self._random: dict[int, torch.Generator] = {}

    @property
    def busy(self) -> bool:
        """Whether there is anything to go on with."""
        return bool(self._rows)

    def has_room(self, reply: Decoding) -> bool:
        """Whether it may join now; alone it always may."""
        reach = max([reply.reach, *(other.reach for other in self._rows)])
        more = len(self._rows) + 1
        return not self._rows or (more <= self._most and more * reach <= ROOM)

    def join(self, reply: Decoding) -> None:
        """Read its prompt and say its first token."""
        row = len(self._rows)
        memory = self._fit(row + 1, len(reply.prompt))
        scores = self.prefixes.read(reply.prompt, memory, row)
        self._rows.append(reply)
        self._say(reply, scores)

    def step(self) -> None:
        """One more token of every reply that goes on."""
        rows = [reply for reply in self._rows if not reply.finish]
        assert len(rows) == len(self._rows), "take those that are done away first"
        lengths = [len(reply.prompt) + len(reply.tokens) for reply in rows]
        memory = self._fit(len(rows), max(lengths))
        places = torch.tensor(lengths)[:, None] - 1
        tokens = torch.tensor([[reply.tokens[-1]] for reply in rows])
        hidden = self._network.next(tokens, places, memory)
        for reply, scores in zip(rows, self._network.scores(hidden[:, -1]), strict=True):
            self._say(reply, scores)

    def take_done(self) -> list[Decoding]:
        """Those that are finished. The last rows take their places."""
        done = [reply for reply in self._rows if reply.finish]
        for reply in done:
            row, last = self._rows.index(reply), self._rows[-1]
            if last is not reply and self._memory is not None:
                length = len(last.prompt) + len(last.tokens) - 1
                self._memory.copy(row, self._memory, len(self._rows) - 1, length)
            self._rows[row] = last
            self._rows.pop()
            self._random.pop(id(reply), None)
        if not self._rows:
            self._memory = None
        return done

    def _say(self, reply: Decoding, scores: Tensor) -> None:
        sampled = reply.temperature > 0
        token = self._draw(reply, scores) if sampled else int(scores.argmax())
        if token in self._ends:
            reply.finish = "stop"
            return
        reply.tokens.append(token)
        reply.logprobs.append(float(scores[token]))
        if len(reply.tokens) >= reply.most:
            reply.finish = "length"

    def _draw(self, reply: Decoding, scores: Tensor) -> int:
        """A token by chance, which is the reply's own: company does not change it."""
        if id(reply) not in self._random:
            self._random[id(reply)] = torch.Generator().manual_seed(reply.seed)
        shares = torch.softmax(scores / reply.temperature, -1)
        return int(torch.multinomial(shares, 1, generator=self._random[id(reply)]))

    def _fit(self, rows: int, places: int) -> Memory:
        """A memory that has room for so much, holding what was held.

        What it once had more than is needed now it keeps as far as `ROOM` goes: many short rows and
        then few long ones must not become many long ones.
        """
        now = self._memory
        if now is not None and now.rows >= rows and now.places >= places:
            return now
        places = max([places, *(len(r.prompt) + len(r.tokens) for r in self._rows)])
        wide = -(-(places + 1) // _STEP) * _STEP
        if now is not None:
            rows, wide = max(rows, min(now.rows, ROOM // places)), max(wide, now.places)
        more = Memory(self._network, rows, max(places, min(wide, ROOM // rows)))
        for row, reply in enumerate(self._rows):
            assert now is not None
            more.copy(row, now, row, len(reply.prompt) + len(reply.tokens) - 1)
        self._memory = more
        return more


def _shared(first: list[int], second: list[int]) -> int:
    for place, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return place
    return min(len(first), len(second))
