"""Attack mmrag area by area and count what went wrong.

    python scripts/bench/attack.py                      # the minute's version of every area
    python scripts/bench/attack.py --hours              # every try of every area
    python scripts/bench/attack.py --area kills --seconds 300 --seed 7

Each area is a module of `scripts/bench/attacks` that yields its tries one by one; the first second
of each already mixes all its kinds. A fault is printed with its try; the exit code is 1 if there is
any.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import pkgutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

if (
    __name__ == "__main__"
):  # `python scripts/bench/attack.py` has this folder on its path, not the root
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.bench import attacks

LONGEST = 900.0
"""Seconds that one try may take: one that hangs says where, and ends all."""

SHORT = 8.0
"""Seconds that the minute's version gives to an area."""


def areas() -> list[str]:
    """Names of all areas."""
    names = (module.name for module in pkgutil.iter_modules(attacks.__path__))
    return sorted(name for name in names if not name.startswith("_"))


def attack(area: str, *, seed: int, seconds: float | None) -> tuple[Counter[str], list[str]]:
    """Tries by kind, and the faults in words; stops at the area's end or when the time is up."""
    tries: Counter[str] = Counter()
    faults: list[str] = []
    module = importlib.import_module(f"scripts.bench.attacks.{area}")
    began = time.monotonic()
    print(f"{area} …", flush=True)
    faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
    with (
        tempfile.TemporaryDirectory(prefix=f"attack-{area}-") as work,
        closing(module.cases(seed, Path(work))) as cases,
    ):
        for case in cases:
            tries[case.what] += 1
            faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
            if case.fault is not None:
                faults.append(f"{case.what}: {case.fault}")
            if seconds is not None and time.monotonic() - began > seconds:
                break
    faulthandler.cancel_dump_traceback_later()
    return tries, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--area", action="append", choices=areas(), help="again for more; default all"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SHORT, help="per area")
    parser.add_argument("--hours", action="store_true", help="every try, however long it takes")
    given = parser.parse_args()
    wrong = 0
    for area in given.area or areas():
        began = time.monotonic()
        tries, faults = attack(
            area, seed=given.seed, seconds=None if given.hours else given.seconds
        )
        wrong += len(faults)
        seconds = time.monotonic() - began
        print(f"{area}: {tries.total():,} tries, {len(faults)} faults, {seconds:.0f} s")
        for kind, count in sorted(tries.items()):
            print(f"  {count:7,}  {kind}")
        for fault in faults[:20]:
            print(f"  FAULT  {fault}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
