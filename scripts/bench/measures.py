"""Measures of grounding: how fast they are kept, and how far their judges agree with the truth.

    python scripts/bench/measures.py speed [--turns 5000]
    python scripts/bench/measures.py truth [--world assets/mini] [--answers 600] [--seed 0]
        [--model SPEC [--prompts paper]] [--measures ragas,garage] [--out FOLDER]

`speed` measures turns with a model that answers at once, every row and completion on disk. `truth`
writes the world in GaRAGe's form and compares each judge with the labels, which are true by
construction; intervals are over questions. Thresholds were chosen on the mini world: of its
questions the encoder is shown the half on which they were not. `--out` keeps what was measured, and
called again it goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmrag.files.images import LazyImage
from mmrag.judges.measure_registry import chosen_measures, model_measurers
from mmrag.metrics.cases import Measurement
from mmrag.metrics.statistics import cluster_bootstrap
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
from simulator.application.measure import measure
from simulator.application.run_measures import measure_run, paid_once
from simulator.store.run_store import RunReader, RunStore
from simulator.world.language.graded_answers import graded_answers

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
            model = paid_once(Instant(), "instant", store)
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


def truth(given: argparse.Namespace) -> None:
    """Agreement of judges with true labels."""
    folder = Path(given.out or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "world.jsonl"
    lines = list(graded_answers(given.world, count=given.answers, seed=given.seed))
    unseen = given.model or given.world != MINI
    kept = [line for line in lines if unseen or _half(line["meta"]["turn"]) == 1]
    path.write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")
    turns = {line["id"]: line["meta"]["turn"] for line in kept}
    forms = {line["id"]: line["meta"]["form"] for line in kept}
    measure(path, judge="labels")
    begun = time.perf_counter()
    found = measure(path, given.measures, model=given.model, prompts=given.prompts, concurrency=2)
    seconds = time.perf_counter() - begun
    rows = _rows(Path(found.folder))
    print(f"{len(kept)} answers to {len(set(turns.values()))} questions, {seconds:.0f} s")
    for name in chosen_measures("ragas,garage"):
        _compare(name, rows, turns)
    _sentences(rows, turns)
    _forms(rows, forms)


def _forms(rows: dict[Any, Measurement], forms: dict[str, str]) -> None:
    """Relevance-aware factuality before eligibility, by what is the matter with the answer."""
    for form in dict.fromkeys(forms.values()):
        both = [
            [row.value for side in (True, False) if (row := rows.get((a, "unadjusted_raf", side)))]
            for a, other in forms.items()
            if other == form
        ]
        two = [pair for pair in both if len(pair) == 2 and None not in pair]
        if two:
            right = sum(a == b for a, b in two)
            print(f"uRAF of {form:<20} truth {two[0][0]:.0f}, ruled so in {right} of {len(two)}")


def _rows(folder: Path) -> dict[tuple[str, str, bool], Measurement]:
    """(answer, measure, whether by labels) → row."""
    with RunReader(folder) as run:
        return {
            (session, row.measure, row.judge.startswith("labels")): row
            for session, condition in run.session_keys()
            for rows in run.measurements(session, condition).values()
            for row in rows
        }


def _compare(name: str, rows: dict[Any, Measurement], turns: dict[str, str]) -> None:
    pairs = [
        (turn, rows[answer, name, True].value, rows[answer, name, False].value)
        for answer, turn in turns.items()
        if (answer, name, True) in rows and (answer, name, False) in rows
    ]
    known = [(turn, a, b) for turn, a, b in pairs if a is not None and b is not None]
    if not known:
        return
    a, b = np.array([x[1] for x in known]), np.array([x[2] for x in known])
    clusters = [x[0] for x in known]
    binary = set(np.unique(a)) <= {0.0, 1.0} and name not in ("faithfulness", "context_relevance")
    agree = (a == b).astype(float) if binary else np.abs(a - b)
    what = "agree" if binary else "mean |difference|"
    interval = cluster_bootstrap(agree, clusters)
    print(
        f"{name:<26}truth {a.mean():.3f}  judge {b.mean():.3f}  {what} {interval.estimate:.3f} "
        f"[{interval.low:.3f}, {interval.high:.3f}]  {_kappa(a, b) if binary else _rank(a, b)}"
        f"  n {len(known)}"
    )


def _sentences(rows: dict[Any, Measurement], turns: dict[str, str]) -> None:
    """Supported or not, sentence by sentence, where both judged the same sentences."""
    for name in ("unadjusted_factuality", "unadjusted_raf"):
        agree: list[float] = []
        clusters: list[str] = []
        for answer, turn in turns.items():
            two = [rows.get((answer, name, side)) for side in (True, False)]
            labels = [row.details.get("labels", ()) if row else () for row in two]
            if labels[0] and len(labels[0]) == len(labels[1]):
                agree += [float(_merged(x) == _merged(y)) for x, y in zip(*labels, strict=True)]
                clusters += [turn] * len(labels[0])
        if agree:
            found = cluster_bootstrap(np.array(agree), clusters)
            print(
                f"sentences of {name:<22} agree {found.estimate:.3f} "
                f"[{found.low:.3f}, {found.high:.3f}]  n {len(agree)}"
            )


def _merged(label: str) -> str:
    return "against" if label in ("unsupported", "contradicted") else label


def _kappa(a: NDArray[Any], b: NDArray[Any]) -> str:
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return "κ –" if chance == 1 else f"κ {((a == b).mean() - chance) / (1 - chance):.2f}"


def _rank(a: NDArray[Any], b: NDArray[Any]) -> str:
    ranks = [np.argsort(np.argsort(x, kind="stable"), kind="stable") for x in (a, b)]
    return f"ρ {np.corrcoef(*ranks)[0, 1]:.2f}"


def _half(turn: str) -> int:
    return int(hashlib.sha256(turn.encode()).hexdigest(), 16) % 2


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "truth"])
    parser.add_argument("--turns", type=int, default=5000)
    parser.add_argument("--world", type=Path, default=MINI)
    parser.add_argument("--answers", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model")
    parser.add_argument("--prompts", default="keyed")
    parser.add_argument("--measures", default="ragas,garage")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.turns)
    else:
        truth(given)


if __name__ == "__main__":
    main()
