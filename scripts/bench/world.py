"""Time, memory and disk of building worlds of growing size.

    python scripts/bench/world.py text 100 1000 10000   # without pictures
    python scripts/bench/world.py pictures 20 100       # with them

Each build runs in a process of its own, so that its peak memory is its own. CPU seconds are told
beside the wall clock because this machine may be shared.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

_CHILD = textwrap.dedent("""
    import json, resource, sys, time
    from pathlib import Path
    from simulator.world.build.folder import build
    from simulator.world.build.world_request import make_request

    if __name__ == "__main__":
        n, out = int(sys.argv[1]), Path(sys.argv[3])
        start = time.monotonic()
        manifest = build(make_request(1, n, pictures=sys.argv[2] == "1"), out)
        own = resource.getrusage(resource.RUSAGE_SELF)
        kids = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(json.dumps({
            "wall": time.monotonic() - start,
            "cpu": own.ru_utime + own.ru_stime + kids.ru_utime + kids.ru_stime,
            "peak_mb": max(own.ru_maxrss, kids.ru_maxrss) / 1024,
            "disk_mb": sum(f["bytes"] for f in manifest["files"].values()) / 1e6,
            **manifest["counts"],
        }))
""")


def measure(n: int, *, pictures: bool) -> dict[str, float | str]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "child.py"
        script.write_text(_CHILD)
        done = subprocess.run(
            [sys.executable, str(script), str(n), str(int(pictures)), f"{folder}/w"],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)


def main(mode: str, *sizes: str) -> None:
    print(
        "| conversations | turns | pages | KG pictures | wall s | CPU s | ms/turn | MB | disk MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for n in map(int, sizes):
        m = measure(n, pictures=mode == "pictures")
        turns = float(m["turns"]) + float(m["single_turn_questions"])
        print(
            f"| {n:,} | {turns:,.0f} | {m['pages']:,} | {m['kg_pictures']:,} | {m['wall']:.1f} "
            f"| {m['cpu']:.1f} | {1000 * float(m['cpu']) / turns:.1f} | {m['peak_mb']:.0f} "
            f"| {m['disk_mb']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
