"""Speed of the built-in judge on one core. Agreement with people: scripts/train_judge.py --check.

    OMP_NUM_THREADS=1 python scripts/bench/judge.py human_verdicts.jsonl

Figures: docs/benchmarks/judges.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path

from mmrag.judges.builtin import BuiltinJudge
from mmrag.records import JudgeItem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    rows = [
        json.loads(line)
        for line in parser.parse_args().file.read_bytes().split(b"\n")
        if line.strip()
    ]
    items = [
        JudgeItem(
            question=row["question"],
            references=tuple(row["references"]),
            prediction=row["prediction"],
        )
        for row in rows
    ]
    start = time.perf_counter()
    judge = BuiltinJudge()
    print(f"loaded in {time.perf_counter() - start:.2f} s")
    rates = []
    for start_at in range(0, len(items), 2_000):
        part = items[start_at : start_at + 2_000]
        start = time.process_time()
        judge.judge_many(part)
        rates.append(len(part) / (time.process_time() - start))
    rates.sort()
    print(f"together: median {rates[len(rates) // 2]:,.0f} pairs/s of processor time")
    start = time.process_time()
    for item in items[:1_000]:
        asyncio.run(judge.judge(item))
    print(f"one by one: {1_000 / (time.process_time() - start):,.0f} pairs/s")


if __name__ == "__main__":
    main()
