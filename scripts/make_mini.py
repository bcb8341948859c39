"""Write assets/mini again: the world that ships with the project.

    python scripts/make_mini.py            # build, check, put in place
    python scripts/make_mini.py --check    # build beside it and compare the bytes

The seed and the size are fixed, so the same program text and library versions give the same files.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from simulator.world.build.folder import build
from simulator.world.build.world_manifest import read_manifest
from simulator.world.build.world_request import make_request
from simulator.world.checks.verify import verify_world
from simulator.world.checks.world_stats import world_stats

SEED = 2025
MOST_BYTES = 40_000_000
LEAST = {"conversations": 60, "single_turn_questions": 150, "kg_pictures": 400, "pages": 1500}
TARGET = Path(__file__).parents[1] / "assets" / "mini"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of replacing")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as folder:
        made = Path(folder) / "mini"
        manifest = build(make_request(SEED, size="mini"), made, workers=arguments.workers)
        problems = [
            *verify_world(made).problems,
            *(
                f"only {manifest['counts'][name]} {name}, not {least}"
                for name, least in LEAST.items()
                if manifest["counts"][name] < least
            ),
        ]
        size = sum(p.stat().st_size for p in made.iterdir())
        if size > MOST_BYTES:
            problems.append(f"{size:,} bytes are more than {MOST_BYTES:,}")
        if arguments.check and TARGET.exists():
            there = read_manifest(TARGET)["files"]
            problems += [
                f"{name} differs"
                for name, entry in manifest["files"].items()
                if there.get(name, {}).get("sha256") != entry["sha256"]
            ]
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        if not arguments.check:
            shutil.rmtree(TARGET, ignore_errors=True)
            made.rename(TARGET)
            print(world_stats(TARGET).as_text())
        print(f"{size / 1e6:.1f} MB, fingerprint {manifest['fingerprint']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
