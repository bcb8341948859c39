"""Reading with nothing said that does not stand there: the likeliest span of some texts.

A span begins and ends at words. Its log-probability is that of being the whole reply: its tokens
and the end after them. The search is exact: a continuation is never likelier than what it
continues, so the first reply that is complete is the best one (Dijkstra's argument).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec
import torch
from torch import Tensor

from mmrag.models.smollm2.decoding import Prefixes
from mmrag.models.smollm2.network import Memory, Network
from mmrag.models.smollm2.weights import Words
from mmrag.protocols import Span

LONGEST = 24
"""Tokens of a span at most."""

TRIED = 256
"""Beginnings that are looked into; beyond that the best of what was found is given."""

_AT_ONCE = 16
"""Beginnings that are looked into together, which takes hardly longer than one."""


class Path(msgspec.Struct, frozen=True):
    """Where a span may begin, how it would go on, and after which of its tokens it may end."""

    source: int
    start: int
    tokens: tuple[int, ...]
    ends: dict[int, int]
    """Number of tokens → place in the text."""


def paths(texts: Sequence[str], words: Words) -> list[Path]:
    """One for every word of the texts.

    Each is read from its word on, as a reply would begin: without the blank before it.
    """
    windows: list[tuple[int, int, str]] = []
    ends: list[set[int]] = []
    for source, text in enumerate(texts):
        matches = list(_WORD.finditer(text))
        ends.append({match.end() for match in matches})
        for first, match in enumerate(matches):
            last = matches[min(first + LONGEST, len(matches)) - 1].end()
            windows.append((source, match.start(), text[match.start() : last]))
    found: list[Path] = []
    encoded = words.tokenizer.encode_batch([window for _, _, window in windows])
    for (source, start, _), one in zip(windows, encoded, strict=True):
        places = [start + end for _, end in one.offsets[: LONGEST + 1]]
        after = [*places[1:], None]
        found.append(
            Path(
                source,
                start,
                tuple(one.ids[:LONGEST]),
                {
                    number: end
                    for number, (end, next_end) in enumerate(
                        zip(places[:LONGEST], after, strict=False), start=1
                    )
                    if end in ends[source] and next_end != end  # no half of a character
                },
            )
        )
    return found


class _Node(msgspec.Struct, kw_only=True):
    """A beginning that some paths share."""

    logprobs: tuple[float, ...]
    paths: list[Path]
    depth: int
    before: tuple[int, ...] = ()
    """Places of its tokens but the last in the memory."""
    ended: bool = False

    @property
    def token(self) -> int:
        return self.paths[0].tokens[self.depth - 1]


class FoundSpan(msgspec.Struct, frozen=True):
    """A span, its tokens and their log-probabilities, the end's last."""

    span: Span
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]


def best_spans(
    network: Network,
    prefixes: Prefixes,
    prompt: list[int],
    candidates: list[Path],
    texts: Sequence[str],
    *,
    end: int,
    count: int,
) -> list[FoundSpan]:
    """The likeliest spans, best first; of two that are equal the one that stands first."""
    memory = Memory(network, 1, len(prompt) + TRIED + _AT_ONCE)
    scores = prefixes.read(prompt, memory)
    queue = _Queue()
    queue.add(_children(_Node(logprobs=(), paths=candidates, depth=0), scores, end, ()))
    found: list[FoundSpan] = []
    used = len(prompt)
    while len(found) < count and (node := queue.best()) is not None:
        if node.ended:
            queue.take([node])
            one = _found(node, texts)
            if all(one.span.text != other.span.text for other in found):
                found.append(one)
        elif used >= len(prompt) + TRIED:
            queue.take(queue.open(None))
        else:
            nodes = queue.open(_AT_ONCE)
            queue.take(nodes)
            after = _after(network, memory, nodes, len(prompt), used)
            for node, scores in zip(nodes, after, strict=True):
                queue.add(_children(node, scores, end, (*node.before, used)))
                used += 1
    return found


class _Queue:
    """Beginnings and whole spans, the likeliest first, equals in the order in which they came."""

    def __init__(self) -> None:
        self._held: list[_Node] = []

    def add(self, nodes: Iterable[_Node]) -> None:
        self._held += nodes
        self._held.sort(key=lambda node: -sum(node.logprobs))  # stable

    def best(self) -> _Node | None:
        return self._held[0] if self._held else None

    def open(self, count: int | None) -> list[_Node]:
        """The best that go on."""
        return [node for node in self._held if not node.ended][:count]

    def take(self, nodes: list[_Node]) -> None:
        taken = {id(node) for node in nodes}
        self._held = [node for node in self._held if id(node) not in taken]


def _children(node: _Node, scores: Tensor, end: int, before: tuple[int, ...]) -> list[_Node]:
    depth = node.depth
    together: dict[int, list[Path]] = {}
    for path in node.paths:
        if len(path.tokens) > depth:
            together.setdefault(path.tokens[depth], []).append(path)
    chances = scores[list(together)].tolist() if together else []
    children = [
        _Node(logprobs=(*node.logprobs, chance), paths=some, depth=depth + 1, before=before)
        for chance, some in zip(chances, together.values(), strict=True)
    ]
    ending = [path for path in node.paths if depth in path.ends]
    if ending:
        logprobs = (*node.logprobs, float(scores[end]))
        children.append(_Node(logprobs=logprobs, paths=ending, depth=depth, ended=True))
    return children


def _after(network: Network, memory: Memory, nodes: list[_Node], prompt: int, used: int) -> Tensor:
    """Log-probabilities after each beginning: its last token sees the prompt and its own way."""
    seen = torch.zeros(1, len(nodes), used + len(nodes), dtype=torch.bool)
    seen[..., :prompt] = True
    for number, node in enumerate(nodes):
        seen[0, number, [*node.before, used + number]] = True
    tokens = torch.tensor([[node.token for node in nodes]])
    positions = torch.tensor([[prompt + node.depth - 1 for node in nodes]])
    places = torch.arange(used, used + len(nodes))[None]
    return network.scores(network.next(tokens, positions, places, memory, seen)[0])


def _found(node: _Node, texts: Sequence[str]) -> FoundSpan:
    path = node.paths[0]
    stop = path.ends[node.depth]
    return FoundSpan(
        Span(
            text=texts[path.source][path.start : stop],
            source=path.source,
            start=path.start,
            end=stop,
            logprob=sum(node.logprobs),
        ),
        path.tokens[: node.depth],
        node.logprobs,
    )


_WORD = re.compile(r"""[^\s"'“”‘’(\[{<>)\]},.;:!?](?:\S*[^\s"'“”‘’(\[{<>)\]},.;:!?])?""")
"""What stands between blanks, without the punctuation around it: 40.5, well-known, 8:30."""
