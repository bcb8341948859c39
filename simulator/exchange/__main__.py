"""`python -m simulator.exchange RUN OUT --to mlflow`: `mmrag export` where little is installed.

It needs msgspec, and what the other tool brings along: so a run goes to MLflow from an environment
of its own, without a second torch (docs/doors.md).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mmrag.errors import MmragError
from simulator.exchange.exports import DOORS, export_run
from simulator.store.run_reader import RunReader


def main() -> str | int:
    """Export a run; returns what `sys.exit` takes."""
    parser = argparse.ArgumentParser(prog="python -m simulator.exchange")
    parser.add_argument("run", type=Path)
    parser.add_argument("out")
    parser.add_argument("--to", choices=DOORS)
    given = parser.parse_args()
    try:
        with RunReader(given.run) as run:
            export_run(run, given.out, given.to)
    except MmragError as error:
        return f"error: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
