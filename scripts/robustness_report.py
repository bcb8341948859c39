#!/usr/bin/env python3
"""A robustness report of one or several runs. Thin over `mmrag report`; every flag works here.

python scripts/robustness_report.py runs/a --out report
python scripts/robustness_report.py runs/a runs/a-with-reference-history --out report
"""

from __future__ import annotations

import sys


def main() -> None:
    from simulator.cli import main as mmrag

    sys.argv = ["mmrag", "report", *sys.argv[1:]]
    mmrag()


if __name__ == "__main__":
    main()
