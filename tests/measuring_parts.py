"""Fakes for measuring: a model that reads its prompts, an encoder of letters, a run to measure."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_runs import write

from mmrag.files.images import LazyImage
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
    Usage,
)

ROWS = {
    "sessions": "1, 2, 3, 4", "turns": "1, 2, 3, 4, 5", "verdicts": "1, 2, 3, 4, 5",
    "measurements": "1, 2, 3, 4, 5, 6", "completions": "1, 2"
}  # fmt: skip


class Letters:
    """A tiny encoder: counts of letters."""

    id = "letters"

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[t.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for t in items])
        return (rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)).astype(np.float32)


class Reader:
    """Does what the keyed prompts ask, by words: a sentence is supported when a passage holds it,
    and needed when it holds the word `needed`."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        prompt = messages[-1].text
        self.prompts.append(prompt)
        key = keys_of(prompt)
        text = json.dumps({"key": key, **self._said(prompt)})
        return Completion(text=text, model="reader", usage=Usage(calls=1, cost=0.001))

    def _said(self, prompt: str) -> dict[str, object]:
        sentences = numbered(prompt)
        if '"labels"' in prompt:
            passages = fenced(prompt, "passages")
            held = ["supported" if s in passages else "unsupported" for s in sentences]
            return {"labels": held}
        if '"statements"' in prompt:
            return {"statements": sentences}
        if '"useful"' in prompt:
            return {"useful": fenced(prompt, "answer") in fenced(prompt, "context")}
        if '"needed"' in prompt:
            return {"needed": [i for i, s in enumerate(sentences, 1) if "needed" in s]}
        if '"questions"' in prompt:
            n = int(re.findall(r"exactly (\d+) questions", prompt)[0])
            answer = fenced(prompt, "answer")
            return {"questions": [answer] * n, "noncommittal": "don't know" in answer}
        if '"declines"' in prompt:
            return {"declines": "cannot" in fenced(prompt, "reply")}
        good = fenced(prompt, "baseline").rstrip(".") in fenced(prompt, "reply")
        return {"eligibility": "no_issues" if good else "major_issues"}


class Says:
    """The given texts in turn, the last one again; KEY stands for the key of the prompt."""

    def __init__(self, *texts: str, finish: str = "stop") -> None:
        self._texts, self._finish = texts, finish
        self.asked: list[GenerateOptions] = []
        self.prompts: list[str] = []

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        self.asked.append(options)
        self.prompts.append(messages[-1].text)
        text = self._texts[min(len(self.asked), len(self._texts)) - 1]
        if "KEY" in text:
            text = text.replace("KEY", keys_of(messages[-1].text))
        return Completion(text=text, finish=self._finish)


def keys_of(prompt: str) -> str:
    return re.findall(r"</?[a-z]+-([0-9a-f]{8})>", prompt)[0]


def fenced(prompt: str, name: str) -> str:
    found = re.search(rf"<{name}-(\w+)>\n(.*?)\n</{name}-\1>", prompt, re.S)
    return found.group(2) if found else ""


def numbered(prompt: str) -> list[str]:
    return re.findall(r"^\d+\. (.*)$", fenced(prompt, "sentences"), re.M)


def write_run(folder: Path, sessions: int = 3, turns: int = 2) -> Path:
    """A run in which every reply says something true, and every second one something stale too."""
    image = LazyImage.from_bytes(b"no picture is looked at here")
    talks = [
        Session(
            id=f"s{number}",
            capture=Capture(image=image),
            turns=tuple(asked(number, index) for index in range(turns)),
        )
        for number in range(sessions)
    ]
    held = ((one, [replied(n, i) for i in range(turns)]) for n, one in enumerate(talks))
    return write(folder, *held, judge="none")


def asked(number: int, index: int) -> Turn:
    return Turn(
        index=index, id=f"s{number}-{index}", query=f"How long is bridge {number} of {index}?",
        reference=Reference(
            text=f"Bridge {number} is {index + 10} m long.", evidence=("http://olm.example/a",),
            grounding={"http://olm.example/a": "answers", "http://olm.example/o": "outdated"}
        ),
        dynamism="fast-changing" if number % 2 else "static"
    )  # fmt: skip


def replied(number: int, index: int) -> TurnResult:
    said = f"Bridge {number} is {index + 10} m long."
    stale = f"It was {index + 8} m long."
    found = Step(
        name="web",
        evidence=(
            Evidence(source="web", id="a_chunk_0", url="http://olm.example/a", score=1, text=said),
            Evidence(source="web", id="o_chunk_0", url="http://olm.example/o", score=1, text=stale),
        ),
    )
    text = f"{said} {stale}" if (number + index) % 2 else said
    return TurnResult(
        session_id=f"s{number}", turn_index=index, status=Status.ANSWERED,
        reply=Reply(text=text, citations=("a_chunk_0",), trace=(found,))
    )  # fmt: skip


def rows_of(run: Path) -> dict[str, list[Any]]:
    """Every row of a run, whatever the order in which they came."""
    assert not (run / "shards").exists()
    with sqlite3.connect(run / "run.sqlite") as db:
        return {
            table: db.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()
            for table, order in ROWS.items()
        }
