"""Records of a live run changed, and its sum made again (18): `mmrag verify` finds it.

Any leaf of a session or a turn gets another value. What nothing can derive (replies, verdicts,
times, errors, words that only describe) is left alone; a seal finds those too.
"""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import MmragError
from mmrag.records import Session, TurnResult, decode_as, encode
from scripts.bench.attacks import Case
from simulator.application.execution import execute
from simulator.application.verify_wearers import verify_run
from simulator.parts.run_parts import Parts
from simulator.run.run_config import make_config
from simulator.store.run_store import RunStore

TRIES = 200
FREE = {"reply", "verdict", "seconds", "error", "fault"}
OTHER: tuple[Any, ...] = ("other", 7, True, None, [], {}, "low-light@3", -1.5)


def cases(seed: int, work: Path) -> Iterator[Case]:
    """One small run, changed in ever other places."""
    chance = random.Random(seed)
    settings = {"data": "mini", "agent": "random", "judge": "exact", "search": "none",
                "wearer": "live", "limit": 1, "seconds": 60.0}  # fmt: skip
    execute(Parts(make_config(settings), progress=False), work / "run")
    for number in range(TRIES):
        other = work / "changed"
        shutil.copytree(work / "run", other)
        try:
            what, changed = _change(other, chance, session=number % 2 == 0)
            missed = changed and not verify_run(other).problems
            fault = f"{what} is not noticed" if missed else None
        except MmragError:
            fault = None  # refused at once
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"[:300]
        shutil.rmtree(other)
        yield Case("a session changed" if number % 2 == 0 else "a turn changed", fault)


def _change(folder: Path, chance: random.Random, *, session: bool) -> tuple[str, bool]:
    """What was changed, and whether anything was: not every value can stand everywhere."""
    with RunStore(folder) as store:
        held = next(store.sessions())
        turns = store.turns(held.id, held.degradation)
        record: Session | TurnResult = held if session else chance.choice(turns)
        tree: dict[str, Any] = msgspec.json.decode(encode(record))
        path, value = _leaf(tree, chance), chance.choice(OTHER)
        changed = copy.deepcopy(tree)
        node: Any = changed
        for step in path[:-1]:
            node = node[step]
        if session and path == ["id"]:
            return "", False  # the conversation of another
        before, node[path[-1]] = node[path[-1]], value
        what = f"{'.'.join(map(str, path))}: {str(before)[:60]} → {value!r}"
        try:
            made = decode_as(type(record), msgspec.json.encode(changed), images=store.images.get)
        except (MmragError, msgspec.MsgspecError):
            return what, False
        if encode(made) == encode(record):
            return what, False
        if isinstance(made, Session):
            store.commit(session=made).result()
        else:
            store.commit(made).result()
    return what, True


def _leaf(tree: dict[str, Any], chance: random.Random) -> list[Any]:
    path: list[Any] = []
    node: Any = tree
    while isinstance(node, dict | list) and node:
        keys = [k for k in node if k not in FREE] if isinstance(node, dict) else [*range(len(node))]
        if not keys:
            break
        path.append(chance.choice(keys))
        node = node[path[-1]]
    return path
