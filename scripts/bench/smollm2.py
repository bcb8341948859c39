"""SmolLM2 on this machine: start, answers per second, exactness of a batch, memory.

    python scripts/bench/smollm2.py [--answers 16] [--dtype float32]

Questions about passages of the mini world, 24 tokens of reply at most. Answers of one batch are
compared with those of one by one; what was read lately is known, so only `batched` reads all
prompts. Processor time stands beside time by the clock, which other work on the machine lengthens.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

from mmrag.models import models
from mmrag.protocols import Completion, GenerateOptions, Message
from simulator.world.language.graded_answers import graded_answers

OPTIONS = GenerateOptions(max_tokens=24, logprobs=True)


def main() -> None:
    """Print a figure a line, with the load of the machine at that moment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=16)
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    lines = list(graded_answers(Path("assets/mini"), count=given.answers, seed=9))
    asked = [_question(line) for line in lines]
    model = models.create(f"smollm2:dtype={given.dtype}")

    async def one(options: GenerateOptions = GenerateOptions(max_tokens=1)) -> Completion:
        return await model.generate([Message(role="user", text="Hello")], options)

    async def together() -> list[Completion]:
        return await asyncio.gather(*(model.generate(question, OPTIONS) for question in asked))

    async def alone() -> list[Completion]:
        return [await model.generate(question, OPTIONS) for question in asked]

    async def read() -> list[Completion]:
        return [
            await model.generate(question, GenerateOptions(span_of=_passages(line)))
            for question, line in zip(asked, lines, strict=True)
        ]

    _tell("first answer, loading included", _timed(one())[1])
    _tell("second", _timed(one())[1])
    batched, took = _timed(together())
    _tell("answers", len(asked))
    _tell("prompt tokens", sum(c.usage.input_tokens for c in batched))
    _tell("reply tokens", sum(c.usage.output_tokens for c in batched))
    _tell("batched", took)
    _tell("peak memory, GiB", round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2))
    spans, took = _timed(read())
    _tell("spans, prompts known", took)
    standing = zip(spans, lines, strict=True)
    _tell("that stand in the passages", sum(_stands(c.text, line) for c, line in standing))
    single, took = _timed(alone())
    _tell("alone, prompts known", took)
    pairs = list(zip(batched, single, strict=True))
    _tell("same texts", sum(a.text == b.text for a, b in pairs))
    tokens = [t for a, b in pairs if a.text == b.text
              for t in zip(a.logprobs, b.logprobs, strict=True)]  # fmt: skip
    _tell("largest difference of a log-probability", max(abs(p - q) for (_, p), (_, q) in tokens))


def _tell(what: str, value: object) -> None:
    print(json.dumps({what: value, "load": round(os.getloadavg()[0], 1)}), flush=True)


def _stands(text: str, line: dict[str, Any]) -> bool:
    return any(text in passage for passage in _passages(line))


def _timed(work: Any) -> tuple[Any, dict[str, float]]:
    begun, busy = time.perf_counter(), time.process_time()
    done = asyncio.run(work)
    return done, {
        "seconds": round(time.perf_counter() - begun, 2),
        "of the processor": round(time.process_time() - busy, 2),
    }


def _passages(line: dict[str, Any]) -> tuple[str, ...]:
    """Three of them, the ones that answer first: some 200 tokens."""
    best = sorted(line["passages"], key=lambda passage: passage["label"] != "answers")
    return tuple(passage["text"] for passage in best[:3])


def _question(line: dict[str, Any]) -> list[Message]:
    shown = "\n".join(_passages(line))
    return [
        Message(
            role="user", text=f"{shown}\n\nAnswer in a few words.\nQuestion: {line['question']}"
        )
    ]


if __name__ == "__main__":
    main()
