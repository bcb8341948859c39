"""What a reader without picture and search can earn on a world.

    python scripts/bench/world_shortcuts.py --seeds 1 2 3 --conversations 1956 --singles 6462

Prints the truthfulness of every strategy per type of question; exits 1 when one passes the limit.
"""

from __future__ import annotations

import argparse
import sys

from simulator.world.checks.published import TYPES
from simulator.world.checks.shortcuts import Shortcut, measure_shortcuts
from simulator.world.facts.generate import generate_facts
from simulator.world.language.conversations import make_sessions
from simulator.world.language.questions.question_records import Conversation
from simulator.world.language.voices.reading import named


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="pooled")
    parser.add_argument("--studied", type=int, nargs="+", default=[101, 102])
    parser.add_argument("--conversations", type=int, default=1956)
    parser.add_argument("--singles", type=int, default=6462)
    parser.add_argument("--entities", type=int, default=27_840)
    parser.add_argument("--voices", default="open", help="whose words, as in mmrag world new")
    parser.add_argument("--limit", type=float, default=3.0, help="points of truthfulness")
    args = parser.parse_args()
    studied = [s for seed in args.studied for s in _world(seed, args)]
    sessions = [s for seed in args.seeds for s in _world(seed, args)]
    best: list[Shortcut] = []
    for title, part in (
        ("single-turn", [s for s in sessions if not s.is_multi_turn]),
        ("multi-turn", [s for s in sessions if s.is_multi_turn]),
    ):
        if part:
            rows = measure_shortcuts(part, studied)
            best += rows
            _print(title, rows)
    worst = max(best, key=lambda r: r.truthfulness)
    error = 100 * worst.answered**0.5 / worst.questions
    print(
        f"\nbest strategy on any type: {worst.strategy!r} on {worst.query_type}, "
        f"{worst.truthfulness:.1f} points (one standard error {error:.1f}, limit {args.limit:g})"
    )
    return int(worst.truthfulness > args.limit)


def _world(seed: int, args: argparse.Namespace) -> list[Conversation]:
    facts = generate_facts(seed, args.entities)
    voices = named(args.voices)
    return list(
        make_sessions(facts, voices, conversations=args.conversations, singles=args.singles)
    )


def _print(title: str, rows: list[Shortcut]) -> None:
    columns = (*TYPES, "all")
    counts = {r.query_type: r.questions for r in rows}
    print(f"\n{title}: truthfulness in points (share answered)")
    head = "".join(f"{c.removeprefix('simple-')[:11]:>15}" for c in columns)
    print(f"{'strategy':<38}{head}")
    print(f"{'questions':<38}" + "".join(f"{counts[c]:>15}" for c in columns))
    for name in dict.fromkeys(r.strategy for r in rows):
        cells = {r.query_type: r for r in rows if r.strategy == name}
        line = "".join(_cell(cells[c]) for c in columns)
        print(f"{name:<38}{line}")


def _cell(row: Shortcut) -> str:
    share = row.answered / row.questions if row.questions else 0.0
    return f"{row.truthfulness:>8.1f} ({share:>4.0%})"


if __name__ == "__main__":
    sys.exit(main())
