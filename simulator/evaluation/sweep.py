"""One component of an agent at a time, or a grid: runs of the same questions, against a base.

Every setting is a run like any other, in a folder of its own; calling the sweep again goes on with
what is left. Pages are cut and encoded once per way of cutting, and what the settings ask alike (a
search, a completion) is asked once.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from mmrag.errors import SpecError, UsageError
from mmrag.files import write_text
from mmrag.metrics.statistics import cluster_bootstrap, cluster_permutation
from mmrag.records import Record
from mmrag.registry import Spec
from simulator.run.config import RunConfig

SCHEMA_VERSION = 1
MOST = 400
"""Settings of one sweep."""


class Setting(Record, frozen=True, kw_only=True):
    """The base agent with some of its options changed."""

    name: str
    """`base`, or what is changed: `chunk=128`, in a grid `chunk=128,top_k=4`."""
    agent: str
    changed: Mapping[str, str] = {}


def settings_of(agent: str, vary: Mapping[str, Sequence[str]], *, grid: bool) -> list[Setting]:
    """The base first, then every value of every component, or every combination of them."""
    if not vary:
        raise UsageError("nothing varies: say --vary OPTION=VALUE,VALUE, e.g. --vary top_k=2,4,8.")
    base = Spec.parse(agent)
    many = (math.prod if grid else sum)(map(len, vary.values()))
    if many > MOST:
        raise UsageError(f"{many:,} settings are more than {MOST}; vary less at a time.")
    if grid:
        choices = [dict(zip(vary, of, strict=True)) for of in itertools.product(*vary.values())]
    else:
        choices = [{option: value} for option, values in vary.items() for value in values]
    found = {agent: Setting(name="base", agent=str(base))}
    for changed in choices:
        spec = Spec(name=base.name, options={**base.options, **changed})
        name = ",".join(f"{k}={v}" for k, v in changed.items())
        if spec != base:
            found.setdefault(str(spec), Setting(name=name, agent=str(spec), changed=changed))
    return list(found.values())


def parse_vary(texts: Sequence[str]) -> dict[str, list[str]]:
    """`chunk=64,128` and `retriever=bm25,dense`; a value with commas stands in brackets."""
    found: dict[str, list[str]] = {}
    for text in texts:
        option, equals, values = text.partition("=")
        parts = [p.strip("()").strip() for p in re.findall(r"\([^()]*\)|[^,()]+", values)]
        parts = [p for p in parts if p]
        if not equals or not option.strip() or not parts:
            raise SpecError(f"--vary {text!r}: write OPTION=VALUE,VALUE, e.g. chunk=64,128,256.")
        if option.strip() in found:
            raise SpecError(f"--vary {option.strip()} stands twice; give its values in one.")
        found[option.strip()] = list(dict.fromkeys(parts))
    return found


def run_sweep(
    config: RunConfig,
    vary: Mapping[str, Sequence[str]],
    out: Path,
    *,
    grid: bool = False,
    measures: str = "",
    model: str | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Run every setting and compare each with the base; `measures` adds figures to the verdicts."""
    from mmrag.cache import Cache
    from simulator.evaluation.execution import execute
    from simulator.evaluation.progress import say

    settings = settings_of(config.agent, vary, grid=grid)
    check_settings(settings, config, measures)
    cache, spent = Cache(), 0.0
    for number, setting in enumerate(settings, 1):
        if progress:
            say(f"{number} of {len(settings)}: {setting.name} ({setting.agent})")
        left = None if max_cost is None else max(0.0, max_cost - spent)
        folder = folder_of(out, setting)
        one = msgspec.structs.replace(config, agent=setting.agent)
        execute(one, folder, concurrency=concurrency, max_cost=left, progress=progress, cache=cache)
        spent += _cost(folder)
        if measures:
            spent += _measured(folder, measures, model, concurrency, left)
    return compare_settings(out, settings, measures)


def check_settings(settings: Sequence[Setting], config: RunConfig, measures: str = "") -> None:
    """Refuse what cannot be made before the first setting has run for an hour."""
    from mmrag.agents.baselines import check_rag
    from mmrag.judges.measuring import chosen_measures
    from simulator.evaluation.wiring import check_agent

    if measures:
        chosen_measures(measures)
    for setting in settings:
        check_agent(msgspec.structs.replace(config, agent=setting.agent))
        spec = Spec.parse(setting.agent)
        if spec.name == "rag":
            check_rag(**spec.options)


