"""Train the learned planner and reader, and judge them on voices that they have not seen.

    python scripts/train_reader.py               # writes mmrag/agents/grounded/learned/data
    python scripts/train_reader.py --leave elm   # trains without a voice and judges on it
    python scripts/train_reader.py --judge juniper,larch,maple

Data are made of the voices' wordings (`scripts/reader/`) and of encyclopaedic pages with people's
questions; only totals are printed, so voices that nobody may read can be judged. Torch on the CPU,
one seed: five minutes on an idle core.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from reader import training
from reader.data import Maker, Pages, attributes, domain_of
from reader.features import nouns, questions, things
from reader.prose import PAGES, prose

from mmrag.agents.grounded.desk import Desk
from mmrag.agents.grounded.grammar import Talk
from mmrag.agents.grounded.learned.fitting import Fitting
from mmrag.agents.grounded.learned.heads import FILE, Weights, read_weights
from mmrag.agents.grounded.learned.planner import PLAN_NAMES, LearnedPlanner
from mmrag.agents.grounded.learned.reading import LearnedReader
from mmrag.agents.grounded.learned.states import States
from mmrag.agents.grounded.scene import Candidate, Scene
from mmrag.encoders import text_encoders
from mmrag.records import Evidence
from simulator.world.language.voices.reading import OPEN, voice

SEED = 24
QUESTIONS, THINGS = 3000, 100
JUDGED = 250
"""Questions planned and values read, of each voice that is judged."""
NOW = "2032-12-15T12:00"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--leave", default="", choices=("", *OPEN), help="train without this voice, judge on it"
    )
    parser.add_argument("--judge", default="", help="judge what is shipped on these voices")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--things", type=int, default=THINGS)
    args = parser.parse_args()
    if args.judge:
        totals = [judge(name, read_weights()) for name in args.judge.split(",")]
        report("in all", sum(totals, Counter[str]()))
        return
    names = [n for n in OPEN if n != args.leave]
    weights = trained(names, args.questions, args.things)
    if args.leave:
        report(f"{args.leave}, left out", judge(args.leave, weights))
    else:
        training.write(weights, FILE)


def trained(names: Sequence[str], n: int, m: int) -> Weights:
    """Weights from some voices."""
    encoder = text_encoders.create("minilm")
    states, voices = States(encoder), [voice(name) for name in names]
    asked = [q for i, v in enumerate(voices) for q in questions(states, v, n, SEED + i)]
    seen = [t for i, v in enumerate(voices) for t in things(states, v, m, SEED + 100 + i)]
    planner = training.planning(asked, SEED)
    fitting = Fitting(encoder, planner)
    seen += prose(fitting, states, LearnedPlanner(encoder, planner), PAGES)
    return training.reading(planner, seen, voices, encoder, SEED)


def judge(name: str, weights: Weights) -> Counter[str]:
    """Totals of one voice: operations, plans, and values read off pages in that voice."""
    encoder = text_encoders.create("minilm")
    author, planner = voice(name), LearnedPlanner(encoder, weights)
    fitting, reader = Fitting(encoder, weights), LearnedReader(encoder, weights)
    totals: Counter[str] = Counter()
    maker = Maker([author], SEED + 7, with_own=False)
    for q in maker.make(JUDGED):
        text = q.text
        for i, other in enumerate(("Marrow Vale", "Stetten Brook", "Ada Torvick")):
            text = text.replace(f"\ue001{i}\ue002", other)
        plan = planner.plan(text, Talk(), NOW)
        wanted = PLAN_NAMES.get(q.operation, q.operation)
        wanted = {"again": "lookup", "beside": "name"}.get(wanted, wanted)
        totals["questions"] += 1
        totals["operation"] += plan.operation == wanted
        inner = plan.inner if plan.operation == "premise" and plan.inner else plan
        known = nouns(q.kind)
        if (
            q.key in known
            and inner.ask
            and q.operation not in ("the-one-that", "sibling", "total-sharing")
        ):
            totals["attributes"] += 1
            best = fitting.best_noun(inner.ask, list(known.values()))
            totals["planned"] += plan.operation == wanted and best == known[q.key]
    pages = Pages([author], SEED + 9)
    while totals["read"] < JUDGED:
        kind, noun, thing, said = pages.entity()
        texts = [s.text for s in said]
        random.Random(thing).shuffle(texts)
        size = max(1, len(texts) // 3)
        evidence = [
            Evidence(
                id=f"p{i}",
                source="web",
                title=thing,
                text="\n".join(texts[i : i + size]),
                score=1.0,
            )
            for i in range(0, len(texts), size)
        ]
        scene = Scene(main=Candidate(name=thing, confidence=1.0, source="question"))
        for key in random.Random(thing).sample(list(attributes(kind)), 4):
            true = {s.text[s.start : s.end] for s in said if s.key == key}
            asked = pages.r.choice(author.wording(domain_of(kind), key).ask)
            asked = asked.replace("{xs}", f"this {noun}'s").replace("{x}", f"this {noun}")
            found = reader.read(planner.plan(asked, Talk(), NOW), scene, Desk(evidence), NOW)
            totals["read"] += 1
            totals["right"] += found is not None and any(_same(found.text, t) for t in true)
            totals["silent"] += found is None
    return totals


def _same(a: str, b: str) -> bool:
    plain = ["".join(c for c in t.casefold() if c.isalnum()) for t in (a, b)]
    return plain[0] == plain[1]


def report(what: str, t: Counter[str]) -> None:
    wrong = t["read"] - t["right"] - t["silent"]
    sys.stdout.write(
        f"{what}: of {t['questions']} questions {t['operation'] / t['questions']:.1%} of the right "
        f"operation; of {t['attributes']} for an attribute {t['planned'] / t['attributes']:.1%} "
        f"planned; of {t['read']} "
        f"values asked for {t['right'] / t['read']:.1%} right, {wrong / t['read']:.1%} wrong\n"
    )


if __name__ == "__main__":
    np.random.default_rng(SEED)
    main()
