"""SmolLM2 on this machine: start, answers per second batched and alone, exactness, memory.

    python scripts/bench/smollm2.py [--answers 16] [--dtype float32]

Questions about passages of the mini world, 24 tokens of reply at most. Answers of a batch of 16 are
compared with those of one by one. Processor time stands beside time by the clock, which other work
on the machine lengthens.
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
    """Print one JSON object."""
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

    _, start = _timed(one())
    _, again = _timed(one())
    batched, batch_time = _timed(together())
    single, single_time = _timed(alone())
    spans, span_time = _timed(read())
    print(
        json.dumps(
            {
                "load": round(os.getloadavg()[0], 1),
                "dtype": given.dtype,
                "first answer, loading included": start,
                "second": again,
                "answers": len(asked),
                "prompt tokens": sum(c.usage.input_tokens for c in batched),
                "reply tokens": sum(c.usage.output_tokens for c in batched),
                "batched": batch_time,
                "alone": single_time,
                "spans": span_time,
                "same texts": sum(a.text == b.text for a, b in zip(batched, single, strict=True)),
                "largest difference of a log-probability": max(
                    abs(p - q)
                    for a, b in zip(batched, single, strict=True)
                    for (_, p), (_, q) in zip(a.logprobs, b.logprobs, strict=False)
                    if a.text == b.text
                ),
                "spans that stand in the passages": sum(
                    s.text in "\n".join(_passages(line))
                    for s, line in zip(spans, lines, strict=True)
                ),
                "peak memory, GiB": round(
                    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2
                ),
            },
            indent=1,
        )
    )


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