def folder_of(out: Path, setting: Setting) -> Path:
    """Where a setting's run stands."""
    name = re.sub(r"[^a-zA-Z0-9_=.,%+-]+", "_", setting.name)[:120]
    if name != setting.name:  # two settings must not share a folder for a sign that it cannot have
        name += "." + hashlib.sha256(setting.agent.encode()).hexdigest()[:8]
    return out / "runs" / name


def compare_settings(out: Path, settings: Sequence[Setting], measures: str = "") -> dict[str, Any]:
    """The figures of every setting, and how it differs from the base, turn by turn."""
    from mmrag.judges.measuring import chosen_measures
    from simulator.reports.figures.paired_runs import Side, compare_runs

    names = chosen_measures(measures) if measures else ()
    sides = [Side(folder=str(folder_of(out, setting))) for setting in settings]
    scored = compare_runs(sides)
    against = [None, *scored["comparisons"]]
    base = _measurements(folder_of(out, settings[0]), names)
    rows: list[dict[str, Any]] = []
    for setting, side, compared in zip(settings, scored["sides"], against, strict=True):
        mine = base if compared is None else _measurements(folder_of(out, setting), names)
        row: dict[str, Any] = {
            "name": setting.name,
            "agent": setting.agent,
            "changed": dict(setting.changed),
            "figures": {"truthfulness": side["strict"][VIEW]["truthfulness_score"]}
            | {n: _mean(mine[n]) for n in names if mine[n]},
        }
        if compared is not None:
            row["difference"] = {"truthfulness": compared[VIEW]["truthfulness_score"]} | {
                n: _difference(base[n], mine[n]) for n in names if base[n] and mine[n]
            }
            row["costs"] = {k: v["other"] for k, v in compared["costs"].items()}
        rows.append(row)
    found = {
        "schema_version": SCHEMA_VERSION,
        "kind": "sweep",
        "judge": scored["judge"],
        "settings": rows,
    }
    write_text(out / "sweep.json", json.dumps(found, indent=1))
    return found


VIEW = "as_experienced"
"""Turns after a conversation has ended count as missing, as in a run's headline."""

_Values = dict[tuple[str, str, int], float]
"""(session, condition, turn) → value."""


def _measurements(folder: Path, names: Sequence[str]) -> dict[str, _Values]:
    """By measure; one judge is taken, the last by name where there are several."""
    from simulator.store.run_store import RunReader

    found: dict[str, _Values] = {name: {} for name in names}
    if not names:
        return found
    with RunReader(folder) as run:
        for sid, condition in run.session_keys():
            for turn, rows in run.measurements(sid, condition).items():
                for row in rows:
                    if row.measure in found and row.value is not None and not row.failed:
                        found[row.measure][sid, condition, turn] = row.value
    return found


def _mean(values: _Values) -> dict[str, Any]:
    interval = cluster_bootstrap(list(values.values()), [key[:2] for key in values])["all"]
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high,
            "n": len(values)}  # fmt: skip


def _difference(base: _Values, other: _Values) -> dict[str, Any]:
    """Over the turns that both sides have: a conversation may end earlier on one of them."""
    keys = sorted(base.keys() & other.keys())
    if not keys:
        return {"estimate": None, "low": None, "high": None, "p": None, "n": 0}
    first, second = [base[key] for key in keys], [other[key] for key in keys]
    clusters = [key[:2] for key in keys]
    interval = cluster_bootstrap(np.subtract(second, first), clusters)["all"]
    test = cluster_permutation(first, second, clusters)
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high,
            "p": test.p, "n": len(keys)}  # fmt: skip


def _cost(folder: Path) -> float:
    from simulator.store.run_store import RunReader

    with RunReader(folder) as run:
        return sum(r.reply.usage.cost for r in run.results() if r.reply is not None)


def _measured(
    folder: Path, measures: str, model: str | None, concurrency: int, left: float | None
) -> float:
    from simulator.evaluation.measure import measure

    return measure(folder, measures, model=model, concurrency=concurrency, max_cost=left).cost
