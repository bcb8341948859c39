"""Figures for docs/benchmarks/agents.md. Opt-in: minutes to hours.

Never tuned on what it reports: rules and the shipped calibration were made on DEVELOPMENT_SEEDS,
figures are for REPORT_SEEDS.

    python scripts/bench/agents.py WORLD [WORLD…] --agents llm-only,task3:reader=builtin,grounded
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from pathlib import Path

DEVELOPMENT_SEEDS = (7001, 7002, 7101, 7201)
REPORT_SEEDS = (8101, 8102)
ABLATIONS = (
    "restore=off", "regions=off", "geometry=on", "ocr=off", "kg=off", "entity=off", "planner=off",
    "web=off", "candidates=off",
    "queries=off", "rerank=off", "verifier=off", "abstain=off", "multiturn=off", "injection=off",
    "freshness=off",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="+", type=Path)
    parser.add_argument("--agents", default="llm-only,task3:reader=builtin,grounded")
    parser.add_argument("--ablate", action="store_true", help="grounded without each part in turn")
    parser.add_argument("--degrade", default="", help="specs such as low-light@3,blur@3")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--search", default="auto", help="folder of the world's index")
    chosen = parser.parse_args()
    specs = _specs(chosen.agents)
    if chosen.ablate:
        specs += [f"grounded:{part}" for part in ABLATIONS]
    for world in chosen.worlds:
        for degradation in ["", *filter(None, chosen.degrade.split(","))]:
            for spec in specs:
                print(json.dumps(_one(world, spec, degradation, chosen)), flush=True)


def _specs(text: str) -> list[str]:
    """Specs are split at `;` where one has several options."""
    return text.split(";") if ";" in text else text.split(",")


def _one(world: Path, spec: str, degradation: str, chosen: argparse.Namespace) -> dict[str, object]:
    from mmrag.metrics.protocols import score, two_strikes
    from simulator.parts.run_parts import Parts
    from simulator.run.config import RunConfig
    from simulator.run.engine import Rules
    from simulator.run.trials import hold_all, seconds_per_part, turn_scores
    from simulator.world.sessions import World

    parts = Parts(RunConfig(data=str(world), agent=spec, search=chosen.search))
    sessions = list(itertools.islice(World(world, pictures="clean"), chosen.limit))
    if degradation:
        sessions = [_degraded(s, degradation) for s in sessions]
    agent = parts.make_agent()
    warm = asyncio.run(
        _hold(hold_all, sessions[:1], agent, parts.judge, two_strikes, Rules(seconds=0), 1)
    )
    del warm
    agent = parts.make_agent()
    began = time.perf_counter()
    trials = asyncio.run(
        _hold(hold_all, sessions, agent, parts.judge, two_strikes,
              Rules(seconds=0, ask_after_stop=True), chosen.concurrency)
    )  # fmt: skip
    seconds = time.perf_counter() - began
    turns = sum(len(t.results) for t in trials)
    return {
        "world": world.name,
        "agent": spec,
        "degradation": degradation or "clean",
        "sessions": len(trials),
        "turns": turns,
        "figures": score(turn_scores(trials), "crag-mm")["all"],
        "false premises recognised": _premises(trials),
        "conversations stopped": f"{sum(map(_stopped, trials))}/{len(trials)}",
        "by form": _by_form(trials),
        "turns per second": round(turns / seconds, 2),
        "seconds per part": {k: round(v, 2) for k, v in seconds_per_part(trials).items()},
    }


async def _hold(hold_all, sessions, agent, judge, stop, rules, concurrency):
    return await hold_all(sessions, agent, judge, stop=stop, rules=rules, concurrency=concurrency)


def _degraded(session, spec):
    from simulator.run.captures import CaptureOptics

    return CaptureOptics().apply(session, spec, 0)


def _premises(trials) -> str:
    asked = recognised = 0
    for trial in trials:
        for turn, result in zip(trial.session.turns, trial.results, strict=True):
            if turn.extra.get("false_premise"):
                asked += 1
                recognised += bool(result.verdict and result.verdict.outcome.is_correct)
    return f"{recognised}/{asked}"


def _stopped(trial) -> bool:
    from mmrag.metrics.protocols import has_two_strikes
    from simulator.run.trials import turn_scores

    return has_two_strikes(turn_scores([trial]))


def _by_form(trials) -> dict[str, str]:
    found: dict[str, list[int]] = {}
    for trial in trials:
        for turn, result in zip(trial.session.turns, trial.results, strict=True):
            row = found.setdefault(turn.query_type, [0, 0, 0])
            outcome = result.verdict.outcome.value if result.verdict else "unscored"
            row[0] += 1
            row[1] += outcome in ("perfect", "acceptable")
            row[2] += outcome == "incorrect"
    return {k: f"{r} right, {w} wrong of {n}" for k, (n, r, w) in sorted(found.items())}


if __name__ == "__main__":
    main()
