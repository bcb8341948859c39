"""How fast measures of grounding are kept: a model that answers at once, every row on disk.

python scripts/bench/measures.py speed [--turns 5000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmrag.files.images import LazyImage
from mmrag.judges.measure_registry import chosen_measures, model_measurers
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import (
    Capture,
    Evidence,
    Reference,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
)
from simulator.application.measure_replies import measure_run, model_paid_once
from simulator.store.run_store import RunStore

MINI = Path("assets/mini")


class Instant:
    """A model that answers at once, in the form that is asked for."""

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """One supported statement, one needed sentence, three questions, no issue."""
        del options
        prompt = messages[-1].text
        key = re.findall(r"-([0-9a-f]{8})>", prompt)[0]
        said = {"eligibility": "no_issues", "declines": False, "needed": [1],
                "questions": ["How long is it?"] * 3, "statements": ["It is long."],
                "labels": ["supported"]}  # fmt: skip
        return Completion(text=json.dumps({"key": key, **said}), model="instant")


class Flat:
    """An encoder that answers at once."""

    id = "flat"

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """The same vector for everything."""
        return np.tile(np.array([1.0, 0.0], np.float32), (len(items), 1))


def speed(turns: int) -> None:
    """Durable turns per second for each suite."""
    for measures in ("ragas", "garage", "faithfulness"):
        with tempfile.TemporaryDirectory() as folder, RunStore(folder) as store:
            write_turns(store, turns)
            model = model_paid_once(Instant(), "instant", store)
            takers = model_measurers(model, name="instant", encoder=Flat())
            begun, busy = time.perf_counter(), time.process_time()
            work = measure_run(store, takers, chosen_measures(measures), 64)
            rows = asyncio.run(work)
            wall, cpu = time.perf_counter() - begun, time.process_time() - busy
            calls = len(store.completion_keys())
        print(
            f"{measures:<14}{rows:>7} rows {calls:>7} calls  {turns / wall:7.0f} turns/s"
            f"  ({turns / cpu:.0f} per second of processor time)"
        )


def write_turns(store: RunStore, turns: int) -> None:
    """A run of conversations of five turns, no two alike."""
    image = LazyImage.from_bytes(b"nobody looks at it")
    for number in range(turns // 5):
        session = Session(
            id=f"s{number}",
            capture=Capture(image=image),
            turns=tuple(_turn(number, index) for index in range(5)),
        )
        store.begin(number, session)
        store.commit(*(_reply(number, index) for index in range(5)))
    store.set_meta("judge", "none")


def _turn(number: int, index: int) -> Turn:
    reference = Reference(text="It is long.", grounding={"a": "answers", "b": "irrelevant"})
    return Turn(
        index=index, id=f"{number}-{index}", query=f"{number} {index}?", reference=reference
    )


def _reply(number: int, index: int) -> TurnResult:
    found = tuple(
        Evidence(source="web", id=name, score=1.0, text=f"Bridge {number} is {index} m long.")
        for name in "ab"
    )
    return TurnResult(
        session_id=f"s{number}",
        turn_index=index,
        status=Status.ANSWERED,
        reply=Reply(text=f"It is {index} m {number}.", trace=(Step(name="web", evidence=found),)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed"])
    parser.add_argument("--turns", type=int, default=5000)
    speed(parser.parse_args().turns)


if __name__ == "__main__":
    main()
