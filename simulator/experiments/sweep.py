"""One component of an agent at a time, or a grid: runs of the same questions, against a base.

Every setting is a run like any other, in a folder of its own; calling the sweep again goes on with
what is left. Pages are cut and encoded once per way of cutting, and what the settings ask alike (a
search, a completion) is asked once.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmrag.errors import MmragError, SpecError, UsageError
from mmrag.files.atomic import write_text
from mmrag.metrics.headline import HEADLINE
from mmrag.metrics.statistics import cluster_bootstrap, cluster_permutation
from mmrag.records import Record
from mmrag.registry import Spec, closing, split_options

if TYPE_CHECKING:
    from simulator.parts.run_parts import Parts

SCHEMA_VERSION = 2
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
        found_values = [value for part in split_options(values) if (value := _bare(part.strip()))]
        if not equals or not option.strip() or not found_values:
            raise SpecError(f"--vary {text!r}: write OPTION=VALUE,VALUE, e.g. chunk=64,128,256.")
        if option.strip() in found:
            raise SpecError(f"--vary {option.strip()} stands twice; give its values in one.")
        found[option.strip()] = list(dict.fromkeys(found_values))
    return found


def _bare(value: str) -> str:
    """A value without the brackets about it."""
    bare = value[1:-1].strip() if value.startswith("(") else value
    if closing(f"({bare})") != len(bare) + 1:
        raise SpecError(f"the brackets in {value!r} do not match.")
    return bare


def run_sweep(
    parts: Parts,
    vary: Mapping[str, Sequence[str]],
    out: Path,
    *,
    grid: bool = False,
    measures: str = "",
    model: str | None = None,
    concurrency: int = 16,
    max_cost: float | None = None,
) -> dict[str, Any]:
    """Run every setting and compare each with the base; `measures` adds figures to the verdicts."""
    from simulator.application.execution import execute
    from simulator.application.measure_run_or_file import measure
    from simulator.terminal.cost_cap import CostCapReached, cost_of
    from simulator.terminal.progress import print_to_stderr

    settings = settings_of(parts.settings.agent, vary, grid=grid)
    check_settings(settings, measures)
    costs = {s.agent: 0.0 if max_cost is None else _spent(setting_folder(out, s)) for s in settings}
    for number, setting in enumerate(settings, 1):
        if parts.progress:
            print_to_stderr(f"{number} of {len(settings)}: {setting.name} ({setting.agent})")
        folder = setting_folder(out, setting)
        left = None
        if max_cost is not None:
            total, own = sum(costs.values()), costs[setting.agent]
            left = max_cost - (total - own)
            if total >= max_cost and not _finished(folder):
                raise _spent_up(total, max_cost)
        try:
            mine = parts.with_agent(setting.agent)
            execute(mine, folder, concurrency=concurrency, max_cost=left)
            if measures:
                left = None if left is None else left - cost_of(folder)
                measure(folder, measures, model=model, concurrency=concurrency, max_cost=left)
        except CostCapReached as error:
            total = sum(costs.values()) - costs[setting.agent] + _spent(folder)
            raise _spent_up(total, max_cost or 0.0) from error
        costs[setting.agent] = 0.0 if max_cost is None else _spent(folder)
    return compare_settings(out, settings, measures)


def _spent_up(total: float, most: float) -> MmragError:
    from simulator.terminal.cost_cap import CostCapReached

    return CostCapReached(
        f"the sweep has cost ${total:.2f} and --max-cost is ${most:.2f}. What was committed is "
        "kept; continue with a higher --max-cost."
    )


def _spent(folder: Path) -> float:
    """What a setting has cost, its judge and its measures included."""
    from simulator.store.run_reader import RunReader
    from simulator.terminal.cost_cap import cost_of

    if not (folder / "run.sqlite").is_file():
        return 0.0
    with RunReader(folder) as run:
        measuring = run.completion_cost()
    return cost_of(folder) + measuring


def _finished(folder: Path) -> bool:
    from simulator.store.run_reader import RunReader

    if not (folder / "run.sqlite").is_file():
        return False
    with RunReader(folder) as run:
        return bool(run.meta("finished"))


def check_settings(settings: Sequence[Setting], measures: str = "") -> None:
    """Refuse what cannot be made before the first setting has run for an hour."""
    from mmrag.agents.paper.baselines import check_rag
    from mmrag.judges.measure_registry import chosen_measures
    from simulator.parts.named_agents import check_agent

    if measures:
        chosen_measures(measures)
    for setting in settings:
        check_agent(setting.agent)
        spec = Spec.parse(setting.agent)
        if spec.name == "rag":
            check_rag(**spec.options)


def setting_folder(out: Path, setting: Setting) -> Path:
    """Where a setting's run stands."""
    name = re.sub(r"[^a-zA-Z0-9_=.,%+-]+", "_", setting.name)[:120]
    if name != setting.name:  # two settings must not share a folder for a sign that it cannot have
        name += "." + hashlib.sha256(setting.agent.encode()).hexdigest()[:8]
    return out / "runs" / name


