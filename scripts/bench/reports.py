"""Report figures: time and memory on a quarter of a million turns; sweeps against single runs;
error rates of the slices that reports name.

    python scripts/bench/reports.py scale [--sessions 2400] [--repeats 3]
    python scripts/bench/reports.py sweep [--sessions 40]
    python scripts/bench/reports.py planted [--runs 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
# The planted runs of the tests are what is measured here too.
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "reports")]


def scale(sessions: int, repeats: int) -> None:
    from planted_runs import SWEEP, by_severity, plant

    with tempfile.TemporaryDirectory() as folder:
        run, out = Path(folder) / "run", Path(folder) / "report"
        plant(
            run, sessions=sessions, conditions=SWEEP, effect=by_severity, passages=12,
            shared_picture=True,
        )  # fmt: skip
        size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
        print(f"run: {sessions:,} conversations × {len(SWEEP)} conditions, {size >> 20} MiB")
        code = (
            "import sys; from pathlib import Path;"
            "from simulator.reports.draw.write import make_report;"
            "r = make_report([Path(sys.argv[1])], Path(sys.argv[2]));"
            "import resource; m = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
            "print(r['runs'][0]['state']['turns'], m // 1024)"
        )
        times: list[float] = []
        for _ in range(repeats):
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", code, str(run), str(out)],
                check=True, capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip
            times.append(time.perf_counter() - began)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = (used.ru_utime + used.ru_stime) / repeats
        turns, memory = map(int, done.stdout.split())
        page = (out / "report.html").stat().st_size
        print(
            f"report of {turns:,} turns: {float(np.median(times)):.1f} s "
            f"(min {min(times):.1f}, max {max(times):.1f}; CPU {cpu:.1f} s), {memory:,} MiB, "
            f"HTML {page / 2**20:.2f} MiB"
        )


def sweep(sessions: int) -> None:
    """The same 26 conditions as one run, and as 26 runs that share nothing."""
    from planted_runs import SWEEP, make_session

    from mmrag.cache import Cache, share
    from mmrag.judges.simple import FixedJudge
    from mmrag.protocols import Completion, GenerateOptions, Message, Resources
    from mmrag.records import Evidence, Query, Reply
    from simulator.run.runner import Plan, run_sessions
    from simulator.store.run_store import RunStore

    class SlowModel:
        async def generate(self, messages, options=GenerateOptions()):
            await asyncio.sleep(0.06)
            return Completion(text="something")

    class SlowSearch:
        def search_text(self, queries, k=50):
            time.sleep(0.03 * len(queries))
            return [(Evidence(source="web", id=q, score=1.0, text="lorem " * 50),) for q in queries]

    class TwoCalls:
        """Rewrites the question and searches (no picture), then reads (picture)."""

        def __init__(self, resources: Resources) -> None:
            self.model, self.web = resources.model("m"), resources.web_search

        async def answer(self, query: Query) -> Reply:
            rewrite = [Message(role="user", text=f"{query.text} {query.session_id}")]
            question = (await self.model.generate(rewrite)).text + query.text + query.session_id
            await asyncio.to_thread(self.web.search_text, [question])
            read = [Message(role="user", text=question, images=(query.image,))]
            return Reply(text=(await self.model.generate(read)).text)

    class Labels:
        """Degrades by choosing the picture that belongs to the condition."""

        def choose(self, session, degradation, seed):
            return degradation

        def apply(self, session, spec, seed):
            return make_session(int(session.id[1:]), spec)

    def run(conditions: tuple[str, ...]) -> tuple[float, int]:
        cache = Cache()
        resources = Resources(model=lambda _: SlowModel(), web_search=SlowSearch())
        agent = TwoCalls(share(resources, cache))
        work = [(i, make_session(i)) for i in range(sessions)]
        turns = 0

        def count(progress) -> None:
            nonlocal turns
            turns += len(progress.results)

        with tempfile.TemporaryDirectory() as folder, RunStore(folder) as store:
            store.set_meta("judge", "yes")
            began = time.perf_counter()
            plan = Plan(degradations=conditions)
            asyncio.run(
                run_sessions(
                    iter(work), agent, FixedJudge(), store, plan, optics=Labels(), on_progress=count
                )
            )
            seconds = time.perf_counter() - began
        stats = cache.stats
        if len(conditions) > 1:
            print(f"cache: {stats.hits:,} hits, {stats.misses:,} misses")
        return seconds, turns

    together, turns = run(SWEEP)
    apart = [run((condition,)) for condition in SWEEP]
    alone, same = sum(seconds for seconds, _ in apart), sum(count for _, count in apart)
    assert turns == same
    print(f"sweep of {len(SWEEP)} conditions: {turns / together:.1f} turns/s ({turns:,} turns)")
    print(f"{len(SWEEP)} single runs: {same / alone:.1f} turns/s; ratio {alone / together:.2f}")


def planted(runs: int) -> None:
    from frames import make_frame

    from simulator.reports.figures.slices import dimensions, standouts
    from simulator.reports.read.pairs import match, moved_differently

    def named(entries: list[dict]) -> set[tuple[str, str]]:
        return {(entry["dimension"], entry["slice"]) for entry in entries}

    def one_run(seed: int, effect) -> set[tuple[str, str]]:
        frame = make_frame(seed=seed, answers=0, effect=effect)
        return named(standouts(frame, np.ones(len(frame), bool))["found"])

    def two_runs(seed: int, effect) -> set[tuple[str, str]]:
        first, second = (
            make_frame(seed=seed, answers=1),
            make_frame(seed=seed, answers=2, effect=effect),
        )
        rows = np.ones(len(first), bool)
        pairs = match(first, rows, second, rows)
        return named(moved_differently(pairs, dimensions(first))["found"])

    places = [None, ("query_type", "multi-hop"), ("domain", "food"), ("popularity", "tail")]
    for name, find in (("one run", one_run), ("two runs", two_runs)):
        for place in places:
            effect = None if place is None else (*place, 0.4)
            found = [find(seed, effect) for seed in range(runs)]
            wrong = np.mean([bool(one - {place}) for one in found])
            power = "" if place is None else f", found {np.mean([place in o for o in found]):.1%}"
            print(f"{name}, effect in {place}: named wrongly in {wrong:.1%} of {runs} runs{power}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("scale", "sweep", "planted"))
    parser.add_argument("--sessions", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    if args.what == "scale":
        scale(args.sessions or 2400, args.repeats)
    elif args.what == "sweep":
        sweep(args.sessions or 40)
    else:
        planted(args.runs)
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
