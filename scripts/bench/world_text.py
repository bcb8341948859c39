"""Processor time and memory of facts, questions and conversations (no pictures, no pages) by size.

python scripts/bench/world_text.py --conversations 100 1000 10000
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

from simulator.world.checks.published import MULTI_TURN, SINGLE_TOTALS
from simulator.world.facts.generate import generate_facts
from simulator.world.language.conversations import check_session, make_sessions
from simulator.world.language.voices.reading import OPEN

ENTITIES = 27_840
"""Entities of CRAG-MM's image KG, for its 1,956 conversations."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conversations", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"{'conversations':>13} {'questions':>9} {'entities':>8} {'facts s':>8} "
          f"{'questions s':>11} {'check s':>8} {'ms/question':>11} {'peak MB':>8}")  # fmt: skip
    for n in args.conversations:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(_measure, (args.seed, n)), flush=True)


def _measure(seed: int, n: int) -> str:
    published = sum(MULTI_TURN.values())
    singles = round(n * sum(SINGLE_TOTALS.values()) / published)
    entities = round(n * ENTITIES / published)
    start = time.process_time()
    facts = generate_facts(seed, entities)
    made = time.process_time()
    questions = 0
    checking = 0.0
    for session in make_sessions(facts, OPEN, conversations=n, singles=singles):
        questions += len(session.questions)
        begun = time.process_time()
        assert not check_session(session, facts)
        checking += time.process_time() - begun
    asking = time.process_time() - made - checking
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{n:>13,} {questions:>9,} {entities:>8,} {made - start:>8.1f} {asking:>11.1f} "
        f"{checking:>8.1f} {1000 * asking / questions:>11.2f} {peak:>8.0f}"
    )


if __name__ == "__main__":
    main()
