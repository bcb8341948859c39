"""A Llama network in plain PyTorch: what tokens are likely after others.

It is written out, not taken from transformers, because whoever holds the keys and values decides
what is fast: rows of a batch begin at place 0 whatever their length (no padding), leave when they
are done, and share what their prompts have in common.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mmrag.models.smollm2.weights import ModelWeights

PIECE = 512
"""Tokens of a prompt that are computed at once."""


class Memory:
    """Keys and values of some rows: layer × row × place × head × size."""

    def __init__(self, network: Network, rows: int, places: int) -> None:
        s = network.shape
        shape = (s.layers, rows, places, s.shared_heads, s.width // s.heads)
        # zeros: a place that nobody wrote is masked, but 0 · NaN would be NaN
        self.keys = torch.zeros(shape, dtype=network.dtype)
        self.values = torch.zeros(shape, dtype=network.dtype)

    @property
    def rows(self) -> int:
        """How many there is room for."""
        return self.keys.shape[1]

    @property
    def places(self) -> int:
        """How many tokens of each."""
        return self.keys.shape[2]

    def copy(self, row: int, other: Memory, place: int, length: int) -> None:
        """Take over the first tokens of another memory's row."""
        self.keys[:, row, :length] = other.keys[:, place, :length]
        self.values[:, row, :length] = other.values[:, place, :length]


class Network:
    """Computes log-probabilities of the next token. It keeps nothing between two calls."""

    def __init__(self, weights: ModelWeights, dtype: torch.dtype = torch.float32) -> None:
        self.shape = weights.shape
        self.dtype = dtype
        s, size = weights.shape, weights.shape.width // weights.shape.heads

        def array(name: str) -> Tensor:
            return torch.tensor(weights.array(name)).to(dtype)

        def halves(name: str, heads: int) -> Tensor:
            """GGUF keeps the two halves that a rotation turns side by side; here they are apart."""
            pairs = array(name).view(heads, size // 2, 2, s.width)
            return pairs.transpose(1, 2).reshape(heads * size, s.width)

        self._words = array("token_embd.weight")
        self._last_norm = array("output_norm.weight")
        head = "output.weight"
        self._head = array(head) if head in weights.names else self._words
        self._layers: list[dict[str, Tensor]] = []
        for number in range(s.layers):
            name = f"blk.{number}."
            qkv = [
                halves(name + "attn_q.weight", s.heads),
                halves(name + "attn_k.weight", s.shared_heads),
                array(name + "attn_v.weight"),
            ]
            gate_up = [array(name + "ffn_gate.weight"), array(name + "ffn_up.weight")]
            self._layers.append({
                "norm": array(name + "attn_norm.weight"),
                "qkv": torch.cat(qkv),
                "out": array(name + "attn_output.weight"),
                "second_norm": array(name + "ffn_norm.weight"),
                "gate_up": torch.cat(gate_up),
                "down": array(name + "ffn_down.weight"),
            })  # fmt: skip
        turns = torch.arange(0, size, 2, dtype=torch.float32) / size
        self._turns = 1.0 / (s.rope_base**turns)

    def next(self, tokens: Tensor, places: Tensor, memory: Memory) -> Tensor:
        """Hidden states after tokens (row × number), which are written to their places."""
        rows, number = tokens.shape
        s, size = self.shape, self.shape.width // self.shape.heads
        width = int(places.max()) + 1
        angles = places[..., None].float() * self._turns
        cos, sin = angles.cos()[:, :, None].to(self.dtype), angles.sin()[:, :, None].to(self.dtype)
        row = torch.arange(rows)[:, None]
        mask = (torch.arange(width) <= places[..., None])[:, None]
        x = self._words[tokens]
        for layer, keys, values in zip(self._layers, memory.keys, memory.values, strict=True):
            qkv = F.linear(self._norm(x, layer["norm"]), layer["qkv"])
            q, k, v = qkv.view(rows, number, -1, size).split(
                (s.heads, s.shared_heads, s.shared_heads), 2
            )
            keys[row, places], values[row, places] = _turned(k, cos, sin), v
            heard = F.scaled_dot_product_attention(
                _turned(q, cos, sin).transpose(1, 2),
                keys[:rows, :width].transpose(1, 2),
                values[:rows, :width].transpose(1, 2),
                attn_mask=mask,
                enable_gqa=True,
            )
            x = x + F.linear(heard.transpose(1, 2).reshape(rows, number, -1), layer["out"])
            gate, up = F.linear(self._norm(x, layer["second_norm"]), layer["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        return x

    def scores(self, hidden: Tensor) -> Tensor:
        """Log-probabilities of every token, in f32, after hidden states."""
        logits = F.linear(self._norm(hidden, self._last_norm), self._head)
        return torch.log_softmax(logits.float(), -1)

    def read(self, tokens: list[int], memory: Memory, row: int = 0, known: int = 0) -> Tensor:
        """Log-probabilities after a prompt, of which `known` tokens are in the memory already."""
        part = _Row(memory, row)
        hidden = self._words[:0]
        for start in range(known, len(tokens), PIECE):
            end = min(len(tokens), start + PIECE)
            piece = torch.tensor([tokens[start:end]])
            hidden = self.next(piece, torch.arange(start, end)[None], part)[0]
        return self.scores(hidden[-1])

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (self.shape.width,), weight, self.shape.epsilon)


class _Row(Memory):
    """One row of another memory."""

    def __init__(self, memory: Memory, row: int) -> None:
        self.keys = memory.keys[:, row : row + 1]
        self.values = memory.values[:, row : row + 1]


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Any:
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)
