"""The built-in judge in one table: agreement, stress totals, speed, lines.

    OMP_NUM_THREADS=1 python scripts/bench/judge.py human_verdicts.jsonl [--quick]

`--quick` leaves out cross-validation, which takes minutes. Of the held half only totals are shown.
Figures: docs/benchmarks/judges.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
PAIRS = 12_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="human verdicts, as for scripts/train_judge.py")
    parser.add_argument("--quick", action="store_true", help="no cross-validation")
    options = parser.parse_args()
    print(f"pairs per second of processor time, start-up included | {speed(options.file):,.0f}")
    for half in ("open", "held"):
        print(f"stress suite, {half} half | {stress(half)}")
    folder = ROOT / "mmrag" / "judges" / "builtin"
    counts = [len(path.read_text().splitlines()) for path in folder.glob("*.py")]
    print(f"lines of Python in mmrag/judges/builtin | {sum(counts):,} in {len(counts)} modules")
    if not options.quick:
        print(f"agreement with people, five folds | {agreement(options.file)}")


def speed(file: Path) -> float:
    """Measured first, so that nothing is loaded yet."""
    import msgspec
    from train_judge import read_rows

    from mmrag.judges import make_judge
    from mmrag.records import JudgeItem

    items = [msgspec.convert(row, JudgeItem) for row in read_rows(file)[:PAIRS]]
    start = time.process_time()
    judge = make_judge("builtin")
    judge.judge_many(items)  # pyright: ignore[reportAttributeAccessIssue]
    return len(items) / (time.process_time() - start)


def stress(half: str) -> str:
    from mmrag.judges.builtin import BuiltinJudge
    from mmrag.judges.stress import read_pairs, sum_angles, tally

    pairs = read_pairs(half)
    verdicts = BuiltinJudge().judge_many([pair.item() for pair in pairs])
    found = sum_angles(tally(pairs, [verdict.outcome for verdict in verdicts]))
    return (
        f"{found.right / found.n:.1%} of {found.n}, "
        f"{found.accepted} wrong accepted, {found.rejected} right rejected"
    )


def agreement(file: Path) -> str:
    from train_judge import cross_validated, human_cases, new_extractor, report, stress_cases

    extractor = new_extractor()
    human, open_half = human_cases(file, extractor), stress_cases(extractor)
    figures = report(human, cross_validated(human, open_half)[0])
    return f"{figures['agreement']:.2%}, 95 % interval {figures['interval']}"


if __name__ == "__main__":
    main()
