"""What must stay equal while the program is taken apart and put together again.

    python scripts/evidence.py                  # write tests/evidence.json again
    python scripts/evidence.py --check          # name what differs from it, and exit 1
    python scripts/evidence.py --check --only scenes --only commands

What depends on the processor and on the renderer's version (`pictures`) is compared only where
both are those it was written with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "evidence.json"
AGENTS = ("grounded", "task3:reader=builtin", "random")
TIMES = re.compile("seconds|latency|waterfall|provenance")
"""In the names of figures that no two runs share."""


def world(*, pictures: bool = False) -> dict[str, Any]:
    """Every file of a small world without pictures."""
    import msgspec

    from simulator.world.build.folder import build
    from simulator.world.build.request import make_request

    request = msgspec.structs.replace(
        make_request(5, 3, "mini", pictures=pictures),
        singles=3, entities=400, kg_pictures=3, ego=(180, 240), catalogue=160, kg_side=96,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        files = build(request, Path(folder) / "world")["files"]
    return {name: _digest(entry["sha256"]) for name, entry in files.items()}


def pictures() -> dict[str, Any]:
    """The tables that hold pictures, of the same world with a few of them."""
    libraries = ("mitsuba", "pyoidn", "opencv-python-headless", "pillow", "numpy")
    cpu = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else None
    by = [model[1] if model else platform.machine(), *(f"{x} {version(x)}" for x in libraries)]
    return {"made by": ", ".join(by), **world(pictures=True)}


def scenes() -> dict[str, Any]:
    """Every mesh, material, lamp and eye of each kind and place, before any light is traced."""
    from simulator.studio.camera.staging import stage
    from simulator.studio.places.place_kinds import PLACES
    from simulator.studio.things.kinds import KINDS, build
    from simulator.world.facts.look import Look
    from simulator.world.pictures.scene import Scene

    looks = [
        Look(domain="general", kind=kind, family=n % 3, variant=n % 2, label="Marrow Oat")
        for n, kind in enumerate(sorted(KINDS))
    ]
    found = {look.kind: _digest(build(look)) for look in looks}
    for n, place in enumerate(sorted(PLACES)):
        main = next(x for x in looks[n:] + looks if place in KINDS[x.kind].places)
        scene = Scene(main=main, key=f"evidence-{n}", width=240, height=320, legible=n % 2 == 1)
        found[f"{main.kind} in the {place}"] = _digest(stage(scene, 0, place))
    return found


def optics() -> dict[str, Any]:
    """The golden hashes of the degradations."""
    import numpy as np

    from simulator.optics import degrade

    y, x = np.mgrid[0:96, 0:128]
    tiles = 120 * (((x // 9) + (y // 7)) % 2)
    ramp = np.dstack([tiles + x, tiles + y, tiles + (x + y) // 2]).astype(np.uint8)
    specs = json.loads((ROOT / "tests/optics/golden/hashes.json").read_bytes())
    return {
        spec: _digest(degrade(ramp, spec, (30, 20, 100, 80), key="golden").image) for spec in specs
    }


def runs() -> dict[str, Any]:
    """Figures of mini runs of three agents, and `report.json` of all three."""
    from simulator import evaluate
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / str(n) for n, _ in enumerate(AGENTS)]
        for agent, place in zip(AGENTS, places, strict=True):
            run = evaluate(
                agent,
                "mini",
                split="single-turn",
                limit=6,
                out=place,
                seconds=600.0,
                progress=False,
            )
            found[agent] = _digest(_timeless(run.score(resamples=200).as_dict()))
            found[f"{agent} turns"] = _digest(
                run.turns()[["session_id", "turn_index", "query", "reply", "outcome"]].to_csv()
            )
        make_report(places, Path(folder) / "report", ReportOptions(title="evidence"))
        report = json.loads((Path(folder) / "report" / "report.json").read_bytes())
        for part in report["runs"][0]:
            found[f"report.json {part}"] = _digest(
                [_timeless({part: r.get(part)}) for r in report["runs"]]
            )
    return found


def judge() -> dict[str, Any]:
    """Verdicts of the built-in judge on the stress files and on the pairs of its tests."""
    import msgspec

    from mmrag.judges import stress
    from mmrag.judges.builtin import BuiltinJudge
    from mmrag.records import JudgeItem

    made = BuiltinJudge()
    found: dict[str, Any] = {}
    sources = {half: [pair.item() for pair in stress.read_pairs(half)] for half in stress.HALVES}
    for path in sorted((ROOT / "tests" / "judges").glob("*.jsonl")):
        sources[path.stem] = [
            msgspec.json.decode(line, type=JudgeItem) for line in path.read_bytes().splitlines()
        ]
    for name, items in sources.items():
        verdicts = [str(verdict.outcome) for verdict in made.judge_many(items)]
        found[name] = {**dict(sorted(Counter(verdicts).items())), "all": _digest(verdicts)}
    return found


def commands() -> dict[str, Any]:
    """Every command with its arguments, options and defaults."""
    from simulator.cli import build_command

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        if below := getattr(command, "commands", None):
            for key in sorted(below):
                yield from walk(below[key], f"{name} {key}")
        else:
            yield name, " ".join(map(_spelled, command.params))

    return dict(walk(build_command(), "mmrag"))


def old_runs() -> dict[str, Any]:
    """A run that an early version wrote opens and scores."""
    from simulator import load_run

    run = load_run(ROOT / "tests" / "data" / "run-v1")
    return {"run-v1": _digest(_timeless(run.score(resamples=0).as_dict()))}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part
    for part in (world, scenes, optics, runs, judge, commands, old_runs, pictures)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--only", action="append", choices=list(PARTS), metavar="NAME")
    arguments = parser.parse_args()
    known = json.loads(FILE.read_bytes()) if FILE.exists() else {}
    found = {name: PARTS[name]() for name in arguments.only or PARTS}
    if not arguments.check:
        FILE.write_text(json.dumps(known | found, indent=1) + "\n")
        return 0
    different = [line for name in found for line in _differences(name, known[name], found[name])]
    print("\n".join(different or ["equal"]))
    return 1 if different else 0


def _differences(name: str, then: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    if then.get("made by") != now.get("made by"):
        print(f"{name}: not compared, for it was made by {then['made by']}")
        return
    for key in sorted({*then, *now}):
        if then.get(key) != now.get(key):
            yield f"{name}: {key}: {then.get(key)} -> {now.get(key)}"


def _spelled(parameter: Any) -> str:
    default = parameter.default
    return "|".join(parameter.opts) + (f"={default}" if default not in (None, False, ()) else "")


def _timeless(value: Any) -> Any:
    """A figure without what no two runs share."""
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not TIMES.search(str(k))}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def _digest(value: Any) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(piece)
    return digest.hexdigest()[:16]


def _pieces(value: Any) -> Iterator[bytes]:
    if hasattr(value, "tobytes"):
        yield f"{value.dtype}{value.shape}".encode() + value.tobytes()
    elif isinstance(value, (list, tuple, dict)):
        yield f"({len(value)}".encode()
        for item in sorted(value.items()) if isinstance(value, dict) else value:
            yield from _pieces(item)
    else:
        yield f"{value!r}\x00".encode()


if __name__ == "__main__":
    sys.exit(main())
