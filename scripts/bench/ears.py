"""What a spoken question loses: words in quiet, words by noise and level, names, and turns.

    python scripts/bench/ears.py quiet --questions 300
    python scripts/bench/ears.py levels --questions 10
    python scripts/bench/ears.py names --names 40 --old OLD_WORLD/entities.parquet
    python scripts/bench/ears.py runs RUN...      # of `mmrag run --spoken ...`, taken together

Questions and names are the mini world's, in the order of their hashes. What is heard is cached as
in a run; times are of what was not.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from mmrag.metrics.headline import IntervalOptions
from mmrag.records import Reference, Turn
from simulator.ears.noises import LEVELS
from simulator.ears.recognition_losses import recognition_errors
from simulator.ears.sounds import read
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.voice_and_ear import ears, voices
from simulator.parts.agent_resources import cache_folder
from simulator.reports.figures.headline import headline
from simulator.reports.figures.report import ReportOptions, load_report_runs
from simulator.reports.losses.hearing_losses import hearing_losses
from simulator.reports.read.turn_frame import TurnFrame
from simulator.store.run_reader import RunReader
from simulator.world.sessions import World

MINI = Path("assets/mini")


def shuffled(texts: set[str]) -> list[str]:
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())


def questions(count: int) -> list[str]:
    found: set[str] = set()
    for split in ("multi-turn", "single-turn"):
        world = World(MINI, split=split, pictures="clean")
        found |= {turn.query for session in world for turn in session.turns}
    return shuffled(found)[:count]


def names(path: Path, count: int) -> list[str]:
    return shuffled(set(pq.read_table(path, columns=["name"])["name"].to_pylist()))[:count]


def heard(texts: list[str], condition: str) -> list[str]:
    async def all_of_them() -> list[str]:
        made = SpeechPipeline(
            voices.create("piper"), ears.create("whisper"), cache=cache_folder() / "ears"
        )
        turns = [Turn(index=0, id="t", query=t, reference=Reference(text="")) for t in texts]
        return [(await made.hear(turn, condition)).heard.text for turn in turns]

    return asyncio.run(all_of_them())


def word_errors(texts: list[str], found: list[str]) -> tuple[int, int]:
    lost = [recognition_errors(said, got) for said, got in zip(texts, found, strict=True)]
    return sum(one.errors for one in lost), sum(one.words for one in lost)


def quiet(count: int) -> None:
    texts = questions(count)
    errors, words = word_errors(texts, heard(texts, "quiet"))
    exact = sum(
        recognition_errors(t, h).errors == 0
        for t, h in zip(texts, heard(texts, "quiet"), strict=True)
    )
    print(f"{len(texts)} questions, {words:,} words: "
          f"word error rate {100 * errors / words:.1f} %, {exact} without an error")  # fmt: skip
    for passing in ("first", "second"):
        voice, ear, took, digest = voices.create("piper"), ears.create("whisper"), [], b""
        voice.say("ready"), ear.hear(voice.say("ready"))
        for text in texts[:20]:
            start = time.perf_counter()
            wav = voice.say(text).wav
            said = time.perf_counter()
            text = ear.hear(read(wav)).text
            took.append((said - start, time.perf_counter() - said))
            digest = hashlib.sha256(digest + wav + text.encode()).digest()
        say, hear = (sorted(times)[len(took) // 2] for times in zip(*took, strict=True))
        print(f"{passing} time: say {say:.2f} s, hear {hear:.2f} s (medians of {len(took)}); "
              f"sounds and texts {digest.hex()[:12]}")  # fmt: skip


def levels(count: int) -> None:
    texts = questions(300)[-count:]
    for kind in LEVELS:
        rates = [word_errors(texts, heard(texts, f"{kind}@{level}")) for level in range(1, 6)]
        print(
            f"| {kind} | " + " | ".join(f"{100 * e / w:.0f}" for e, w in rates) + " |", flush=True
        )


def lost_names(count: int, old: Path) -> None:
    for which, path in (("needs.md", MINI / "entities.parquet"), ("old", old)):
        said = [f"How much is the {name.removeprefix('The ')}?" for name in names(path, count)]
        for condition in ("quiet", "street@3"):
            found = [
                recognition_errors(t, h) for t, h in zip(said, heard(said, condition), strict=True)
            ]
            print(f"| {which} | {condition} | {sum(one.names_lost for one in found)} of "
                  f"{sum(one.names for one in found)} |", flush=True)  # fmt: skip


def runs(folders: list[Path]) -> None:
    how = IntervalOptions(resamples=1000, seed=0)

    def told(figure: dict, scale: float = 100) -> str:
        if figure["estimate"] is None:
            return "–"
        low, high = figure["low"], figure["high"]
        between = "" if low is None else f" [{scale * low:.1f}, {scale * high:.1f}]"
        return f"{scale * figure['estimate']:.1f}{between}"

    readers = [RunReader(folder) for folder in folders]
    frame = joined([one.frame for one in load_report_runs(readers, ReportOptions())[0]])
    rows = {one["condition"]: one for one in hearing_losses(frame, how) or ()}
    print(f"{len(frame.sessions)} conversations, {len(frame):,} turns")
    for name in frame.conditions:
        truth = headline(frame, frame.condition(name), how)["strict"]["as_experienced"]
        line = f"| {name} | {told(truth['truthfulness_score'])} "
        if one := rows.get(name):
            line += (
                f"| {told(one['change'])} | {told(one['word_error_rate'])} | "
                f"{told(one['names_lost'])} of {one['names_lost']['n']} | "
                f"{told(one['numbers_lost'])} of {one['numbers_lost']['n']} | "
                f"{one['lost']}, {one['won']} of {one['pairs']} "
            )
        print(line + "|")


def joined(frames: list[TurnFrame]) -> TurnFrame:
    """Runs of one agent over different sessions as one."""
    first = frames[0]
    names = {
        c: list(dict.fromkeys(n for f in frames for n in f.names(c))) for c in first.categories
    }
    columns: dict[str, list[np.ndarray]] = {name: [] for name in first.columns}
    starts, before = [], {"session": 0, "unit": 0}
    rows = 0
    for frame in frames:
        assert frame.conditions == first.conditions
        for name, kept in columns.items():
            cells = frame[name] + before[name] if name in before else frame[name]
            if name in names:
                codes = np.array([*map(names[name].index, frame.names(name)), -1])
                cells = codes[cells]  # -1, unknown, is the last
            kept.append(cells)
        starts.append(frame.starts + rows)
        rows += len(frame)
        before = {"session": before["session"] + len(frame.sessions),
                  "unit": before["unit"] + len(frame.starts)}  # fmt: skip
    return replace(
        first,
        sessions=[name for frame in frames for name in frame.sessions],
        columns={name: np.concatenate(cells) for name, cells in columns.items()},
        categories=names,
        starts=np.concatenate(starts),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["quiet", "levels", "names", "runs"])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--names", type=int, default=40)
    parser.add_argument("--old", type=Path, default=MINI / "entities.parquet")
    given = parser.parse_args()
    if given.what == "quiet":
        quiet(given.questions)
    elif given.what == "levels":
        levels(given.questions)
    elif given.what == "names":
        lost_names(given.names, given.old)
    else:
        runs(given.folders)


if __name__ == "__main__":
    main()