def compare_settings(out: Path, settings: Sequence[Setting], measures: str = "") -> dict[str, Any]:
    """The figures of every setting, and how it differs from the base, turn by turn."""
    from mmrag.judges.measure_registry import chosen_measures
    from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs

    names = chosen_measures(measures) if measures else ()
    folders = [setting_folder(out, setting) for setting in settings]
    scored = compare_runs([ComparedRun(folder=str(folder)) for folder in folders])
    against = [None, *scored["comparisons"]]
    takers = _takers(folders[0], names)
    base = _measurements(folders[0], takers)
    rows: list[dict[str, Any]] = []
    for setting, folder, side, compared in zip(
        settings, folders, scored["sides"], against, strict=True
    ):
        mine = base if compared is None else _measurements(folder, takers)
        row: dict[str, Any] = {
            "name": setting.name,
            "agent": setting.agent,
            "changed": dict(setting.changed),
            "figures": {"truthfulness": side["strict"][HEADLINE]["truthfulness_score"]}
            | {n: _mean(mine[n]) for n in takers if mine[n]},
        }
        if compared is not None:
            row["difference"] = {"truthfulness": compared[HEADLINE]["truthfulness_score"]} | {
                n: _difference(base[n], mine[n]) for n in takers if base[n] and mine[n]
            }
            row["costs"] = {k: v["other"] for k, v in compared["costs"].items()}
        rows.append(row)
    found = {
        "schema_version": SCHEMA_VERSION,
        "kind": "sweep",
        **_asked(folders[0]),
        "judge": scored["judge"],
        "measures": takers,
        "settings": rows,
    }
    place = out / "sweep.json"
    found["date"] = _date_of(place, found)
    write_text(place, json.dumps(found, indent=1))
    return found


def _asked(folder: Path) -> dict[str, Any]:
    """What every setting was asked."""
    from simulator.run.run_config import read_config
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as run:
        keys = run.session_keys()
        turns = sum(len(run.session(*key).turns) for key in keys)
        return {"data": read_config(run).data, "conversations": len(keys), "turns": turns}


def _date_of(place: Path, found: Mapping[str, Any]) -> str:
    """The day on which these figures were first found: the same figures give the same bytes."""
    try:
        before: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        date = before.pop("date")
        if isinstance(date, str) and before == json.loads(json.dumps(found)):
            return date
    except (OSError, ValueError, KeyError, AttributeError):
        pass
    return dt.datetime.now(dt.UTC).date().isoformat()


_Values = dict[tuple[str, str, int], float]
"""(session, condition, turn) → value."""


def _takers(folder: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who took each measure of the base; of several, one that does not approximate, if any."""
    from simulator.store.run_reader import RunReader

    found: dict[str, dict[str, bool]] = {name: {} for name in names}
    if names:
        with RunReader(folder) as run:
            for key in run.session_keys():
                for rows in run.measurements(*key).values():
                    for row in rows:
                        if row.measure in found and row.value is not None and not row.failed:
                            found[row.measure][row.judge] = row.approximate
    chosen = {n: max(by, key=lambda j: (not by[j], j)) for n, by in found.items() if by}
    return {n: {"judge": judge, "approximate": found[n][judge]} for n, judge in chosen.items()}


def _measurements(folder: Path, takers: Mapping[str, Mapping[str, Any]]) -> dict[str, _Values]:
    """By measure, as its judge took it."""
    from simulator.store.run_reader import RunReader

    found: dict[str, _Values] = {name: {} for name in takers}
    if not takers:
        return found
    with RunReader(folder) as run:
        for sid, condition in run.session_keys():
            for turn, rows in run.measurements(sid, condition).items():
                for row in rows:
                    wanted = row.judge == takers.get(row.measure, {}).get("judge")
                    if wanted and row.value is not None and not row.failed:
                        found[row.measure][sid, condition, turn] = row.value
    return found


def _mean(values: _Values) -> dict[str, Any]:
    interval = cluster_bootstrap(list(values.values()), [key[:2] for key in values])
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high,
            "n": len(values)}  # fmt: skip


def _difference(base: _Values, other: _Values) -> dict[str, Any]:
    """Over the turns that both sides have: a conversation may end earlier on one of them."""
    keys = sorted(base.keys() & other.keys())
    if not keys:
        return {"estimate": None, "low": None, "high": None, "p": None, "n": 0}
    first, second = [base[key] for key in keys], [other[key] for key in keys]
    clusters = [key[:2] for key in keys]
    interval = cluster_bootstrap(np.subtract(second, first), clusters)
    test = cluster_permutation(first, second, clusters)
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high,
            "p": test.p, "n": len(keys)}  # fmt: skip
