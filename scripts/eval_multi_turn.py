#!/usr/bin/env python3
"""Batch multi-turn evaluation: data × agent × search × judge × degradations, from flags or a YAML.

Thin over `mmrag run`: every flag of it works here, and the defaults are the shipped world, the
grounded agent and the built-in judge.

    python scripts/eval_multi_turn.py --degrade sweep --dry-run
    python scripts/eval_multi_turn.py --degrade sweep --severities 1,3,5 --limit 100 --out runs/a
    python scripts/eval_multi_turn.py --data crag-mm:FOLDER --agent grounded:ocr=off --report
    python scripts/eval_multi_turn.py --config run.yaml --rerun errors --max-cost 5

`--report` writes RUN/report when the run is done (needs --out); `mmrag report` does it later.
"""

from __future__ import annotations

import sys


def main() -> None:
    from simulator.cli import main as mmrag

    arguments = sys.argv[1:]
    out = _value(arguments, "--out")
    report = "--report" in arguments
    if report:
        arguments.remove("--report")
        if out is None:
            sys.exit("error: --report needs --out, the folder of the run.")
    sys.argv = ["mmrag", "run", *arguments]
    try:
        mmrag()
    except SystemExit as ended:
        if ended.code or not report:
            raise
    if report and "--dry-run" not in arguments:
        sys.argv = ["mmrag", "report", str(out)]
        mmrag()


def _value(arguments: list[str], flag: str) -> str | None:
    for place, word in enumerate(arguments):
        if word == flag and place + 1 < len(arguments):
            return arguments[place + 1]
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return None


if __name__ == "__main__":
    main()
