"""Train the grounded agent's planner and reader, and judge them on a voice they have not seen.

    python scripts/train_reader.py               # writes mmrag/agents/grounded/data
    python scripts/train_reader.py --leave elm   # trains without a voice and judges on it

What is asked are the needs of the open voices and of five that only readers learn from, ways of one
more author, and CRAG's questions; what is read are lines of their pages and of a KG
(`scripts/reader/`), about the things of worlds that are made for it. Torch on the CPU, one seed:
the same bytes each time on one processor, in half an hour.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from reader import training
from reader.crag import crag
from reader.needs import Author
from reader.pages import bank, chatter
from reader.wordings import Wordings

from mmrag.agents.grounded import trained_heads
from mmrag.agents.grounded.attribute_finder import read_stated_value
from mmrag.agents.grounded.contextual_vectors import WordVectorCache
from mmrag.encoders import text_encoders
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.generate import generate_facts
from simulator.world.language.voices.voice_reader import OPEN, Voice, voice

SEED, WORLD, THINGS = 24, 500_100, 1200
"""Of the training, and of the world that it is about: no world of a report."""

ROUNDS = (SEED, SEED + 1)
"""In each all is asked once, of other things and after other questions."""

CRAG = 1500
"""Questions of CRAG's kind, about a world of their own."""

MORE = Path(__file__).parent / "reader" / "voices"
"""Voices that no world speaks in."""

KEPT = 100_000
"""Texts whose vectors are kept: all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--leave", default="", choices=("", *OPEN), help="train without this voice, judge on it"
    )
    leave = parser.parse_args().leave
    states = WordVectorCache(text_encoders.create("minilm"), KEPT)
    facts = generate_facts(WORLD, THINGS)
    voices = [voice(name) for name in OPEN if name != leave]
    voices += [Voice(folder) for folder in sorted(MORE.iterdir()) if folder.is_dir()]
    authors = [(v, n) for n in ROUNDS for v in (*voices, Wordings(n))]
    asked, results = crag(CRAG)
    material = training.Material(
        asked=sorted({*asked, *(q for v, n in authors for q in Author(v, facts, n).questions())}),
        banks=[*(bank(v, facts) for v in (*voices, None)), results],
        idle=[line for v in voices for line in chatter(v)],
    )
    made = training.weights(material, states, SEED)
    if leave:
        judge(leave, facts, states, made)
    else:
        training.write(made, trained_heads.FILE)


def judge(name: str, facts: FactBase, states: WordVectorCache, made: trained_heads.Weights) -> None:
    """Shares of a voice's questions and lines that are taken rightly."""
    asked = Author(voice(name), facts, SEED).questions()
    lines = {key: of[:1] for key, of in bank(voice(name), facts).items()}
    programs = attributes = both = plain = values = 0
    for q in asked:
        judged = trained_heads.analyse_question(states, q.text, q.before, made)
        is_program = made.programs[int(judged.programs.argmax())] == q.program
        programs += is_program
        kind, key = q.keys[0]
        if kind:
            page = {k: of[0] for (of_kind, k), of in lines.items() if of_kind == kind}
            seen = [
                trained_heads.encode_line(one, made)
                for one in states.of([s.text for s in page.values()])
            ]
            kinds = [
                trained_heads.kind_of(read_stated_value(s.text[s.start : s.end]))
                for s in page.values()
            ]
            fits = trained_heads.score_lines(judged.slots[0], seen, kinds, made)
            is_attribute = list(page)[fits.index(max(fits))] == key
            plain, attributes = plain + 1, attributes + is_attribute
            both += is_program and is_attribute
    told = [s for of in bank(voice(name), facts).values() for s in of]
    for s in told:
        values += trained_heads.find_values(s.text, states.of([s.text])[0], made) == [
            (s.start, s.end)
        ]
    sys.stdout.write(
        f"{name}, left out: of {len(asked)} questions {programs / len(asked):.1%} of the right "
        f"program; of {plain} about an attribute {attributes / plain:.1%} find it, "
        f"{both / plain:.1%} both; "
        f"of {len(told)} lines {values / len(told):.1%} of the right value\n"
    )


if __name__ == "__main__":
    main()
